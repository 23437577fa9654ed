"""The device's own state: what no rebuild of the index could know."""

import logging
import time
from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from pathlib import Path
from threading import Lock

from ohmykb.store.connection import DamagedError, Database, open_writer, transaction
from ohmykb.store.review import follow
from ohmykb.store.schema import STATE_MIGRATIONS

log = logging.getLogger(__name__)


def open_state(path: Path) -> Database:
    """The state database, written to. A damaged one is kept aside, never deleted, and another begun."""
    try:
        return _open_sound(path)
    except DamagedError as error:
        kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        for suffix in ("", "-wal", "-shm"):
            part = Path(f"{path}{suffix}")
            if part.exists():
                part.rename(f"{kept}{suffix}")
        log.error("%s Set aside as %s", error.message, kept)
        return open_writer(path, STATE_MIGRATIONS)


def _open_sound(path: Path) -> Database:
    db = open_writer(path, STATE_MIGRATIONS)
    try:
        found = db.value("PRAGMA quick_check(1)")
        if found != "ok":
            raise DamagedError(str(path), str(found))
    except BaseException:
        db.close()
        raise
    return db


def set_aside(path: Path) -> list[str]:
    """A sentence for each damaged state database that was kept."""
    kept = sorted(p for p in path.parent.glob(f"{path.name}.damaged-*") if not p.name.endswith(("-wal", "-shm")))
    return [
        f"What was decided before is in {one}, which is damaged; what could be read of it is not used." for one in kept
    ]


_FOLLOWING = (
    ("dismissed", "note"), ("dismissed", "other"),
    ("displaced", "source"), ("displaced", "target"),
    ("lost", "source"), ("lost", "found"),
    ("anchors", "note"), ("broken_since", "source"), ("left_alone", "source"),
)  # fmt: skip
"""Columns that hold paths of files as they are now."""


def record_renames(db: Database, at: float, moves: Iterable[tuple[str, str]]) -> None:
    """`at` in seconds since the epoch; moves as (old path, new path), all at once: they may swap names.

    Whatever is remembered under the old paths is found under the new ones from now on.
    """
    moved = dict(moves)
    with transaction(db):
        db.executemany("INSERT INTO renames VALUES (?, ?, ?)", ((at, old, new) for old, new in moved.items()))
        db.execute("CREATE TEMP TABLE IF NOT EXISTS moved (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID")
        db.execute("DELETE FROM temp.moved")
        db.executemany("INSERT INTO temp.moved VALUES (?, ?)", moved.items())
        for table, column in _FOLLOWING:
            # By way of a name that no path can have, so that one move never takes up what another left behind.
            db.execute(
                f"UPDATE OR REPLACE {table} SET {column} = '/' || m.new FROM temp.moved m WHERE {column} = m.old"
            )
            db.execute(
                f"UPDATE OR REPLACE {table} SET {column} = substr({column}, 2) WHERE {column} >= '/' AND {column} < '0'"
            )
        follow(db, moved)


def renames(db: Database, since: float = 0) -> list[tuple[float, str, str]]:
    """(at, old, new), oldest first."""
    return db.rows("SELECT at, old, new FROM renames WHERE at >= ? ORDER BY at, rowid", (since,))


def follow_renames(db: Database, path: str, since: str) -> str:
    """Where the file is now that was at `path` then (ISO)."""
    return follow_all(db, [path], datetime.fromisoformat(since).timestamp())[path]


def follow_all(db: Database, paths: Iterable[str], since: float) -> dict[str, str]:
    """The same for many: path then (`since` in seconds since the epoch) → path now."""
    found = {path: path for path in paths}
    for _, told in groupby(renames(db, since), key=lambda one: one[0]):
        moved = {old: new for _, old, new in told}  # at once: they may swap names
        found = {path: moved.get(now, now) for path, now in found.items()}
    return found


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

    def follow(self, path: str, since: str) -> str:
        """Where the file is now that was at `path` then (ISO)."""
        with self._lock:
            return follow_renames(self._db, path, since)

    def close(self) -> None:
        self._db.close()
