"""A probe: one question, the few notes that answer it, and whether to look at all."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

from ohmykb.errors import UsageError
from ohmykb.markdown.words import fold
from ohmykb.search.candidates import Rarity, Standing, Vocabulary, gather
from ohmykb.search.cite import cite
from ohmykb.search.question import Question, read_question
from ohmykb.search.score import Judged, Why, confidence, judge, verdict, why
from ohmykb.search.snippet import cut
from ohmykb.store import fulltext
from ohmykb.store.connection import Database, snapshot
from ohmykb.store.fulltext import Where

Mode = Literal["token", "semantic", "hybrid"]
CLOSE_LOOKS = 24
"""Notes whose text is looked at, for the usual number of answers."""
MOST = 200
LONGEST_QUESTION = 2000

NO_VECTORS = "no vectors yet: answered by words alone"


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    title: str
    score: float
    confidence: Literal["high", "medium", "low"]
    why: tuple[Why, ...]
    heading: str | None
    line: int
    snippet: str
    cite: str


@dataclass(frozen=True, slots=True)
class Answer:
    query: str
    mode: Mode
    verdict: Literal["read", "glance", "skip"]
    took_ms: float
    results: tuple[Hit, ...]
    degraded: str | None = None


class Prober:
    """Answers probes on any thread; `connect` gives each its reading connection."""

    def __init__(self, connect: Callable[[], Database]) -> None:
        self._connect = connect
        self._vocabulary = Vocabulary()
        self._rarity = Rarity()
        self.standing = Standing()

    def probe(self, query: str, *, mode: Mode = "hybrid", n: int = 5, where: Where = Where()) -> Answer:  # noqa: B008 - an immutable tuple
        """The `n` best notes. Raises UsageError for an empty or endless question."""
        start = perf_counter()
        if not query.strip():
            raise UsageError("The question is empty.", 'Ask something: kb probe "funding rate"')
        query = query[:LONGEST_QUESTION].encode(errors="replace").decode()  # a shell may hand over half characters
        n = min(max(n, 1), MOST)
        with snapshot(self._connect()) as db:
            notes = fulltext.size(db)
            question = read_question(query, notes, self._rarity.of(db))
            looks = max(CLOSE_LOOKS, 2 * n)
            best = gather(db, question, where, looks, n, self._vocabulary, self.standing)
            judged = [judge(question, found) for found in fulltext.fetch(db, best)]
            judged.sort(key=lambda one: (-one.score, len(one.found.path), one.found.path))
            hits = tuple(_hit(db, question, one) for one in judged[:n])
        took = (perf_counter() - start) * 1000
        degraded = None if mode == "token" else NO_VECTORS
        return Answer(query, mode, verdict([hit.score for hit in hits]), round(took, 3), hits, degraded)

    def reset(self) -> None:
        """For an index that was made anew."""
        self._vocabulary.reset()
        self._rarity = Rarity()
        self.standing = Standing()

    def warm(self) -> None:
        """Loads what the first question would wait for."""
        db = self._connect()
        self.standing.refresh(db)
        self._vocabulary.holding(db, "ohmykb", 1)
        fold("\u8d44")


def _hit(db: Database, question: Question, judged: Judged) -> Hit:
    found = judged.found
    place = cut(question, judged)
    return Hit(
        found.path, found.title, round(judged.score, 4), confidence(judged.score), why(question, judged),
        place.heading, place.line, place.text, cite(db, found.path),
    )  # fmt: skip
