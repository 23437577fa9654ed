"""Building from nothing: secondary indexes and checks wait until all rows are there."""

from collections.abc import Iterator
from contextlib import contextmanager

from ohmykb.store import fulltext
from ohmykb.store.connection import Database, transaction
from ohmykb.store.schema import SECONDARY

BULK_HASH_BYTES = 64 << 20
"""What FTS5 gathers before it writes a segment, in bulk; left high it stalls single saves."""
USUAL_HASH_BYTES = 1 << 20
BULK_CHECKPOINT_PAGES = 20_000


def is_on(db: Database) -> bool:
    """Whether the secondary indexes are left out at the moment."""
    row = db.row("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'links_name'")
    return row is None


def make_indexes(db: Database) -> None:
    """Makes what is missing: secondary indexes, and the terms of a build that was killed."""
    if is_on(db):
        fulltext.learn_all_terms(db)
    for sql in SECONDARY.values():
        db.execute(sql)


def empty(db: Database) -> None:
    """Forgets everything, for a rebuild under the eyes of readers; the revision goes on."""
    with transaction(db):
        for table in ("links", "tags", "aliases", "chunks", "texts", "notes", "files", "problems", "terms"):
            db.execute(f"DELETE FROM {table}")
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        db.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")


@contextmanager
def mode(db: Database) -> Iterator[None]:
    """For the first build only: the tables are empty."""
    for name in SECONDARY:
        db.execute(f"DROP INDEX IF EXISTS {name}")
    _tune(db, BULK_HASH_BYTES, BULK_CHECKPOINT_PAGES, keys="OFF")
    try:
        yield
    finally:
        _tune(db, USUAL_HASH_BYTES, 1000, keys="ON")
        make_indexes(db)
        db.execute("PRAGMA optimize")


def _tune(db: Database, hash_bytes: int, checkpoint: int, *, keys: str) -> None:
    db.execute("INSERT INTO words (words, rank) VALUES ('hashsize', ?)", (hash_bytes,))
    db.execute(f"PRAGMA wal_autocheckpoint = {checkpoint}; PRAGMA foreign_keys = {keys}")
