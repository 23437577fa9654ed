"""The proof itself is proved: every kind of fault planted in the index is noticed."""

from collections.abc import Callable

import pytest

from ohmykb.store.connection import Database
from trial import Trial

FILES = {
    "a.md": "---\naliases: [Ay]\ntags: [one]\ntype: idea\n---\n# Head\n[[b]] and [[b#There]] #two\nwords ^blk\n",
    "b.md": "# There\n\nplain text 资金费率\n",
    "c.md": "---\nbroken: [\n---\n[[nowhere]]\n",
    "d.canvas": '{"nodes":[{"type":"text","text":"card [[a]]"}]}',
    "pic.png": "x",
}


@pytest.fixture
def sound(trial: Trial) -> Trial:
    trial.put(dict(FILES))
    trial.look()
    trial.assert_true()
    return trial


def sql(text: str) -> Callable[[Trial], None]:
    def plant(trial: Trial) -> None:
        db = trial.index.db
        before = db.total_changes()
        db.execute(text)
        assert db.total_changes() > before

    return plant


A, B = "(SELECT id FROM files WHERE path = 'a.md')", "(SELECT id FROM files WHERE path = 'b.md')"
ZEROS = "zeroblob(16)"
FAULTS = {
    "a link's target": f"UPDATE links SET target = {A} WHERE target = {B}",
    "a link unresolved": f"UPDATE links SET target = NULL WHERE target = {B}",
    "a broken link resolved": f"UPDATE links SET target = {B} WHERE target IS NULL",
    "a link missing": f"DELETE FROM links WHERE id = (SELECT min(id) FROM links WHERE source = {A})",
    "a link's raw text": f"UPDATE links SET raw = '[[x]]' WHERE source = {A}",
    "a link's line": f"UPDATE links SET line = 99 WHERE source = {A}",
    "a link's kind": f"UPDATE links SET kind = 1 WHERE source = {A}",
    "a link too many": "INSERT INTO links (source, target, kind, raw, linkpath, display, start, name_key)"
    f" VALUES ({B}, {A}, 0, '[[a]]', 'a', 'a', 0, 'a')",
    "a heading found that is not there": "UPDATE links SET subpath_found = 0 WHERE subpath IS NOT NULL",
    "a heading not looked up": "UPDATE links SET subpath_found = NULL WHERE subpath IS NOT NULL",
    "a tag missing": "DELETE FROM tags WHERE tag = 'two'",
    "a tag too many": f"INSERT INTO tags VALUES ('three', {A})",
    "an alias missing": "DELETE FROM aliases",
    "an alias changed": "UPDATE aliases SET alias = 'Bee'",
    "the text": f"UPDATE texts SET text = 'other' WHERE note = {B}",
    "the text missing": f"DELETE FROM texts WHERE note = {B}",
    "a chunk missing": f"DELETE FROM chunks WHERE note = {B}",
    "a chunk's hash": f"UPDATE chunks SET hash = {ZEROS} WHERE note = {B}",
    "a chunk's place": f"UPDATE chunks SET start = start + 1 WHERE note = {B}",
    "a note missing": f"DELETE FROM notes WHERE id = {B}",
    "a file missing": f"DELETE FROM files WHERE id = {B}",
    "a file too many": "INSERT INTO files (id, path, kind, scope, name_key) VALUES (99, 'ghost.md', 0, 0, 'ghost')",
    "an attachment missing": "DELETE FROM files WHERE path = 'pic.png'",
    "a path": "UPDATE files SET path = 'z.md' WHERE path = 'b.md'",
    "a name's key": "UPDATE files SET name_key = 'z' WHERE path = 'b.md'",
    "a link's key": "UPDATE links SET name_key = 'z' WHERE name_key = 'b'",
    "a scope": "UPDATE files SET scope = 1 WHERE path = 'b.md'",
    "a hash": f"UPDATE files SET hash = {ZEROS} WHERE path = 'b.md'",
    "pending": "UPDATE files SET hash = NULL WHERE path = 'b.md'",
    "a title": f"UPDATE notes SET title = 'x' WHERE id = {B}",
    "a type": "UPDATE notes SET type = NULL WHERE type IS NOT NULL",
    "properties": f"UPDATE notes SET properties = '{{}}' WHERE id = {A}",
    "headings": f"UPDATE notes SET headings = '[]' WHERE id = {B}",
    "blocks": f"UPDATE notes SET blocks = '[]' WHERE id = {A}",
    "a problem missing": "DELETE FROM problems",
    "a problem too many": "INSERT INTO problems VALUES ('b.md', 1, 'yaml', 'Bad.', 1)",
    "a problem of a file that is gone": "INSERT INTO problems VALUES ('gone.md', 1, 'yaml', 'Bad.', 1)",
    "words missing": f"DELETE FROM words WHERE rowid = {B}",
    "a word changed": f"INSERT OR REPLACE INTO words (rowid, name, path, heading, body)"
    f" VALUES ({B}, 'b There', 'b.md', 'There', 'There plain texts 资 资金 金 金费 费 费率 率')",
    "words of no note": "INSERT INTO words (rowid, body) VALUES (99, 'ghost')",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(sound: Trial, fault: str) -> None:
    sql(FAULTS[fault])(sound)
    assert sound.differences()


def test_words_under_the_wrong_note(sound: Trial) -> None:
    """The words of two notes exchanged: every word is there as often as it should be."""
    sound.put({"x.md": "apple", "y.md": "grape"})
    sound.look()
    ids = sound.ids()
    db = sound.index.db
    for file, name, body in ((ids["x.md"], "x", "grape"), (ids["y.md"], "y", "apple")):
        db.execute("DELETE FROM words WHERE rowid = ?", (file,))
        db.execute("INSERT INTO words (rowid, name, path, body) VALUES (?, ?, ?, ?)", (file, name, f"{name}.md", body))
    assert sound.found("apple") == ["y.md"]
    assert sound.differences()


def test_the_disk_moved_on(sound: Trial) -> None:
    sound.put({"b.md": "changed", "e.md": "new"})
    sound.remove("c.md")
    told = "\n".join(sound.differences())
    assert "c.md: in the index, not on the disk" in told
    assert "e.md: on the disk, not in the index" in told
    assert "b.md: text: the index has" in told
    sound.look()
    sound.assert_true()


def test_a_damaged_page_is_noticed(sound: Trial) -> None:
    for number in range(50):
        sound.put({f"more{number}.md": f"text {number} " * 50})
    sound.look()
    sound.index.close()
    data = bytearray(sound.vault.index_file.read_bytes())
    for page in range(30 * 4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64
    sound.vault.index_file.write_bytes(data)
    sound.index.db = Database(str(sound.vault.index_file))
    (told,) = sound.differences()
    assert "the database is damaged" in told
