"""The one door through which files of a vault are written: archived first, compared, replaced, recorded.

A kill at any point leaves each file as it was or as it was to become, and the archive whole; `settle`
names which it is. Nothing here knows what a note means: `judge` says what may not be written.
"""

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Final

from ohmykb.clock import Clock
from ohmykb.errors import ConflictError, KbError, NotFoundError, UsageError
from ohmykb.note import NotePath
from ohmykb.vault import undo
from ohmykb.vault.history import History
from ohmykb.vault.operations import (
    ARCHIVE,
    HISTORY,
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
from ohmykb.vault.replace import (
    TEMPORARY,
    blocked,
    digest,
    expect,
    give_back,
    held,
    locate,
    put,
    read_bytes,
    stage,
    sync_folder,
    take,
    write_new,
    write_whole,
)

Judge = Callable[[NotePath, bytes | None, bytes | None], None]
"""Path, bytes before and after; raises RefusedError for what may not be written."""

UNDO: Final = "undo"


def no_step(name: str) -> None:
    """Nobody watches."""


class Door:
    """One at a time; `step` is told before each step, for trials that end there."""

    def __init__(
        self, root: Path, device: str, clock: Clock, judge: Judge, step: Callable[[str], None] = no_step,
        follow: undo.Follow = lambda path, _: path,
    ) -> None:  # fmt: skip
        self.root = root
        self.history = History(root)
        self.device = device
        self._clock = clock
        self._judge = judge
        self._step = step
        self._follow = follow
        self._lock = RLock()
        self._latest_ms = 0

    def apply(
        self, changes: Sequence[Change], *, kind: str, decider: str, reasons: Sequence[str] = (),
        undoes: Sequence[str] = (),
    ) -> Operation:  # fmt: skip
        """All of the changes, or none of them. Raises ConflictError with nothing changed, RefusedError."""
        with self._lock:
            op = self._archive(changes, "sidecar", kind, decider, reasons, undoes)
            op = self._carry_out(op, changes)
            if undoes:
                self._sweep(undoes)
            return op

    def prepare(
        self, changes: Sequence[Change], *, kind: str, decider: str, reasons: Sequence[str] = (),
        undoes: Sequence[str] = (),
    ) -> Operation:  # fmt: skip
        """Archives what another hand is about to write. `commit` or `abandon` ends it."""
        with self._lock:
            return self._archive(changes, "plugin", kind, decider, reasons, undoes)

    def commit(self, op_id: str) -> Operation:
        """Raises ConflictError where the disk holds something else than was to be written."""
        with self._lock:
            op = self._prepared(op_id)
            found = self._found(op)
            if found == "committed":
                return self._end(op, "committed")
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
            settled = []
            for op in self.history.open(self.device):
                for one in op.files:
                    with suppress(OSError):
                        for left in (self.root / one.path).parent.glob(f".{_tag(op)}-*{TEMPORARY}*"):
                            self._settle_left(left, one)
                settled.append(self._end(op, self._found(op)))
            return settled

    def _settle_left(self, left: Path, one: Touched) -> None:
        """A file that a crash left: ours, or what was replaced and is in the archive; anything else is kept."""
        data = read_bytes(left)
        if data is not None and digest(data) in (one.before, one.after):
            left.unlink()

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
        if not self._latest_ms and (ids := self.history.ids()):
            self._latest_ms = milliseconds(ids[-1])
        op_id, at, self._latest_ms = new_id(self._clock, self.device, self._latest_ms)
        folder = self.root / HISTORY / op_id
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
            folder.mkdir(parents=True)
            for change, data in zip(changes, before, strict=True):
                if data is not None:
                    kept = folder / ARCHIVE / change.path
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    write_new(kept, data)
                    sync_folder(kept.parent)
            self._step("prepare")
            write_whole(folder / RECORD, dump(op))
            sync_folder(folder.parent)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise blocked(folder, error) from error
        return op

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
        staged: list[Path | None] = []
        done: list[int] = []
        try:
            for number, change in enumerate(changes):
                self._step("stage")
                staged.append(self._stage(op, number, change))
            for change in changes:
                self._step("compare")
                expect(locate(self.root, change.path), change.before)
            for number, change in enumerate(changes):
                self._step("write")
                self._write(op, number, change, staged[number])
                done.append(number)
            for number, change in enumerate(changes):
                fresh = staged[number]
                if fresh is not None and not held(fresh, change.before):
                    give_back(fresh, self.root / change.path)
                    done.remove(number)
                    raise ConflictError(f"{change.path} was saved at this very moment: it stays as saved.", "Try again")
        except KbError as error:
            whole = self._put_back(op, changes, done, staged)
            self._end(op, "dropped" if whole else "conflict")
            if isinstance(error, ConflictError):
                raise
            raise ConflictError(error.message, error.fix) from error
        self._step("clean")
        self._clear(staged)  # what was replaced is in the archive
        self._step("commit")
        return self._end(op, "committed")

    def _stage(self, op: Operation, number: int, change: Change) -> Path | None:
        if change.after is None:
            return None
        file = locate(self.root, change.path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise blocked(file.parent, error) from error
        return stage(file, change.after, f"{_tag(op)}-{number}")

    def _write(self, op: Operation, number: int, change: Change, fresh: Path | None) -> None:
        file = locate(self.root, change.path)
        if fresh is not None:
            put(fresh, file, change.before)
        elif change.before is not None:
            take(file, change.before, f"{_tag(op)}-{number}")

    def _put_back(
        self, op: Operation, changes: Sequence[Change], done: Sequence[int], staged: Sequence[Path | None]
    ) -> bool:
        """What was written of it is taken back; False where somebody wrote over it meanwhile."""
        whole = True
        self._clear(staged)
        for number in reversed(done):
            change, file = changes[number], self.root / changes[number].path
            after = None if change.after is None else digest(change.after)
            try:
                if change.before is None:
                    if after is not None:
                        take(file, after, f"{_tag(op)}-b{number}")
                    continue
                data = self.history.archived(op.id, change.path)
                fresh = stage(file, data, f"{_tag(op)}-b{number}")
                put(fresh, file, after)
                fresh.unlink(missing_ok=True)
            except KbError:
                whole = False
        self._remove_made(op)
        return whole

    @staticmethod
    def _clear(staged: Sequence[Path | None]) -> None:
        for fresh in staged:
            if fresh is not None:
                with suppress(OSError):
                    fresh.unlink(missing_ok=True)

    def _sweep(self, undone: Sequence[str]) -> None:
        """Folders that were made for what is undone go, if nothing is in them."""
        for op_id in reversed(undone):
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
            raise blocked(Path(RECORD), error) from error
        return ended

    def _prepared(self, op_id: str) -> Operation:
        op = self.history.read(op_id)
        if op.device != self.device:
            raise ConflictError(f"Operation {op_id} is another device's.", "End it there")
        if op.final:
            raise ConflictError(f"Operation {op_id} is over: {op.state}.", "Make a new plan")
        return op

    def _found(self, op: Operation) -> State:
        """What the disk says of an operation that is open."""
        now = [self._hash(one.path) for one in op.files]
        if all(found == one.after for found, one in zip(now, op.files, strict=True)):
            return "committed"
        if all(found == one.before for found, one in zip(now, op.files, strict=True)):
            return "dropped"
        return "conflict"

    def _odd(self, op: Operation) -> str:
        return next((one.path for one in op.files if self._hash(one.path) != one.after), op.id)

    def _hash(self, path: str) -> str | None:
        try:
            data = read_bytes(locate(self.root, path))
        except UsageError as error:
            raise NotFoundError(error.message, error.fix) from error
        return None if data is None else digest(data)


def _tag(op: Operation) -> str:
    """Short: names have a limit, and the note's own may be at it."""
    return f"kb-{op.id[-9:]}"
