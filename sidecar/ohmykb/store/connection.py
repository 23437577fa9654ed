"""SQLite connections: one writer, any number of readers, migrations that commit with their record."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import local
from typing import Any

import apsw

from ohmykb.errors import KbError

BUSY_MS = 10_000
MMAP_BYTES = 1 << 30


class DatabaseError(KbError):
    """The database cannot be used as it is."""

    code = "database"


class NewerDatabaseError(DatabaseError):
    """A later version of Oh My KB made this database."""

    code = "database-newer"


class DamagedError(DatabaseError):
    """The file is not a sound database."""

    code = "database-damaged"


class Database(apsw.Connection):
    """An apsw connection with the three questions that are asked all the time."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows, each a tuple of the columns asked for."""
        return self.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row, or None."""
        return self.execute(sql, values).fetchone()

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None without rows."""
        found = self.execute(sql, values).fetchone()
        return None if found is None else found[0]


def library_version() -> str:
    """Of SQLite itself."""
    return apsw.sqlite_lib_version()


def open_writer(path: Path, migrations: Sequence[str]) -> Database:
    """The one writing connection, brought up to date. The caller holds the lock.

    Raises NewerDatabaseError, DamagedError.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        db = Database(str(path))
        _prepare(db)
        db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA journal_size_limit = 67108864")
        _migrate(db, migrations, path)
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise DamagedError(f"{path} is damaged: {error}.", "Delete it; it is made again.") from error
    return db


def open_reader(path: Path, version: int) -> Database:
    """A read-only connection to a database of exactly this many migrations.

    Raises DatabaseError when it is missing or of another version.
    """
    try:
        db = Database(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        _prepare(db)
        found = _version(db)
    except apsw.CantOpenError as error:
        raise DatabaseError("There is no index of this vault yet.", "Run: kb index") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise DamagedError(f"{path} is damaged: {error}.", "Run: kb index --rebuild") from error
    if found > version:
        raise _newer(path)
    if found < version:
        raise DatabaseError("The index is from an earlier version.", "Run: kb index")
    return db


class Readers:
    """One reading connection a thread, as long as the thread needs it.

    A server gives it back after each request: then few serve many threads, and each maps the database
    into memory only once.
    """

    def __init__(self, path: Path, version: int) -> None:
        self._path = path
        self._version = version
        self._local = local()
        self._free: list[Database] = []

    def get(self) -> Database:
        db: Database | None = getattr(self._local, "db", None)
        if db is None:
            try:
                db = self._free.pop()
            except IndexError:
                db = open_reader(self._path, self._version)
            self._local.db = db
        return db

    def give_back(self) -> None:
        """This thread is done reading for now."""
        db: Database | None = getattr(self._local, "db", None)
        if db is not None:
            self._local.db = None
            self._free.append(db)

    def close(self) -> None:
        """Closes what was given back."""
        while self._free:
            self._free.pop().close()


@contextmanager
def snapshot(db: Database) -> Iterator[Database]:
    """All reads inside see one state of the database. May be nested."""
    if db.in_transaction:
        yield db
        return
    db.execute("BEGIN")
    try:
        yield db
    finally:
        db.execute("ROLLBACK")


@contextmanager
def transaction(db: Database) -> Iterator[None]:
    """Everything inside is written, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _prepare(db: Database) -> None:
    db.set_busy_timeout(BUSY_MS)
    db.execute(f"PRAGMA foreign_keys = ON; PRAGMA mmap_size = {MMAP_BYTES}; PRAGMA temp_store = MEMORY")


def _version(db: Database) -> int:
    return int(db.value("PRAGMA user_version"))


def _newer(path: Path) -> NewerDatabaseError:
    return NewerDatabaseError(f"{path} was made by a later version of Oh My KB.", "Upgrade with: pipx upgrade oh-my-kb")


def _migrate(db: Database, migrations: Sequence[str], path: Path) -> None:
    found = _version(db)
    if found > len(migrations):
        raise _newer(path)
    for number in range(found, len(migrations)):
        with transaction(db):
            if _version(db) == number:  # else another connection was quicker
                db.execute(migrations[number])
                db.execute(f"PRAGMA user_version = {number + 1}")
