"""Rows of files: what lies in the vault, under which identity, and what of it is in the index."""

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ohmykb.note import NotePath, Scope, Stamp
from ohmykb.store.connection import Database, transaction
from ohmykb.store.schema import RECIPE

NOTE, CANVAS, OTHER = 0, 1, 2
UNREADABLE = b""


class FileRow(NamedTuple):
    id: int
    path: NotePath
    kind: int
    scope: int
    stamp: Stamp | None
    hash: bytes | None


def path_key(path: str) -> str:
    """A path or link as links compare them: NFC, lower case."""
    return (path if path.isascii() else unicodedata.normalize("NFC", path)).lower()


def name_key(path: str) -> str:
    """The last part of a path or link, as links find it: folded, without `.md`."""
    key = path_key(path[path.rfind("/") + 1 :])
    return key[:-3] if key.endswith(".md") and len(key) > 3 else key


Known = tuple[str, int, int, int, int | None, int | None, int | None, int | None, bool]
"""(path, id, kind, scope, size, mtime_ns, ctime_ns, inode, pending): a plain row, for there are very many."""


def manifest(db: Database) -> dict[str, Known]:
    """path → what is known of the file; the whole vault in one read."""
    rows = db.execute("SELECT path, id, kind, scope, size, mtime_ns, ctime_ns, inode, hash IS NULL FROM files")
    return {row[0]: row for row in rows}


def known(db: Database, path: str) -> Known | None:
    """The same of one file."""
    row: Known | None = db.row(
        "SELECT path, id, kind, scope, size, mtime_ns, ctime_ns, inode, hash IS NULL FROM files WHERE path = ?", (path,)
    )
    return row


def of_inodes(db: Database, inodes: Sequence[int]) -> list[Known]:
    """The same of the files that had one of these inodes when they were read. Looks through all files."""
    if not inodes:
        return []
    return list(db.rows(
        "SELECT path, id, kind, scope, size, mtime_ns, ctime_ns, inode, hash IS NULL FROM files"
        " WHERE inode IN (SELECT value FROM json_each(?))", (json.dumps(list(inodes)),),
    ))  # fmt: skip


def by_path(db: Database, path: str) -> FileRow | None:
    row = db.row(
        "SELECT id, path, kind, scope, size, mtime_ns, ctime_ns, inode, hash FROM files WHERE path = ?",
        (path,),
    )
    if row is None:
        return None
    stamp = None if row[4] is None else Stamp(*row[4:8])
    return FileRow(row[0], NotePath(row[1]), row[2], row[3], stamp, row[8])


def under(db: Database, folder: str) -> list[NotePath]:
    """Paths of all files below a folder."""
    low, high = folder + "/", folder + "0"  # "0" is the character after "/"
    return [row[0] for row in db.rows("SELECT path FROM files WHERE path >= ? AND path < ?", (low, high))]


def insert(db: Database, rows: Iterable[tuple[str, int, Scope]]) -> list[int]:
    """Adds files as pending; returns their new ids, in order."""
    made = []
    first = int(db.value("SELECT coalesce(max(id), 0) FROM files"))
    for number, (path, kind, scope) in enumerate(rows, first + 1):
        made.append((number, path, kind, int(scope), name_key(path)))
    db.executemany("INSERT INTO files (id, path, kind, scope, name_key) VALUES (?, ?, ?, ?, ?)", made)
    return [row[0] for row in made]


def rename(db: Database, file: int, path: str) -> None:
    """The same file under another path; its text is pending again, for names are searched too."""
    db.execute("UPDATE files SET path = ?, name_key = ?, hash = NULL WHERE id = ?", (path, name_key(path), file))


def set_pending(db: Database, file: int) -> None:
    """What the index holds of the file no longer counts; it is to be read again."""
    db.execute("UPDATE files SET hash = NULL WHERE id = ?", (file,))


def set_scope(db: Database, file: int, scope: Scope) -> None:
    db.execute("UPDATE files SET scope = ? WHERE id = ?", (int(scope), file))


def set_read(db: Database, rows: Iterable[tuple[Stamp, bytes, int]]) -> None:
    """Records what was read: (stamp, sha256 or UNREADABLE, id)."""
    db.executemany(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, hash = ? WHERE id = ?",
        ((*stamp, digest, file) for stamp, digest, file in rows),
    )


def set_stamps(db: Database, rows: Iterable[tuple[Stamp, int]]) -> None:
    """The same bytes under a new stamp."""
    db.executemany(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?",
        ((*stamp, file) for stamp, file in rows),
    )


def delete(db: Database, ids: Sequence[int]) -> None:
    """Takes files out, and all that hangs on them; links to them become unresolved."""
    db.executemany("UPDATE links SET subpath_found = NULL WHERE target = ?", ((file,) for file in ids))
    db.executemany("DELETE FROM words WHERE rowid = ?", ((file,) for file in ids))
    db.executemany("DELETE FROM files WHERE id = ?", ((file,) for file in ids))


def named(db: Database, key: str) -> list[tuple[int, str, int]]:
    """(id, path, kind) of every file that links by this name may mean."""
    return db.rows("SELECT id, path, kind FROM files WHERE name_key = ?", (key,))


def all_named(db: Database) -> list[tuple[str, int, str, int]]:
    """(name_key, id, path, kind) of every file."""
    return db.rows("SELECT name_key, id, path, kind FROM files")


def hashes(db: Database, ids: Sequence[int]) -> dict[int, bytes | None]:
    """id → hash of what is in the index."""
    found: dict[int, bytes | None] = {}
    for file in ids:
        row = db.row("SELECT hash FROM files WHERE id = ?", (file,))
        if row is not None:
            found[file] = row[0]
    return found


def count(db: Database) -> int:
    return int(db.value("SELECT count(*) FROM files"))


def revision(db: Database) -> int:
    """Grows with every transaction that changed the index."""
    return int(db.value("SELECT value FROM meta WHERE key = 'revision'"))


def advance(db: Database) -> None:
    db.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")


def go_on_from(db: Database, before: int) -> int:
    """The revision of an index made anew is later than that of the one before; returns it."""
    db.execute("UPDATE meta SET value = max(value, ?) + 1 WHERE key = 'revision'", (before,))
    return revision(db)


def settle_recipe(db: Database) -> None:
    """Makes every file pending when scanning or segmenting changed since the index was made."""
    if int(db.value("SELECT value FROM meta WHERE key = 'recipe'")) != RECIPE:
        with transaction(db):
            db.execute("UPDATE files SET hash = NULL")
            db.execute("UPDATE meta SET value = ? WHERE key = 'recipe'", (RECIPE,))


def settle_limit(db: Database, limit: int) -> None:
    """Makes the files pending that a changed limit on their size (bytes) lets in or keeps out."""
    before = db.value("SELECT value FROM meta WHERE key = 'limit'")
    if before != limit:
        with transaction(db):
            if before is not None:
                low, high = sorted((int(before), limit))
                db.execute("UPDATE files SET hash = NULL WHERE size > ? AND size <= ?", (low, high))
            db.execute("INSERT OR REPLACE INTO meta VALUES ('limit', ?)", (limit,))
