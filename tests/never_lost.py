"""Random lives of a small vault: both hands, a person who edits in between, kills at every step, undos in any order.

What must hold afterwards: every line that ever stood in a note is in a note or in `.history/`, and every file is
one of the versions that somebody meant.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ohmykb.errors import ConflictError, KbError
from ohmykb.note import NotePath
from ohmykb.vault.door import Door
from ohmykb.vault.operations import HISTORY, Change, Operation
from ohmykb.vault.replace import TEMPORARY, digest

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE = "00c0ffee"
STEPS = 24
"""About as many as an operation on all of the notes takes."""
PATHS = ("a.md", "b 笔记.md", "folder/c.md", "folder/deep/d.md")


class KilledError(BaseException):
    """The process ends here."""


class Ticking:
    """A millisecond a look."""

    def __init__(self) -> None:
        self.now = 1_764_547_200.0

    def wall(self) -> float:
        self.now += 0.001
        return self.now

    def monotonic(self) -> float:
        return self.wall()


@dataclass
class Tally:
    operations: int = 0
    lines: int = 0
    kills: int = 0
    conflicts: int = 0
    undos: int = 0
    edits: int = 0
    lost: list[str] = field(default_factory=list)


class Life:
    """One vault; `step` is told before each step of the write path."""

    def __init__(self, root: Path, seed: int, *, edits: bool = True) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.tally = Tally()
        self.lines: set[str] = set()
        self.stood: set[str] = set()
        """Lines that truly came to stand in a note: some are planned and never written."""
        self.clock = Ticking()
        self.edits = edits
        self.number = 0
        self.at_step: Callable[[str], None] = lambda _: None
        self.door = self.opened()
        for path in PATHS[:3]:
            self.write(path, self.text())
        self.first = self.files()

    def opened(self) -> Door:
        return Door(self.root, DEVICE, self.clock, lambda *_: None, lambda name: self.at_step(name))

    def text(self, before: str = "") -> str:
        """Some lines of `before`, some new; ends may be of either kind."""
        kept = [line for line in before.splitlines(keepends=True) if self.chance.random() < 0.8]
        for _ in range(self.chance.randint(1, 3)):
            self.number += 1
            line = f"line {self.number} 第{self.number}行" + self.chance.choice(("\n", "\r\n"))
            kept.insert(self.chance.randint(0, len(kept)), line)
            self.lines.add(line.strip())
        return "".join(kept)

    def write(self, path: str, text: str) -> None:
        """As a person's editor does: in place, or by a rename."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.chance.random() < 0.5:
            file.write_bytes(text.encode())
        else:
            beside = file.with_name(".saving")
            beside.write_bytes(text.encode())
            beside.replace(file)

    def read(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def files(self) -> dict[str, bytes]:
        return {path: data for path in PATHS if (data := self.read(path)) is not None}

    # --- what happens

    def person(self, path: str | None = None) -> None:
        """Adds lines; what a person deletes is their own doing, and not counted."""
        path = path or self.chance.choice(PATHS)
        before = self.read(path)
        if before is None:
            return
        self.number += 1
        line = f"own {self.number} 自己{self.number}"
        self.lines.add(line)
        self.stood.add(line)  # from now on, though it be in the middle of an operation
        self.tally.edits += 1
        self.write(path, before.decode() + line + "\n")

    def changes(self) -> list[Change]:
        found = []
        for path in self.chance.sample(PATHS, self.chance.randint(1, len(PATHS))):
            before = self.read(path)
            after: bytes | None = self.text("" if before is None else before.decode()).encode()
            if before is not None and self.chance.random() < 0.1:
                after = None
            found.append(Change(NotePath(path), None if before is None else digest(before), after))
        return found

    def once(self) -> None:
        """One operation, by either hand, with what may come in between."""
        self.tally.operations += 1
        kill = self.chance.randint(0, STEPS) if self.chance.random() < 0.3 else -1
        some = self.chance.randint(1, 3) if self.edits and self.chance.random() < 0.4 else 0
        edits = self.chance.sample(range(1, STEPS), some)
        count = 0

        def at_step(_: str) -> None:
            nonlocal count
            count += 1
            if count in edits:
                self.person()
            if count == kill:
                raise KilledError

        self.at_step = at_step
        try:
            what = self.chance.random()
            if what < 0.6:
                self.door.apply(self.changes(), kind="trial", decider="chance")
            elif what < 0.8:
                self.plugin()
            else:
                self.undo()
        except ConflictError:
            self.tally.conflicts += 1
        except KilledError:
            self.tally.kills += 1
            self.at_step = lambda _: None
            self.door = self.opened()
            self.door.settle()
        except KbError:
            pass  # nothing to undo, say
        finally:
            self.at_step = lambda _: None

    def plugin(self) -> None:
        changes = self.changes()
        op = self.door.prepare(changes, kind="trial", decider="chance")
        if self.chance.random() < 0.2:
            self.door.abandon(op.id)
            return
        for change in changes:
            if self.edits and self.chance.random() < 0.1:
                self.person(change.path)
            now = self.read(change.path)
            if (None if now is None else digest(now)) != change.before:
                continue  # Obsidian's own process() sees that the note is another
            if change.after is None:
                (self.root / change.path).unlink()
            else:
                self.write(change.path, change.after.decode())
        self.door.commit(op.id)

    def undo(self) -> None:
        known = [op for op in self.door.history.operations() if op.state == "committed"]
        if known:
            some = self.chance.sample(known, min(len(known), self.chance.randint(1, 2)))
            self.tally.undos += 1
            self.door.undo([op.id for op in some])

    # --- what must hold

    def check(self) -> None:
        """Every line is somewhere; nothing of ours lies about; every record ends."""
        held = "\n".join(
            path.read_bytes().decode() for path in self.root.rglob("*") if path.is_file() and path.name != "op.json"
        )
        present = {line.strip() for line in held.split("\n")}
        planned = self.lines - present
        self.tally.lines = len(self.lines)
        self.tally.lost += sorted(planned & self.stood)
        left = [path for path in self.root.rglob(f"*{TEMPORARY}*") if HISTORY not in path.parts]
        assert not left, left
        assert all(op.final for op in self.door.history.operations())

    def look(self) -> None:
        """Remembers what stands in the notes now."""
        for data in self.files().values():
            self.stood.update(line.strip() for line in data.decode().split("\n") if line.strip())

    def live(self, operations: int) -> Tally:
        self.look()
        for _ in range(operations):
            self.once()
            self.look()
            if self.edits and self.chance.random() < 0.2:
                self.person()
                self.look()
        self.check()
        return self.tally


def undo_all(door: Door) -> Operation | None:
    """Everything, in one operation; None where nothing differs."""
    try:
        return door.undo([], since=0.0)
    except ConflictError:
        raise
    except KbError:
        return None


# --- not by chance: something at one step, and something more at every later one

SHAPES: dict[str, tuple[tuple[str, bytes | None, bytes | None], ...]] = {
    "replace": (("a.md", b"old a\n", b"new a\n"),),
    "delete": (("a.md", b"old a\n", None),),
    "create": (("a.md", None, b"new a\n"),),
    "two": (("b.md", b"old b\n", b"new b\n"), ("a.md", b"old a\n", b"new a\n")),
    "mixed": (("b.md", b"old b\n", None), ("a.md", b"old a\n", b"new a\n"), ("c.md", None, b"new c\n")),
}
"""Path, before, after."""


def one_trial(root: Path, shape: str, edits: dict[int, str], kill: int) -> tuple[int, list[str]]:
    """One operation; a person adds a line to a note (or makes it) at some steps, a kill comes at another.

    (how many steps there were, what does not hold)
    """
    for path, before, _ in SHAPES[shape]:
        if before is not None:
            (root / path).write_bytes(before)
    count = 0
    newest: dict[str, bytes] = {}

    def step(_: str) -> None:
        nonlocal count
        count += 1
        if count in edits:
            path = edits[count]
            file = root / path
            newest[path] = (file.read_bytes() if file.exists() else b"") + b"own %d\n" % count
            (root / ".saving").write_bytes(newest[path])
            (root / ".saving").replace(file)
        if count == kill:
            raise KilledError

    changes = [
        Change(NotePath(path), None if before is None else digest(before), after)
        for path, before, after in SHAPES[shape]
    ]
    killed = committed = False
    door = Door(root, DEVICE, Ticking(), lambda *_: None, step)
    try:
        door.apply(changes, kind="trial", decider="test")
        committed = True
    except ConflictError:
        pass
    except KilledError:
        killed = True
    steps = count
    door = Door(root, DEVICE, Ticking(), lambda *_: None)
    door.settle()
    return steps, _faults(root, shape, newest, door, whole=committed or not killed, committed=committed)


def _faults(
    root: Path, shape: str, newest: dict[str, bytes], door: Door, *, whole: bool, committed: bool
) -> list[str]:  # fmt: skip
    found = []
    held = [path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != "op.json"]
    lines = {line for data in held for line in data.split(b"\n")}
    stood = [before for _, before, _ in SHAPES[shape] if before is not None] + list(newest.values())
    for data in stood:
        found += [f"lost: {line.decode()}" for line in data.split(b"\n") if line.startswith(b"o") and line not in lines]
    found += [f"left: {path.name}" for path in root.iterdir() if TEMPORARY in path.name]
    found += [f"open: {op.id}" for op in door.history.operations() if not op.final]
    for path, before, after in SHAPES[shape] if whole else ():
        file = root / path
        now = file.read_bytes() if file.exists() else None
        wanted = newest.get(path, after if committed else before)
        if now != wanted:
            found.append(f"{path} holds {now!r}, not {wanted!r}")
    return found
