"""Which notes are worth a close look: a few hundred out of all, without ranking them all.

FTS5 finds matches fast and ranks them slowly. So it only finds: the lists are added up in numpy, by
rarity and by place, and the few best are scored on their texts.
"""

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ohmykb.markdown.sounds import MARK
from ohmykb.search.question import Question, Term
from ohmykb.store import files, fulltext, links
from ohmykb.store.connection import Database
from ohmykb.store.fulltext import NAMES, SOUND, Where

POSTINGS, POSTINGS_SHARE = 15_000, 0.6
"""Notes read from the lists of single terms, rarest first: so many, or this share of all notes. What is
commoner is only looked for in the notes found by then."""
PLENTY = 4
"""So many times the notes to be looked at are found: weaker ways of matching would not reach the top."""
NAMED_TERMS, NAMED_SPREAD = 6, 2000
"""Rare terms that are looked for in names alone too: so many, each in so many notes at the most."""
LITERAL = 200
"""Notes that a scan for signs without words brings."""
LINKED = 0.08
"""Worth of ln(1 + backlinks), beside terms that are worth up to 1."""
LAG, KNOWN = 500, 50_000
"""Commits that counts of terms may lag, and counts kept."""
EXPANSIONS = (40, 400, 4000)
"""Words that the parts of words in a question may stand for, all together: more where fewer do not bring
enough notes."""
PARTED = 3
"""Terms of a question that are looked for as parts of words: all of more are in no note together."""
SOUND_LETTERS = range(2, 33)


class Vocabulary:
    """All Latin words of the index in one string: a part of a word is found at the speed of `find`."""

    def __init__(self) -> None:
        self._last = 0
        self._all = "\n"
        self._lock = Lock()

    def holding(self, db: Database, part: str, limit: int) -> list[str]:
        """Words that hold `part`, the index's newest included."""
        with self._lock:
            new = fulltext.terms_after(db, self._last)
            if new:
                self._last = new[-1][0]
                self._all += "".join(term + "\n" for _, term in new)
            everything = self._all
        found: list[str] = []
        place = everything.find(part)
        while place >= 0 and len(found) < limit:
            end = everything.index("\n", place)
            found.append(everything[everything.rindex("\n", 0, place) + 1 : end])
            place = everything.find(part, end)
        return found

    def reset(self) -> None:
        """For an index that was made anew."""
        with self._lock:
            self._last, self._all = 0, "\n"


class Rarity:
    """In how many notes each term stands. Counts may lag some commits: they only weigh."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._revision = 0

    def of(self, db: Database) -> Callable[[str], int]:
        now = files.revision(db)
        if not 0 <= now - self._revision <= LAG or len(self._known) > KNOWN:
            self._known, self._revision = {}, now
        known = self._known

        def spread(term: str) -> int:
            found = known.get(term)
            if found is None:
                found = known[term] = fulltext.spread(db, term)
            return found

        return spread


class Standing:
    """How much each note is linked to; may lag a few commits behind, for it only chooses candidates."""

    def __init__(self) -> None:
        self._bonus: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._revision = -1

    def refresh(self, db: Database) -> None:
        """Counts again if the index changed."""
        now = files.revision(db)
        if now == self._revision:
            return
        bonus = np.zeros(fulltext.highest(db) + 1, dtype=np.float32)
        counted = links.linked(db)
        if counted:
            ids, counts = np.array(counted, dtype=np.int64).T
            bonus[ids] = np.log1p(counts)
        self._bonus, self._revision = bonus, now

    def bonus(self, db: Database, size: int) -> NDArray[np.float32]:
        """float32[size]: ln(1 + backlinks) by id."""
        if self._revision < 0:
            self.refresh(db)
        missing = size - len(self._bonus)
        return np.pad(self._bonus, (0, missing)) if missing > 0 else self._bonus[:size]


class _Worth:
    """A rough worth for every note: arms add to it."""

    def __init__(self, db: Database, where: Where) -> None:
        self.db, self.where = db, where
        self.size = fulltext.highest(db) + 1
        self.values = np.zeros(self.size, dtype=np.float32)

    def match(self, expression: str, value: float) -> int:
        """All that match are worth `value` more; returns how many do."""
        ids = fulltext.postings(self.db, expression, self.where)
        self.values[ids] += value
        return len(ids)

    def add(self, ids: list[int] | NDArray[np.int32], value: float) -> None:
        self.values[ids] += value

    def found(self) -> int:
        return int(np.count_nonzero(self.values))

    def best(self, standing: Standing, count: int) -> list[int]:
        """The ids of the `count` worthiest, best first; backlinks decide between equals."""
        ids = np.flatnonzero(self.values)
        if not len(ids):
            return []
        worth = self.values[ids] + LINKED * standing.bonus(self.db, self.size)[ids]
        if len(ids) > count:
            kept = np.argpartition(-worth, count - 1)[:count]
            ids, worth = ids[kept], worth[kept]
        return [int(number) for number in ids[np.lexsort((ids, -worth))]]


def gather(
    db: Database, question: Question, where: Where, count: int, wanted: int, vocabulary: Vocabulary, standing: Standing
) -> list[int]:
    """At most `count` ids worth a close look, the likeliest first; parts of words are tried too where
    fewer than `wanted` notes hold the words themselves."""
    worth = _Worth(db, where)
    exact = fulltext.named_exactly(db, files.path_key(question.text))
    worth.add(fulltext.allowed(db, exact, where) if any(where) else exact, 8.0)
    terms = question.terms
    if question.phrase is None:
        worth.add(fulltext.containing(db, question.text, where, LITERAL), 1.0)
        return worth.best(standing, count)
    enough = PLENTY * count
    strong = [(f"{NAMES} : {question.phrase}", 3.0)]
    if len(terms) > 1:
        strong += [(question.phrase, 2.0), (" AND ".join(term.match for term in terms), 1.5)]
    for expression, value in strong:
        worth.match(expression, value)
        if worth.found() >= enough:
            return worth.best(standing, count)
    for term in terms[:NAMED_TERMS] if len(terms) > 1 else ():
        if term.spread <= NAMED_SPREAD:
            worth.match(f"{NAMES} : {term.match}", term.weight)
    room = max(POSTINGS, int(POSTINGS_SHARE * worth.size))
    for term in terms:
        if room < 0 or (term.spread > NAMED_SPREAD and worth.found() >= enough):
            break
        room -= worth.match(term.match, term.weight)
    if worth.found() < wanted and len(terms) <= PARTED:
        worth.add(_as_parts(db, terms, vocabulary, where, wanted), 0.5)
    letters = question.folded.replace(" ", "").replace("'", "")
    if letters.isascii() and letters.isalpha() and len(letters) in SOUND_LETTERS:
        worth.match(f'{SOUND} : "{MARK}{letters}"', 2.0)
        worth.match(f'{SOUND} : "{MARK}{letters}"*', 0.6)
    return worth.best(standing, count)


def _as_parts(
    db: Database, terms: Sequence[Term], vocabulary: Vocabulary, where: Where, wanted: int
) -> NDArray[np.int32]:
    """int32[k]: ids of notes that hold every term at least as a part of some word."""
    ids: NDArray[np.int32] = np.empty(0, dtype=np.int32)
    for all_together in EXPANSIONS:
        limit = max(all_together // len(terms), 4)
        groups = []
        more = False
        for term in terms:
            words = [term.match] if term.paired else [f'"{word}"' for word in vocabulary.holding(db, term.text, limit)]
            more |= len(words) >= limit
            if not term.paired:
                words.append(f'"{term.text}"*')
            groups.append("(" + " OR ".join(dict.fromkeys(words)) + ")")
        ids = fulltext.postings(db, " AND ".join(groups), where)
        if len(ids) >= wanted or not more:
            break
    return ids
