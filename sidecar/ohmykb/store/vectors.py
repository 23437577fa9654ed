"""Rows of vectors, kept by sqlite-vec: one set an encoder, one slot a text.

A vector belongs to a text (by its hash), not to a place: a chunk that moves, or stands in two notes,
is encoded once. Slots are used again by UPDATE, for DELETE and INSERT leak space in vec0 tables
(sqlite-vec issues 54, 178, 220; measured: facts of design 1).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from ohmykb.store.connection import Database

BUILDING, SERVING = "building", "serving"


class VectorSet(NamedTuple):
    id: int
    encoder: str
    dim: int
    state: str


class Wanted(NamedTuple):
    """A text without a vector in a set."""

    hash: bytes
    note: int
    start: int
    end: int
    """Where the text stands in the note; both -1 for the note's names."""


def load_extension(db: Database) -> None:
    """Makes vec0 known to this connection (0.3 ms: by path, for importing sqlite_vec pulls numpy)."""
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise apsw.ExtensionLoadingError("sqlite_vec is not installed")
    db.enable_load_extension(True)  # noqa: FBT003 - apsw's own signature
    try:
        db.load_extension(f"{next(iter(spec.submodule_search_locations))}/vec0")
    finally:
        db.enable_load_extension(False)  # noqa: FBT003


def sets(db: Database) -> list[VectorSet]:
    return [VectorSet(*row) for row in db.rows("SELECT id, encoder, dim, state FROM vector_sets ORDER BY id")]


def make_set(db: Database, encoder: str, dim: int) -> VectorSet:
    """The set of an encoder, made if it is not there."""
    for one in sets(db):
        if one.encoder == encoder:
            return one
    db.execute("INSERT INTO vector_sets (encoder, dim, state) VALUES (?, ?, ?)", (encoder, dim, BUILDING))
    number = int(db.last_insert_rowid())
    db.execute(
        f"CREATE VIRTUAL TABLE vectors_{number} USING vec0 (vector float[{int(dim)}] distance_metric=cosine)"
    )
    return VectorSet(number, encoder, dim, BUILDING)


def set_state(db: Database, number: int, state: str) -> None:
    db.execute("UPDATE vector_sets SET state = ? WHERE id = ?", (state, number))


def drop_set(db: Database, number: int) -> None:
    """Forgets a set and its vectors."""
    db.execute(f"DROP TABLE vectors_{int(number)}")
    db.execute("DELETE FROM encoded WHERE set_id = ?", (number,))
    db.execute("DELETE FROM vector_sets WHERE id = ?", (number,))


def wanted(db: Database, number: int, limit: int) -> list[Wanted]:
    """Texts of the index that have no vector in the set: names first, then chunks."""
    found = [
        Wanted(row[0], row[1], -1, -1)
        for row in db.rows(
            "SELECT n.names_hash, n.id FROM notes n JOIN files f ON f.id = n.id WHERE f.kind = 0 AND NOT EXISTS"
            " (SELECT 1 FROM encoded e WHERE e.set_id = ? AND e.hash = n.names_hash) LIMIT ?",
            (number, limit),
        )
    ]
    if len(found) < limit:
        found += [
            Wanted(*row)
            for row in db.rows(
                'SELECT c.hash, c.note, c.start, c."end" FROM chunks c WHERE NOT EXISTS'
                " (SELECT 1 FROM encoded e WHERE e.set_id = ? AND e.hash = c.hash) LIMIT ?",
                (number, limit - len(found)),
            )
        ]
    return found


def unencoded(db: Database, number: int) -> int:
    """How many texts of the index have no vector in the set."""
    return int(
        db.value(
            "SELECT (SELECT count(DISTINCT hash) FROM chunks c WHERE NOT EXISTS"
            " (SELECT 1 FROM encoded e WHERE e.set_id = ?1 AND e.hash = c.hash))"
            " + (SELECT count(DISTINCT names_hash) FROM notes n JOIN files f ON f.id = n.id WHERE f.kind = 0"
            " AND NOT EXISTS (SELECT 1 FROM encoded e WHERE e.set_id = ?1 AND e.hash = n.names_hash))",
            (number,),
        )
    )


def put(db: Database, number: int, rows: Sequence[tuple[bytes, NDArray[np.float32]]]) -> None:
    """Keeps vectors by the hash of their text; slots of texts that are gone are used again."""
    free = [
        row[0]
        for row in db.rows(
            "SELECT slot FROM encoded e WHERE set_id = ? AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.hash = e.hash)"
            " AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.names_hash = e.hash) LIMIT ?",
            (number, len(rows)),
        )
    ]
    last = int(db.value("SELECT coalesce(max(slot), 0) FROM encoded WHERE set_id = ?", (number,)))
    for place, (digest, vector) in enumerate(rows):
        data = np.ascontiguousarray(vector, dtype=np.float32).tobytes()
        if place < len(free):
            slot = free[place]
            db.execute("DELETE FROM encoded WHERE set_id = ? AND slot = ?", (number, slot))
            db.execute(f"UPDATE vectors_{number} SET vector = ? WHERE rowid = ?", (data, slot))
        else:
            last += 1
            slot = last
            db.execute(f"INSERT INTO vectors_{number} (rowid, vector) VALUES (?, ?)", (slot, data))
        db.execute("INSERT INTO encoded VALUES (?, ?, ?)", (number, digest, slot))


def read(db: Database, number: int, dim: int, slots: Iterable[int] | None = None) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(slots int64[n], vectors float32[n, dim]) of a set: all of it, or some slots."""
    if slots is None:
        rows = db.rows(f"SELECT rowid, vector FROM vectors_{number}")
    else:
        one = f"SELECT rowid, vector FROM vectors_{number} WHERE rowid = ?"
        rows = [row for slot in slots for row in db.rows(one, (int(slot),))]
    if not rows:
        return np.empty(0, dtype=np.int64), np.empty((0, dim), dtype=np.float32)
    numbers, blobs = zip(*rows, strict=True)
    vectors = np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(-1, dim)
    return np.array(numbers, dtype=np.int64), vectors
