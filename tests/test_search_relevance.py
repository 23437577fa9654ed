"""One relevance over words and meaning: what raises it, what lowers it, and the verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.search import relevance
from ohmykb.search.relevance import FEWEST_NOTES, USUAL_NOTES, Near, Signals

USE = relevance.weights_for(["use-multilingual-v3:0db566fd0af8"])
BOTH = relevance.weights_for(["use-multilingual-v3:0db566fd0af8", "e5-small-q4:1571fc982750"])
UNIT = st.floats(0, 1)
FAR = Near(0.0, 0.0)


def test_weights_belong_to_encoders() -> None:
    assert len(USE.encoders) == 1
    assert len(BOTH.encoders) == 2
    for known in relevance.weights().values():
        assert len(known.values) == 4 + 2 * len(known.encoders)
        assert known.skip < known.read


@pytest.mark.parametrize("ids", [["some/model"], ["http:127.0.0.1:bge"], ["some/model", "http:127.0.0.1:bge"]])
def test_an_unknown_encoder_has_sound_weights(ids: list[str]) -> None:
    assert relevance.weights_for(ids) in (USE, BOTH)
    assert len(relevance.weights_for(ids).encoders) == len(ids)


@given(UNIT, UNIT, UNIT, UNIT, st.floats(-1, 1), st.floats(-3, 12), st.integers(0, 200_000))
def test_every_signal_speaks_for_the_note(
    covered: float, said: float, named: float, fuzzy: float, near: float, usual: float, notes: int
) -> None:
    base = Signals(covered, said, named, fuzzy, (Near(near, usual),))
    value = relevance.score(USE, base, notes)
    assert 0 <= value <= 1
    for better in (
        base._replace(covered=1.0), base._replace(said=1.0), base._replace(named=1.0), base._replace(fuzzy=1.0),
        base._replace(near=(Near(1.0, usual),)), base._replace(near=(Near(near, 12.0),)),
    ):  # fmt: skip
        assert relevance.score(USE, better, notes) >= value


def test_in_a_bigger_vault_the_same_likeness_says_less() -> None:
    likely = Signals(0.3, 0, 0, 0.2, (Near(0.4, 4.0),))
    scores = [relevance.score(USE, likely, notes) for notes in (FEWEST_NOTES, USUAL_NOTES, 1000, 100_000)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    assert relevance.prior(0) == relevance.prior(FEWEST_NOTES)
    assert relevance.prior(USUAL_NOTES) == 0


def test_no_candidates_are_nothing() -> None:
    assert relevance.verdict(USE, relevance.outcome("anything", [], [], 0.0)) == "skip"


def test_the_verdict_rises_with_the_best_answer() -> None:
    order = ["skip", "glance", "read"]
    found = []
    for covered in (0.0, 0.3, 0.6, 1.0):
        signals = Signals(covered, float(covered == 1), float(covered == 1), covered, (Near(covered / 2, 8 * covered),))
        logit = relevance.logit(USE, signals, 100)
        seen = relevance.outcome("a question of some length", [logit], [signals], covered / 2)
        found.append(order.index(relevance.verdict(USE, seen)))
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 2)


def test_only_the_whole_question_counts_as_held() -> None:
    some = [Signals(0.5, 0, 0, 0.1, (FAR,)), Signals(1.0, 0, 0, 0.7, (FAR,))]
    assert relevance.outcome("q", [0.0, -1.0], some, 0.0).whole == 1.0
    assert relevance.outcome("q", [0.0, -1.0], some, 0.0).fuzzy == 0.1
    assert relevance.outcome("q", [0.0], some[:1], 0.0).whole == 0.0


def test_length_counts_chinese_letters_more() -> None:
    assert relevance.length("资金费率") > relevance.length("fees")
    assert relevance.length("x" * 1000) == 1.0
    assert relevance.length("") == 0.0
