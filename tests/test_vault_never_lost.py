"""Whatever happens while notes are written: no line is lost, and all of it can be taken back."""

import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from never_lost import DEVICE, Life, Ticking, one_trial, undo_all
from ohmykb.errors import ConflictError
from ohmykb.note import NotePath
from ohmykb.vault.door import Door
from ohmykb.vault.operations import Change
from ohmykb.vault.replace import TEMPORARY, digest


@pytest.mark.parametrize("seed", range(12))
def test_no_line_is_ever_lost(tmp_path: Path, seed: int) -> None:
    life = Life(tmp_path, seed)
    tally = life.live(60)
    assert tally.lost == []
    assert tally.kills
    assert tally.conflicts


@pytest.mark.parametrize("seed", range(8))
def test_undoing_everything_gives_back_the_vault(tmp_path: Path, seed: int) -> None:
    life = Life(tmp_path, seed, edits=False)
    tally = life.live(60)
    assert tally.lost == []
    undo_all(life.door)
    assert life.files() == life.first


@pytest.mark.parametrize("shape", ["replace", "delete", "create"])
def test_every_pair_of_steps(tmp_path: Path, shape: str) -> None:
    """An edit at one step, and another edit or a kill at every later one; the other shapes are in the bench."""
    (tmp_path / "none").mkdir()
    steps, _ = one_trial(tmp_path / "none", shape, {}, 0)
    faults = []
    for first in range(1, steps + 1):
        for then in range(first, steps + 3):
            for kill in (False, True):
                root = tmp_path / f"{first}-{then}-{kill}"
                root.mkdir()
                edits = {first: "a.md"} if kill else {first: "a.md", then: "a.md"}
                _, found = one_trial(root, shape, edits, then if kill else 0)
                faults += [f"{first}, {then}, {'kill' if kill else 'edit'}: {fault}" for fault in found]
    assert faults == []


@pytest.mark.skipif(sys.platform == "win32", reason="files in use are locked there")
def test_somebody_saves_all_the_time(tmp_path: Path) -> None:
    """Truly at once: every save that ended is in the note or the archive, and the newest is in the note."""
    note = tmp_path / "a.md"
    note.write_bytes(b"")
    over = Event()
    saved: list[str] = []

    def save() -> None:
        number = 0
        while not over.is_set():
            number += 1
            (tmp_path / ".saving").write_text("\n".join([*saved[-20:], f"own {number}"]) + "\n", "utf-8")
            (tmp_path / ".saving").replace(note)
            saved.append(f"own {number}")

    door = Door(tmp_path, DEVICE, Ticking(), lambda *_: None)
    somebody = Thread(target=save)
    somebody.start()
    committed = conflicts = 0
    try:
        while committed + conflicts < 150:
            seen = note.read_bytes()
            change = Change(NotePath("a.md"), digest(seen), seen + b"ours %d\n" % (committed + conflicts))
            try:
                door.apply([change], kind="trial", decider="test")
                committed += 1
            except ConflictError:
                conflicts += 1
    finally:
        over.set()
        somebody.join()
    assert saved[-1] in note.read_text("utf-8").splitlines()
    assert conflicts
    assert not [path for path in tmp_path.iterdir() if TEMPORARY in path.name]
    assert all(op.final for op in door.history.operations())
