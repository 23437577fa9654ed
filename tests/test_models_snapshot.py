import os
import sys
from pathlib import Path

import numpy as np
import pytest

from ohmykb.models.snapshot import LARGE, open_snapshot, write_snapshot

ARRAYS = {
    "small": np.arange(12, dtype=np.float32).reshape(3, 4),
    "turned": np.arange(6, dtype=np.int32).reshape(2, 3).T,
    "nothing": np.zeros((0, 5), dtype=np.float64),
    "large": np.full(LARGE + 1, 7, dtype=np.uint8),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "deep/er/x.arrays"
    assert write_snapshot(file, "this", ARRAYS)
    return file


def test_what_was_written_is_read(path: Path) -> None:
    snapshot = open_snapshot(path, "this")
    assert snapshot is not None
    assert list(snapshot.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert snapshot.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(snapshot.arrays[name], array)
        assert snapshot.arrays[name].ctypes.data % 64 == 0
        assert not snapshot.arrays[name].flags.writeable
    assert snapshot.sound()
    assert [child.name for child in path.parent.iterdir()] == ["x.arrays"]


def test_what_was_made_of_something_else_is_not_used(path: Path) -> None:
    assert open_snapshot(path, "that") is None
    assert open_snapshot(path.with_name("absent"), "this") is None


@pytest.mark.parametrize("keep", [0, 3, 16, 200, 5000, -1])
def test_a_file_cut_short_is_not_used(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    assert open_snapshot(path, "this") is None


@pytest.mark.parametrize("name", [None, "small", "turned"])
def test_a_changed_byte_is_noticed_at_once(path: Path, name: str | None) -> None:
    data = bytearray(path.read_bytes())
    at = 60 if name is None else data.index(np.ascontiguousarray(ARRAYS[name]).tobytes()) + 5
    data[at] ^= 4
    path.write_bytes(data)
    assert open_snapshot(path, "this") is None


def test_a_changed_byte_of_a_large_array_is_noticed_by_the_check(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-200] ^= 1
    path.write_bytes(data)
    snapshot = open_snapshot(path, "this")
    assert snapshot is not None
    assert not snapshot.sound()


def test_what_is_open_stays_readable_when_the_file_is_replaced(path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows does not replace a mapped file; write_snapshot then says False")
    before = open_snapshot(path, "this")
    assert write_snapshot(path, "other", {"small": np.zeros(3)})
    assert before is not None
    assert before.sound()
    assert open_snapshot(path, "other") is not None


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert not write_snapshot(tmp_path / "file/x.arrays", "this", ARRAYS)
    if os.name == "posix" and os.geteuid() != 0:
        tmp_path.chmod(0o500)
        assert not write_snapshot(tmp_path / "x.arrays", "this", ARRAYS)
        tmp_path.chmod(0o700)
    assert [child.name for child in tmp_path.iterdir()] == ["file"]
