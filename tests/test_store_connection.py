"""Connections to real files: what happens to the files is said in words."""

import os
import stat
from pathlib import Path

import pytest

from ohmykb.errors import KbError
from ohmykb.store.connection import (
    DamagedError,
    Database,
    DatabaseError,
    Readers,
    open_reader,
    open_writer,
    transaction,
)
from ohmykb.store.damage import DiskFullError, UnwritableError

MIGRATIONS = ("CREATE TABLE t (x BLOB) STRICT",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a" / "index.db"


def made(path: Path, rows: int = 400) -> None:
    db = open_writer(path, MIGRATIONS)
    with transaction(db):
        db.executemany("INSERT INTO t VALUES (?)", [(bytes(1000),) for _ in range(rows)])
    db.close()


def spoil(path: Path) -> None:
    """All pages but the first and the table's own."""
    data = path.read_bytes()
    path.write_bytes(data[:8192] + b"\xff" * (len(data) - 8192))


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_files_are_private_whatever_they_were(path: Path) -> None:
    old = os.umask(0o022)
    try:
        path.parent.mkdir()
        path.touch(0o644)
        db = open_writer(path, MIGRATIONS)
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        db.close()
    finally:
        os.umask(old)


def test_damage_in_the_middle_is_one_error_and_told(path: Path) -> None:
    made(path)
    spoil(path)
    heard: list[bool] = []
    readers = Readers(path, 1)
    readers.on_damage = lambda: heard.append(True)
    db = readers.get()
    with pytest.raises(DamagedError, match="The index is damaged") as caught:
        db.rows("SELECT sum(length(x)) FROM t")
    assert caught.value.fix == "Run: kb index --rebuild"
    assert caught.value.path == str(path)
    with pytest.raises(DamagedError):
        list(db.each("SELECT x FROM t"))
    assert len(heard) == 2
    readers.renew()
    with pytest.raises(DamagedError):
        db.row("SELECT sum(length(x)) FROM t")
    assert len(heard) == 2, "a connection from before says nothing of the file of now"
    readers.give_back()


def test_damage_of_the_header_is_told_at_opening(path: Path) -> None:
    made(path)
    path.write_bytes(b"no database" * 1000)
    heard: list[bool] = []
    readers = Readers(path, 1)
    readers.on_damage = lambda: heard.append(True)
    with pytest.raises(DamagedError):
        readers.get()
    assert heard
    with pytest.raises(DamagedError):
        open_writer(path, MIGRATIONS)


def test_a_file_cut_short_is_damage_and_no_crash(path: Path) -> None:
    made(path)
    db = open_reader(path, 1)
    assert db.value("SELECT count(*) FROM t") == 400
    os.truncate(path, 8192)
    with pytest.raises(DatabaseError):
        db.value("SELECT sum(length(x)) FROM t")
    db.close()


def test_readers_are_renewed(path: Path) -> None:
    made(path, 1)
    readers = Readers(path, 1)
    before = readers.get()
    path.unlink()
    made(path, 2)
    assert readers.get() is before
    readers.renew()
    assert readers.get().value("SELECT count(*) FROM t") == 2
    readers.give_back()
    readers.close()


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(UnwritableError, match="cannot be written to") as caught:
        open_writer(tmp_path / "a" / "index.db", MIGRATIONS)
    assert "OHMYKB_HOME" in caught.value.fix


def test_a_folder_that_lacks_its_index(path: Path) -> None:
    with pytest.raises(DatabaseError, match="no index") as caught:
        open_reader(path, 1)
    assert caught.value.code == "database"


def full(db: Database) -> None:
    """No page more than there are: what SQLite says is the same as on a full disk."""
    db.execute(f"PRAGMA max_page_count = {db.value('PRAGMA page_count')}")


def test_a_full_disk_is_the_error_that_is_told(path: Path) -> None:
    db = open_writer(path, MIGRATIONS)
    full(db)
    with pytest.raises(DiskFullError, match="The disk is full"), transaction(db):  # noqa: PT012 - as it is used
        for _ in range(100):
            db.execute("INSERT INTO t VALUES (zeroblob(5000))")
    assert not db.in_transaction
    db.execute("PRAGMA max_page_count = 100000")
    with transaction(db):
        db.execute("INSERT INTO t VALUES (zeroblob(5000))")
    assert db.value("SELECT count(*) FROM t") == 1
    db.close()


def test_the_first_error_is_told_where_the_transaction_is_gone(path: Path) -> None:
    db = open_writer(path, MIGRATIONS)
    with pytest.raises(KbError, match="first"), transaction(db):  # noqa: PT012 - as it is used
        db.execute("ROLLBACK")
        raise KbError("first")
    db.close()
