"""The device's own state: what no rebuild of the index could know."""

from collections.abc import Iterable
from threading import Lock

from ohmykb.store.connection import Database, transaction


def record_renames(db: Database, at: float, moves: Iterable[tuple[str, str]]) -> None:
    """`at` in seconds since the epoch; moves as (old path, new path)."""
    with transaction(db):
        for old, new in moves:
            db.execute("INSERT INTO renames VALUES (?, ?, ?)", (at, old, new))
            db.execute("UPDATE OR REPLACE dismissed SET note = ? WHERE note = ?", (new, old))
            db.execute("UPDATE OR REPLACE dismissed SET other = ? WHERE other = ?", (new, old))


def renames(db: Database, since: float = 0) -> list[tuple[float, str, str]]:
    """(at, old, new), oldest first."""
    return db.rows("SELECT at, old, new FROM renames WHERE at >= ? ORDER BY at, rowid", (since,))


class Decisions:
    """What a person decided, behind a connection of its own: any thread may ask."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()

    def dismiss(self, note: str, other: str) -> None:
        """These two do not belong together: neither is suggested for the other again."""
        with self._lock, transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO dismissed VALUES (?, ?)", ((note, other), (other, note)))

    def dismissed(self, note: str) -> set[str]:
        """Paths that were said not to belong with a note."""
        with self._lock:
            return {row[0] for row in self._db.rows("SELECT other FROM dismissed WHERE note = ?", (note,))}

    def close(self) -> None:
        self._db.close()
