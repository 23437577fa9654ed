"""What a person decided stays decided, also when notes move; what waits keeps its name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ohmykb.store import state
from ohmykb.store.connection import Database
from ohmykb.store.review import ANYWHERE, Item, Review, Told


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = state.open_state(tmp_path / "state.db")
    yield made
    made.close()


@pytest.fixture
def review(tmp_path: Path, db: Database) -> Iterator[Review]:
    made = Review(state.open_state(tmp_path / "state.db"))
    yield made
    made.close()


def put(review: Review, key: str = "s.md\0x\0\0t.md", confidence: float = 0.8, at: float = 1.0) -> str | None:
    source, *_, target = key.split("\0")
    payload = {"source": source, "target": target, "linkpath": "x", "candidates": [{"path": target, "score": 1}]}
    return review.put("repair", at, Told(key, f"{source}: x", payload, confidence, ["because"]))


def only(review: Review, now: float = 2.0) -> Item:
    (item,) = review.open(now)
    return item


def test_put_and_get(review: Review) -> None:
    name = put(review)
    assert name is not None
    assert len(name) == 8
    assert int(name, 16) >= 0
    item = review.get(name)
    assert item == only(review)
    assert item is not None
    assert (item.kind, item.key, item.at, item.state) == ("repair", "s.md\0x\0\0t.md", 1.0, "open")
    assert (item.payload["target"], item.reasons, item.until, item.op) == ("t.md", ("because",), None, None)
    assert review.get("ffffffff") is None


def test_an_open_one_is_refreshed_in_place(review: Review) -> None:
    name = put(review)
    assert put(review, confidence=0.9, at=5.0) == name
    assert (only(review).confidence, only(review).at) == (0.9, 1.0)


@pytest.mark.parametrize("state", ["accepted", "rejected"])
def test_what_was_decided_does_not_come_back(review: Review, state: str) -> None:
    name = put(review)
    assert name is not None
    review.settle(name, "accepted" if state == "accepted" else "rejected", op="op-1")
    assert put(review) is None
    assert review.open(9.0) == []
    item = review.get(name)
    assert item is not None
    assert (item.state, item.op) == (state, "op-1")
    assert put(review, "s.md\0x\0\0other.md") is not None


def test_settled_by_key(review: Review) -> None:
    put(review)
    put(review, "s.md\0y\0\0t.md")
    review.settle_keys("repair", ["s.md\0x\0\0t.md", "nobody"], "accepted", "op-2")
    assert only(review).key == "s.md\0y\0\0t.md"
    assert review.counts(2.0) == {"open": 1, "accepted": 1, "rejected": 0, "snoozed": 0}


def test_a_snoozed_one_comes_back(review: Review) -> None:
    name = put(review)
    assert name is not None
    review.snooze(name, until=100.0)
    assert review.open(99.0) == []
    assert put(review) == name
    assert review.open(99.0) == []
    assert review.counts(99.0)["snoozed"] == 1
    assert review.counts(100.0)["open"] == 1
    assert only(review, 100.0).id == name
    item = review.get(name)
    assert item is not None
    assert (item.state, item.until) == ("open", None)


def test_a_settled_one_is_not_snoozed(review: Review) -> None:
    name = put(review)
    assert name is not None
    review.settle(name, "rejected")
    review.snooze(name, until=3.0)
    assert review.open(9.0) == []


def test_the_surest_first_then_the_oldest(review: Review) -> None:
    put(review, "a.md\0\0\0t.md", 0.5, at=1)
    put(review, "b.md\0\0\0t.md", 0.9, at=2)
    put(review, "c.md\0\0\0t.md", 0.9, at=1)
    assert [item.payload["source"] for item in review.open(9.0)] == ["c.md", "b.md", "a.md"]
    assert [item.payload["source"] for item in review.open(9.0, limit=2)] == ["c.md", "b.md"]
    assert len(review.open(9.0, kind="repair")) == 3
    assert review.open(9.0, kind="upsert") == []


def test_what_is_withdrawn_may_come_back(review: Review) -> None:
    first, second = put(review), put(review, "s.md\0y\0\0t.md")
    assert second is not None
    review.settle(second, "rejected")
    review.withdraw("repair", ["s.md\0x\0\0t.md", "s.md\0y\0\0t.md"])
    assert review.open(9.0) == []
    assert put(review) not in (None, first)
    assert put(review, "s.md\0y\0\0t.md") is None


def test_decisions_follow_notes_that_move(db: Database, review: Review) -> None:
    rejected, waiting = put(review), put(review, "s.md\0y\0\0t.md")
    assert rejected is not None
    review.settle(rejected, "rejected")
    state.record_renames(db, 1.0, [("s.md", "dir/s.md"), ("t.md", "dir/t.md")])
    assert put(review, "dir/s.md\0x\0\0dir/t.md") is None
    item = only(review)
    assert (item.id, item.key) == (waiting, "dir/s.md\0y\0\0dir/t.md")
    assert item.payload == {
        "source": "dir/s.md", "target": "dir/t.md", "linkpath": "x", "candidates": [{"path": "dir/t.md", "score": 1}],
    }  # fmt: skip


def test_two_notes_that_swap_their_names(db: Database, review: Review) -> None:
    first, second = put(review, "a.md\0x\0\0t.md"), put(review, "b.md\0x\0\0t.md")
    assert first is not None
    assert second is not None
    review.leave("a.md", "one")
    review.leave("b.md", "two")
    state.record_renames(db, 1.0, [("a.md", "b.md"), ("b.md", "a.md")])
    found = [review.get(first), review.get(second)]
    assert [item and item.payload["source"] for item in found] == ["b.md", "a.md"]
    assert review.left("a.md") == {"two"}
    assert review.left("b.md") == {"one"}


def test_a_chain_of_moves_at_once(db: Database, review: Review) -> None:
    review.leave("b.md", "of b")
    review.leave("a.md", "of a")
    state.record_renames(db, 1.0, [("a.md", "b.md"), ("b.md", "c.md")])
    assert review.left() == {("b.md", "of a"), ("c.md", "of b")}


def test_links_that_are_meant(review: Review) -> None:
    review.leave("s.md", "later")
    review.leave("s.md", "later")
    review.leave(None, "someday")
    assert review.left("s.md") == {"later", "someday"}
    assert review.left("t.md") == {"someday"}
    assert review.left() == {("s.md", "later"), (ANYWHERE, "someday")}


def test_it_outlives_the_process(tmp_path: Path, review: Review) -> None:
    name = put(review)
    review.close()
    again = Review(state.open_state(tmp_path / "state.db"))
    assert only(again).id == name
    again.close()


def test_what_was_undone_is_not_what_was_rejected(review: Review) -> None:
    told = [Told(f"{name}.md\0x\0\0t.md", "x", {}, 0.9, ["because"]) for name in "ab"]
    review.applied("repair", told, 1.0, "op1")
    assert (review.open(2.0), review.rejected("repair", undone=True)) == ([], set())
    review.take_back(["op1"])
    assert review.rejected("repair", undone=True) == {one.key for one in told}
    assert review.rejected("repair", undone=False) == set()
    assert review.put("repair", 3.0, told[0]) is None
    review.applied("repair", told[:1], 4.0, "op2")
    assert review.rejected("repair", undone=True) == {told[1].key}
    waiting = put(review)
    assert waiting is not None
    review.settle(waiting, "rejected")
    assert review.rejected("repair", undone=False) == {"s.md\0x\0\0t.md"}
