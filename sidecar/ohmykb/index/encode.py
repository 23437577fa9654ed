"""Vectors for texts that have none: the second clock of the index.

Text and graph commit first; this fills in behind, in batches that each commit by themselves, so that a
kill loses one batch. Reading and encoding happen here; only the storing goes through the one writer.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from ohmykb.index.draft import chunk_text, names_text, note_name, text_hash
from ohmykb.index.frames import Frames
from ohmykb.markdown.words import is_chinese
from ohmykb.models.encoder import Encoder
from ohmykb.store import content, files, fulltext, vectors
from ohmykb.store.connection import Database, transaction
from ohmykb.store.vectors import Row, VectorSet, Wanted
from ohmykb.vault.globs import Globs

log = logging.getLogger(__name__)

AHEAD = 2048
"""Texts looked up at a time."""
LONGEST = 3000
"""Characters of a text that are encoded."""
FRAMES_AGAIN = 0.1
"""Share by which the number of notes must change for the frames to be counted again."""
LEARNT_AGAIN = 0.1
"""Share of new texts from which it is learnt again how an encoder takes questions."""
ASKED = 64
"""Names of each language that tell how an encoder takes questions."""

T = TypeVar("T")


class Writer(Protocol):
    def __call__(self, job: Callable[[Database], T], /) -> T:
        """Runs `job` on the writing connection and returns what it returns."""


@dataclass(slots=True)
class Filler:
    """Fills the set of one encoder."""

    encoder: Encoder
    write: Writer
    going: Callable[[], bool] = lambda: True
    """Asked between batches; False ends early."""
    progress: Callable[[int, int], None] = lambda _done, _total: None
    excluded: Callable[[], Sequence[str]] = tuple
    """Globs of what a remote encoder is not given, besides private notes."""
    _frames: Frames | None = None
    _frames_of: int = 0

    def fill(self, db: Database) -> int:
        """Encodes what is missing; returns how many texts that were. `db` reads.

        Raises EncoderMissingError, EncoderUnavailableError; what was done until then is kept.
        """
        dim = self.encoder.dim  # may load or ask, and the writer shall not wait for it
        mine = self.write(lambda w: vectors.make_set(w, self.encoder.id, dim))
        hidden = self.hidden(db)
        total = vectors.unencoded(db, mine.id, hidden)
        done = self._fill(db, mine, hidden, total) if total else 0
        if self.going():
            self._learn_questions(db, mine, hidden, total)
            self._serve(mine)
        return done

    def hidden(self, db: Database) -> frozenset[int]:
        """Notes that this encoder is not given."""
        return frozenset(vectors.secret(db, Globs(self.excluded()).match)) if self.encoder.remote else frozenset()

    def _fill(self, db: Database, mine: VectorSet, hidden: frozenset[int], total: int) -> int:
        free = self.write(lambda w: vectors.free_slots(w, mine.id))
        self._count_frames(db)
        done = 0
        while todo := vectors.wanted(db, mine.id, AHEAD, hidden):
            todo = list({one.hash: one for one in todo}.values())
            before = done
            for start in range(0, len(todo), self.encoder.batch):
                if not self.going():
                    return done
                rows = self._encode(db, todo[start : start + self.encoder.batch])
                self.write(partial(self._put, mine=mine, rows=rows, free=free))
                done += len(rows)
                self.progress(min(done, total), total)
            if done == before:
                break  # all of it changed meanwhile: whoever changed it asks for another round
            hidden = self.hidden(db)
        return done

    def _encode(self, db: Database, some: Sequence[Wanted]) -> list[Row]:
        """Rows of those texts that stand where they stood when they were looked up."""
        found = [(one, text) for one in some if (text := self._text(db, one)) is not None]
        asked = [text for _, text in found if text]
        made = iter(self.encoder.encode_passages(asked)) if asked else iter(())
        return [Row(one.hash, next(made) if text else None, int(is_chinese(text))) for one, text in found]

    def _text(self, db: Database, one: Wanted) -> str | None:
        """What is encoded of a text, which may be nothing; None where the note changed meanwhile."""
        title, path, aliases = vectors.names(db, one.note)
        if one.start < 0:
            whole = names_text(title, note_name(path), aliases)
            return whole[:LONGEST] if text_hash(whole) == one.hash else None
        text = fulltext.slice_of(db, one.note, one.start, one.end)
        if text_hash(chunk_text(title, text)) != one.hash:
            return None
        plain = self._frames.strip(text) if self._frames is not None else text
        return chunk_text(title, plain)[:LONGEST] if plain else ""

    @staticmethod
    def _put(db: Database, *, mine: VectorSet, rows: list[Row], free: list[int]) -> None:
        with transaction(db):
            vectors.put(db, mine.id, rows, free)
            files.advance(db)

    def _count_frames(self, db: Database) -> None:
        notes = fulltext.size(db)
        if self._frames is None or abs(notes - self._frames_of) > FRAMES_AGAIN * self._frames_of:
            self._frames, self._frames_of = Frames(content.texts(db)), notes

    def _learn_questions(self, db: Database, mine: VectorSet, hidden: frozenset[int], fresh: int) -> None:
        """Where an encoder takes questions otherwise than passages, their mean is another, too."""
        known = mine.query_means is not None and fresh <= LEARNT_AGAIN * vectors.count(db, mine.id)
        if self.encoder.symmetric or known:
            return
        by_language: tuple[list[str], list[str]] = ([], [])
        for title in content.titles(db, hidden):
            some = by_language[is_chinese(title)]
            if len(some) < ASKED:
                some.append(title)
        means = np.zeros((2, mine.dim), dtype=np.float32)
        for language, texts in enumerate(by_language):
            if texts:
                means[language] = self.encoder.encode_queries(texts).mean(axis=0)
        self.write(lambda w: vectors.set_query_means(w, mine.id, means.tobytes()))

    def _serve(self, mine: VectorSet) -> None:
        if mine.state != vectors.SERVING:
            self.write(lambda w: vectors.set_state(w, mine.id, vectors.SERVING))


def drop_others(db: Database, keep: Iterable[str]) -> None:
    """Forgets the sets of encoders that nobody asks for any more."""
    kept = set(keep)
    for one in vectors.sets(db):
        if one.encoder not in kept:
            vectors.drop_set(db, one.id)
