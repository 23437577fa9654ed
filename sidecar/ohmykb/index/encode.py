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

from ohmykb.index.draft import chunk_text, names_text
from ohmykb.index.frames import Frames
from ohmykb.markdown.words import is_chinese
from ohmykb.models.encoder import Encoder
from ohmykb.store import content, files, fulltext, vectors
from ohmykb.store.connection import Database, transaction
from ohmykb.store.vectors import Row, VectorSet, Wanted

log = logging.getLogger(__name__)

AHEAD = 2048
"""Texts looked up at a time."""
LONGEST = 3000
"""Characters of a text that are encoded."""
FRAMES_AGAIN = 0.1
"""Share by which the number of notes must change for the frames to be counted again."""
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
    _frames: Frames | None = None
    _frames_of: int = 0

    def fill(self, db: Database) -> list[int]:
        """Encodes what is missing; returns the slots written. `db` reads.

        Raises EncoderMissingError, EncoderUnavailableError; what was done until then is kept.
        """
        mine = self.write(lambda w: vectors.make_set(w, self.encoder.id, self.encoder.dim))
        private = not self.encoder.remote
        total = vectors.unencoded(db, mine.id, private=private)
        if not total:
            self._serve(mine)
            return []
        free = self.write(lambda w: vectors.free_slots(w, mine.id))
        self._count_frames(db)
        written: list[int] = []
        done = 0
        while self.going() and (todo := vectors.wanted(db, mine.id, AHEAD, private=private)):
            todo = list({one.hash: one for one in todo}.values())
            for start in range(0, len(todo), self.encoder.batch):
                if not self.going():
                    return written
                some = todo[start : start + self.encoder.batch]
                rows = self._encode(db, some)
                written += self.write(partial(self._put, mine=mine, rows=rows, free=free))
                done += len(some)
                self.progress(min(done, total), total)
        if self.going():
            self._learn_questions(db, mine)
            self._serve(mine)
        return written

    def _encode(self, db: Database, some: Sequence[Wanted]) -> list[Row]:
        texts = [self._text(db, one) for one in some]
        kept = [number for number, text in enumerate(texts) if text]
        found = dict(zip(kept, self.encoder.encode_passages([texts[n] for n in kept]), strict=True)) if kept else {}
        return [Row(one.hash, found.get(number), int(is_chinese(texts[number]))) for number, one in enumerate(some)]

    def _text(self, db: Database, one: Wanted) -> str:
        title, path, aliases = vectors.names(db, one.note)
        if one.start < 0:
            name = path.rsplit("/", 1)[-1].removesuffix(".md")
            return names_text(title, name, aliases)[:LONGEST]
        text = fulltext.slice_of(db, one.note, one.start, one.end)
        plain = self._frames.strip(text) if self._frames is not None else text
        return chunk_text(title, plain)[:LONGEST] if plain else ""

    @staticmethod
    def _put(db: Database, *, mine: VectorSet, rows: list[Row], free: list[int]) -> list[int]:
        with transaction(db):
            slots = vectors.put(db, mine.id, rows, free)
            files.advance(db)
        return slots

    def _count_frames(self, db: Database) -> None:
        notes = fulltext.size(db)
        if self._frames is None or abs(notes - self._frames_of) > FRAMES_AGAIN * self._frames_of:
            self._frames, self._frames_of = Frames(content.texts(db)), notes

    def _learn_questions(self, db: Database, mine: VectorSet) -> None:
        """Where an encoder takes questions otherwise than passages, their mean is another, too."""
        if self.encoder.symmetric:
            return
        by_language: tuple[list[str], list[str]] = ([], [])
        for title in content.titles(db):
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
