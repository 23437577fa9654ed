"""What belongs with a note: through neighbours, in meaning, and what a person said about it."""

from pathlib import Path

import pytest

from ohmykb.index.encode import Filler
from ohmykb.models.bundled import BundledEncoder
from ohmykb.search.meaning import Arm, Meaning
from ohmykb.search.related import Ties, related
from trial import Trial

FILES = {
    "sourdough.md": "# Sourdough starter\nFlour and water, fed every day, until it bubbles and smells of yoghurt.",
    "天然酵种.md": "# 天然酵种\n面粉和水每天喂一次，直到它冒泡，闻起来像酸奶，就能做面包了。",
    "margin.md": "# Margin call\nThe broker sells the position when the account falls below the maintenance margin.",
    "trains.md": "# Night trains\nSleeper cars from Vienna to Venice, booked three months ahead.",
    "hub.md": "[[sourdough]] [[trains]]",
}


@pytest.fixture
def arms(trial: Trial, tmp_path: Path) -> tuple[Arm, ...]:
    trial.put(dict(FILES))
    trial.look()
    encoder = BundledEncoder(tmp_path / "cache")
    Filler(encoder, lambda job: job(trial.index.db)).fill(trial.index.db)
    meaning = Meaning([encoder])
    meaning.refresh(trial.index.db)
    return meaning.arms


def told(trial: Trial, arms: tuple[Arm, ...], name: str, ties: Ties = Ties()) -> dict[str, list[str]]:  # noqa: B008
    found = related(trial.index.db, name, arms=arms, ties=ties)["related"]
    return {one["path"]: one["reasons"] for one in found}


def test_near_in_meaning_across_languages_and_through_a_neighbour(trial: Trial, arms: tuple[Arm, ...]) -> None:
    assert told(trial, arms, "sourdough") == {"天然酵种.md": ["meaning"], "trains.md": ["neighbors"]}
    assert told(trial, (), "sourdough") == {"trains.md": ["neighbors"]}


def test_a_link_makes_it_no_suggestion_any_more(trial: Trial, arms: tuple[Arm, ...]) -> None:
    trial.put({"天然酵种.md": FILES["天然酵种.md"] + "\n[[sourdough]]"})
    trial.look()
    assert "天然酵种.md" not in told(trial, arms, "sourdough")


def test_dismissed_and_barred_notes_stay_away(trial: Trial, arms: tuple[Arm, ...]) -> None:
    assert "天然酵种.md" not in told(trial, arms, "sourdough", Ties(dismissed={"天然酵种.md"}))
    barred = Ties(barred=lambda path: path == "天然酵种.md")
    assert "天然酵种.md" not in told(trial, arms, "sourdough", barred)
    assert "sourdough.md" in told(trial, arms, "天然酵种", barred)
