"""Both arms together: candidates of words and of vectors, one relevance each, one verdict."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ohmykb.markdown.sounds import WHOLE, sounds_like
from ohmykb.markdown.words import tokens
from ohmykb.models.encoder import EncoderMissingError, EncoderUnavailableError
from ohmykb.search import relevance
from ohmykb.search.meaning import Arm, Nearness
from ohmykb.search.question import Question
from ohmykb.search.relevance import Near, Signals, Verdict, Weights
from ohmykb.search.score import Judged, folded_fields, holds
from ohmykb.store import fulltext
from ohmykb.store.connection import Database
from ohmykb.store.fulltext import Where

NEAR = 12
"""Notes that each kind of vector of each encoder brings."""
TYPED_WHOLE, TYPED_PART, LONGEST_TYPED = 3, 4, 32
"""Letters from which on a question may be the sound of a whole name, and of a part: shorter ones are English words."""
FAR_ABOVE = 2.0
"""Standard deviations above what is usual, from which a note is found for its meaning."""


class Ranked(NamedTuple):
    judged: Judged
    score: float
    near: bool
    """Found for its meaning."""
    place: int
    """The nearest chunk; 0 without one."""
    typed: bool
    """Its name was typed by its sound."""


class Heard(NamedTuple):
    """A question as the arms that could be reached understood it."""

    arms: tuple[Arm, ...]
    asked: tuple[NDArray[np.float32], ...]
    near: frozenset[int]
    """Notes near in meaning."""
    highest: float
    """The highest cosine of any name (first encoder)."""
    fault: str | None
    """What kept an encoder from answering."""


class Weighed(NamedTuple):
    """Notes with what is known of each: lists of one length, `looks` one per arm."""

    found: list[Judged]
    looks: list[Nearness]
    signals: list[Signals]


def hear(arms: Sequence[Arm], query: str) -> Heard:
    """Encodes the question with every arm; one that fails is left out and named."""
    heard, asked, fault = [], [], None
    for arm in arms:
        try:
            asked.append(arm.ask(query))
        except (EncoderMissingError, EncoderUnavailableError) as error:
            fault = f"{error.message} {error.fix}".strip()
        else:
            heard.append(arm)
    near = [arm.near(one, NEAR) for arm, one in zip(heard, asked, strict=True)]
    notes = frozenset[int]().union(*(found for found, _ in near))
    return Heard(tuple(heard), tuple(asked), notes, near[0][1] if near else 0.0, fault)


def rank(
    db: Database, question: Question, heard: Heard, by_words: Sequence[int], where: Where, notes: int, *, words: bool
) -> tuple[list[Ranked], Verdict]:
    """All candidates, the best first, and the verdict. `words` False: by meaning alone."""
    weighed = weigh(db, question, heard, candidates(db, heard, by_words, where, words=words), words=words)
    return _ordered(question, weighed, relevance.weights_for([arm.encoder.id for arm in heard.arms]), notes, heard)


def candidates(db: Database, heard: Heard, by_words: Sequence[int], where: Where, *, words: bool) -> list[int]:
    """Ids of the notes worth a close look, those found by words first."""
    near = sorted(heard.near)
    by_meaning = fulltext.allowed(db, near, where) if any(where) else near
    return list(dict.fromkeys((*(by_words if words else ()), *by_meaning)))


def weigh(db: Database, question: Question, heard: Heard, ids: Sequence[int], *, words: bool) -> Weighed:
    """All that relevance looks at, for notes by their ids."""
    found = [Judged(one, 0.0, folded_fields(one)) for one in fulltext.fetch(db, ids)]
    numbers = np.array([one.found.id for one in found], dtype=np.int64)
    looks = _agreed(heard, [arm.look(asked, numbers) for arm, asked in zip(heard.arms, heard.asked, strict=True)])
    near = list(
        zip(
            *([Near(*pair) for pair in zip(_floats(look.passage), _floats(look.usual), strict=True)] for look in looks),
            strict=True,
        )
    )
    if not words:
        return Weighed(found, looks, [Signals(0.0, 0.0, 0.0, 0.0, one) for one in near])
    passages = fulltext.passages(db, [one.found.id for one in found])
    asked = _Asked.of(question)
    signals = [_signals(asked, one, passages.get(one.found.id, ()), near[at]) for at, one in enumerate(found)]
    return Weighed(found, looks, signals)


def _floats(numbers: NDArray[np.float32]) -> list[float]:
    return [float(number) for number in numbers.tolist()]


def _agreed(heard: Heard, looks: list[Nearness]) -> list[Nearness]:
    """Where one encoder does not know a note (a remote one never knows the private), the others speak for it."""
    if all(look.known.all() for look in looks):
        return looks
    known = np.array([look.known for look in looks])
    usual = np.array([look.usual for look in looks])
    said = (usual * known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return [
        look._replace(
            usual=np.where(look.known, look.usual, said),
            passage=np.where(look.known, look.passage, arm.chunks.at_height(asked, said)),
        )
        for arm, asked, look in zip(heard.arms, heard.asked, looks, strict=True)
    ]


def _ordered(
    question: Question, weighed: Weighed, weights: Weights, notes: int, heard: Heard
) -> tuple[list[Ranked], Verdict]:
    found, looks, signals = weighed
    logits = [relevance.logit(weights, one, notes) for one in signals]
    verdict = relevance.verdict(weights, relevance.outcome(question.text, logits, signals, heard.highest))
    ranked = [
        Ranked(
            one,
            relevance.score_of(logits[at]),
            any(one.usual >= FAR_ABOVE for one in signals[at].near),
            int(looks[0].places[at]),
            signals[at].named > signals[at].said,
        )
        for at, one in enumerate(found)
    ]
    ranked.sort(key=lambda one: (-one.score, len(one.judged.found.path), one.judged.found.path))
    return ranked, verdict


class _Asked(NamedTuple):
    """What of a question every note is compared with."""

    question: Question
    whole: str
    """Folded, without the mark of a tag."""
    spaced: str
    """Its words, for likeness of names."""
    letters: str
    """As typed for a Chinese name; empty where it cannot be one."""
    total: float
    """Weight of all terms."""

    @classmethod
    def of(cls, question: Question) -> "_Asked":
        whole = question.folded.lstrip("#").strip()
        letters = whole.replace(" ", "").replace("'", "")
        typed = letters.isascii() and letters.isalpha() and TYPED_WHOLE <= len(letters) <= LONGEST_TYPED
        return cls(
            question, whole, _spaced(whole), letters if typed else "", sum(term.weight for term in question.terms)
        )


def _signals(asked: _Asked, one: Judged, passages: Sequence[tuple[int, int]], near: tuple[Near, ...]) -> Signals:
    path, title, aliases, tags, *_ = one.fields
    path = path.removesuffix(".md")
    own = [name for name in (path.rsplit("/", 1)[-1], title, *aliases.split("\n")) if name]
    names = "\n".join((path, *own, tags))
    whole = asked.whole
    said = whole in one.text or whole in names
    typed = _typed(asked.letters, own) if asked.letters else 0.0
    named = (said and (whole in own or whole in tags.split("\n"))) or typed == WHOLE
    fuzzy = max(_fuzzy(asked.spaced, own), typed)
    return Signals(_covered(asked, one, passages, names, said=said), float(said), float(named), fuzzy, near)


def _typed(letters: str, own: Sequence[str]) -> float:
    """How far the question is a Chinese name as it is typed: 1 for all of it, a half for a part of some length."""
    likeness = sounds_like(letters, own)
    return likeness if likeness == WHOLE or len(letters) >= TYPED_PART else 0.0


def _covered(asked: _Asked, one: Judged, passages: Sequence[tuple[int, int]], names: str, *, said: bool) -> float:
    """Share of the question's weight that the names and the best passage hold together."""
    if not asked.total:
        return float(said)
    text = one.text
    whole = len(text) == len(one.found.text)  # else folding moved the places
    pieces = passages if whole and passages else ((0, len(text)),)
    base = 0.0
    gains = [0.0] * len(pieces)
    for term in asked.question.terms:
        in_names = holds(names, term)
        base += term.weight * in_names
        if in_names == 1.0 or term.text not in text:
            continue
        for number, (start, end) in enumerate(pieces):
            here = holds(text, term, start, end)
            if here > in_names:
                gains[number] += term.weight * (here - in_names)
    return (base + max(gains)) / asked.total


@lru_cache(maxsize=16_384)
def _spaced(name: str) -> str:
    return " ".join(tokens(name))


def _fuzzy(spaced: str, own: Sequence[str]) -> float:
    loose = relevance.LOOSE
    likeness = max((fuzz.ratio(spaced, _spaced(name), score_cutoff=100 * loose) for name in set(own)), default=0.0)
    return max(likeness / 100 - loose, 0.0) / (1 - loose)
