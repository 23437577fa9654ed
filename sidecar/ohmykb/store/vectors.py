"""Rows of vectors, kept by sqlite-vec: one set an encoder, one slot a text.

A vector belongs to a text (by its hash), not to a place: a chunk that moves, or stands in two notes,
is encoded once. Slots are used again by UPDATE, for DELETE and INSERT leak space in vec0 tables
(sqlite-vec issues 54, 178, 220; measured: facts of design 1).
"""

import json
from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from ohmykb.store.connection import Database, DatabaseError, transaction
from ohmykb.store.notes import PRIVATE

Vectors = NDArray[np.float32]
KEY_BYTES = 8
BUILDING, SERVING = "building", "serving"


class VectorSet(NamedTuple):
    id: int
    encoder: str
    dim: int
    state: str
    query_means: bytes | None = None
    """float32[2, dim] by language, for encoders that take questions otherwise than passages."""


class Wanted(NamedTuple):
    """A text without a vector in a set."""

    hash: bytes
    note: int
    start: int
    end: int
    """Where the text stands in the note; both -1 for the note's names."""


class Row(NamedTuple):
    """A vector to be kept; None where nothing of the text is worth encoding."""

    hash: bytes
    vector: NDArray[np.float32] | None
    language: int


class Placed(NamedTuple):
    """Which vectors belong to which notes: arrays of one length, ordered by note."""

    notes: NDArray[np.int64]
    places: NDArray[np.int64]
    """Chunk ids; 0 for names."""
    slots: NDArray[np.int64]
    languages: NDArray[np.int64]
    keys: NDArray[np.int64]
    """Part of the hash of the text in the slot: another text, another key."""


def load_extension(db: Database) -> None:
    """Makes vec0 known to this connection (0.3 ms: by path, for importing sqlite_vec pulls numpy).

    Raises DatabaseError where it cannot be loaded.
    """
    spec = find_spec("sqlite_vec")
    folders = spec.submodule_search_locations if spec is not None else None
    try:
        db.enable_load_extension(enable=True)
        db.load_extension(f"{next(iter(folders or ['']))}/vec0")
        db.enable_load_extension(enable=False)
    except apsw.ExtensionLoadingError as error:
        raise DatabaseError(f"sqlite-vec cannot be loaded: {error}.", "Install oh-my-kb anew") from error


def sets(db: Database) -> list[VectorSet]:
    rows = db.rows("SELECT id, encoder, dim, state, query_means FROM vector_sets ORDER BY id")
    return [VectorSet(*row) for row in rows]


def shown(db: Database) -> VectorSet | None:
    """The set that numbers are told of, where nobody knows which encoder is wanted."""
    return min(sets(db), key=lambda one: (one.state != SERVING, one.id), default=None)


def make_set(db: Database, encoder: str, dim: int) -> VectorSet:
    """The set of an encoder, made if it is not there; one of another length is of no use any more, and dropped."""
    for one in sets(db):
        if one.encoder == encoder and one.dim == dim:
            return one
        if one.encoder == encoder:
            drop_set(db, one.id)
    with transaction(db):
        db.execute("INSERT INTO vector_sets (encoder, dim, state) VALUES (?, ?, ?)", (encoder, dim, BUILDING))
        number = int(db.last_insert_rowid())
        db.execute(
            f"CREATE VIRTUAL TABLE vectors_{number} USING vec0 (vector float[{int(dim)}] distance_metric=cosine)"
        )
    return VectorSet(number, encoder, dim, BUILDING)


def set_state(db: Database, number: int, state: str) -> None:
    db.execute("UPDATE vector_sets SET state = ? WHERE id = ?", (state, number))


def set_query_means(db: Database, number: int, means: bytes) -> None:
    db.execute("UPDATE vector_sets SET query_means = ? WHERE id = ?", (means, number))


def drop_set(db: Database, number: int) -> None:
    """Forgets a set and its vectors."""
    with transaction(db):
        db.execute("DELETE FROM encoded WHERE set_id = ?", (number,))
        db.execute("DELETE FROM vector_sets WHERE id = ?", (number,))
        db.execute(f"DROP TABLE vectors_{int(number)}")


_WITHOUT = (
    " NOT EXISTS (SELECT 1 FROM encoded e WHERE e.set_id = ?1 AND e.hash = {hash})"
    " AND n.id NOT IN (SELECT value FROM json_each(?2))"
)


def wanted(db: Database, number: int, limit: int, hidden: Collection[int] = ()) -> list[Wanted]:
    """Texts of the index that have no vector in the set, names first, without those of `hidden` notes."""
    notes = json.dumps(list(hidden))
    found = db.rows(
        "SELECT n.names_hash, n.id, -1, -1 FROM notes n WHERE n.names_hash <> x'' AND"
        + _WITHOUT.format(hash="n.names_hash")
        + " LIMIT ?3",
        (number, notes, limit),
    )
    if len(found) < limit:
        found += db.rows(
            'SELECT c.hash, c.note, c.start, c."end" FROM chunks c JOIN notes n ON n.id = c.note WHERE'
            + _WITHOUT.format(hash="c.hash")
            + " LIMIT ?3",
            (number, notes, limit - len(found)),
        )
    return [Wanted(*row) for row in found]


def unencoded(db: Database, number: int, hidden: Collection[int] = ()) -> int:
    """How many texts of the index have no vector in the set; all of them for a set that is not there (0)."""
    return int(
        db.value(
            "SELECT (SELECT count(*) FROM notes n WHERE n.names_hash <> x'' AND"
            + _WITHOUT.format(hash="n.names_hash")
            + ") + (SELECT count(*) FROM chunks c JOIN notes n ON n.id = c.note WHERE"
            + _WITHOUT.format(hash="c.hash")
            + ")",
            (number, json.dumps(list(hidden))),
        )
    )


def secret(db: Database, excluded: Callable[[str], bool]) -> list[int]:
    """Notes that must not leave this machine: private ones, and those at a path that `excluded` covers."""
    rows = db.rows("SELECT n.id, n.flags, f.path FROM notes n JOIN files f ON f.id = n.id")
    return [note for note, flags, path in rows if flags & PRIVATE or excluded(path)]


def count(db: Database, number: int) -> int:
    """Vectors kept in a set."""
    return int(db.value("SELECT count(slot) FROM encoded WHERE set_id = ?", (number,)))


def free_slots(db: Database, number: int) -> list[int]:
    """Slots that hold no text of the index, to be used again; forgets texts that are gone."""
    db.execute(
        "DELETE FROM encoded WHERE set_id = ? AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.hash = encoded.hash)"
        " AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.names_hash = encoded.hash)",
        (number,),
    )
    free = (
        f"SELECT rowid FROM vectors_{number}_rowids EXCEPT SELECT slot FROM encoded"
        " WHERE set_id = ? AND slot IS NOT NULL ORDER BY 1 DESC"
    )  # from vec0's own list of its rows: reading its table would read the vectors
    return [row[0] for row in db.rows(free, (number,))]


def names(db: Database, note: int) -> tuple[str, str, list[str]]:
    """(title, path, aliases) of a note."""
    title, path = db.row("SELECT n.title, f.path FROM notes n JOIN files f ON f.id = n.id WHERE n.id = ?", (note,)) or (
        "",
        "",
    )
    return title, path, [row[0] for row in db.rows("SELECT alias FROM aliases WHERE note = ? ORDER BY rowid", (note,))]


def put(db: Database, number: int, rows: Sequence[Row], free: list[int]) -> list[int]:
    """Keeps vectors by the hash of their text, in slots from `free` first; returns the slots.

    `free` is all that `free_slots` told, or what earlier calls left of it.
    """
    slots: list[int] = []
    used = int(db.value("SELECT coalesce(max(slot), 0) FROM encoded WHERE set_id = ?", (number,)))
    last = max([used, *free[:1]])
    for digest, vector, language in rows:
        slot = None
        if vector is not None:
            data = np.ascontiguousarray(vector, dtype=np.float32).tobytes()
            if free:
                slot = free.pop()
                db.execute(f"UPDATE vectors_{number} SET vector = ? WHERE rowid = ?", (data, slot))
            else:
                slot = last = last + 1
                db.execute(f"INSERT INTO vectors_{number} (rowid, vector) VALUES (?, ?)", (slot, data))
            slots.append(slot)
        db.execute("INSERT OR REPLACE INTO encoded VALUES (?, ?, ?, ?)", (number, digest, slot, language))
    return slots


def placed(db: Database, number: int) -> tuple[Placed, Placed]:
    """(names, chunks) of all notes that have vectors in the set."""
    names = db.rows(
        "SELECT n.id, 0, e.slot, e.language, e.hash FROM notes n JOIN encoded e ON e.hash = n.names_hash"
        " WHERE e.set_id = ? AND e.slot IS NOT NULL ORDER BY n.id",
        (number,),
    )
    chunks = db.rows(
        "SELECT c.note, c.id, e.slot, e.language, e.hash FROM chunks c JOIN encoded e ON e.hash = c.hash"
        " WHERE e.set_id = ? AND e.slot IS NOT NULL ORDER BY c.note, c.id",
        (number,),
    )
    return _placed(names), _placed(chunks)


def _placed(rows: list[tuple[int, int, int, int, bytes]]) -> Placed:
    if not rows:
        none = np.empty(0, dtype=np.int64)
        return Placed(none, none, none, none, none)
    numbers = np.array([row[:4] for row in rows], dtype=np.int64).T
    keys = np.frombuffer(b"".join(row[4][:KEY_BYTES] for row in rows), dtype=np.int64)
    return Placed(numbers[0], numbers[1], numbers[2], numbers[3], keys)


def read(db: Database, number: int, dim: int, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], Vectors]:
    """(slots int64[n], vectors float32[n, dim]) of some slots of a set."""
    one = f"SELECT rowid, vector FROM vectors_{number} WHERE rowid = ?"
    rows = [row for slot in slots for row in db.rows(one, (int(slot),))]
    if not rows:
        return np.empty(0, dtype=np.int64), np.empty((0, dim), dtype=np.float32)
    numbers, blobs = zip(*rows, strict=True)
    vectors = np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(-1, dim)
    return np.array(numbers, dtype=np.int64), vectors


def read_all(db: Database, number: int, dim: int, size: int) -> Vectors:
    """float32[size, dim]: the vectors of a set by slot, zeros where there is none.

    Read from vec0's own tables, 1,024 vectors at a time: row by row it is thirty times slower.
    """
    found = np.zeros((size, dim), dtype=np.float32)
    for valid, rowids, blob in db.execute(
        f"SELECT c.validity, c.rowids, v.vectors FROM vectors_{number}_chunks c"
        f" CROSS JOIN vectors_{number}_vector_chunks00 v ON v.rowid = c.chunk_id"
    ):
        slots = np.frombuffer(rowids, dtype="<i8")
        there = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")[: len(slots)].astype(bool)
        there &= slots < size
        found[slots[there]] = np.frombuffer(blob, dtype="<f4").reshape(-1, dim)[there]
    return found


def faults(db: Database) -> list[str]:
    """What is wrong with the keys of vectors: a text that points to no vector, or two that point to one.

    Texts without a vector are no fault: they wait for the encoder.
    """
    found = []
    for one in sets(db):
        table = f"vectors_{one.id}_rowids"  # vec0's own list of its rows: readable without the extension
        lost = db.value(
            f"SELECT count(*) FROM encoded e WHERE e.set_id = ? AND e.slot IS NOT NULL"
            f" AND NOT EXISTS (SELECT 1 FROM {table} r WHERE r.rowid = e.slot)",
            (one.id,),
        )
        shared = db.value(
            "SELECT count(*) - count(DISTINCT slot) FROM encoded WHERE set_id = ? AND slot IS NOT NULL", (one.id,)
        )
        if lost:
            found.append(f"{lost} texts of the vectors of {one.encoder} point to no vector")
        if shared:
            found.append(f"{shared} texts of the vectors of {one.encoder} share a vector with another")
    return found
