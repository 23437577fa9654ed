"""Whatever happens while notes are written: no line is lost, and all of it can be taken back."""

from pathlib import Path

import pytest

from never_lost import Life, undo_all


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
