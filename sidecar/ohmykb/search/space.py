"""All vectors of one set in memory: what is near a question, in a millisecond.

Signs of the centred vectors are scanned as bits, and the nearest rescored exactly: at 100,000 chunks
dozens of times vec0's float scan with the same answer (docs/PERFORMANCE.md).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohmykb.store.vectors import Placed

Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]

CENTRED = 0.9
"""Share of a language's mean vector that is taken off (0.8 to 1.0 measure alike; every encoder gains)."""
FEW = 10
"""Vectors of a language at which half of that is: a mean of few is mostly their own topic."""
EXACT_BELOW = 4096
"""Vectors that are compared one by one without a scan of bits."""
RESCORED, RESCORED_SHARE, RESCORED_OF_MANY = 500, 0.01, 0.02
"""Vectors the scan of bits passes on: so many and this share of all, of many vectors the second share. For a
recall@10 of .99 on real chunks (bench_vectors.py): 500 of 10,000, 700 of 25,000, 1,000 of 50,000, 1,000 of 100,000."""
NONE = -2.0
"""In place of a cosine, where there is no vector."""
BLOCK = 1024
"""Vectors that are centred together: few enough to stay in the processor's cache."""
USUAL = 512
"""Vectors that a question is compared with to know what is usual in this vault."""


def means_of(vectors: Vectors, languages: Ints) -> Vectors:
    """float32[2, dim]: what is taken off vectors of each language (0 others, 1 Chinese)."""
    found = np.zeros((2, vectors.shape[1]), dtype=np.float32)
    for language in (0, 1):
        own = (languages == language).astype(np.float32)
        count = float(own.sum())
        if count:
            found[language] = own @ vectors * (CENTRED / (count + FEW))
    return found


def centre(vectors: Vectors, languages: Ints, means: Vectors) -> Vectors:
    """float32[n, dim] of unit length, without the mean of their language."""
    moved = np.empty_like(vectors)
    for start in range(0, len(vectors), BLOCK):
        part = vectors[start : start + BLOCK] - means[languages[start : start + BLOCK]]
        part /= np.maximum(np.sqrt(np.einsum("ij,ij->i", part, part)), 1e-9)[:, None]
        moved[start : start + BLOCK] = part
    return moved


def pack(vectors: Vectors) -> NDArray[np.uint64]:
    """Signs of float32[n, dim] as uint64[ceil(dim / 64), n]: word by word, all vectors side by side."""
    count, dim = vectors.shape
    signs = np.zeros((count, -(-dim // 64) * 64), dtype=bool)
    signs[:, :dim] = vectors > 0
    words = np.packbits(signs, axis=1).view(np.uint64) if count else np.empty((0, signs.shape[1] // 64), np.uint64)
    return np.ascontiguousarray(words.T)


class Near(NamedTuple):
    """What is nearest to a question: notes, each once, the nearest first."""

    notes: Ints
    cosines: Vectors
    places: Ints
    """The chunk that is so near; 0 for names."""


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors of one kind, names or chunks, of one set; rows are ordered by note."""

    placed: Placed
    units: Vectors
    """float32[slots, dim]: by slot, centred."""
    bits: NDArray[np.uint64]
    """uint64[words, n]: by row."""
    usual: Vectors
    """float32[≤ USUAL, dim]: some of the vectors, always the same."""

    def nearest(self, asked: Vectors, count: int) -> Near:
        """The `count` nearest notes to a centred unit question, float32[dim]."""
        rows = self._rows(asked, 4 * count)
        cosines = self.units[self.placed.slots[rows]] @ asked
        order = np.argsort(-cosines, kind="stable")
        notes = self.placed.notes[rows][order]
        _, first = np.unique(notes, return_index=True)
        kept = order[np.sort(first)[:count]]
        return Near(self.placed.notes[rows[kept]], cosines[kept], self.placed.places[rows[kept]])

    def own(self, note: int) -> Vectors:
        """float32[k, dim]: the vectors of one note, in order."""
        start, end = np.searchsorted(self.placed.notes, [note, note + 1])
        return np.asarray(self.units[self.placed.slots[start:end]])

    def of_notes(self, asked: Vectors, notes: Ints) -> tuple[Vectors, Ints]:
        """(highest cosine float32[n], its place int64[n]) of each note; NONE where it has no vector."""
        best = np.full(len(notes), NONE, dtype=np.float32)
        places = np.zeros(len(notes), dtype=np.int64)
        low = np.searchsorted(self.placed.notes, notes, side="left")
        counts = np.searchsorted(self.placed.notes, notes, side="right") - low
        held = np.flatnonzero(counts)
        if not len(held):
            return best, places
        counts = counts[held]
        starts = np.cumsum(counts) - counts
        rows = np.arange(int(counts.sum())) + np.repeat(
            low[held] - starts, counts
        )  # those of each note, one after another
        cosines = self.units[self.placed.slots[rows]] @ asked
        best[held] = np.maximum.reduceat(cosines, starts)
        first = np.lexsort((np.arange(len(rows)), -cosines, np.repeat(np.arange(len(held)), counts)))[starts]
        places[held] = self.placed.places[rows[first]]
        return best, places

    def above_usual(self, asked: Vectors, cosines: Vectors) -> Vectors:
        """In standard deviations above what is usual for this question here: free of the encoder's scale."""
        if not len(self.usual):
            return np.zeros_like(cosines)
        usual = self.usual @ asked
        return np.asarray((cosines - usual.mean()) / (usual.std() + 1e-6), dtype=np.float32)

    def at_height(self, asked: Vectors, above: Vectors) -> Vectors:
        """The cosines that stand so many standard deviations above what is usual."""
        if not len(self.usual):
            return np.zeros_like(above)
        usual = self.usual @ asked
        return np.asarray(usual.mean() + above * usual.std(), dtype=np.float32)

    def _rows(self, asked: Vectors, count: int) -> Ints:
        """Rows worth an exact look."""
        size = len(self.placed.notes)
        kept = min(max(int(RESCORED + RESCORED_SHARE * size), int(RESCORED_OF_MANY * size), count), size)
        if size <= EXACT_BELOW or kept == size:
            return np.arange(size)
        signs = pack(asked[None, :])[:, 0]
        far = np.zeros(size, dtype=np.uint16)
        for row, sign in zip(self.bits, signs, strict=True):
            far += np.bitwise_count(row ^ sign)
        # All within the distance that `kept` vectors are within: counting is four times as quick as sorting out.
        return np.flatnonzero(far <= np.searchsorted(np.cumsum(np.bincount(far)), kept))


def make_space(placed: Placed, units: Vectors, slot_bits: NDArray[np.uint64]) -> Space:
    """`slot_bits` uint64[words, slots]: signs of `units` by slot."""
    size = len(placed.notes)
    some = np.sort(np.random.default_rng(0).choice(size, min(USUAL, size), replace=False)) if size else np.arange(0)
    return Space(placed, units, np.ascontiguousarray(slot_bits[:, placed.slots]), units[placed.slots[some]])
