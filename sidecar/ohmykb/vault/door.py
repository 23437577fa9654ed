"""The one door through which files of a vault are written: archived first, compared, replaced, recorded.

A kill at any point leaves each file as it was or as it was to become, and the archive whole; `settle`
names which it is. Nothing here knows what a note means: `judge` says what may not be written.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Final

from ohmykb.clock import Clock
from ohmykb.errors import ConflictError, KbError, NotFoundError, UsageError
from ohmykb.note import NotePath
from ohmykb.vault import undo
from ohmykb.vault.exchange import HALF_WAY
from ohmykb.vault.history import History
from ohmykb.vault.operations import (
    ARCHIVE,
    HISTORY,
    KEPT,
    RECORD,
    Change,
    Hand,
    Operation,
    State,
    Touched,
    dump,
    milliseconds,
    new_id,
)
from ohmykb.vault.place import locate
from ohmykb.vault.replace import (
    archive,
    beside,
    blocked,
    digest,
    expect,
    hash_of,
    held,
    make_folders,
    no_step,
    put,
    stage,
    sync_folder,
    take,
    write_whole,
)

Judge = Callable[[NotePath, bytes | None, bytes | None], None]
"""Path, bytes before and after; raises RefusedError for what may not be written."""

UNDO: Final = "undo"


class Door:
    """One at a time; `step` is told before each step, for trials that end there; `told` hears of each operation
    that is committed, while no other can begin."""

    def __init__(
        self, root: Path, device: str, clock: Clock, judge: Judge, step: Callable[[str], None] = no_step,
        follow: undo.Follow = lambda path, _: path, told: Callable[[Operation], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self.root = root
        self.history = History(root)
        self.device = device
        self._clock = clock
        self._judge = judge
        self._step = step
        self._follow = follow
        self._told = told
        self._lock = RLock()
        self._latest_ms = 0
        self._unended: dict[str, State] = {}
        """Over, and the disk was too full to say so."""

    def apply(
        self, changes: Sequence[Change], *, kind: str, decider: str, reasons: Sequence[str] = (),
        undoes: Sequence[str] = (),
    ) -> Operation:  # fmt: skip
        """All of the changes, or none of them. Raises ConflictError with nothing changed, RefusedError."""
        with self._lock:
            op = self._archive(changes, "sidecar", kind, decider, reasons, undoes)
            op = self._carry_out(op, changes)
            self._sweep(undoes)
            self._told(op)
            return op

    def prepare(
        self, changes: Sequence[Change], *, kind: str, decider: str, reasons: Sequence[str] = (),
        undoes: Sequence[str] = (),
    ) -> Operation:  # fmt: skip
        """Archives what another hand is about to write. `commit` or `abandon` ends it."""
        with self._lock:
            return self._archive(changes, "plugin", kind, decider, reasons, undoes)

    def commit(self, op_id: str) -> Operation:
        """Raises ConflictError where the disk holds something else than was to be written.

        What was dropped meanwhile (a restart between the plugin's prepare and its write) and is written all the
        same becomes an operation of its own, with the same archive: a record that is final stays as it is.
        """
        with self._lock:
            op = self._prepared(op_id, dropped_too=True)
            found = self._found(op)
            if found == "committed":
                op = self._end(self._anew(op) if op.final else op, "committed")
                self._sweep(op.undoes)
                self._told(op)
                return op
            if found == "dropped":
                raise ConflictError("Nothing of it was written yet.", "Commit after writing, or abandon the operation")
            self._end(op, "conflict")
            raise ConflictError(
                f"{self._odd(op)} holds something else than was to be written; it is left as it is.",
                f"What stood there before is kept: kb history, operation {op.id}",
            )

    def abandon(self, op_id: str) -> Operation:
        """What was not written is dropped."""
        with self._lock:
            op = self._prepared(op_id)
            return self._end(op, self._found(op))

    def undoing(self, ids: Sequence[str], since: float | None = None) -> tuple[list[Change], tuple[str, ...]]:
        """The changes that take these operations back (or all since a time), and their ids.

        Raises ConflictError where a later edit is in the way, NotFoundError, UsageError.
        """
        with self._lock:
            chosen = undo.chosen(self.history.operations(), ids, since)
            return undo.changes(chosen, self._hash, self.history.archived, self._follow), tuple(op.id for op in chosen)

    def undo(self, ids: Sequence[str], since: float | None = None, *, decider: str = "person") -> Operation:
        """One operation that restores the exact bytes. Raises as `undoing`."""
        with self._lock:
            found, undone = self.undoing(ids, since)
            return self.apply(found, kind=UNDO, decider=decider, undoes=undone)

    def settle(self) -> list[Operation]:
        """Ends what a crash left open: of this device only. Returns what was ended, and how."""
        with self._lock:
            return [ended for op in self.history.open(self.device) if (ended := self._settle(op)) is not None]

    def _settle(self, op: Operation) -> Operation | None:
        """None where it cannot be ended now: the next start tries again."""
        spare = self._spare(op)
        whole = self._clear(op, spare)
        whole = self._clear(op, [left.with_name(f"{left.name}{HALF_WAY}") for left in spare]) and whole
        state = self._found(op)
        if state == "dropped":
            self._remove_made(op)
        with suppress(KbError):
            return self._end(op, state if whole else "conflict")
        return None

    # --- the steps

    def _archive(
        self, changes: Sequence[Change], hand: Hand, kind: str, decider: str, reasons: Sequence[str],
        undoes: Sequence[str],
    ) -> Operation:  # fmt: skip
        if not changes:
            raise UsageError("There is nothing to change.", "")
        if len({change.path for change in changes}) != len(changes):
            raise UsageError("One file is to be changed twice.", "Make one change of both")
        before = [expect(locate(self.root, change.path), change.before) for change in changes]
        if not undoes:
            for change, data in zip(changes, before, strict=True):
                self._judge(change.path, data, change.after)
        for left, state in sorted(self._unended.items()):
            with suppress(KbError):
                self._end(self.history.read(left), state)
        folder, op_id, at = self._make_folder()
        touched = tuple(
            Touched(change.path, change.before, None if change.after is None else digest(change.after))
            for change in changes
        )
        op = Operation(
            op_id, self.device, kind, at, hand, decider, tuple(reasons), "prepared", touched, tuple(undoes),
            self._to_make(changes),
        )  # fmt: skip
        self._step("archive")
        try:
            for change, data in zip(changes, before, strict=True):
                if data is not None:
                    archive(locate(self.root, change.path), data, folder / ARCHIVE, change.path)
            self._step("prepare")
            write_whole(folder / RECORD, dump(op))
            sync_folder(folder.parent)
        except (OSError, ConflictError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise blocked(folder, error) if isinstance(error, OSError) else error from error
        return op

    def _make_folder(self) -> tuple[Path, str, str]:
        """(folder, id, at) of a new operation. The folder is ours alone: it was not there."""
        above = self.history.folder
        if not Path(os.path.realpath(above)).is_relative_to(os.path.realpath(self.root)):
            raise ConflictError(f"{HISTORY} leads out of the vault: nothing is archived there.", "Make it a folder")
        if not self._latest_ms and (ids := self.history.ids()):
            self._latest_ms = milliseconds(ids[-1])
        while True:
            op_id, at, self._latest_ms = new_id(self._clock, self.device, self._latest_ms)
            try:
                if not above.is_dir():
                    above.mkdir()
                    sync_folder(self.root)
                (above / op_id).mkdir()
            except FileExistsError as error:
                if not above.is_dir():
                    raise blocked(above, error) from error
            except OSError as error:
                raise blocked(above, error) from error
            else:
                return above / op_id, op_id, at

    def _to_make(self, changes: Sequence[Change]) -> tuple[str, ...]:
        made: dict[str, None] = {}
        for change in changes:
            above = change.path.split("/")[:-1]
            for depth in range(1, len(above) + 1):
                folder = "/".join(above[:depth])
                if change.after is not None and not (self.root / folder).exists():
                    made[folder] = None
        return tuple(made)

    def _carry_out(self, op: Operation, changes: Sequence[Change]) -> Operation:
        spare = self._spare(op)
        done: list[int] = []
        try:
            for number, change in enumerate(changes):
                self._step("stage")
                self._stage(change, spare[number])
            for change in changes:
                self._step("compare")
                expect(locate(self.root, change.path), change.before)
            for number, change in enumerate(changes):
                self._step("write")
                self._write(change, spare[number])
                done.append(number)
            for number, change in enumerate(changes):
                if not held(spare[number], change.before):
                    raise ConflictError(f"{change.path} was saved at this very moment: it stays as saved.", "Try again")
        except KbError as error:
            whole = self._put_back(op, changes, done, spare)
            self._end(op, "dropped" if whole else "conflict")
            if isinstance(error, ConflictError):
                raise
            raise ConflictError(error.message, error.fix) from error
        self._step("clean")
        self._clear(op, spare)  # what was replaced is in the archive
        self._step("commit")
        return self._end(op, "committed")

    def _spare(self, op: Operation) -> list[Path]:
        """A hidden name beside every file."""
        return [beside(self.root / one.path, f"{_tag(op)}-{number}") for number, one in enumerate(op.files)]

    def _stage(self, change: Change, fresh: Path) -> None:
        if change.after is None:
            return
        file = locate(self.root, change.path)
        try:
            make_folders(self.root, change.path.rpartition("/")[0])
        except OSError as error:
            raise blocked(file.parent, error) from error
        stage(file, change.after, fresh)

    def _write(self, change: Change, fresh: Path) -> None:
        file = locate(self.root, change.path)
        if change.after is not None:
            put(fresh, file, change.before, self._step)
        elif change.before is not None:
            take(file, change.before, fresh, self._step)

    def _put_back(self, op: Operation, changes: Sequence[Change], done: Sequence[int], spare: Sequence[Path]) -> bool:
        """What was written of it is taken back; False where somebody wrote over it meanwhile."""
        whole = True
        for number in reversed(done):
            change, file, old = changes[number], self.root / changes[number].path, spare[number]
            try:
                if change.after is None:
                    if old.exists():
                        put(old, file, None)
                elif change.before is None:
                    take(file, digest(change.after), old)
                else:
                    if not old.exists():  # the disk could not swap
                        stage(file, self.history.archived(op.id, change.path), old)
                    put(old, file, digest(change.after))
            except KbError:
                whole = False
        whole = self._clear(op, spare) and whole
        self._remove_made(op)
        return whole

    def _clear(self, op: Operation, spare: Sequence[Path]) -> bool:
        """Removes what stands beside the files; False where it was somebody's."""
        kept = [one for one, left in zip(op.files, spare, strict=True) if not self._clear_one(op, one, left)]
        return not kept

    def _clear_one(self, op: Operation, one: Touched, left: Path) -> bool:
        """What is ours, or archived, goes; anything else is a version that somebody saved meanwhile: it is kept."""
        with suppress(OSError, KbError):
            found = hash_of(left)
            if found is None:
                return True
            if found in (one.before, one.after):
                left.unlink(missing_ok=True)
                return True
            kept = self.history.folder / op.id / KEPT / one.path
            while kept.exists():
                kept = kept.with_name(f"{kept.name}~")
            make_folders(kept.parents[one.path.count("/") + 1], f"{KEPT}/{one.path}".rpartition("/")[0])
            left.rename(kept)
            sync_folder(kept.parent)
        return False

    def _sweep(self, undone: Sequence[str]) -> None:
        """Folders that were made for what is undone go, if nothing is in them."""
        for op_id in reversed(undone):
            with suppress(KbError):
                self._remove_made(self.history.read(op_id))

    def _remove_made(self, op: Operation) -> None:
        for folder in reversed(op.made):
            with suppress(OSError):
                (self.root / folder).rmdir()

    def _end(self, op: Operation, state: State) -> Operation:
        ended = op.ended(state)
        try:
            write_whole(self.root / HISTORY / op.id / RECORD, dump(ended))
        except OSError as error:
            self._unended[op.id] = state
            why = blocked(Path(RECORD), error).message
            raise ConflictError(
                f"Operation {op.id} is over ({state}), but that could not be noted. {why}",
                "Mend that; it is noted before the next change",
            ) from error
        self._unended.pop(op.id, None)
        return ended

    def _anew(self, op: Operation) -> Operation:
        folder, op_id, at = self._make_folder()
        for one in op.files:
            if one.before is not None:
                data = self.history.archived(op.id, one.path)
                archive(self.history.kept(op.id, one.path), data, folder / ARCHIVE, one.path)
        return replace(op, id=op_id, at=at, state="prepared")

    def _prepared(self, op_id: str, *, dropped_too: bool = False) -> Operation:
        op = self.history.read(op_id)
        if op.device != self.device:
            raise ConflictError(f"Operation {op_id} is another device's.", "End it there")
        taken_up = dropped_too and op.state == "dropped" and op.hand == "plugin" and self._found(op) == "committed"
        if op.final and not taken_up:
            raise ConflictError(f"Operation {op_id} is over: {op.state}.", "Make a new plan")
        return op

    def _found(self, op: Operation) -> State:
        """What the disk says of an operation that is open."""
        try:
            now = [self._hash(one.path) for one in op.files]
        except KbError:  # a folder or a link stands there now, or it cannot be read
            return "conflict"
        if all(found == one.after for found, one in zip(now, op.files, strict=True)):
            return "committed"
        if all(found == one.before for found, one in zip(now, op.files, strict=True)):
            return "dropped"
        return "conflict"

    def _odd(self, op: Operation) -> str:
        for one in op.files:
            try:
                if self._hash(one.path) == one.after:
                    continue
            except KbError:
                pass
            return one.path
        return op.id

    def _hash(self, path: str) -> str | None:
        try:
            return hash_of(locate(self.root, path))
        except UsageError as error:
            raise NotFoundError(error.message, error.fix) from error


def _tag(op: Operation) -> str:
    """Short: names have a limit, and the note's own may be at it."""
    return f"kb-{op.id[-9:]}"
