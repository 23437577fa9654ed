"""A note renamed, and its folder right after: what is remembered of its links goes on with it."""

import pytest

from ohmykb.store import state
from trial import Trial


@pytest.mark.parametrize("order", [(["a.md"], ["chest/"]), (["a.md", "box/new.md"], ["box/", "chest/"])])
def test_a_note_that_moved_on(trial: Trial, order: tuple[list[str], list[str]]) -> None:
    trial.put({"a.md": "own words\n", "b.md": "[[a]]\n"})
    trial.look()
    trial.move("a.md", "box/new.md")
    trial.move("box", "chest")
    assert trial.index.refresh(order[0]).removed == {"a.md"}
    trial.index.refresh(order[1])
    history = state.open_state(trial.vault.state_file)
    assert [(old, new) for _, old, new in state.renames(history)] == [("a.md", "chest/new.md")]
    history.close()


def test_two_of_the_same_bytes_are_not_told_apart(trial: Trial) -> None:
    trial.put({"a.md": "same\n", "b.md": "same\n"})
    trial.look()
    trial.remove("a.md")
    trial.remove("b.md")
    trial.index.refresh(["a.md", "b.md"])
    trial.put({"c.md": "same\n"})
    trial.index.refresh(["c.md"])
    history = state.open_state(trial.vault.state_file)
    assert state.renames(history) == []
    history.close()


def test_a_folder_that_comes_back_where_it_was(trial: Trial) -> None:
    trial.put({f"p/n{number}.md": f"text {number}" for number in range(3000)} | {"s.md": "[[p/n7]]"})
    trial.look()
    kept = trial.root.parent / "kept"
    (trial.root / "p").rename(kept)
    trial.settle()
    kept.rename(trial.root / "p")
    trial.look()
    history = state.open_state(trial.vault.state_file)
    assert state.renames(history) == []
    history.close()
    assert trial.targets("s.md") == ["p/n7.md"]
