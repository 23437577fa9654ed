"""The archive as it may lie on a disk: whole, half synced, changed by hand, or come from elsewhere."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from never_lost import DEVICE, Ticking
from ohmykb.errors import ConflictError, KbError, NotFoundError
from ohmykb.note import NotePath
from ohmykb.vault.door import Door
from ohmykb.vault.history import History
from ohmykb.vault.lost import search
from ohmykb.vault.operations import Change, RecordError, dump, from_json, is_id, milliseconds, new_id, to_json
from ohmykb.vault.replace import digest


def door_of(root: Path) -> Door:
    return Door(root, DEVICE, Ticking(), lambda *_: None)


def wrote(door: Door, path: str, before: bytes | None, after: bytes | None) -> str:
    change = Change(NotePath(path), None if before is None else digest(before), after)
    return door.apply([change], kind="trial", decider="test").id


def record(root: Path, op_id: str) -> Path:
    return root / ".history" / op_id / "op.json"


def test_a_record_goes_to_json_and_back(tmp_path: Path) -> None:
    door = door_of(tmp_path)
    one = door.history.read(wrote(door, "made/一.md", None, b"1"))
    two = door.history.read(wrote(door, "made/一.md", b"1", b"2"))
    assert to_json(one)["undoes"] is None
    both = door.undo([one.id, two.id])
    assert to_json(both)["undoes"] == [one.id, two.id]
    again = door.undo([both.id])
    assert to_json(again)["undoes"] == both.id
    for op in (one, two, both, again):
        assert from_json(dump(op), op.id) == op
        assert set(to_json(op)) >= {"id", "device", "kind", "at", "hand", "decider", "reasons", "state", "files"}
    assert door.history.ids() == [one.id, two.id, both.id, again.id]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda said: {**said, "files": [{"path": "../a.md", "before": None, "after": None}]},
        lambda said: {**said, "files": [{"path": "/etc/x", "before": None, "after": None}]},
        lambda said: {**said, "files": [{"path": "a.md", "before": "abc", "after": None}]},
        lambda said: {**said, "files": [{"path": "a.md", "before": 5, "after": None}]},
        lambda said: {**said, "files": [{"path": "a\ud800.md", "before": None, "after": None}]},
        lambda said: {**said, "files": {"path": "a.md"}},
        lambda said: {**said, "made": ["../elsewhere"]},
        lambda said: {**said, "made": ["/etc/elsewhere"]},
        lambda said: {**said, "at": "yesterday"},
        lambda said: {**said, "state": "perhaps"},
        lambda said: {**said, "hand": ["sidecar"]},
        lambda said: {**said, "id": "20260101T000000000Z-0000-0000"},
        lambda said: {**said, "undoes": 7},
        lambda said: [said],
        lambda _: None,
        lambda said: {key: value for key, value in said.items() if key != "files"},
    ],
)
def test_no_record_of_ours(tmp_path: Path, spoil: Callable[[dict[str, Any]], Any]) -> None:
    door = door_of(tmp_path)
    (tmp_path / "a.md").write_bytes(b"a")
    op = wrote(door, "a.md", b"a", b"A")
    file = record(tmp_path, op)
    file.write_text(json.dumps(spoil(json.loads(file.read_bytes()))), "utf-8")
    with pytest.raises(RecordError):
        door.history.read(op)
    assert door.history.operations() == []
    assert [one for one, _ in door.history.problems()] == [op]
    with pytest.raises(KbError):
        door.undo([op])
    assert wrote(door, "a.md", b"A", b"AA") > op


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 200_000, b'{"id": 1}'])
def test_a_cut_record(tmp_path: Path, data: bytes) -> None:
    name = "20260101T000000000Z-0000-0000"
    (tmp_path / ".history" / name).mkdir(parents=True)
    record(tmp_path, name).write_bytes(data)
    assert History(tmp_path).operations() == []
    assert len(History(tmp_path).problems()) == 1


def test_what_else_may_lie_in_the_folder(tmp_path: Path) -> None:
    """None of it stops anything."""
    (tmp_path / "a.md").write_bytes(b"a")
    folder = tmp_path / ".history"
    for name in ("99999999T999999999Z-0000-0000", "20261399T000000000Z-0000-0000", "99991231T235959999Z-0000-0000"):
        (folder / name).mkdir(parents=True)
        assert not is_id(name)
    (folder / "op.sync-conflict-20240101-120000-ABCDEFG.json").write_bytes(b"")
    (folder / "20260101T000000000Z-0000-0000").write_bytes(b"a file")
    (folder / "20260101T000000000Z-0000-0001").mkdir()
    door = door_of(tmp_path)
    op = wrote(door, "a.md", b"a", b"A")
    assert [one.id for one in door.history.operations()] == [op]
    assert len(door.history.problems()) == 2
    assert door.settle() == []


def test_ids_are_in_the_order_of_time() -> None:
    clock = Ticking()
    latest, ids = 0, []
    for _ in range(50):
        op_id, at, latest = new_id(clock, DEVICE, latest)
        assert is_id(op_id)
        assert milliseconds(op_id) == latest
        assert at.endswith("Z")
        ids.append(op_id)
    assert ids == sorted(ids)
    clock.now -= 86_400  # the clock was set back
    assert new_id(clock, DEVICE, latest)[0] > ids[-1]


def test_the_history_of_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"1")
    door = door_of(tmp_path)
    one = wrote(door, "a.md", b"1", b"2")
    other = wrote(door, "b.md", None, b"x")
    two = wrote(door, "a.md", b"2", b"1")
    three = wrote(door, "a.md", b"1", b"3")
    assert [op.id for op in door.history.operations()] == [one, other, two, three]
    assert [op.id for op in door.history.operations("a.md")] == [one, two, three]
    assert [(version.op.id, version.hash) for version in door.history.versions("a.md")] == [
        (one, digest(b"1")), (two, digest(b"2")),
    ]  # fmt: skip
    assert door.history.archived(two, "a.md") == b"2"
    with pytest.raises(NotFoundError):
        door.history.archived(two, "b.md")
    with pytest.raises(NotFoundError):
        door.history.archived(other, "b.md")
    assert door.history.size() == sum(path.stat().st_size for path in tmp_path.rglob(".history/**/*") if path.is_file())


def test_purging_leaves_the_records(tmp_path: Path) -> None:
    for path in ("deep/er/a.md", "deep/b.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"password")
    door = door_of(tmp_path)
    changes = [Change(NotePath(path), digest(b"password"), b"x") for path in ("deep/er/a.md", "deep/b.md")]
    op = door.apply(changes, kind="trial", decider="test").id
    cut = wrote(door, "deep/er/a.md", b"x", b"xx")
    (tmp_path / f".history/{cut}/before/deep/er/a.md").write_bytes(b"password, half synced")
    record(tmp_path, cut).write_bytes(b"{")
    aside = tmp_path / f".history/{op}/kept/deep/er/a.md"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(b"password, saved in that moment")
    aside.with_name("a.md~").write_bytes(b"password, and again")
    assert door.history.purge("deep/er/a.md") == 4
    left = [path.relative_to(tmp_path / ".history").as_posix() for path in (tmp_path / ".history").rglob("*.md*")]
    assert left == [f"{op}/before/deep/b.md"]
    assert [one.id for one in door.history.operations()] == [op]
    (tmp_path / "deep/er/a.md").write_bytes(b"x")
    with pytest.raises(ConflictError, match="purged"):
        door.undo([op])
    assert (tmp_path / "deep/b.md").read_bytes() == b"x"
    assert door.history.purge("deep/er/a.md") == 0
    for path in ("../../a.md", "/a.md", ""):
        with pytest.raises(NotFoundError):
            door.history.purge(path)


def test_purging_follows_no_link(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    name = "20260101T000000000Z-0000-0000"
    (root / ".history" / name).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.md").write_bytes(b"theirs")
    (root / ".history" / name / "before").symlink_to(tmp_path / "outside")
    assert History(root).purge("a.md") == 0
    assert (tmp_path / "outside/a.md").exists()


def test_what_was_kept_aside_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a")
    door = door_of(tmp_path)
    op = wrote(door, "a.md", b"a", b"A")
    aside = tmp_path / f".history/{op}/kept/a.md~"
    aside.parent.mkdir()
    aside.write_bytes(b"a sentence of that moment\n")
    (found,) = search(tmp_path, "sentence of that").found
    assert (found.where, found.path, found.op) == ("history", "a.md", op)


def test_no_history_is_none(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert (history.ids(), history.operations(), history.size(), history.purge("a.md")) == ([], [], 0, 0)
    with pytest.raises(NotFoundError):
        history.read("../../etc")
    with pytest.raises(NotFoundError):
        history.read("20260101T000000000Z-0000-0000")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="links")
def test_nothing_is_archived_outside(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (tmp_path / "outside").mkdir()
    root.mkdir()
    (root / "a.md").write_bytes(b"a")
    (root / ".history").symlink_to(tmp_path / "outside")
    with pytest.raises(ConflictError, match="out of the vault"):
        wrote(door_of(root), "a.md", b"a", b"A")
    assert list((tmp_path / "outside").iterdir()) == []
    assert (root / "a.md").read_bytes() == b"a"
