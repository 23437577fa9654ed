"""One file, whole or not at all; and whoever saves at that very moment loses nothing."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ohmykb.errors import ConflictError
from ohmykb.vault.replace import (
    ChangedError,
    archive,
    beside,
    digest,
    make_folders,
    put,
    read_bytes,
    stage,
    take,
    write_whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def cannot(fresh: str, target: str) -> bool:
    """A disk that knows no exchange."""
    return False


def placed(folder: Path, text: bytes = b"seen", ours: bytes = b"ours") -> tuple[Path, Path]:
    target = folder / "a.md"
    target.write_bytes(text)
    fresh = beside(target, "kb-t")
    stage(target, ours, fresh)
    return fresh, target


def save(target: Path, data: bytes) -> None:
    """As most editors do."""
    saving = target.with_name("saving")
    saving.write_bytes(data)
    saving.replace(target)


def saving_at(target: Path, saves: dict[str, list[bytes]]) -> "Callable[[str], None]":
    """Somebody who saves the next of these whenever a step is told."""

    def step(name: str) -> None:
        if saves.get(name):
            save(target, saves[name].pop(0))

    return step


@pytest.mark.parametrize("swap", [None, cannot])
def test_what_was_seen_is_replaced(tmp_path: Path, swap: "Callable[[str, str], bool] | None") -> None:
    fresh, target = placed(tmp_path)
    put(fresh, target, digest(b"seen"), **({} if swap is None else {"swap": swap}))  # type: ignore[arg-type]
    assert target.read_bytes() == b"ours"
    assert read_bytes(fresh) in (b"seen", None)


@pytest.mark.parametrize("swap", [None, cannot])
def test_what_was_not_seen_stands(tmp_path: Path, swap: "Callable[[str, str], bool] | None") -> None:
    fresh, target = placed(tmp_path, b"edited")
    with pytest.raises(ChangedError):
        put(fresh, target, digest(b"seen"), **({} if swap is None else {"swap": swap}))  # type: ignore[arg-type]
    assert target.read_bytes() == b"edited"
    assert fresh.read_bytes() == b"ours"


def test_saved_again_while_it_goes_back(tmp_path: Path) -> None:
    """The newest stands, the one before it lies beside: ours was put over neither for good."""
    fresh, target = placed(tmp_path, b"first edit")
    with pytest.raises(ChangedError):
        put(fresh, target, digest(b"seen"), saving_at(target, {"look": [b"second edit"]}))
    assert target.read_bytes() == b"second edit"
    assert fresh.read_bytes() == b"first edit"


def test_saved_at_every_turn(tmp_path: Path) -> None:
    fresh, target = placed(tmp_path, b"edit 0")
    edits = [b"edit %d" % number for number in range(1, 40)]
    with pytest.raises(ConflictError, match="keeps writing"):
        put(fresh, target, digest(b"seen"), saving_at(target, {"look": edits, "back": edits}))
    newest = {target.read_bytes(), fresh.read_bytes()}
    assert b"ours" not in newest
    assert b"edit %d" % (39 - len(edits)) in newest


def test_deleted_while_it_goes_back(tmp_path: Path) -> None:
    fresh, target = placed(tmp_path, b"edit")
    with pytest.raises(ChangedError):
        put(fresh, target, digest(b"seen"), lambda name: target.unlink() if name == "back" else None)
    assert target.read_bytes() == b"edit"


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    target = tmp_path / "new.md"
    fresh = beside(target, "kb-t")
    stage(target, b"ours", fresh)
    target.write_bytes(b"theirs")
    with pytest.raises(ChangedError):
        put(fresh, target, None)
    assert target.read_bytes() == b"theirs"


def test_taken_away_only_as_seen(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    aside = beside(target, "kb-t")
    target.write_bytes(b"edited")
    with pytest.raises(ChangedError):
        take(target, digest(b"seen"), aside)
    target.write_bytes(b"seen")
    with pytest.raises(ChangedError):
        take(target, digest(b"seen"), aside, saving_at(target, {"aside": [b"edited"]}))
    assert target.read_bytes() == b"edited"
    target.write_bytes(b"seen")
    take(target, digest(b"seen"), aside)
    assert not target.exists()
    assert aside.read_bytes() == b"seen"


def test_saved_before_and_after_it_was_set_aside(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    aside = beside(target, "kb-t")
    target.write_bytes(b"seen")
    with pytest.raises(ChangedError):
        take(target, digest(b"seen"), aside, saving_at(target, {"aside": [b"first"], "look": [b"second"]}))
    assert target.read_bytes() == b"second"
    assert aside.read_bytes() == b"first"


def test_no_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(ConflictError, match="no ordinary file"):
        read_bytes(tmp_path / "folder.md")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.md")
        with pytest.raises(ConflictError, match="no ordinary file"):
            read_bytes(tmp_path / "pipe.md")
    (tmp_path / "a.md").write_bytes(b"")
    with pytest.raises(ConflictError):
        read_bytes(tmp_path / "a.md" / "b.md")
    assert read_bytes(tmp_path / "none.md") is None


def test_a_temporary_file_of_another_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    fresh = beside(target, "kb-t")
    fresh.write_bytes(b"theirs")
    with pytest.raises(ConflictError):
        stage(target, b"ours", fresh)
    assert fresh.read_bytes() == b"theirs"


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    fresh, target = tmp_path / f".{'x' * 10}", tmp_path / ("长" * 84 + ".md")  # 255 bytes
    target.write_bytes(b"seen")
    fresh = beside(target, "kb-00c0-ffff-999")
    stage(target, b"ours", fresh)
    put(fresh, target, digest(b"seen"))
    assert target.read_bytes() == b"ours"


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_nobody_else_may_read_a_private_note(tmp_path: Path) -> None:
    note = tmp_path / "private/deep/a.md"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"secret")
    note.chmod(0o600)
    (tmp_path / "private").chmod(0o700)
    (tmp_path / "op").mkdir()
    archive(note, b"secret", tmp_path / "op/before", "private/deep/a.md")
    assert stat.S_IMODE((tmp_path / "op/before/private/deep/a.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "op/before/private").stat().st_mode) == 0o700
    fresh = beside(note, "kb-t")
    stage(note, b"more", fresh)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o600


def test_a_record_is_replaced_whole(tmp_path: Path) -> None:
    record = tmp_path / "op.json"
    record.with_name(".op.json.kb-tmp").write_bytes(b"cut off by a kill")
    write_whole(record, b"one")
    write_whole(record, b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["op.json"]
    assert record.read_bytes() == b"two"


def test_folders_are_made_once(tmp_path: Path) -> None:
    make_folders(tmp_path, "")
    make_folders(tmp_path, "a/b")
    make_folders(tmp_path, "a/b/c")
    assert (tmp_path / "a/b/c").is_dir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError):
        make_folders(tmp_path, "file/x")


READ_ONLY = """
import os, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from ohmykb.errors import ConflictError
from ohmykb.vault.replace import beside, digest, put, stage, take
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for name, go in (
    ("file.md", lambda file: stage(file, b"x", beside(file, "t"))),
    ("file.md", lambda file: take(file, digest(b"a"), beside(file, "t"))),
    ("folder/a.md", lambda file: stage(file, b"x", beside(file, "t"))),
    ("folder/a.md", lambda file: take(file, digest(b"a"), beside(file, "t"))),
):
    try:
        go(folder / name)
    except ConflictError as error:
        print(error)
    else:
        print("written")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_read_only_files_and_folders(tmp_path: Path) -> None:
    """Also as root, who hands the trial to somebody with fewer rights."""
    where = tmp_path / "v"
    (where / "folder").mkdir(parents=True)
    for name in ("file.md", "folder/a.md"):
        (where / name).write_bytes(b"a")
    if os.geteuid() == 0:
        for path in (where, where / "folder", where / "file.md", where / "folder/a.md"):
            os.chown(path, 65534, 65534)
        for above in where.parents:
            if not above.stat().st_mode & stat.S_IXOTH:
                above.chmod(above.stat().st_mode | stat.S_IXOTH)
    (where / "file.md").chmod(0o444)
    (where / "folder").chmod(0o555)
    import ohmykb

    sidecar = str(Path(ohmykb.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(where), sidecar], capture_output=True, text=True, check=False
    )
    (where / "folder").chmod(0o755)
    if done.returncode:
        pytest.skip(f"nobody may not run Python here: {done.stderr[-200:]}")
    first, second, third, fourth = done.stdout.splitlines()
    assert "read-only" in first
    assert "read-only" in second
    assert "may not be written" in third
    assert "may not be written" in fourth
    assert (where / "file.md").read_bytes() == (where / "folder/a.md").read_bytes() == b"a"
    assert len(list(where.rglob("*.md"))) == 2
