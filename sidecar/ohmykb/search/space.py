"""All vectors of one set in memory: what is near a question, in a millisecond.

Signs of the centred vectors are scanned as bits, and the nearest rescored exactly: at 100,000 chunks
this is about sixty times vec0's float scan, with the same answer (docs/PERFORMANCE.md).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
LATIN, HAN = 0, 1

CENTRED = 0.8
"""Share of a language's mean vector that is taken away (facts/retrieval: helps every encoder)."""
FEW = 20
"""So many vectors of a language halve the correction: a mean of few is mostly their own topic."""
EXACT_BELOW = 4096
"""Vectors that are compared one by one without a scan of bits."""
RESCORED = 400
"""Vectors that the scan of bits passes on, at the least."""
SAMPLE = 2048
"""Vectors that tell what an average nearness is in this vault."""


class Near(NamedTuple):
    """The vectors nearest to a question, and what is usual here."""

    rows: NDArray[np.int64]
    """int64[k], nearest first."""
    cosines: Vectors
    """float32[k]."""
    mean: float
    spread: float
    """Mean and standard deviation of the cosine over a sample of all vectors."""


class Means(NamedTuple):
    """What is taken away from vectors of each language: float32[2, dim]."""

    by_language: Vectors

    def centre(self, vectors: Vectors, languages: NDArray[np.int8]) -> Vectors:
        """Unit vectors without the mean of their language: float32[n, dim]."""
        moved = vectors - self.by_language[languages]
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        return np.asarray(moved / np.maximum(norms, 1e-9), dtype=np.float32)


def means_of(vectors: Vectors, languages: NDArray[np.int8]) -> Means:
    """Of float32[n, dim] unit vectors with the language of each (LATIN, HAN)."""
    found = np.zeros((2, vectors.shape[1]), dtype=np.float32)
    for language in (LATIN, HAN):
        own = vectors[languages == language]
        if len(own):
            found[language] = CENTRED * len(own) / (len(own) + FEW) * own.mean(axis=0)
    return Means(found)


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors of one kind (names, or chunks) of one set."""

    notes: NDArray[np.int32]
    """int32[n]: the note each vector belongs to."""
    places: NDArray[np.int32]
    """int32[n]: the chunk, or 0."""
    units: Vectors
    """float32[n, dim], centred, unit length."""
    bits: NDArray[np.uint64]
    """uint64[dim / 64, n]: signs."""
    means: Means
    sample: NDArray[np.int64]

    def near(self, query: Vectors, language: int, count: int) -> Near:
        """The `count` vectors nearest to a unit query vector (float32[dim], not centred)."""
        size = len(self.notes)
        if not size:
            return Near(np.empty(0, np.int64), np.empty(0, np.float32), 0.0, 1.0)
        asked = self.means.centre(query[None, :], np.array([language], dtype=np.int8))[0]
        if size <= EXACT_BELOW:
            rows = np.arange(size)
            usual = cosines = self.units @ asked
        else:
            kept = min(max(RESCORED, 2 * count), size)
            rows = np.argpartition(self._far(asked), kept - 1)[:kept]
            cosines = self.units[rows] @ asked
            usual = self.units[self.sample] @ asked
        best = np.argsort(-cosines, kind="stable")[:count]
        return Near(rows[best].astype(np.int64), cosines[best], float(usual.mean()), float(usual.std()) or 1.0)

    def _far(self, asked: Vectors) -> NDArray[np.int32]:
        """int32[n]: in how many signs each vector differs from the question."""
        signs = pack(asked[None, :])[:, 0]
        far = np.zeros(len(self.notes), dtype=np.int32)
        for row, sign in zip(self.bits, signs, strict=True):
            far += np.bitwise_count(row ^ sign)
        return far


def make_space(
    notes: NDArray[np.int32], places: NDArray[np.int32], vectors: Vectors, languages: NDArray[np.int8]
) -> Space:
    """From unit vectors float32[n, dim] as they are stored."""
    means = means_of(vectors, languages)
    units = means.centre(vectors, languages)
    sample = np.random.default_rng(7).permutation(len(notes))[:SAMPLE]
    return Space(notes, places, units, pack(units), means, np.sort(sample))


def pack(vectors: Vectors) -> NDArray[np.uint64]:
    """Signs of float32[n, dim] as uint64[ceil(dim / 64), n], a word of all vectors side by side."""
    count, dim = vectors.shape
    wide = -(-dim // 64) * 64
    signs = np.zeros((count, wide), dtype=bool)
    signs[:, :dim] = vectors > 0
    words = np.packbits(signs, axis=1).view(np.uint64) if count else np.empty((0, wide // 64), np.uint64)
    return np.ascontiguousarray(words.T)
