"""The vector arm: what each encoder finds near a question.

Vectors are loaded once and kept in step in the background; a question sees one whole state.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohmykb.errors import KbError
from ohmykb.markdown.words import is_chinese
from ohmykb.models.encoder import Encoder, EncoderUnavailableError
from ohmykb.search.space import CENTRED, FEW, NONE, Space, centre, make_space, means_of, pack
from ohmykb.store import vectors
from ohmykb.store.connection import Database, snapshot
from ohmykb.store.vectors import Placed, VectorSet

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
    known: NDArray[np.bool_]
    """Whether the note has any vector. Without one, all figures are what is usual here: it is not known to be
    far, only not known (it was just written, or is private and the encoder elsewhere)."""
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
    means: tuple[Vectors, Vectors]
    """What was taken off names and chunks, by language."""
    units: Vectors
    bits: NDArray[np.uint64]
    keys: Ints
    """int64[slots]: of which text each vector is."""
    since: int
    """Vectors that came after the means were taken."""

    def ask(self, query: str) -> Vectors:
        """The question as a centred unit vector. Raises EncoderMissingError, EncoderUnavailableError."""
        language = np.array([int(is_chinese(query))])
        encoded = self.encoder.encode_queries([query])
        if encoded.shape[1] != self.stored.dim:
            raise EncoderUnavailableError(
                f"The encoder {self.encoder.id} gives {encoded.shape[1]} numbers a vector, and {self.stored.dim} when "
                "the notes were encoded: another model stands behind the name.",
                "Encode the notes again with: kb index --rebuild",
            )
        asked: Vectors = centre(encoded, language, self.query_means)[0]
        return asked

    def near(self, asked: Vectors, count: int) -> tuple[set[int], float]:
        """(notes worth a close look, the highest cosine of any name)."""
        names = self.names.nearest(asked, count)
        found = {*names.notes.tolist(), *self.chunks.nearest(asked, count).notes.tolist()}
        return found, float(names.cosines[0]) if len(names.cosines) else 0.0

    def look(self, asked: Vectors, notes: Ints) -> Nearness:
        name, _ = self.names.of_notes(asked, notes)
        passage, places = self.chunks.of_notes(asked, notes)
        no_name, no_passage = name == NONE, passage == NONE
        above_name = self.names.above_usual(asked, np.where(no_name, 0, name))
        above_passage = self.chunks.above_usual(asked, np.where(no_passage, name, passage))
        above = (np.where(no_name, above_passage, above_name) + above_passage) / 2
        known = ~(no_name & no_passage)
        usual = (self.chunks.usual @ asked).mean() if len(self.chunks.usual) else 0.0
        passage = np.where(known, np.where(no_passage, name, passage), usual)
        name = np.where(no_name, passage, name)
        return Nearness(passage.astype(np.float32), np.where(known, above, 0).astype(np.float32), name, known, places)


class Meaning:
    """The arms in use. `refresh` runs in the background, `arms` is read by questions."""

    def __init__(self, encoders: Sequence[Encoder] = (), *, whole: bool = True) -> None:
        self._wanted = list(encoders)
        self._whole = whole
        self._former: list[Encoder] = []
        self.reopen: Callable[[str], Encoder | None] = lambda _: None
        """Opens the encoder of a set that is there, by its id; may raise KbError. None where none is wanted."""
        self._tried: set[str] = set()
        self._gone: str | None = None
        self.arms: tuple[Arm, ...] = ()
        self.behind: str | None = None
        """What answers may lack, in words."""
        self.lost: str | None = None
        """What served before a restart and cannot any more, in words, while nothing is there in its place."""

    def use(self, encoders: Sequence[Encoder], *, whole: bool = True) -> None:
        """These are wanted from now on; those from before serve until each of these has all its vectors.

        Not `whole`: more are wanted, but cannot be had.
        """
        ids = {one.id for one in encoders}
        self._whole = whole
        self._tried, self._gone = set(), None
        self._former = [one for one in (*self._wanted, *self._former) if one.id not in ids]
        self._wanted = list(encoders)

    def refresh(self, db: Database) -> None:
        """Brings the arms in step with the index: whatever was encoded, moved or went."""
        known = {one.encoder: one for one in vectors.sets(db)}
        wanted = [(one, known[one.id]) for one in self._wanted if one.id in known]
        ready = [pair for pair in wanted if pair[1].state == vectors.SERVING]
        if self._whole and len(ready) == len(self._wanted):
            self._former = []
        else:
            self._reopen([one.encoder for one in known.values() if one.state == vectors.SERVING])
        former = [(one, known[one.id]) for one in self._former if one.id in known]
        arms = [_load(db, *pair, self._before(*pair)) for pair in [*ready, *former] or wanted]
        self.arms = tuple(arm for arm in arms if arm is not None)
        self.lost = None if ready or former else self._gone

    def _reopen(self, serving: Iterable[str]) -> None:
        """What served before a restart serves on while the wanted sets are made."""
        here = {one.id for one in (*self._wanted, *self._former)} | self._tried
        for name in serving:
            if name not in here:
                self._tried.add(name)
                try:
                    found = self.reopen(name)
                except KbError as error:
                    self._gone = f"{error.message} {error.fix}".strip()
                else:
                    self._former += [found] if found is not None else []

    def _before(self, encoder: Encoder, one: VectorSet) -> Arm | None:
        """What is in memory of a set; the number of one that was dropped may have been given again."""
        return next((arm for arm in self.arms if arm.stored[:3] == one[:3] and arm.encoder is encoder), None)


def _load(db: Database, encoder: Encoder, one: VectorSet, before: Arm | None) -> Arm | None:
    """The arm of a set as it is now; vectors of texts that are known already are not read again."""
    with snapshot(db):
        placed = vectors.placed(db, one.id)
        size = max((int(part.slots.max()) for part in placed if len(part.slots)), default=0) + 1
        if size == 1:
            return None
        keys = np.zeros(size, dtype=np.int64)
        for part in placed:
            keys[part.slots] = part.keys
        fresh = keys != 0
        if before is not None:
            there = min(size, len(before.keys))
            fresh[:there] &= keys[:there] != before.keys[:there]
        since = int(fresh.sum()) + (before.since if before is not None else 0)
        if before is None or since > MEANS_AGAIN * len(before.keys):
            return _loaded_whole(db, encoder, one, placed, keys)
        units = _grown(before.units, size)
        bits = np.ascontiguousarray(_grown(before.bits.T, size).T)
        known = np.where(keys == 0, _grown(before.keys, size)[:size], keys)
        for part, mean in zip(placed, before.means, strict=True):
            again = fresh[part.slots]
            slots, first = np.unique(part.slots[again], return_index=True)
            found, raw = vectors.read(db, one.id, one.dim, slots)
            units[found] = centre(raw, part.languages[again][first], mean)
            bits[:, found] = pack(units[found])
    return _arm(encoder, one, placed, units, bits, known, before.means, since)


def _loaded_whole(db: Database, encoder: Encoder, one: VectorSet, placed: tuple[Placed, Placed], keys: Ints) -> Arm:
    units = vectors.read_all(db, one.id, one.dim, len(keys))
    means = (_means(units, placed[0]), _means(units, placed[1]))
    for part, mean in zip(placed, means, strict=True):
        slots, first = np.unique(part.slots, return_index=True)
        units[slots] = centre(units[slots], part.languages[first], mean)
    return _arm(encoder, one, placed, units, pack(units), keys, means, 0)


def _arm(
    encoder: Encoder,
    one: VectorSet,
    placed: tuple[Placed, Placed],
    units: Vectors,
    bits: NDArray[np.uint64],
    keys: Ints,
    means: tuple[Vectors, Vectors],
    since: int,
) -> Arm:
    stored = one.query_means
    query_means = (
        means[0] if stored is None else _shrunk(np.frombuffer(stored, np.float32).reshape(2, -1), placed[0].languages)
    )
    spaces = [make_space(part, units, bits) for part in placed]
    return Arm(encoder, one, spaces[0], spaces[1], query_means, means, units, bits, keys, since)


def _means(units: Vectors, part: Placed) -> Vectors:
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
