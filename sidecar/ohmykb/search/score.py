"""How well one note answers: plain signals of its words, and one number from them."""

from collections.abc import Sequence
from math import exp, log1p
from typing import Literal, NamedTuple

from ohmykb.markdown.words import fold
from ohmykb.search.question import Question, Term
from ohmykb.store.fulltext import Found

Why = Literal["title", "alias", "tag", "heading", "property", "path", "text", "semantic"]
FIELDS: tuple[Why, ...] = ("path", "title", "alias", "tag", "heading", "property", "text")

# Weights of the token score, set by hand on the shape of the signals and checked on the retrieval
# trials; the calibrated relevance of both arms replaces them where vectors are there.
BIAS = -3.4
COVERED = 4.2
COVERED_IN_NAMES = 1.6
SAID = 1.3
NAMED = 2.5
OFTEN = 0.35
LINKED = 0.12
SOUNDED = 3.6

PART = 0.6
"""What a term counts that is only a part of a word."""
LOOKS = 8
BODY_FIELDS = 5

HIGH, MEDIUM = 0.75, 0.4
READ, GLANCE = 0.5, 0.2


class Signals(NamedTuple):
    covered: float
    """Share of the question's weight whose terms the note holds."""
    covered_in_names: float
    """The same for title, aliases, tags, path and headings."""
    said: bool
    """Holds the whole question to the letter (folded)."""
    named: bool
    """Is called exactly so, or tagged so."""
    often: float
    """How often, damped: ln(1 + occurrences)."""
    linked: int
    """Backlinks."""
    sounded: bool
    """Found by pinyin alone."""


class Judged(NamedTuple):
    found: Found
    score: float
    why: tuple[Why, ...]
    folded: str
    """The folded text, for the snippet."""


def judge(question: Question, found: Found, backlinks: int) -> Judged:
    """Scores one note; `score` ∈ [0, 1]."""
    fields = [
        found.path,
        found.title,
        found.aliases,
        found.tags,
        found.headings,
        found.properties,
        found.text,
    ]
    folded = fold("\x00".join(field.replace("\x00", " ") for field in fields)).split("\x00")
    names = folded[1].split("\n") + folded[2].split("\n") + folded[3].split("\n")
    stem = folded[0].rsplit("/", 1)[-1].removesuffix(".md")
    held_by: set[int] = set()
    covered = in_names = total = 0.0
    count = 0
    for term in question.terms:
        total += term.weight
        held = [(_holds(field, term), place) for place, field in enumerate(folded)]
        best = max(held)[0]
        if best:
            covered += term.weight * best
            held_by.update(place for share, place in held if share)
            count += folded[6].count(term.text)
            in_names += term.weight * max(share for share, place in held if place < BODY_FIELDS)
    text = question.folded
    said = any(text in field for field in folded) if text else False
    named = text in names or text == stem
    if not question.terms:
        total = covered = 1.0 if said else 0.0
        held_by.update(place for place, field in enumerate(folded) if text in field)
    sounded = not held_by
    signals = Signals(
        covered / total if total else 0.0, in_names / total if total else 0.0,
        said, named, log1p(count), backlinks, sounded,
    )  # fmt: skip
    why: tuple[Why, ...] = tuple(FIELDS[place] for place in (1, 2, 3, 4, 5, 0, 6) if place in held_by)
    return Judged(found, score(signals), why or ("title",), folded[6])


def _holds(field: str, term: Term) -> float:
    """1 where the field holds the term as a word, PART where only inside one, else 0."""
    place = field.find(term.text)
    if place < 0 or term.paired:
        return float(place >= 0)
    for _ in range(LOOKS):
        end = place + len(term.text)
        before, after = field[place - 1 : place], field[end : end + 1]
        if not (_latin(before) or _latin(after)):
            return 1.0
        place = field.find(term.text, end)
        if place < 0:
            break
    return PART


def _latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def score(signals: Signals) -> float:
    """One logistic over the signals."""
    return _logistic(
        BIAS
        + COVERED * signals.covered
        + COVERED_IN_NAMES * signals.covered_in_names
        + SAID * signals.said
        + NAMED * signals.named
        + OFTEN * min(signals.often, 3.0)
        + LINKED * min(log1p(signals.linked), 4.0)
        + SOUNDED * signals.sounded
    )


def confidence(value: float) -> Literal["high", "medium", "low"]:
    return "high" if value >= HIGH else "medium" if value >= MEDIUM else "low"


def verdict(scores: Sequence[float]) -> Literal["read", "glance", "skip"]:
    """Whether the best answer is worth opening, its title worth a look, or neither."""
    best = max(scores, default=0.0)
    return "read" if best >= READ else "glance" if best >= GLANCE else "skip"


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + exp(-x))
