"""Which notes are worth a close look: a few hundred out of all, without ranking them all.

FTS5 finds matches fast and ranks them slowly, so every arm is bounded. Where a question fits more
notes than an arm takes, those with the most backlinks are taken (docs/SEARCH.md says what that costs).
"""

from collections.abc import Callable, Iterable, Sequence
from threading import Lock

from ohmykb.markdown.sounds import MARK
from ohmykb.search.question import Question, Term
from ohmykb.store import files, fulltext, links
from ohmykb.store.connection import Database
from ohmykb.store.fulltext import NAMES, SOUND, Where

ARM = 200
"""Notes one arm brings at the most."""
POSTINGS = 3000
"""Notes read from the lists of single terms, over all of them."""
COMMON_SHARE = 0.05
"""A term in more than this share of the notes is looked for in notes of many backlinks first."""
TRIES = 800
"""Notes of many backlinks that are tried."""
EXPANSIONS = 40
"""Words that a part of a word may stand for."""
SOUND_LETTERS = range(2, 33)


class Vocabulary:
    """All Latin words of the index in one string: a part of a word is found at the speed of `find`."""

    def __init__(self) -> None:
        self._last = 0
        self._all = "\n"
        self._lock = Lock()

    def holding(self, db: Database, part: str, limit: int = EXPANSIONS) -> list[str]:
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


class Standing:
    """Notes by their backlinks, the most linked first; may lag a few commits behind."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._order: list[int] = []
        self._revision = -1

    def refresh(self, db: Database) -> None:
        """Counts again if the index changed."""
        now = files.revision(db)
        if now != self._revision:
            counts = links.all_backlinks(db)
            self._order = sorted(counts, key=lambda note: (-counts[note], note))
            self._counts = counts
            self._revision = now

    def top(self, db: Database, count: int) -> Sequence[int]:
        if self._revision < 0:
            self.refresh(db)
        return self._order[:count]


def gather(
    db: Database,
    question: Question,
    where: Where,
    wanted: int,
    notes: int,
    vocabulary: Vocabulary,
    standing: Standing,
) -> dict[int, float]:
    """Candidate ids with a rough worth, best arms highest; at most about a thousand."""
    worth: dict[int, float] = {}

    def add(ids: Iterable[int], value: float) -> None:
        for number in ids:
            worth[number] = worth.get(number, 0.0) + value

    add(fulltext.allowed(db, fulltext.named_exactly(db, files.path_key(question.text)), where), 8.0)
    if question.phrase is None:
        add(fulltext.containing(db, question.text, where, ARM), 1.0)
        return worth
    terms = question.terms
    add(fulltext.matching(db, f"{NAMES} : {question.phrase}", where, ARM), 3.0)
    rarest = terms[0]
    if len(terms) > 1 or rarest.spread <= POSTINGS:
        add(fulltext.matching(db, question.phrase, where, ARM), 2.0)
    if len(terms) > 1:
        add(fulltext.matching(db, " AND ".join(term.match for term in terms), where, ARM), 1.5)
        for term in terms[:12]:
            add(fulltext.matching(db, f"{NAMES} : {term.match}", where, ARM), 1.2 * term.weight)
    _single_terms(db, terms, where, notes, standing, add)
    if len(worth) < wanted:
        add(_parts_of_words(db, terms, where, vocabulary), 0.5)
    letters = question.folded.replace(" ", "").replace("'", "")
    if letters.isascii() and letters.isalpha() and len(letters) in SOUND_LETTERS:
        add(fulltext.matching(db, f'{SOUND} : "{MARK}{letters}"', where, ARM), 2.0)
        add(fulltext.matching(db, f'{SOUND} : "{MARK}{letters}"*', where, ARM), 0.6)
    return worth


def _single_terms(
    db: Database,
    terms: Sequence[Term],
    where: Where,
    notes: int,
    standing: Standing,
    add: Callable[[Iterable[int], float], None],
) -> None:
    """The lists of single terms, rarest first, as far as there is room."""
    room = POSTINGS
    for term in terms:
        if term.spread > max(notes * COMMON_SHARE, POSTINGS / 2) and not any(where):
            found = fulltext.matching_among(db, term.match, standing.top(db, TRIES), ARM)
            if len(found) < ARM:
                found += fulltext.matching(db, term.match, where, ARM)
        else:
            found = fulltext.matching(db, term.match, where, room)
        add(found, term.weight)
        room -= len(found)
        if room <= 0:
            break


def _parts_of_words(db: Database, terms: Sequence[Term], where: Where, vocabulary: Vocabulary) -> list[int]:
    """Notes that hold every term at least as a part of some word."""
    groups = []
    for term in terms:
        words = [term.match] if term.paired else [f'"{w}"' for w in vocabulary.holding(db, term.text)]
        if not term.paired:
            words.append(f'"{term.text}"*')
        groups.append("(" + " OR ".join(dict.fromkeys(words)) + ")")
    return fulltext.matching(db, " AND ".join(groups), where, ARM)
