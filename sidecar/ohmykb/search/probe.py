"""A probe: one question, the few notes that answer it, and whether to look at all."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

from ohmykb.errors import UsageError
from ohmykb.markdown.sounds import sounds_like
from ohmykb.markdown.words import fold
from ohmykb.search import relevance
from ohmykb.search.candidates import Rarity, Standing, Vocabulary, gather
from ohmykb.search.cite import cite
from ohmykb.search.hybrid import Ranked, hear, rank
from ohmykb.search.meaning import Meaning
from ohmykb.search.question import Question, read_question
from ohmykb.search.score import Judged, Why, confidence, judge, verdict, why
from ohmykb.search.snippet import Snippet, cut
from ohmykb.store import fulltext
from ohmykb.store.connection import Database, snapshot
from ohmykb.store.fulltext import Where

Mode = Literal["token", "semantic", "hybrid"]
Confidence = Literal["high", "medium", "low"]
CLOSE_LOOKS = 16
"""Notes whose text is looked at, for the usual number of answers."""
MOST = 200
AT_ONCE = 4
"""Questions that are encoded side by side."""
LONGEST_QUESTION = 2000

EVERY_LETTER = "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9"
"""A question that makes a tokenizer take in all beginnings of Latin words."""
NO_VECTORS = "no vectors yet: answered by words alone"


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    title: str
    score: float
    confidence: Confidence
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

    def __init__(self, connect: Callable[[], Database], meaning: Meaning | None = None) -> None:
        self._connect = connect
        self.meaning = Meaning() if meaning is None else meaning
        self._vocabulary = Vocabulary()
        self._rarity = Rarity()
        self.standing = Standing()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="hearing")

    def probe(self, query: str, *, mode: Mode = "hybrid", n: int = 5, where: Where = Where()) -> Answer:  # noqa: B008 - an immutable tuple
        """The `n` best notes. Raises UsageError for an empty or endless question."""
        start = perf_counter()
        if not query.strip():
            raise UsageError("The question is empty.", 'Ask something: kb probe "funding rate"')
        query = query[:LONGEST_QUESTION].encode(errors="replace").decode()  # a shell may hand over half characters
        n = min(max(n, 1), MOST)
        arms = () if mode == "token" else self.meaning.arms
        # The question is encoded while its words are looked up; a remote encoder must not keep a snapshot waiting.
        hearing = self._threads.submit(hear, arms, query) if arms else None
        if hearing is not None and any(arm.encoder.remote for arm in arms):
            wait([hearing])
        with snapshot(self._connect()) as db:
            notes = fulltext.size(db)
            question = read_question(query, notes, self._rarity.of(db))
            looks = max(CLOSE_LOOKS, 2 * n)
            best = gather(db, question, where, looks, n, self._vocabulary, self.standing)
            heard = hearing.result() if hearing is not None else None
            if heard is not None and heard.arms:
                ranked, said = rank(db, question, heard, best, where, notes, words=mode == "hybrid")
                hits = tuple(_near_hit(db, question, one) for one in ranked[:n])
            else:
                judged = [judge(question, found) for found in fulltext.fetch(db, best)]
                judged.sort(key=lambda one: (-one.score, len(one.found.path), one.found.path))
                hits = tuple(
                    _hit(db, one, cut(question, one), why(question, one) or ("title",), confidence(one.score))
                    for one in judged[:n]
                )  # by pinyin: of its name
                said = verdict([hit.score for hit in hits])
        took = (perf_counter() - start) * 1000
        lacking: tuple[str | None, ...] = ()
        if mode != "token":
            fault = heard.fault if heard is not None and (heard.arms or heard.fault) else NO_VECTORS
            lacking = (fault or self.meaning.behind, self.meaning.lost)
        return Answer(query, mode, said, round(took, 3), hits, "; ".join(filter(None, lacking)) or None)

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

    def warm_meaning(self) -> None:
        """The same of the arms, once they are there: tables that are read piece by piece, pinyin."""
        for arm in self.meaning.arms:
            if not arm.encoder.remote:
                arm.encoder.encode_queries([EVERY_LETTER])
        sounds_like("nuan", ["\u6696"])


def _near_hit(db: Database, question: Question, one: Ranked) -> Hit:
    held: tuple[Why, ...] = why(question, one.judged) or (("title",) if one.typed else ())
    near = one.near or not held
    place = fulltext.place_of(db, one.judged.found.id, one.place) if near and one.place else None
    reasons: tuple[Why, ...] = (*held, "semantic") if near else held
    judged = one.judged._replace(score=one.score)
    return _hit(db, judged, cut(question, judged, place), reasons, relevance.confidence(one.score))


def _hit(db: Database, judged: Judged, place: Snippet, reasons: tuple[Why, ...], sure: Confidence) -> Hit:
    found = judged.found
    return Hit(
        found.path, found.title, round(judged.score, 4), sure, reasons,
        place.heading, place.line, place.text, cite(db, found.path),
    )  # fmt: skip
