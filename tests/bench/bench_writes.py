"""`python tests/bench/bench_writes.py [N]`: N operations (10,000) in random lives of small vaults, with kills at every
step, a person who edits in between and undos in any order: no line may be lost. Then what an operation costs beside the
bare write that it cannot do without, and how long the list of 10,000 operations takes.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from never_lost import DEVICE, SHAPES, Life, Tally, Ticking, one_trial, undo_all
from ohmykb.note import NotePath
from ohmykb.vault.door import Door
from ohmykb.vault.operations import Change
from ohmykb.vault.replace import digest

OPERATIONS_A_LIFE = 200
ROUNDS = 60


def lives(operations: int) -> None:
    total = Tally()
    whole = undone = 0
    for seed in range(-(-operations // OPERATIONS_A_LIFE)):
        with tempfile.TemporaryDirectory() as folder:
            edits = seed % 3 != 0
            life = Life(Path(folder), seed, edits=edits)
            tally = life.live(OPERATIONS_A_LIFE)
            for name in ("operations", "lines", "kills", "conflicts", "undos", "edits"):
                setattr(total, name, getattr(total, name) + getattr(tally, name))
            total.lost += tally.lost
            if not edits:
                whole += 1
                undo_all(life.door)
                undone += life.files() == life.first
    print(
        f"{total.operations} operations, {total.kills} kills, {total.conflicts} conflicts, {total.undos} undos,"
        f" {total.edits} edits in between: {total.lines} lines, {len(total.lost)} lost"
    )
    print(f"everything undone: {undone} of {whole} vaults byte for byte")
    if total.lost or undone != whole:
        sys.exit(1)


def pairs() -> None:
    """An edit of any of the notes at one step, and another, or a kill, at every later one."""
    trials = 0
    faults: list[str] = []
    for shape in ("two", "mixed"):
        names = [path for path, _, _ in SHAPES[shape]]
        with tempfile.TemporaryDirectory() as folder:
            steps, _ = one_trial(Path(folder), shape, {}, 0)
        for first in range(1, steps + 1):
            for then in range(first, steps + 3):
                for one in names:
                    for other in (*names, None):
                        edits = {first: one} if other is None else {first: one, then: other}
                        with tempfile.TemporaryDirectory() as folder:
                            found = one_trial(Path(folder), shape, edits, then if other is None else 0)[1]
                        trials += 1
                        faults += [f"{shape} {edits} {then}: {fault}" for fault in found]
    print(f"{trials} pairs of steps: {len(faults)} faults", *faults[:10], sep="\n  ")
    if faults:
        sys.exit(1)


def cost() -> None:
    """An operation makes safe what the bare write does too, and the archive and two records besides."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        root = Path(folder)
        door = Door(root, DEVICE, Ticking(), lambda *_: None)
        text = b"# Note\n\nSome words.\n" * 50
        note = root / "a.md"
        note.write_bytes(text)
        ours, bare = [], []
        for number in range(ROUNDS):
            before, after = note.read_bytes(), text + str(number).encode()
            start = time.perf_counter()
            door.apply([Change(NotePath("a.md"), digest(before), after)], kind="bench", decider="bench")
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            with open(root / "fresh", "wb") as file:  # noqa: PTH123
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            (root / "fresh").replace(root / "b.md")
            bare.append(time.perf_counter() - start)
        one, other = statistics.median(ours) * 1000, statistics.median(bare) * 1000
        print(f"one operation {one:.1f} ms, a bare write made safe {other:.1f} ms: {one / other:.1f}x")


def listing(count: int = 10_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        door = Door(root, DEVICE, Ticking(), lambda *_: None)
        (root / "a.md").write_bytes(b"a")
        door.apply([Change(NotePath("a.md"), digest(b"a"), b"b")], kind="bench", decider="bench")
        (made,) = (root / ".history").iterdir()
        record = (made / "op.json").read_text("utf-8")
        for number in range(count):
            name = f"20260101T{number:09d}Z-00c0-0000"
            (root / ".history" / name).mkdir()
            (root / ".history" / name / "op.json").write_text(record.replace(made.name, name), "utf-8")
        start = time.perf_counter()
        found = len(door.history.operations())
        print(f"{found} operations listed in {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    lives(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    pairs()
    cost()
    listing()
