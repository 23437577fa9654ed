"""Two files change places in one step, or nothing happens at all."""

import os
import sys
from pathlib import Path

import pytest

from ohmykb.vault.exchange import exchange


def test_both_stand_where_the_other_stood(tmp_path: Path) -> None:
    one, other = tmp_path / "一 one.md", tmp_path / "other.md"
    one.write_bytes(b"one")
    other.write_bytes(b"other")
    inode = other.stat().st_ino
    if not exchange(str(one), str(other)):
        pytest.skip("this disk cannot exchange")
    assert (one.read_bytes(), other.read_bytes()) == (b"other", b"one")
    if sys.platform != "win32":
        assert one.stat().st_ino == inode


@pytest.mark.parametrize("gone", ["fresh.md", "target.md"])
def test_one_that_is_not_there(tmp_path: Path, gone: str) -> None:
    for name in ("fresh.md", "target.md"):
        if name != gone:
            (tmp_path / name).write_bytes(b"x")
    with pytest.raises(FileNotFoundError):
        exchange(str(tmp_path / "fresh.md"), str(tmp_path / "target.md"))
    assert [path.name for path in tmp_path.iterdir()] == [name for name in ("fresh.md", "target.md") if name != gone]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file stays locked there")
def test_who_has_the_file_open_still_has_the_old_one(tmp_path: Path) -> None:
    fresh, target = tmp_path / "fresh.md", tmp_path / "target.md"
    fresh.write_bytes(b"new")
    target.write_bytes(b"old")
    held = os.open(target, os.O_WRONLY | os.O_APPEND)
    try:
        if not exchange(str(fresh), str(target)):
            pytest.skip("this disk cannot exchange")
        os.write(held, b" late")
    finally:
        os.close(held)
    assert (fresh.read_bytes(), target.read_bytes()) == (b"old late", b"new")
