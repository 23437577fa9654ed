"""What is near a question among many vectors: centring, the scan of bits, and what is usual."""

import numpy as np
import pytest

from ohmykb.search.space import (
    CENTRED,
    EXACT_BELOW,
    FEW,
    NONE,
    Space,
    centre,
    make_space,
    means_of,
    pack,
)  # fmt: skip
from ohmykb.store.vectors import Placed

RNG = np.random.default_rng(5)


def clustered(count: int, dim: int, clusters: int = 200) -> np.ndarray:
    """Unit vectors in clusters, as texts of topics are."""
    middles = RNG.normal(size=(clusters, dim))
    made = middles[RNG.integers(clusters, size=count)] + 0.8 * RNG.normal(size=(count, dim))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def space(units: np.ndarray, notes: np.ndarray | None = None, shuffle: bool = False) -> Space:
    """One chunk a row; slots in another order than rows, if asked."""
    count = len(units)
    slots = RNG.permutation(count) if shuffle else np.arange(count)
    by_slot = np.empty_like(units)
    by_slot[slots] = units
    notes = np.arange(count) if notes is None else notes
    zeros = np.zeros(count, dtype=np.int64)
    return make_space(Placed(notes, np.arange(count) + 1000, slots, zeros, zeros), by_slot, pack(by_slot))


def exact(units: np.ndarray, notes: np.ndarray, asked: np.ndarray, count: int) -> list[int]:
    found: dict[int, float] = {}
    for note, cosine in zip(notes, units @ asked, strict=True):
        found[int(note)] = max(found.get(int(note), -9), float(cosine))
    return sorted(found, key=lambda note: -found[note])[:count]


@pytest.mark.parametrize("count", [1, 7, EXACT_BELOW, EXACT_BELOW + 1, 20_000])
def test_the_nearest_are_those_of_an_exact_search(count: int) -> None:
    units = clustered(count, 200)
    notes = np.sort(RNG.integers(max(count // 3, 1), size=count))
    there = space(units, notes, shuffle=True)
    hits = wanted = 0
    for at in RNG.integers(count, size=40):
        asked = units[at] + 0.05 * RNG.normal(size=200).astype(np.float32)
        asked /= np.linalg.norm(asked)
        near = there.nearest(asked, 10)
        best = exact(units, notes, asked, 10)
        assert list(near.cosines) == sorted(near.cosines, reverse=True)
        assert len(set(near.notes.tolist())) == len(near.notes) == len(best)
        hits += len({*near.notes.tolist()} & {*best})
        wanted += len(best)
        for note, cosine, place in zip(near.notes, near.cosines, near.places, strict=True):
            row = int(place) - 1000
            assert notes[row] == note
            assert units[row] @ asked == pytest.approx(cosine, abs=1e-5)
    assert hits >= 0.99 * wanted


def test_no_vectors_at_all() -> None:
    empty = space(np.empty((0, 70), dtype=np.float32))
    asked = np.ones(70, dtype=np.float32)
    assert len(empty.nearest(asked, 5).notes) == 0
    best, places = empty.of_notes(asked, np.array([1, 2]))
    assert best.tolist() == [NONE, NONE]
    assert places.tolist() == [0, 0]
    assert empty.above_usual(asked, np.array([0.5], dtype=np.float32)).tolist() == [0.0]
    assert empty.at_height(asked, np.array([3.0], dtype=np.float32)).tolist() == [0.0]
    assert empty.own(3).shape == (0, 70)


@pytest.mark.parametrize("dim", [1, 63, 64, 65, 384, 512])
def test_bits_are_signs(dim: int) -> None:
    units = RNG.normal(size=(9, dim)).astype(np.float32)
    bits = pack(units)
    assert bits.shape == (-(-dim // 64), 9)
    assert bits.flags.c_contiguous
    for one in range(9):
        for other in range(9):
            different = int(np.bitwise_count(bits[:, one] ^ bits[:, other]).sum())
            assert different == int(((units[one] > 0) != (units[other] > 0)).sum())
    assert pack(np.empty((0, dim), dtype=np.float32)).shape == (-(-dim // 64), 0)


def test_of_notes_takes_the_nearest_chunk() -> None:
    units = np.eye(4, dtype=np.float32)
    there = space(units, np.array([2, 2, 5, 9]))
    best, places = there.of_notes(np.array([0.1, 0.9, 0.3, 0.2], dtype=np.float32), np.array([9, 3, 2, 5, 10]))
    assert best.tolist() == pytest.approx([0.2, NONE, 0.9, 0.3, NONE])
    assert places.tolist() == [1003, 0, 1001, 1002, 0]


def test_centring_takes_the_language_off() -> None:
    """Two languages, each with a mean of its own, same topics: after centring a topic is nearer than a language."""
    topics = clustered(300, 64, 300)
    bias = 2 * clustered(2, 64, 2)
    languages = np.repeat([0, 1], 300)
    raw = np.concatenate([topics + bias[0], topics + bias[1]])
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    means = means_of(raw, languages)
    units = centre(raw, languages, means)
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, atol=1e-5)

    def twins(vectors: np.ndarray) -> int:
        """Of those of the first language: whose nearest, but itself, is its twin in the other."""
        near = vectors[:300] @ vectors.T
        near[np.arange(300), np.arange(300)] = -9
        return int((near.argmax(axis=1) == np.arange(300) + 300).sum())

    assert twins(units) >= 280 > 150 > twins(raw)


def test_the_mean_of_few_is_taken_off_less() -> None:
    one = np.array([[1.0, 0.0]], dtype=np.float32)
    many = np.repeat(one, 1000, axis=0)
    assert means_of(one, np.array([0]))[0, 0] == pytest.approx(CENTRED / (1 + FEW))
    assert means_of(many, np.zeros(1000, dtype=int))[0, 0] == pytest.approx(CENTRED, rel=0.02)
    assert means_of(one, np.array([0]))[1].tolist() == [0, 0], "no text of that language"
    assert np.isfinite(centre(one, np.array([0]), np.array([[1, 0], [0, 0]], dtype=np.float32))).all()


def test_what_is_usual_is_free_of_the_scale() -> None:
    units = clustered(3000, 64)
    there = space(units)
    asked = units[0]
    cosines = units @ asked
    above = there.above_usual(asked, cosines)
    assert above[0] > 5
    assert abs(float(above.mean())) < 0.2
    assert float(above.std()) == pytest.approx(1, abs=0.2)
    np.testing.assert_allclose(there.at_height(asked, above), cosines, atol=1e-4)
    assert (space(units).usual == there.usual).all(), "always the same"
