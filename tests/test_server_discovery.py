"""The discovery file: private, whole, and only ever our own to remove."""

import os
import stat
from pathlib import Path

import pytest

from ohmykb.server import discovery
from ohmykb.server.discovery import Discovery

HERE = Discovery(1234, 42, "ab" * 32, 1, "0.1.0", '/home/"port": 99, 笔记')


def test_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "key" / "sidecar.json"
    discovery.write(file, HERE)
    assert discovery.read(file) == HERE
    assert [path.name for path in file.parent.iterdir()] == ["sidecar.json"]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_quick_way_reads_the_same(tmp_path: Path) -> None:
    from ohmykb.cli import entry

    file = tmp_path / "sidecar.json"
    discovery.write(file, HERE)
    text = file.read_text("utf-8")
    assert (entry._field(text, "port"), entry._field(text, "token")) == ("1234", "ab" * 32)
    assert entry._field(text, "version") == "0.1.0"
    assert entry._field(text, "nothing") == ""


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"port": "x"}', "null", "\x00"])
def test_what_cannot_be_used_is_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "sidecar.json"
    file.write_text(content)
    assert discovery.read(file) is None
    discovery.remove(file, 42)
    assert file.exists()


def test_only_ours_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "sidecar.json"
    discovery.write(file, HERE)
    discovery.remove(file, 43)
    assert file.exists()
    discovery.remove(file, 42)
    assert not file.exists()
    discovery.remove(file, 42)


def test_nobody_answers_there() -> None:
    assert not discovery.answers(Discovery(1, 42, "x", 1, "0", "/"), timeout=1)


def test_tokens_are_long_and_new() -> None:
    assert len({discovery.new_token() for _ in range(100)}) == 100
    assert len(bytes.fromhex(discovery.new_token())) == 32
