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
OFTEN = 4.0
LINKED = 0.12
SOUNDED = 3.6

SATURATED = 1.2
"""Occurrences at which a term counts half, in a text of usual length (BM25's k1)."""
LENGTH_COUNTS = 0.5
"""How far a long text must say more to count the same (BM25's b)."""
USUAL_LENGTH = 1500
PART = 0.6
"""What a term counts that is only a part of a word."""
LOOKS = 8
FOLDED = 20_000
"""Characters of a text that are folded in full; beyond, only case is."""
_BORDER = "\x00"

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
    """Share of the question's weight by how often its terms stand in the text, as BM25 damps it."""
    linked: int
    """Backlinks."""
    sounded: bool
    """Found by pinyin alone."""


class Judged(NamedTuple):
    found: Found
    score: float
    fields: list[str]
    """The folded FIELDS."""

    @property
    def text(self) -> str:
        return self.fields[-1]


def folded_fields(found: Found) -> list[str]:
    """A note's FIELDS as they are compared."""
    source = found.text
    start = source[:FOLDED].replace(_BORDER, " ")
    fields = fold(_BORDER.join((*found[1:7], start))).split(_BORDER)  # one call: most fields are short
    if len(source) > FOLDED:
        fields[6] += source[FOLDED:].lower()
    return fields


def judge(question: Question, found: Found) -> Judged:
    """Scores one note; `score` ∈ [0, 1]."""
    fields = folded_fields(found)
    text = fields[6]
    names = _BORDER.join(fields[:5])
    covered = in_names = often = total = 0.0
    length = 1 - LENGTH_COUNTS + LENGTH_COUNTS * len(text) / USUAL_LENGTH
    for term in question.terms:
        total += term.weight
        here = holds(names, term)
        if here == 1.0:
            covered += term.weight
        elif here or term.text in text or term.text in fields[5]:
            covered += term.weight * max(here, holds(text, term), holds(fields[5], term))
        in_names += term.weight * here
        count = text.count(term.text)
        often += term.weight * count / (count + SATURATED * length) if count else 0.0
    whole = question.folded
    said = whole in text or whole in names or whole in fields[5]
    named = said and (whole in "\n".join(fields[1:4]).split("\n") or whole == _stem(fields[0]))
    if not question.terms:
        total = covered = float(said)
    share = covered / total if total else 0.0
    signals = Signals(
        share,
        in_names / total if total else 0.0,
        said,
        named,
        often / total if total else 0.0,
        found.linked,
        not covered,
    )
    return Judged(found, score(signals), fields)


def why(question: Question, judged: Judged) -> tuple[Why, ...]:
    """Where the note answers, names first."""
    wanted = [term.text for term in question.terms] or [question.folded]
    held = [any(text in field for text in wanted) for field in judged.fields]
    return tuple(FIELDS[place] for place in (1, 2, 3, 4, 5, 0, 6) if held[place])


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def holds(field: str, term: Term, start: int = 0, stop: int | None = None) -> float:
    """1 where the field holds the term as a word from `start` up to `stop`, PART where only inside one, else 0."""
    text, paired = term[:2]
    place = field.find(text, start, stop)
    if place < 0 or paired:
        return float(place >= 0)
    for _ in range(LOOKS):
        end = place + len(text)
        before, after = field[place - 1 : place], field[end : end + 1]
        if not (_latin(before) or _latin(after)):
            return 1.0
        place = field.find(text, end, stop)
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
        + OFTEN * signals.often
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
