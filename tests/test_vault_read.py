import hashlib
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from ohmykb.config import Config, IndexSettings, VaultSettings
from ohmykb.vault.read import Unreadable, VanishedError, read
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import look

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
OLD_NS = 1_700_000_000_123_456_789
SMALL = Config(index=IndexSettings(max_file_mb=0.001))


def code(root: Path, path: str, config: Config | None = None) -> str:
    with pytest.raises(Unreadable) as caught:
        read(root, path, config or Config())
    assert path in caught.value.message
    return caught.value.problem.code


def test_text_hash_and_no_problem(tmp_path: Path) -> None:
    data = "---\r\na: 1\r\n---\n资金 🍀\n".encode()
    (tmp_path / "a.md").write_bytes(data)
    found = read(tmp_path, "a.md", Config())
    assert found.text == data.decode()
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.stamp.size == len(data)
    assert found.problems == ()


def test_the_stamp_is_that_of_the_walk_unless_the_file_is_too_fresh_to_tell(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    rules = Rules(Config())
    entry = look(tmp_path, "a.md", rules)
    fresh = read(tmp_path, "a.md", Config()).stamp
    assert entry is not None
    assert fresh._replace(ctime_ns=0) == entry.stamp._replace(ctime_ns=0)
    # Within one tick of the clock another text of the same size would have the same stamp.
    deadline = time.monotonic() + 10
    while read(tmp_path, "a.md", Config()).stamp != entry.stamp:
        assert time.monotonic() < deadline, "the stamp never settles"


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# x\n")
    assert read(tmp_path, "a.md", Config()).text == "\ufeff# x\n"


def test_nothing_and_much(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_bytes(b"")
    assert read(tmp_path, "empty.md", Config()).text == ""
    line = "长" * 100_000
    (tmp_path / "long.md").write_text(line, encoding="utf-8")
    assert read(tmp_path, "long.md", Config()).text == line


def test_too_big_names_size_and_setting(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * 1000)
    assert read(tmp_path, "a.md", SMALL).text == "x" * 1000
    with (tmp_path / "a.md").open("r+b") as file:
        file.truncate(50_000_000)  # a hole: no disk is filled
    with pytest.raises(Unreadable) as caught:
        read(tmp_path, "a.md", SMALL)
    assert caught.value.problem.code == "too-big"
    assert "50.0 MB" in caught.value.problem.message
    assert "max_file_mb" in caught.value.problem.message
    assert not caught.value.changing


def test_vanished(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").write_text("x")
    for path in ("a.md", "folder.md", "file/a.md"):
        if sys.platform == "win32" and path == "folder.md":
            continue
        with pytest.raises(VanishedError, match=path):
            read(tmp_path, path, Config())


@posix
def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert code(tmp_path, "a.md") == "not-a-file"


@posix
def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "a.md").symlink_to(tmp_path / "secret")
    assert code(tmp_path, "a.md") == "symlink-out"
    followed = Config(vault=VaultSettings(follow_symlinks=True))
    assert read(tmp_path, "a.md", followed).text == "x"


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "a.md").chmod(0)
    assert code(tmp_path, "a.md") == "unreadable"


@posix
def test_a_file_the_system_cannot_open(tmp_path: Path) -> None:
    assert code(tmp_path, "n" * 300) == "unreadable"


def read_until(root: Path, deadline: float) -> None:
    while time.monotonic() < deadline:
        assert read(root, "a.md", Config()).stamp.size == 5_000_000


def test_a_file_that_never_rests_is_read_later(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"x" * 5_000_000)
    stop = threading.Event()

    def write() -> None:
        number = 0
        with file.open("r+b", buffering=0) as handle:
            while not stop.is_set():
                number += 1
                handle.seek(0)
                handle.write(b"%9d" % number)
                os.utime(file, ns=(OLD_NS, OLD_NS + number))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        deadline = time.monotonic() + 20
        with pytest.raises(Unreadable) as caught:
            read_until(tmp_path, deadline)
        assert caught.value.changing
    finally:
        stop.set()
        writer.join()
    assert read(tmp_path, "a.md", Config()).text.endswith("x")


@posix
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x" * 2000)
    os.mkfifo(tmp_path / "pipe.md")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208
    read(tmp_path, "a.md", Config())
    code(tmp_path, "a.md", SMALL)
    code(tmp_path, "pipe.md")
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208
