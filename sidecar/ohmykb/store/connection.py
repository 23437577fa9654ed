"""SQLite connections: one writer, any number of readers, migrations that commit with their record."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import local
from typing import Any, NoReturn

import apsw

from ohmykb.store.damage import TOLD, UnwritableError, is_damage, told
from ohmykb.store.damage import DamagedError as DamagedError  # for those who open
from ohmykb.store.damage import DatabaseError as DatabaseError
from ohmykb.store.damage import NewerDatabaseError as NewerDatabaseError

BUSY_MS = 10_000
CACHE_KB = 4_000
"""Of pages, a connection: a probe of 66,000 notes by a title spends less in SQLite than with 2,000."""


SqlError = apsw.Error
"""Whatever SQLite itself raises."""


class Database(apsw.Connection):
    """An apsw connection with the questions that are asked all the time.

    What happens to its file is raised as DamagedError, UnwritableError, DiskFullError.
    """

    on_damage: Callable[[], None] | None = None
    """Told as well of any damage that is met."""

    def execute(self, *args: Any, **named: Any) -> apsw.Cursor:
        try:
            return super().execute(*args, **named)
        except TOLD as error:
            self._tell(error)

    def executemany(self, *args: Any, **named: Any) -> apsw.Cursor:
        try:
            return super().executemany(*args, **named)
        except TOLD as error:
            self._tell(error)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows, each a tuple of the columns asked for."""
        try:
            return super().execute(sql, values).fetchall()
        except TOLD as error:
            self._tell(error)

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows one by one, never all in memory."""
        try:
            yield from super().execute(sql, values)
        except TOLD as error:
            self._tell(error)

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row, or None."""
        try:
            return super().execute(sql, values).fetchone()
        except TOLD as error:
            self._tell(error)

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None without rows."""
        found = self.row(sql, values)
        return None if found is None else found[0]

    def _tell(self, error: apsw.Error) -> NoReturn:
        if is_damage(error) and self.on_damage is not None:
            self.on_damage()
        raise told(error, self.filename) from error


def library_version() -> str:
    """Of SQLite itself."""
    return apsw.sqlite_lib_version()


def open_writer(path: Path, migrations: Sequence[str]) -> Database:
    """The one writing connection, brought up to date. The caller holds the lock.

    Raises NewerDatabaseError, DamagedError, UnwritableError, DiskFullError.
    """
    db: Database | None = None
    try:
        _make_private(path)
        db = Database(str(path))
        _prepare(db)
        db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA journal_size_limit = 67108864")
        _migrate(db, migrations, path)
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, OSError):
            raise UnwritableError(str(path), error.strerror or str(error)) from error
        if isinstance(error, TOLD):
            raise told(error, str(path)) from error
        raise
    return db


def _make_private(path: Path) -> None:
    """The names and texts of notes are nobody else's business; -wal and -shm are made like the file itself."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for one, mode in ((path.parent, 0o700), (path, 0o600)):
        if one.stat().st_mode & 0o077:
            one.chmod(mode)


def open_reader(path: Path, version: int) -> Database:
    """A read-only connection to a database of exactly this many migrations.

    Raises DatabaseError when it is missing or of another version.
    """
    if not path.exists():
        raise DatabaseError("There is no index of this vault yet.", "Run: kb index")
    try:
        db = Database(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    except TOLD as error:
        raise told(error, str(path)) from error
    try:
        _prepare(db)
        found = _version(db)
        if found > version:
            raise _newer(path)
        if found < version:
            raise DatabaseError("The index is from an earlier version.", "Run: kb index")
    except BaseException:
        db.close()
        raise
    return db


def fold(path: Path) -> None:
    """Folds the write-ahead log into the database: for the last one to leave."""
    if path.is_file():
        with suppress(apsw.Error):  # somebody else has it open: then they do it
            db = Database(str(path))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.close()


class Readers:
    """One reading connection a thread, as long as the thread needs it.

    A server gives it back after each request: then few serve many threads, each with a warm cache.
    """

    def __init__(self, path: Path, version: int) -> None:
        self._path = path
        self._version = version
        self._local = local()
        self._free: list[tuple[int, Database]] = []
        self._generation = 0
        self.on_damage: Callable[[], None] = lambda: None
        """Told when a connection of now meets damage."""

    def get(self) -> Database:
        held: tuple[int, Database] | None = getattr(self._local, "held", None)
        if held is not None:
            if held[0] == self._generation or held[1].in_transaction:
                return held[1]
            self._local.held = None
            held[1].close()
        while True:
            generation = self._generation
            try:
                held = self._free.pop()
            except IndexError:
                held = generation, self._open(generation)
            if held[0] == self._generation:
                self._local.held = held
                return held[1]
            held[1].close()

    def give_back(self) -> None:
        """This thread is done reading for now."""
        held: tuple[int, Database] | None = getattr(self._local, "held", None)
        if held is None:
            return
        self._local.held = None
        if held[0] == self._generation:
            self._free.append(held)
        else:
            held[1].close()

    def renew(self) -> None:
        """The file is another from now on: every connection is made anew when it is next asked for."""
        self._generation += 1
        self.close()

    def _open(self, generation: int) -> Database:
        try:
            db = open_reader(self._path, self._version)
        except DamagedError:
            self._damaged(generation)
            raise
        db.on_damage = lambda: self._damaged(generation)
        return db

    def _damaged(self, generation: int) -> None:
        if generation == self._generation:
            self.on_damage()

    def close(self) -> None:
        """Closes what was given back."""
        while self._free:
            self._free.pop()[1].close()

    def leave(self) -> None:
        """Closes them after all others have ended: the database file is whole by itself then."""
        self.close()
        fold(self._path)


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
        _roll_back(db)


@contextmanager
def transaction(db: Database) -> Iterator[None]:
    """Everything inside is written, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: Database) -> None:
    """SQLite has done so itself where the disk is full or damaged: the first error is the one to be told."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def _prepare(db: Database) -> None:
    db.set_busy_timeout(BUSY_MS)
    # Not mapped into memory: a file cut short by others would end the process with SIGBUS. Mapping a gigabyte
    # made the median probe of 10 000 notes 7 % quicker (4.5 ms instead of 4.9).
    db.execute(f"PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -{CACHE_KB}")
    db.execute("PRAGMA temp_store = MEMORY")


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
