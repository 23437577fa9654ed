"""The vector arm: what each encoder finds near a question.

Vectors are loaded once and kept in step in the background; a question sees one whole state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohmykb.markdown.words import is_chinese
from ohmykb.models.encoder import Encoder
from ohmykb.search.space import CENTRED, FEW, Space, centre, make_space, means_of, pack
from ohmykb.store import vectors
from ohmykb.store.connection import Database
from ohmykb.store.vectors import VectorSet

Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]

MEANS_AGAIN = 0.1
"""Share of new vectors at which the means are taken anew."""


class Nearness(NamedTuple):
    """What one encoder says of some notes, arrays of their number."""

    passage: Vectors
    """Cosine with the nearest chunk (with the names, for a note without chunks)."""
    usual: Vectors
    """Standard deviations above what is usual here: mean of names and nearest chunk."""
    name: Vectors
    """Cosine with the names."""
    places: Ints
    """The nearest chunk."""


@dataclass(slots=True)
class Arm:
    """One encoder with its vectors in memory."""

    encoder: Encoder
    stored: VectorSet
    names: Space
    chunks: Space
    query_means: Vectors
    slots: int
    """Vectors that the means were taken of."""
    means: tuple[Vectors, Vectors]
    bits: NDArray[np.uint64]

    def ask(self, query: str) -> Vectors:
        """The question as a centred unit vector. Raises EncoderMissingError, EncoderUnavailableError."""
        language = np.array([int(is_chinese(query))])
        asked: Vectors = centre(self.encoder.encode_queries([query]), language, self.query_means)[0]
        return asked

    def near(self, asked: Vectors, count: int) -> set[int]:
        """Notes worth a close look."""
        found = {int(note) for note in self.names.nearest(asked, count).notes}
        return found | {int(note) for note in self.chunks.nearest(asked, count).notes}

    def look(self, asked: Vectors, notes: Ints) -> Nearness:
        name, _ = self.names.of_notes(asked, notes)
        passage, places = self.chunks.of_notes(asked, notes)
        passage = np.where(passage < -0.99, name, passage)
        above = (self.names.above_usual(asked, name) + self.chunks.above_usual(asked, passage)) / 2
        return Nearness(passage, above.astype(np.float32), name, places)

    def highest_name(self, asked: Vectors) -> float:
        found = self.names.nearest(asked, 1).cosines
        return float(found[0]) if len(found) else 0.0


class Meaning:
    """The arms in use. `refresh` runs in the background, `arms` is read by questions."""

    def __init__(self, encoders: Sequence[Encoder] = ()) -> None:
        self.encoders = list(encoders)
        self.arms: tuple[Arm, ...] = ()
        self.behind: str | None = None
        """What answers may lack, in words, while vectors are being made."""

    def refresh(self, db: Database, written: Mapping[int, Sequence[int]] = MappingProxyType({})) -> None:
        """Brings the arms in step with the index; `written` names the slots of a set that have new vectors."""
        known = {one.encoder: one for one in vectors.sets(db)}
        arms: list[Arm] = []
        for encoder in self.encoders:
            one = known.get(encoder.id)
            if one is None:
                continue
            before = next((arm for arm in self.arms if arm.stored.id == one.id and arm.encoder is encoder), None)
            arm = _load(db, encoder, one, before, written.get(one.id, ()))
            if arm is not None:
                arms.append(arm)
        self.arms = tuple(arms)


def _load(db: Database, encoder: Encoder, one: VectorSet, before: Arm | None, written: Sequence[int]) -> Arm | None:
    """The arm of a set as it is now; only `written` slots are read again where that will do."""
    placed = vectors.placed(db, one.id)
    highest = max((int(p.slots.max()) for p in placed if len(p.slots)), default=0)
    if not highest:
        return None
    fresh = before is None or highest + 1 > before.slots * (1 + MEANS_AGAIN)
    if fresh or before is None:
        units = np.zeros((highest + 1, one.dim), dtype=np.float32)
        slots, raw = vectors.read(db, one.id, one.dim)
        inside = slots <= highest
        units[slots[inside]] = raw[inside]
        means = (_means(units, placed[0]), _means(units, placed[1]))
        for part, mean in zip(placed, means, strict=True):
            units[part.slots] = centre(units[part.slots], part.languages, mean)
        bits = pack(units)
        count = highest + 1
    else:
        means, count = before.means, before.slots
        units = _grown(before.chunks.units, highest + 1)
        bits = np.ascontiguousarray(_grown(before.bits.T, highest + 1).T)
        for part, mean in zip(placed, means, strict=True):
            again = np.isin(part.slots, np.asarray(written, dtype=np.int64))
            slots, raw = vectors.read(db, one.id, one.dim, part.slots[again])
            if len(slots):
                units[slots] = centre(raw, part.languages[again], mean)
                bits[:, slots] = pack(units[slots])
    stored = one.query_means
    query_means = (
        means[0] if stored is None else _shrunk(np.frombuffer(stored, np.float32).reshape(2, -1), placed[0].languages)
    )
    return Arm(
        encoder,
        one,
        make_space(placed[0], units, bits),
        make_space(placed[1], units, bits),
        query_means,
        count,
        means,
        bits,
    )


def _means(units: Vectors, part: vectors.Placed) -> Vectors:
    return means_of(units[part.slots], part.languages)


def _shrunk(means: Vectors, languages: Ints) -> Vectors:
    """Plain means of questions, taken off as far as those of the names are."""
    counts = np.array([(languages == 0).sum(), (languages == 1).sum()], dtype=np.float32)
    return np.asarray(means * (CENTRED * counts / (counts + FEW))[:, None], dtype=np.float32)


def _grown(array: NDArray, size: int) -> NDArray:  # type: ignore[type-arg]
    """A copy with room for `size` rows: questions under way keep the old one."""
    made = np.zeros((max(size, len(array)), *array.shape[1:]), dtype=array.dtype)
    made[: len(array)] = array
    return made
