"""The device's own state: what no rebuild of the index could know."""

from collections.abc import Iterable

from ohmykb.store.connection import Database, transaction


def record_renames(db: Database, at: float, moves: Iterable[tuple[str, str]]) -> None:
    """`at` in seconds since the epoch; moves as (old path, new path)."""
    with transaction(db):
        db.executemany("INSERT INTO renames VALUES (?, ?, ?)", ((at, old, new) for old, new in moves))


def renames(db: Database, since: float = 0) -> list[tuple[float, str, str]]:
    """(at, old, new), oldest first."""
    return db.rows("SELECT at, old, new FROM renames WHERE at >= ? ORDER BY at, rowid", (since,))
