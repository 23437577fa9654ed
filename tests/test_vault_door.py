"""The door: archived first, compared, replaced, recorded; and what stands in the way said in words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from never_lost import DEVICE, KilledError, Ticking
from ohmykb.errors import ConflictError, KbError, UsageError
from ohmykb.note import NotePath
from ohmykb.vault.door import Door
from ohmykb.vault.operations import Change
from ohmykb.vault.replace import TEMPORARY, digest


def door_of(root: Path, step: object = None) -> Door:
    return Door(root, DEVICE, Ticking(), lambda *_: None, step or (lambda _: None))  # type: ignore[arg-type]


def change(path: str, before: bytes | None, after: bytes | None) -> Change:
    return Change(NotePath(path), None if before is None else digest(before), after)


def put(root: Path, path: str, data: bytes) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def apply(door: Door, *changes: Change) -> str:
    return door.apply(list(changes), kind="trial", decider="test").id


def test_the_record_and_the_archive(tmp_path: Path) -> None:
    put(tmp_path, "folder/笔记.md", b"old\r\n")
    op = apply(door_of(tmp_path), change("folder/笔记.md", b"old\r\n", b"new\n"), change("made/new.md", None, b"x"))
    assert (tmp_path / "folder/笔记.md").read_bytes() == b"new\n"
    assert (tmp_path / f".history/{op}/before/folder/笔记.md").read_bytes() == b"old\r\n"
    record = json.loads((tmp_path / f".history/{op}/op.json").read_text("utf-8"))
    assert record["state"] == "committed"
    assert record["device"] == DEVICE
    assert record["files"] == [
        {"path": "folder/笔记.md", "before": digest(b"old\r\n"), "after": digest(b"new\n")},
        {"path": "made/new.md", "before": None, "after": digest(b"x")},
    ]
    assert not list(tmp_path.rglob(f"*{TEMPORARY}*"))


def test_undo_takes_new_notes_and_folders_away(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"old")
    door = door_of(tmp_path)
    op = apply(door, change("a.md", b"old", None), change("x/y/new.md", None, b"n"))
    assert not (tmp_path / "a.md").exists()
    again = door.undo([op])
    assert (tmp_path / "a.md").read_bytes() == b"old"
    assert not (tmp_path / "x").exists()
    door.undo([again.id])
    assert (tmp_path / "x/y/new.md").read_bytes() == b"n"
    assert not (tmp_path / "a.md").exists()


@pytest.mark.parametrize(
    "path", ["../out.md", "/etc/x.md", ".obsidian/app.json", "a/../../b.md", "", "a//b.md", "a\\b.md"]
)
def test_only_inside_the_vault(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError):
        apply(door_of(tmp_path), change(path, None, b"x"))


def test_never_through_a_link(tmp_path: Path) -> None:
    outside = put(tmp_path, "outside/a.md", b"old")
    root = tmp_path / "vault"
    root.mkdir()
    (root / "link.md").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    for path in ("link.md", "folder/a.md"):
        with pytest.raises(UsageError):
            apply(door_of(root), change(path, b"old", b"new"))
    assert outside.read_bytes() == b"old"


def test_what_was_not_seen_is_not_overwritten(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"theirs")
    put(tmp_path, "b.md", b"b")
    with pytest.raises(ConflictError):
        apply(door_of(tmp_path), change("b.md", b"b", b"B"), change("a.md", b"seen", b"ours"))
    with pytest.raises(ConflictError):
        apply(door_of(tmp_path), change("a.md", None, b"ours"))
    assert (tmp_path / "a.md").read_bytes() == b"theirs"
    assert (tmp_path / "b.md").read_bytes() == b"b"
    assert not list(tmp_path.glob(".history/*"))


@pytest.mark.parametrize("way", ["in place", "renamed"])
@pytest.mark.parametrize("when", range(1, 15))
def test_an_edit_at_any_step(tmp_path: Path, when: int, way: str) -> None:
    """All or nothing, and the edit stands, or the operation was over before it."""
    put(tmp_path, "a.md", b"a")
    put(tmp_path, "b.md", b"b")
    count = 0

    def step(_: str) -> None:
        nonlocal count
        count += 1
        if count == when:
            if way == "in place":
                (tmp_path / "b.md").write_bytes(b"theirs")
            else:
                put(tmp_path, "saving", b"theirs").replace(tmp_path / "b.md")

    door = door_of(tmp_path, step)
    try:
        apply(door, change("a.md", b"a", b"A"), change("b.md", b"b", b"B"))
    except ConflictError:
        assert (tmp_path / "a.md").read_bytes() == b"a"
        assert (tmp_path / "b.md").read_bytes() == b"theirs"
    else:
        assert (tmp_path / "a.md").read_bytes() == b"A"
        assert (tmp_path / "b.md").read_bytes() in (b"B", b"theirs")
    assert not list(tmp_path.glob(f"*{TEMPORARY}*"))


@pytest.mark.parametrize("when", range(1, 15))
def test_killed_at_any_step(tmp_path: Path, when: int) -> None:
    root = tmp_path / "vault"
    put(root, "a.md", b"a")
    put(root, "b.md", b"b")
    code = (
        "import os, sys; from pathlib import Path; sys.path.insert(0, sys.argv[3])\n"
        "from test_vault_door import apply, change, door_of\n"
        "count = 0\n"
        "def step(_):\n"
        "    global count\n"
        "    count += 1\n"
        "    if count == int(sys.argv[2]): os._exit(9)\n"
        "apply(door_of(Path(sys.argv[1]), step), change('a.md', b'a', b'A'), change('b.md', b'b', b'B'))\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", code, str(root), str(when), here], check=False)
    assert done.returncode in (0, 9)
    door = door_of(root)
    door.settle()
    now = (root / "a.md").read_bytes(), (root / "b.md").read_bytes()
    ops = door.history.operations()
    state = ops[0].state if ops else "none"
    assert (now, state) in (
        ((b"a", b"b"), "dropped"), ((b"A", b"B"), "committed"), ((b"A", b"b"), "conflict"), ((b"a", b"b"), "none"),
    )  # fmt: skip
    assert not list(root.glob(f".*{TEMPORARY}*"))
    if state in ("committed", "conflict"):
        door.undo([ops[0].id])
        assert (root / "a.md").read_bytes() == b"a"
        assert (root / "b.md").read_bytes() == b"b"


def test_another_device_settles_nothing(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    op = door_of(tmp_path).prepare([change("a.md", b"a", b"A")], kind="trial", decider="test")
    for device in ("0badcafe", f"{DEVICE[:4]}beef"):  # ids tell no more than four of the eight
        other = Door(tmp_path, device, Ticking(), lambda *_: None)
        assert other.settle() == []
        with pytest.raises(ConflictError):
            other.commit(op.id)
    assert [one.state for one in door_of(tmp_path).settle()] == ["dropped"]


def test_mode_and_attributes_stay(tmp_path: Path) -> None:
    file = put(tmp_path, "a.md", b"a")
    file.chmod(0o640)
    attributes = hasattr(os, "setxattr")
    if attributes:
        try:
            os.setxattr(file, "user.colour", b"red")
        except OSError:
            attributes = False  # this disk has none
    apply(door_of(tmp_path), change("a.md", b"a", b"A"))
    assert file.stat().st_mode & 0o777 == 0o640
    if attributes:
        assert os.getxattr(file, "user.colour") == b"red"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anything")
def test_read_only(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a").chmod(0o444)
    with pytest.raises(ConflictError, match="read-only"):
        apply(door_of(tmp_path), change("a.md", b"a", b"A"))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    put(tmp_path, "b.md", b"b")
    code = (
        "import resource, signal, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from test_vault_door import apply, change, door_of\n"
        "from ohmykb.errors import ConflictError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try: apply(door_of(Path(sys.argv[1])), change('a.md', b'a', b'A'), change('b.md', b'b', b'B' * 9000))\n"
        "except ConflictError as error: print(error); sys.exit(4)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)], check=False)
    assert done.returncode == 4
    assert (tmp_path / "a.md").read_bytes() == b"a"
    assert (tmp_path / "b.md").read_bytes() == b"b"
    assert not list(tmp_path.glob(f".*{TEMPORARY}*"))


def test_a_half_synced_archive_is_not_used(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    door = door_of(tmp_path)
    op = apply(door, change("a.md", b"a", b"A"))
    kept = tmp_path / f".history/{op}/before/a.md"
    kept.write_bytes(b"")
    with pytest.raises(ConflictError, match="not whole"):
        door.undo([op])
    kept.unlink()
    with pytest.raises(ConflictError, match="not here"):
        door.undo([op])
    assert door.history.problems()[0][0] == op
    (tmp_path / f".history/{op}/op.json").write_text('{"id"', "utf-8")
    assert "not whole" in door.history.problems()[0][1]
    assert door.history.operations() == []
    assert (tmp_path / "a.md").read_bytes() == b"A"


def test_undo_never_over_later_edits(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    put(tmp_path, "b.md", b"b")
    door = door_of(tmp_path)
    one = apply(door, change("a.md", b"a", b"A"), change("b.md", b"b", b"B"))
    two = apply(door, change("a.md", b"A", b"AA"))
    with pytest.raises(ConflictError, match=r"a\.md"):
        door.undo([one])
    assert (tmp_path / "b.md").read_bytes() == b"B"
    door.undo([one, two])
    assert ((tmp_path / "a.md").read_bytes(), (tmp_path / "b.md").read_bytes()) == (b"a", b"b")
    with pytest.raises(KbError, match="undone already"):
        door.undo([one, two])


def test_a_kill_is_not_swallowed(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")

    def step(name: str) -> None:
        if name == "write":
            raise KilledError

    with pytest.raises(KilledError):
        apply(door_of(tmp_path, step), change("a.md", b"a", b"A"))


@pytest.mark.skipif(sys.platform == "win32", reason="an open file stays locked there")
@pytest.mark.parametrize("ending", ["late only", "both late", "another note fails"])
def test_a_program_that_had_the_note_open_writes_late(tmp_path: Path, ending: str) -> None:
    """Whatever it writes until the operation ends stands in the note."""
    put(tmp_path, "a.md", b"a")
    put(tmp_path, "b.md", b"b")
    held = [os.open(tmp_path / name, os.O_WRONLY | os.O_APPEND) for name in ("a.md", "b.md")]
    count = 0

    def step(name: str) -> None:
        nonlocal count
        count += name == "look"
        if name == "look" and count == 2:
            for number in held[:1] if ending == "late only" else held:
                os.write(number, b" late")
        if name == "write" and count == 1 and ending == "another note fails":
            put(tmp_path, "saving", b"theirs").replace(tmp_path / "b.md")

    door = door_of(tmp_path, step)
    with pytest.raises(ConflictError):
        apply(door, change("a.md", b"a", b"A"), change("b.md", b"b", b"B"))
    for number in held:
        os.close(number)
    assert (tmp_path / "a.md").read_bytes() == b"a late"
    other = {"late only": b"b", "both late": b"b late", "another note fails": b"theirs"}
    assert (tmp_path / "b.md").read_bytes() == other[ending]
    assert not list(tmp_path.glob(f"*{TEMPORARY}*"))


def test_a_note_edited_after_ours_is_not_put_back(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        put(tmp_path, name, name.encode())
    writes = 0

    def step(name: str) -> None:
        nonlocal writes
        writes += name == "write"
        if name == "write" and writes == 3:
            put(tmp_path, "a.md", b"A and more")
            put(tmp_path, "c.md", b"theirs")

    door = door_of(tmp_path, step)
    with pytest.raises(ConflictError):
        apply(
            door, change("a.md", b"a.md", b"A"), change("b.md", b"b.md", None), change("c.md", b"c.md", b"C"),
        )  # fmt: skip
    assert [(tmp_path / name).read_bytes() for name in ("a.md", "b.md", "c.md")] == [b"A and more", b"b.md", b"theirs"]
    assert [op.state for op in door.history.operations()] == ["conflict"]
    assert not list(tmp_path.glob(f"*{TEMPORARY}*"))


@pytest.mark.parametrize("now", ["folder", "link", "file in its folder's place"])
def test_settling_gets_past_what_it_cannot_read(tmp_path: Path, now: str) -> None:
    note = put(tmp_path, "x/a.md", b"a")
    op = door_of(tmp_path).prepare([change("x/a.md", b"a", b"A")], kind="trial", decider="test")
    note.unlink()
    if now == "folder":
        note.mkdir()
    elif now == "link":
        note.symlink_to("b.md")
    else:
        note.parent.rmdir()
        note.parent.write_bytes(b"")
    door = door_of(tmp_path)
    assert [(one.id, one.state) for one in door.settle()] == [(op.id, "conflict")]
    assert door.settle() == []


def test_an_end_that_cannot_be_noted_is_noted_later(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    door = door_of(tmp_path, lambda name: in_the_way(name))
    blocked: list[Path] = []

    def in_the_way(name: str) -> None:
        if name == "commit" and not blocked:
            blocked.append(next(tmp_path.glob(".history/*")) / f".op.json{TEMPORARY}")
            blocked[0].mkdir()

    with pytest.raises(ConflictError, match="is over"):
        apply(door, change("a.md", b"a", b"A"))
    assert (tmp_path / "a.md").read_bytes() == b"A"
    assert [op.state for op in door.history.operations()] == ["prepared"]
    blocked[0].rmdir()
    apply(door, change("b.md", None, b"b"))
    assert [op.state for op in door.history.operations()] == ["committed", "committed"]


def test_made_folders_go_after_a_crash(tmp_path: Path) -> None:
    def step(name: str) -> None:
        if name == "compare":
            raise KilledError

    with pytest.raises(KilledError):
        apply(door_of(tmp_path, step), change("x/y/a.md", None, b"A"))
    assert [op.state for op in door_of(tmp_path).settle()] == ["dropped"]
    assert [path.name for path in tmp_path.iterdir()] == [".history"]


def test_the_plugins_hand(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    put(tmp_path, "b.md", b"b")
    door = door_of(tmp_path)
    op = door.prepare([change("a.md", b"a", b"A"), change("b.md", b"b", b"B")], kind="trial", decider="test")
    assert op.hand == "plugin"
    with pytest.raises(ConflictError, match="Nothing of it was written"):
        door.commit(op.id)
    assert door.history.read(op.id).state == "prepared"
    put(tmp_path, "a.md", b"A")
    with pytest.raises(ConflictError, match=r"b\.md"):
        door.commit(op.id)
    assert door.history.read(op.id).state == "conflict"
    with pytest.raises(ConflictError, match="is over"):
        door.abandon(op.id)
    door.undo([op.id])
    assert (tmp_path / "a.md").read_bytes() == b"a"


def test_nothing_and_the_same_twice(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"a")
    with pytest.raises(UsageError):
        apply(door_of(tmp_path))
    with pytest.raises(UsageError):
        apply(door_of(tmp_path), change("a.md", b"a", b"A"), change("a.md", b"a", b"B"))
    assert not (tmp_path / ".history").exists()


def test_who_is_told(tmp_path: Path) -> None:
    """Of what was committed, by either hand; of nothing else."""
    put(tmp_path, "a.md", b"a")
    heard: list[str] = []
    door = Door(tmp_path, DEVICE, Ticking(), lambda *_: None, told=lambda op: heard.append(op.id))
    one = apply(door, change("a.md", b"a", b"A"))
    two = door.prepare([change("a.md", b"A", b"AA")], kind="trial", decider="test").id
    put(tmp_path, "a.md", b"AA")
    door.commit(two)
    with pytest.raises(ConflictError):
        apply(door, change("a.md", b"a", b"x"))
    door.abandon(door.prepare([change("a.md", b"AA", b"x")], kind="trial", decider="test").id)
    three = door.undo([one, two]).id
    assert heard == [one, two, three]


def test_written_by_the_plugin_after_a_restart_dropped_it(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"old")
    op = door_of(tmp_path).prepare([change("a.md", b"old", b"new")], kind="trial", decider="test")
    door = door_of(tmp_path)
    assert [one.state for one in door.settle()] == ["dropped"]
    with pytest.raises(ConflictError):
        door.commit(op.id)
    put(tmp_path, "a.md", b"new")
    again = door.commit(op.id)
    assert (again.state, again.id != op.id, door.history.read(op.id).state) == ("committed", True, "dropped")
    door.undo([again.id])
    assert (tmp_path / "a.md").read_bytes() == b"old"
