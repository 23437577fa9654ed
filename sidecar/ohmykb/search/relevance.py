"""One calibrated relevance per note over both arms, and the verdict over the whole answer.

A note's relevance is one logistic over four signals of its words and two of each encoder. It needs no
view of the other notes but a fixed sample of the vault's vectors, so it can be worked out for a few
candidates alone. The verdict is a second logistic over four figures of the answer. Weights belong to a
set of encoders; `tests/bench/fit_relevance.py` fits them (docs/SEARCH.md has the figures).
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from math import exp, log
from typing import Literal, NamedTuple

from ohmykb.markdown.words import CHINESE_LETTER, is_chinese

Verdict = Literal["read", "glance", "skip"]

USUAL_NOTES = 125
"""Notes in the vaults the weights were fitted on."""
FEWEST_NOTES = 30
"""Below, the prior is not raised further."""
SHORT = {"use-multilingual": "use", "e5-small": "e5"}
"""Beginnings of the ids of encoders we ship weights for."""
LOOSE = 0.5
"""Likeness of names below which it says nothing."""
WHOLE = 0.99
"""Share of the question from which all of it counts as held."""
HIGH, MEDIUM = 0.6, 0.2
"""Scores from which confidence is so. Held out, of first hits at HIGH nine in ten are right, from MEDIUM more
than half, below one in ten, where nearly half of the questions have no answer (docs/SEARCH.md)."""
NOTHING = -20.0
"""Logit of an answer without a candidate."""
LONG = 60
"""Weight in Latin letters from which a question is a long one."""


class Near(NamedTuple):
    """What one encoder says of one note."""

    passage: float
    """Cosine of the question and the note's nearest chunk, both centred by language."""
    usual: float
    """Standard deviations above the vault's usual cosine for this question: the mean of that for the
    name vector and that for the nearest chunk. Free of the encoder's own scale."""


class Signals(NamedTuple):
    covered: float
    """Share of the question's weight (rarity) held by the note's best passage; its names count for each."""
    said: float
    """1 where it holds the whole question to the letter (folded)."""
    named: float
    """1 where it is called or tagged exactly so."""
    fuzzy: float
    """How alike the question and the likeliest of its names are, in [0, 1]: 0 up to LOOSE."""
    near: tuple[Near, ...] = ()
    """One per encoder, in the order of the weights."""

    def row(self) -> list[float]:
        return [self.covered, self.said, self.named, self.fuzzy, *(value for one in self.near for value in one)]


class Outcome(NamedTuple):
    """What the verdict looks at."""

    best: float
    """Logit of the first note, prior included."""
    named_long: float
    """Length of the question in [0, 1] × the highest cosine of any name vector (first encoder): a long
    question never comes near a name by accident, a short one does."""
    whole: float
    """1 where some note holds the whole question's words (`covered` from WHOLE on)."""
    fuzzy: float
    """`Signals.fuzzy` of the first note."""


class Weights(NamedTuple):
    encoders: tuple[str, ...]
    bias: float
    values: tuple[float, ...]
    """As `Signals.row`."""
    verdict_bias: float
    verdict_values: tuple[float, ...]
    """As `Outcome`."""
    skip: float
    """Logit of the verdict below which nothing is worth a look."""
    read: float
    """From this logit on the first answer is worth opening."""


@cache
def weights() -> dict[str, Weights]:
    """The weights we ship, by the short names of the encoders joined with `+`."""
    data = json.loads((resources.files("ohmykb.search") / "weights.json").read_text(encoding="utf-8"))
    return {
        name: Weights(
            tuple(one["encoders"]),
            one["bias"],
            tuple(one["values"]),
            one["verdict_bias"],
            tuple(one["verdict_values"]),
            one["skip"],
            one["read"],
        )
        for name, one in data.items()
    }


def weights_for(encoders: Sequence[str]) -> Weights:
    """For encoders by their ids, the quick one first.

    An encoder that was not fitted gets the quick set's weights: with centred vectors they serve others
    nearly as well as their own (e5: .94 and .91 against .93 and .90 mean recall@5).
    """
    names = names_of(encoders)
    return weights().get("+".join(names)) or weights()["+".join(["use", "e5"][: len(names)])]


def names_of(encoders: Sequence[str]) -> list[str]:
    """What weights call encoders: the ones we ship by a short name, others by their whole id."""
    return [next((name for start, name in SHORT.items() if one.startswith(start)), one) for one in encoders]


def prior(notes: int) -> float:
    """What the logit loses in a vault of so many notes. One note in `notes` is the right one, so the odds of
    each fall as 1 / notes; without it, nothing is ever absent from a big vault."""
    return log(max(notes, FEWEST_NOTES) / USUAL_NOTES)


def logit(weights: Weights, signals: Signals, notes: int) -> float:
    total = sum(w * x for w, x in zip(weights.values, signals.row(), strict=True))
    return weights.bias + total - prior(notes)


def score(weights: Weights, signals: Signals, notes: int) -> float:
    """Probability in [0, 1] that the note answers."""
    return score_of(logit(weights, signals, notes))


def score_of(logit: float) -> float:
    """The probability of a logit."""
    return 1.0 / (1.0 + exp(-max(min(logit, 40.0), -40.0)))


def confidence(value: float) -> Literal["high", "medium", "low"]:
    """Of a `score`."""
    return "high" if value >= HIGH else "medium" if value >= MEDIUM else "low"


def length(question: str) -> float:
    """In [0, 1]: weight of the question in Latin letters, LONG being 1."""
    weight = sum(CHINESE_LETTER if is_chinese(char) else 1.0 for char in question)
    return min(weight, LONG) / LONG


def outcome(question: str, logits: Sequence[float], signals: Sequence[Signals], highest_name: float) -> Outcome:
    """Of all candidates, in any order; `highest_name` is the highest cosine of any name vector (first encoder)."""
    if not logits:
        return Outcome(NOTHING, 0.0, 0.0, 0.0)
    first = max(range(len(logits)), key=logits.__getitem__)
    return Outcome(
        logits[first],
        length(question) * highest_name,
        float(any(one.covered >= WHOLE for one in signals)),
        signals[first].fuzzy,
    )


def verdict_logit(weights: Weights, seen: Outcome) -> float:
    return weights.verdict_bias + sum(w * x for w, x in zip(weights.verdict_values, seen, strict=True))


def verdict(weights: Weights, seen: Outcome) -> Verdict:
    """Whether the best answer is worth opening, its title worth a look, or neither."""
    value = verdict_logit(weights, seen)
    return "read" if value >= weights.read else "glance" if value >= weights.skip else "skip"
