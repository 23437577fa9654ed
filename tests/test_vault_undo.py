"""Taking back: exact bytes, in any order that the hashes allow, and never over what came later."""

from datetime import datetime
from pathlib import Path

import pytest

from never_lost import DEVICE, Ticking
from ohmykb.errors import ConflictError, KbError, NotFoundError, UsageError
from ohmykb.note import NotePath
from ohmykb.vault.door import Door
from ohmykb.vault.operations import Change
from ohmykb.vault.replace import digest
from ohmykb.vault.undo import moment


class Desk:
    """A vault whose notes are changed one after another."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.door = Door(root, DEVICE, Ticking(), lambda *_: None)

    def write(self, **files: str | None) -> str:
        changes = []
        for name, text in files.items():
            changes.append(Change(NotePath(f"{name}.md"), self.hash(name), None if text is None else text.encode()))
        return self.door.apply(changes, kind="trial", decider="test").id

    def hash(self, name: str) -> str | None:
        text = self.read(name)
        return None if text is None else digest(text.encode())

    def read(self, name: str) -> str | None:
        file = self.root / f"{name}.md"
        return file.read_bytes().decode() if file.exists() else None


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "a.md").write_bytes(b"0\r\n")
    return Desk(tmp_path)


def test_one_of_several_that_touch_other_notes(desk: Desk) -> None:
    one, two = desk.write(a="1", b="1"), desk.write(c="2")
    desk.door.undo([one])
    assert (desk.read("a"), desk.read("b"), desk.read("c")) == ("0\r\n", None, "2")
    desk.door.undo([two])
    assert desk.read("c") is None


def test_an_operation_in_between_is_in_the_way(desk: Desk) -> None:
    one, two, three = desk.write(a="1"), desk.write(a="2"), desk.write(a="3")
    for some in ([one], [two], [one, two], [one, three]):
        with pytest.raises(ConflictError, match=r"a\.md"):
            desk.door.undo(some)
    assert desk.read("a") == "3"
    desk.door.undo([three, two])
    assert desk.read("a") == "1"


def test_several_are_one_operation(desk: Desk) -> None:
    ops = [desk.write(a=str(number)) for number in range(1, 5)]
    done = desk.door.undo(ops)
    assert desk.read("a") == "0\r\n"
    assert done.undoes == tuple(ops)
    assert done.kind == "undo"
    desk.door.undo([done.id])
    assert desk.read("a") == "4"


def test_undone_and_done_again_and_undone(desk: Desk) -> None:
    one = desk.write(a="1")
    back = desk.door.undo([one])
    with pytest.raises(UsageError, match="undone already"):
        desk.door.undo([one])
    again = desk.door.undo([back.id])
    assert desk.read("a") == "1"
    with pytest.raises(UsageError, match="undone already"):
        desk.door.undo([back.id])
    desk.door.undo([one])
    assert desk.read("a") == "0\r\n"
    with pytest.raises(KbError):
        desk.door.undo([again.id])
    assert desk.read("a") == "0\r\n"


def test_all_since_a_time(desk: Desk) -> None:
    desk.write(a="1")
    since = datetime.fromisoformat(desk.door.history.operations()[-1].at).timestamp() + 0.0005
    two = desk.write(a="2", b="2")
    desk.door.undo([two])
    desk.write(a="3")
    desk.write(c="3")
    desk.door.undo([], since)
    assert (desk.read("a"), desk.read("b"), desk.read("c")) == ("1", None, None)
    with pytest.raises(NotFoundError):
        desk.door.undo([], since + 1e6)


def test_a_later_edit_is_in_the_way_of_all_of_it(desk: Desk) -> None:
    one = desk.write(a="1", b="1")
    (desk.root / "a.md").write_bytes(b"1 and more")
    with pytest.raises(ConflictError, match=r"a\.md was changed"):
        desk.door.undo([one])
    assert (desk.read("a"), desk.read("b")) == ("1 and more", "1")
    (desk.root / "a.md").unlink()
    with pytest.raises(ConflictError):
        desk.door.undo([one])
    assert desk.read("a") is None


def test_what_a_person_took_back_is_no_obstacle(desk: Desk) -> None:
    one = desk.write(a="1", b="1")
    (desk.root / "a.md").write_bytes(b"0\r\n")
    desk.door.undo([one])
    assert (desk.read("a"), desk.read("b")) == ("0\r\n", None)


def test_half_of_it_was_done(desk: Desk) -> None:
    """A conflict after a crash: one file as before, the other as after."""
    op = desk.door.prepare(
        [Change(NotePath("a.md"), desk.hash("a"), b"1"), Change(NotePath("b.md"), None, b"1")],
        kind="trial", decider="test",
    )  # fmt: skip
    (desk.root / "b.md").write_bytes(b"1")
    (ended,) = Door(desk.root, DEVICE, Ticking(), lambda *_: None).settle()
    assert ended.state == "conflict"
    desk.door.undo([op.id])
    assert (desk.read("a"), desk.read("b")) == ("0\r\n", None)


def test_what_changed_nothing(desk: Desk) -> None:
    op = desk.door.prepare([Change(NotePath("a.md"), desk.hash("a"), b"1")], kind="trial", decider="test")
    with pytest.raises(UsageError, match="changed nothing"):
        desk.door.undo([op.id])
    assert desk.door.abandon(op.id).state == "dropped"
    with pytest.raises(UsageError, match="changed nothing"):
        desk.door.undo([op.id])
    with pytest.raises(NotFoundError):
        desk.door.undo(["20260101T000000000Z-0000-0000"])
    assert all(one.state == "dropped" for one in desk.door.history.operations())


def test_folders_go_with_what_was_made_in_them(desk: Desk) -> None:
    made = desk.door.apply([Change(NotePath("x/y/n.md"), None, b"n")], kind="trial", decider="test")
    assert made.made == ("x", "x/y")
    (desk.root / "x/own.md").write_bytes(b"own")
    back = desk.door.undo([made.id])
    assert (desk.root / "x/own.md").exists()
    assert not (desk.root / "x/y").exists()
    desk.door.undo([back.id])
    assert (desk.root / "x/y/n.md").read_bytes() == b"n"


def test_by_the_plugins_hand_too(desk: Desk) -> None:
    made = desk.door.apply([Change(NotePath("x/n.md"), None, b"n")], kind="trial", decider="test")
    changes, ids = desk.door.undoing([made.id])
    op = desk.door.prepare(changes, kind="undo", decider="person", undoes=ids)
    with pytest.raises(ConflictError, match="Nothing of it was written"):
        desk.door.commit(op.id)
    (desk.root / "x/n.md").unlink()
    assert desk.door.commit(op.id).state == "committed"
    assert not (desk.root / "x").exists()


def test_a_note_that_moved_is_undone_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"0")
    door = Door(
        tmp_path, DEVICE, Ticking(), lambda *_: None, follow=lambda path, _: "new/b.md" if path == "a.md" else path
    )
    op = door.apply([Change(NotePath("a.md"), digest(b"0"), b"1")], kind="trial", decider="test")
    (tmp_path / "new").mkdir()
    (tmp_path / "a.md").rename(tmp_path / "new/b.md")
    door.undo([op.id])
    assert (tmp_path / "new/b.md").read_bytes() == b"0"
    assert not (tmp_path / "a.md").exists()


def test_moments() -> None:
    assert moment("30m", 10_000) == 10_000 - 1800
    assert moment(" 2d ", 200_000) == 27_200
    assert moment("999999w", 200_000) == 0, "everything"
    assert moment("2026-12-01T08:30:00Z", 0) == datetime.fromisoformat("2026-12-01T08:30:00+00:00").timestamp()
    assert moment("2026-12-01", 0) == datetime(2026, 12, 1).astimezone().timestamp()
    for wrong in ("", "soon", "5", "2026-13-01", "1y"):
        with pytest.raises(UsageError):
            moment(wrong, 0)
