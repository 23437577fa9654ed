"""Sets, slots and rows of vectors, in a real vec0 table."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ohmykb.store import vectors
from ohmykb.store.connection import Database, open_writer
from ohmykb.store.schema import INDEX_MIGRATIONS
from ohmykb.store.vectors import Row

DIM = 8


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = open_writer(tmp_path / "index.db", INDEX_MIGRATIONS)
    vectors.load_extension(made)
    yield made
    made.close()


def row(text: int, value: float = 1.0) -> Row:
    return Row(bytes([text]) * 16, np.full(DIM, value, dtype=np.float32), text % 2)


def note(db: Database, *texts: int) -> None:
    """A note whose chunks are these texts; what was there before is gone."""
    for table in ("chunks", "notes", "files"):
        db.execute(f"DELETE FROM {table}")
    db.execute("INSERT INTO files (id, path, kind, scope, name_key) VALUES (1, 'a.md', 0, 0, 'a')")
    db.execute(
        "INSERT INTO notes (id, title, flags, properties, headings, blocks) VALUES (1, 'a', 0, '{}', '[]', '[]')"
    )
    for text in texts:
        db.execute(
            "INSERT INTO chunks (note, start, \"end\", line, heading, hash) VALUES (1, 0, 1, 1, '', ?)",
            (bytes([text]) * 16,),
        )


def rows_of(db: Database, number: int) -> int:
    return int(db.value(f"SELECT count(*) FROM vectors_{number}"))


def test_a_set_is_made_once(db: Database) -> None:
    made = vectors.make_set(db, "one", DIM)
    assert vectors.make_set(db, "one", DIM) == made
    other = vectors.make_set(db, "two", DIM)
    assert [one.encoder for one in vectors.sets(db)] == ["one", "two"]
    assert made.id != other.id


def test_another_length_under_the_same_name_makes_the_set_anew(db: Database) -> None:
    made = vectors.make_set(db, "one", DIM)
    vectors.put(db, made.id, [row(1)], [])
    vectors.set_state(db, made.id, vectors.SERVING)
    anew = vectors.make_set(db, "one", DIM + 1)
    assert vectors.sets(db) == [anew]
    assert (anew.dim, anew.state, vectors.count(db, anew.id)) == (DIM + 1, vectors.BUILDING, 0)
    assert rows_of(db, anew.id) == 0


def test_a_dropped_set_leaves_nothing(db: Database) -> None:
    made = vectors.make_set(db, "one", DIM)
    vectors.put(db, made.id, [row(1)], [])
    vectors.drop_set(db, made.id)
    assert db.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'vectors_*'") == []
    assert db.value("SELECT count(*) FROM encoded") == 0


def test_slots_of_gone_texts_are_used_again(db: Database) -> None:
    number = vectors.make_set(db, "one", DIM).id
    note(db, *range(10))
    vectors.put(db, number, [row(text) for text in range(10)], [])
    assert vectors.free_slots(db, number) == []
    note(db, *range(3))
    free = vectors.free_slots(db, number)
    assert sorted(free) == list(range(4, 11))
    assert vectors.put(db, number, [row(20, 5.0), row(21)], free) == [4, 5]
    assert rows_of(db, number) == 10
    slots, values = vectors.read(db, number, DIM, np.array([4]))
    assert (list(slots), float(values[0, 0])) == ([4], 5.0)


def test_slots_that_were_freed_and_not_used_are_not_forgotten(db: Database) -> None:
    """They were: then a later row met one of them, and the encoder's thread died of it."""
    number = vectors.make_set(db, "one", DIM).id
    note(db, *range(10))
    vectors.put(db, number, [row(text) for text in range(10)], [])
    note(db, 0)
    vectors.free_slots(db, number)  # and then the process is killed
    note(db, 0, *range(20, 25))
    vectors.put(db, number, [row(text) for text in range(20, 25)], vectors.free_slots(db, number))
    note(db, 0, *range(20, 40))
    vectors.put(db, number, [row(text) for text in range(25, 40)], vectors.free_slots(db, number))
    assert rows_of(db, number) == vectors.count(db, number) == 21
    assert vectors.faults(db) == []


def test_the_table_does_not_grow_when_texts_come_and_go(db: Database) -> None:
    number = vectors.make_set(db, "one", DIM).id
    for turn in range(30):
        texts = [(turn * 7 + at) % 250 for at in range(20)]
        note(db, *texts)
        free = vectors.free_slots(db, number)
        todo = {one.hash: one for one in vectors.wanted(db, number, 100)}
        vectors.put(db, number, [row(digest[0]) for digest in todo], free)
        assert vectors.unencoded(db, number) == 0
    assert rows_of(db, number) == 20


def test_nothing_worth_encoding_is_recorded_without_a_vector(db: Database) -> None:
    number = vectors.make_set(db, "one", DIM).id
    note(db, 1, 2)
    assert vectors.put(db, number, [Row(bytes([1]) * 16, None, 0)], []) == []
    assert [one.hash[0] for one in vectors.wanted(db, number, 10)] == [2]
    assert (vectors.count(db, number), vectors.unencoded(db, number)) == (0, 1)
    assert len(vectors.placed(db, number)[1].slots) == 0


def test_a_text_in_two_places_has_one_vector(db: Database) -> None:
    number = vectors.make_set(db, "one", DIM).id
    note(db, 7, 7, 8)
    assert vectors.unencoded(db, number) == 3, "occurrences"
    vectors.put(db, number, [row(7), row(8)], [])
    placed = vectors.placed(db, number)[1]
    assert list(placed.slots) == [1, 1, 2]
    assert list(placed.languages) == [1, 1, 0]
    assert placed.keys[0] == placed.keys[1] != placed.keys[2]


def test_hidden_notes_are_neither_wanted_nor_missing(db: Database) -> None:
    number = vectors.make_set(db, "one", DIM).id
    note(db, 1)
    assert vectors.wanted(db, number, 10, [1]) == []
    assert vectors.unencoded(db, number, [1]) == 0
    assert vectors.unencoded(db, 0) == 1, "of a set that is not there"


def test_numbers_are_told_of_the_set_that_serves(db: Database) -> None:
    assert vectors.shown(db) is None
    first, second = vectors.make_set(db, "one", DIM), vectors.make_set(db, "two", DIM)
    assert vectors.shown(db) == first
    vectors.set_state(db, second.id, vectors.SERVING)
    shown = vectors.shown(db)
    assert shown is not None
    assert shown.id == second.id


def test_all_at_once_are_those_one_by_one(db: Database) -> None:
    """More than one of vec0's chunks, with holes, and some used again."""
    number = vectors.make_set(db, "one", DIM).id
    random = np.random.default_rng(3)
    rows = [Row(at.to_bytes(16, "big"), random.normal(size=DIM).astype(np.float32), 0) for at in range(2500)]
    vectors.put(db, number, rows, [])
    db.execute(f"DELETE FROM vectors_{number} WHERE rowid % 7 = 0")
    vectors.put(db, number, [row(1, 3.0)], [50])
    slots = np.array([one[0] for one in db.rows(f"SELECT rowid FROM vectors_{number}")])
    whole = vectors.read_all(db, number, DIM, 2501)
    told, some = vectors.read(db, number, DIM, slots)
    assert (whole[told] == some).all()
    assert not whole[7::7].any()
    assert (whole[50] == 3).all()
    assert (vectors.read_all(db, number, DIM, 100) == whole[:100]).all()
    assert vectors.read_all(db, number, DIM, 4000).shape == (4000, DIM)
