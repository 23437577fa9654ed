"""Whatever happens to the files, the index ends true to them, and notes stay the same notes."""

import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from ohmykb import wiring
from ohmykb.index import reconcile
from ohmykb.index.diff import compare
from ohmykb.note import NotePath, Scope, Stamp
from ohmykb.store import schema, state
from ohmykb.store.connection import NewerDatabaseError
from ohmykb.vault.walk import Entry, FileKind
from trial import Trial


def renames(trial: Trial) -> list[tuple[str, str]]:
    db = apsw.Connection(str(trial.vault.state_file))
    return list(db.execute("SELECT old, new FROM renames ORDER BY rowid"))


@pytest.fixture
def some(trial: Trial) -> Trial:
    """Twenty notes and a few links, indexed."""
    trial.put({f"n{number:02}.md": f"# Note {number}\ntext {number} [[n{number + 1:02}]]" for number in range(20)})
    trial.put({"dir/a.md": "aaa [[b]]", "dir/b.md": "bbb [[a]] [[n01]]", "pic.png": "x"})
    trial.look()
    trial.assert_true()
    return trial


def true_after(trial: Trial) -> None:
    """Equal to the disk, nothing left to do, and equal to what a rebuild would give."""
    trial.assert_true()
    again = trial.look()
    assert not again.touched()
    before = trial.dump()
    trial.index.close()
    wiring.drop_index(trial.vault)
    trial.reopen()
    trial.look()
    assert trial.dump() == before


# --- the plain changes


def test_new(some: Trial) -> None:
    some.put({"new.md": "[[n03]]"})
    outcome = some.look()
    assert outcome.changed == {"new.md"}
    assert some.targets("new.md") == ["n03.md"]
    true_after(some)


def test_changed(some: Trial) -> None:
    before = some.ids()
    some.put({"n03.md": "[[n00]] now"})
    outcome = some.look()
    assert (outcome.changed, outcome.removed) == ({"n03.md"}, set())
    assert some.ids() == before
    assert some.found("now") == ["n03.md"]
    true_after(some)


def test_touched_only(some: Trial) -> None:
    os.utime(some.root / "n03.md", (1, 1))
    assert not some.look().touched()
    true_after(some)


def test_deleted(some: Trial) -> None:
    some.remove("n03.md")
    outcome = some.look()
    assert (outcome.changed, outcome.removed) == (set(), {"n03.md"})
    assert some.targets("n02.md") == [None]
    true_after(some)


# --- renames


def test_renamed(some: Trial) -> None:
    before = some.ids()["n03.md"]
    some.move("n03.md", "dir/other.md")
    outcome = some.look()
    assert outcome.renamed == [("n03.md", "dir/other.md")]
    assert (outcome.changed, outcome.removed) == ({"dir/other.md"}, {"n03.md"})
    assert some.ids()["dir/other.md"] == before
    assert some.targets("n02.md") == [None]
    assert renames(some) == [("n03.md", "dir/other.md")]
    true_after(some)


def test_the_new_end_of_a_move_is_told_first(some: Trial) -> None:
    before = some.ids()["n03.md"]
    some.move("n03.md", "fresh/other.md")
    assert some.index.refresh(["fresh/"]).renamed == [("n03.md", "fresh/other.md")]
    assert some.index.refresh(["n03.md"]).renamed == []
    assert some.ids()["fresh/other.md"] == before
    true_after(some)


def test_renamed_by_copy_and_delete(some: Trial) -> None:
    data = (some.root / "n03.md").read_bytes() + b"own words, and more than a form has\n" * 6
    some.put({"n03.md": data})
    some.look()
    before = some.ids()["n03.md"]
    some.put({"copied.md": data})
    some.remove("n03.md")
    assert some.look().renamed == [("n03.md", "copied.md")]
    assert some.ids()["copied.md"] == before
    true_after(some)


def test_a_copy_is_a_new_note(some: Trial) -> None:
    before = some.ids()
    some.put({"copied.md": (some.root / "n03.md").read_bytes()})
    outcome = some.look()
    assert not outcome.renamed
    assert some.ids()["n03.md"] == before["n03.md"]
    assert some.ids()["copied.md"] not in before.values()


def test_of_equal_notes_the_one_of_the_same_name_moved(trial: Trial) -> None:
    trial.put({"x/one.md": "same", "x/two.md": "same", "keep.md": ""})
    trial.look()
    before = trial.ids()
    trial.put({"y/one.md": "same", "y/two.md": "same"})  # new files: no inode tells
    trial.remove("x")
    trial.settle()
    after = trial.ids()
    assert (after["y/one.md"], after["y/two.md"]) == (before["x/one.md"], before["x/two.md"])
    true_after(trial)


def test_folder_renamed(some: Trial) -> None:
    before = some.ids()
    some.move("dir", "deep/er")
    outcome = some.look()
    assert not outcome.held
    assert sorted(outcome.renamed) == [("dir/a.md", "deep/er/a.md"), ("dir/b.md", "deep/er/b.md")]
    assert some.ids()["deep/er/a.md"] == before["dir/a.md"]
    assert some.targets("deep/er/b.md") == ["deep/er/a.md", "n01.md"]
    true_after(some)


def test_a_folder_with_most_of_the_vault_renamed_is_no_loss(trial: Trial) -> None:
    trial.put({f"big/{number}.md": f"text {number}" for number in range(50)})
    trial.look()
    trial.move("big", "huge")
    outcome = trial.look()
    assert not outcome.held
    assert len(outcome.renamed) == 50
    true_after(trial)


def test_renamed_and_edited(some: Trial) -> None:
    some.move("n03.md", "other.md")
    some.put({"other.md": "altogether different"})
    some.look()
    assert some.found("altogether") == ["other.md"]
    true_after(some)


def test_two_files_swapped(some: Trial) -> None:
    some.move("n03.md", "tmp")
    some.move("n04.md", "n03.md")
    some.move("tmp", "n04.md")
    some.look()
    assert some.targets("n03.md") == ["n05.md"]
    true_after(some)


def test_a_chain_of_renames(some: Trial) -> None:
    some.move("n03.md", "last.md")
    some.move("n02.md", "n03.md")
    some.move("n01.md", "n02.md")
    some.look()
    true_after(some)


def test_case_only_rename(some: Trial) -> None:
    before = some.ids()["n03.md"]
    some.move("n03.md", "N03.md")
    assert some.look().renamed == [("n03.md", "N03.md")]
    assert some.ids()["N03.md"] == before
    assert some.targets("n02.md") == ["N03.md"]
    true_after(some)


def test_renamed_to_another_kind(some: Trial) -> None:
    some.move("n03.md", "n03.txt")
    some.look()
    some.move("n03.txt", "n03.canvas")
    some.look()
    true_after(some)


def test_written_anew_in_place(some: Trial) -> None:
    """As editors save: a new file is moved over the old one."""
    before = some.ids()["n03.md"]
    some.put({"n03.md~": "fresh"})
    some.move("n03.md~", "n03.md")
    some.look()
    assert some.ids()["n03.md"] == before
    true_after(some)


def test_an_inode_used_again_is_no_rename(some: Trial) -> None:
    before = some.ids()
    for number in range(3):
        some.remove(f"n{number:02}.md")
        some.put({f"fresh{number}.md": f"fresh {number}"})
    outcome = some.look()
    assert not outcome.renamed
    assert before.keys() - some.ids().keys() == {"n00.md", "n01.md", "n02.md"}
    true_after(some)


def test_identity_over_many_renames(some: Trial) -> None:
    before = some.ids()["n03.md"]
    path = "n03.md"
    for number in range(5):
        some.move(path, f"move{number}/x{number}.md")
        path = f"move{number}/x{number}.md"
        some.look()
    assert some.ids()[path] == before
    assert [new for _, new in renames(some)] == [f"move{number}/x{number}.md" for number in range(5)]


def test_rename_history_outlives_a_rebuild(some: Trial) -> None:
    some.move("n03.md", "other.md")
    some.look()
    some.index.close()
    wiring.drop_index(some.vault)
    some.reopen()
    some.look()
    assert renames(some) == [("n03.md", "other.md")]
    db = wiring.open_writer(some.vault.state_file, schema.STATE_MIGRATIONS)
    assert [row[1:] for row in state.renames(db)] == [("n03.md", "other.md")]
    assert state.renames(db, since=1e12) == []
    db.close()


# --- links when names come and go


def test_a_name_appears_and_disappears(trial: Trial) -> None:
    trial.put({"s.md": "[[late]] ![[pic.png]]"})
    trial.look()
    assert trial.targets("s.md") == [None, None]
    trial.put({"deep/er/late.md": "", "pic.png": ""})
    trial.look()
    assert trial.targets("s.md") == ["deep/er/late.md", "pic.png"]
    trial.remove("deep/er/late.md")
    trial.look()
    assert trial.targets("s.md") == [None, "pic.png"]
    true_after(trial)


def test_a_nearer_name_wins(trial: Trial) -> None:
    trial.put({"x/s.md": "[[t]]", "a/t.md": "far"})
    trial.look()
    for nearer in ("x/t.md", "t.md"):
        trial.put({nearer: "near " + nearer})
        trial.look()
        assert trial.targets("x/s.md") == [nearer]
    trial.remove("t.md")
    trial.look()
    assert trial.targets("x/s.md") == ["x/t.md"]
    true_after(trial)


def test_a_note_that_moves_looks_from_its_new_folder(trial: Trial) -> None:
    trial.put({"x/s.md": "[[t]] [[./t]]", "x/t.md": "1", "y/t.md": "2"})
    trial.look()
    assert trial.targets("x/s.md") == ["x/t.md", "x/t.md"]
    trial.move("x/s.md", "y/s.md")
    trial.look()
    assert trial.targets("y/s.md") == ["y/t.md", "y/t.md"]
    true_after(trial)


def test_a_path_in_a_link_follows_its_folder(trial: Trial) -> None:
    trial.put({"s.md": "[[p/q/t]] [[q/t]]", "p/q/t.md": ""})
    trial.look()
    trial.move("p", "r")
    trial.look()
    assert trial.targets("s.md") == [None, "r/q/t.md"]
    true_after(trial)


def test_subpath_problems_come_and_go(trial: Trial) -> None:
    trial.put({"s.md": "[[t#One]] [[t#^b1]] [[gone#One]] [[#Here]]", "t.md": ""})
    trial.look()
    assert trial.problems() == [("s.md", "subpath-missing")] * 3
    trial.put({"t.md": "# One\ntext ^b1"})
    trial.look()
    assert trial.problems() == [("s.md", "subpath-missing")]
    trial.put({"t.md": "# Other"})
    trial.look()
    assert len(trial.problems()) == 3
    trial.remove("t.md")
    trial.look()
    assert trial.problems() == [("s.md", "subpath-missing")]
    trial.put({"s.md": "[[t#One]] [[t#^b1]] [[gone#One]] [[#Here]]\n# here"})
    trial.look()
    assert trial.problems() == []
    trial.put({"t.md": "# One\ntext ^b1"})
    trial.look()
    assert trial.problems() == []
    true_after(trial)


# --- what takes part


def test_exclude_added_and_removed(some: Trial) -> None:
    some.configure('[index]\nexclude = ["dir/"]\n')
    some.look()
    assert "dir/a.md" not in [note["path"] for note in some.graph()["notes"]]
    assert some.found("aaa") == []
    some.put({"n00.md": "[[a]]"})
    some.look()
    assert some.targets("n00.md") == ["dir/a.md"]
    true_after(some)
    some.configure("")
    some.look()
    assert some.found("aaa") == ["dir/a.md"]
    assert some.targets("dir/a.md") == ["dir/b.md"]
    true_after(some)


def test_headings_of_what_is_left_out_are_not_missed(some: Trial) -> None:
    some.put({"n00.md": "[[a#nowhere]]"})
    some.look()
    assert some.problems() == [("n00.md", "subpath-missing")]
    some.configure('[index]\nexclude = ["dir/"]\n')
    some.look()
    assert some.problems() == []
    true_after(some)


def test_headings_of_what_moved_out_of_sight_are_not_missed(some: Trial) -> None:
    some.configure('[index]\nexclude = ["out/"]\n')
    some.put({"n00.md": "[[a#nowhere]]"})
    some.look()
    assert some.problems() == [("n00.md", "subpath-missing")]
    some.move("dir/a.md", "out/a.md")
    some.look()
    assert some.problems() == []
    true_after(some)


def test_moved_out_of_sight_and_back(some: Trial) -> None:
    some.configure('[index]\nexclude = ["out/"]\n')
    some.look()
    some.move("dir/a.md", "out/a.md")
    some.look()
    assert some.found("aaa") == []
    assert some.targets("dir/b.md") == ["out/a.md", "n01.md"]
    true_after(some)
    some.move("out/a.md", "dir/a.md")
    some.look()
    assert some.found("aaa") == ["dir/a.md"]
    true_after(some)


def test_search_only(some: Trial) -> None:
    some.configure('[index]\nsearch_only = ["dir/"]\n')
    some.look()
    assert some.found("aaa") == ["dir/a.md"]
    whole = some.graph()
    assert not [note for note in whole["notes"] if note["path"].startswith("dir/")]
    assert not [link for link in whole["links"] if link["source"].startswith("dir/")]
    assert next(note for note in whole["notes"] if note["path"] == "n01.md")["backlinks"] == 1
    true_after(some)
    some.configure("")
    some.look()
    assert next(note for note in some.graph()["notes"] if note["path"] == "n01.md")["backlinks"] == 2
    true_after(some)


def test_the_apps_excluded_files(some: Trial) -> None:
    some.put({".obsidian/app.json": '{"userIgnoreFilters": ["dir/"]}'})
    some.configure("")
    some.look()
    assert some.found("aaa") == []
    true_after(some)


def test_conflict_copies(some: Trial) -> None:
    copy = "n03.sync-conflict-20240101-120000-ABCDEFG.md"
    some.put({copy: "another version [[n00]]"})
    some.look()
    assert some.problems() == [(copy, "conflict-copy")]
    assert some.found("version") == [copy]
    assert copy not in [note["path"] for note in some.graph()["notes"]]
    true_after(some)


def test_a_larger_limit_reads_what_was_too_big(some: Trial) -> None:
    some.put({"big.md": "needle " + "x " * 3000})
    some.configure("[index]\nmax_file_mb = 0.001\n")
    some.look()
    assert some.problems() == [("big.md", "too-big")]
    true_after(some)
    some.configure("")
    some.look()
    assert some.found("needle") == ["big.md"]
    assert some.problems() == []
    true_after(some)


def test_a_smaller_limit_drops_what_is_too_big(some: Trial) -> None:
    some.put({"big.md": "needle " + "x " * 3000})
    some.look()
    while some.look().changed or some.index.db.value("SELECT ctime_ns FROM files WHERE path = 'big.md'") < 0:
        pass  # a file fresh on the disk is read at every look
    some.configure("[index]\nmax_file_mb = 0.001\n")
    some.look()
    assert some.found("needle") == []
    assert some.problems() == [("big.md", "too-big")]
    true_after(some)


# --- sudden losses


def test_a_sudden_loss_is_held_and_believed_at_the_second_look(some: Trial) -> None:
    kept = {path: (some.root / path).read_bytes() for path in some.ids() if path.startswith("n0")}
    for path in kept:
        some.remove(path)
    outcome = some.look()
    assert outcome.held == kept.keys()
    assert not outcome.removed
    assert some.found("note 3")
    second = some.index.reconcile(agreed=outcome.held)
    assert second.removed == kept.keys()
    assert not second.held
    true_after(some)


def test_what_came_back_is_not_dropped(some: Trial) -> None:
    before = some.ids()
    some.move("dir", "../away")
    for number in range(5):
        some.move(f"n{number:02}.md", f"../away/n{number:02}.md")
    held = some.look().held
    assert len(held) == 7
    some.move("../away/a.md", "dir/a.md")
    outcome = some.index.reconcile(agreed=held)
    assert "dir/a.md" not in outcome.removed
    assert len(outcome.removed) == 6
    assert some.ids()["dir/a.md"] == before["dir/a.md"]


def test_a_second_larger_loss_is_held_again(some: Trial) -> None:
    for number in range(5):
        some.remove(f"n{number:02}.md")
    held = some.look().held
    for number in range(5, 15):
        some.remove(f"n{number:02}.md")
    outcome = some.index.reconcile(agreed=held)
    assert len(outcome.removed) == 5
    assert len(outcome.held) == 10


def test_a_few_lost_of_a_few_are_believed(trial: Trial) -> None:
    trial.put({"a.md": "", "b.md": ""})
    trial.look()
    trial.remove("a.md")
    assert trial.look().removed == {"a.md"}


def test_nothing_below_an_unreadable_folder_is_gone() -> None:
    stamp = Stamp(1, 1, 1, 1)
    known = {path: (path, number, 0, 0, *stamp, False) for number, path in enumerate(["a/x.md", "ab.md", "b/y.md"])}
    diff = compare([Entry(NotePath("ab.md"), FileKind.NOTE, Scope.GRAPH, stamp)], known, ["a/"])
    assert diff.gone.keys() == {"b/y.md"}


LOCKED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from trial import Trial
warm = Trial(Path("warm"))  # everything is imported while it may be
warm.put({"\u8d44.md": "---\\na: [1]\\n---\\n\u8d44 #t `x`"})
warm.look()
warm.close()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.environ["OHMYKB_HOME"] = os.path.abspath("other")
trial = Trial(Path(sys.argv[1]))
trial.look()
assert trial.found("secret") == ["locked/a.md"], trial.found("secret")
(trial.root / "locked").chmod(0)
outcome = trial.look()
assert not outcome.touched(), outcome
assert trial.found("secret") == ["locked/a.md"]
assert trial.problems() == [("locked", "unreadable")], trial.problems()
assert trial.differences() == [], trial.differences()
(trial.root / "locked").chmod(0o700)
(trial.root / "locked/a.md").chmod(0)
trial.look()
assert trial.problems() == [("locked/a.md", "unreadable")], trial.problems()
assert trial.differences() == [], trial.differences()
(trial.root / "locked/a.md").chmod(0o600)
trial.look()
assert trial.found("secret") == ["locked/a.md"]
assert trial.problems() == []
assert trial.differences() == []
print("good")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX users")
def test_an_unreadable_folder_is_not_gone(home: Path, tmp_path: Path) -> None:
    """In a process without the rights of root."""
    locked = tmp_path / "vault/locked"
    locked.mkdir(parents=True)
    (locked / "a.md").write_text("secret")
    script = LOCKED
    if os.geteuid() == 0:
        for folder in (tmp_path, *tmp_path.rglob("*")):
            os.chown(folder, 65534, 65534)
        for above in list(tmp_path.parents)[:3]:
            if above != Path("/tmp"):  # noqa: S108 - pytest's own folders are closed to others
                above.chmod(0o711)
    else:
        script = "\n".join(line for line in LOCKED.splitlines() if "setuid" not in line)
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "vault"), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "OHMYKB_HOME": str(tmp_path / "warm home"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(tmp_path),
        },
        cwd=tmp_path,
    )
    locked.chmod(0o755)
    assert ran.stdout == "good\n", ran.stderr


# --- stopped, killed, damaged, changed underneath


class _StopError(Exception):
    pass


def stop_after(trial: Trial, batches: int) -> None:
    left = batches

    def between() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _StopError

    trial.index.between_batches = between


def test_stopped_between_batches(trial: Trial) -> None:
    count = reconcile.FRESH_NOTES + 10
    trial.put({f"{number}.md": f"w{number} [[{number + 1}]]" for number in range(count)})
    stop_after(trial, 1)
    with pytest.raises(_StopError):
        trial.look()
    counts = trial.counts()
    assert counts["on_disk"] == count
    assert 0 < counts["indexed"] < count
    assert counts["pending"] == count - counts["indexed"]
    assert any("not in the index yet" in difference for difference in trial.differences())
    trial.reopen()
    trial.look()
    true_after(trial)


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from trial import Trial
trial = Trial(Path(sys.argv[1]))
calls = []
def between():
    calls.append(1)
    if len(calls) == 2:
        os._exit(9)
trial.index.between_batches = between
trial.look()
"""


@pytest.mark.parametrize("first", [True, False], ids=["first build", "later"])
def test_killed_between_batches(home: Path, tmp_path: Path, trial_at: Callable[[Path], Trial], *, first: bool) -> None:
    root = tmp_path / "vault"
    if not first:
        early = trial_at(root)
        early.put({"early.md": "early"})
        early.look()
        early.close()
    root.mkdir(exist_ok=True)
    for number in range(reconcile.FRESH_NOTES + 100):
        (root / f"n{number}.md").write_text(f"[[n{number + 1}]] unmistakable{number}word")
    ran = subprocess.run([sys.executable, "-c", KILLED, str(root), str(Path(__file__).parent)], check=False)
    assert ran.returncode == 9
    trial = trial_at(root)
    assert 0 < trial.counts()["indexed"] < reconcile.FRESH_NOTES + 100
    trial.look()
    assert len(trial.found("mistakable", n=200)) >= 40
    for number in (0, reconcile.FRESH_NOTES - 1, reconcile.FRESH_NOTES + 50):
        assert trial.found(f"able{number}wor") == [f"n{number}.md"]
    true_after(trial)


def test_another_recipe_reads_everything_again(some: Trial) -> None:
    some.index.db.execute("UPDATE meta SET value = 0 WHERE key = 'recipe'")
    some.index.db.execute("UPDATE notes SET title = 'old' WHERE title LIKE 'Note%'")
    some.reopen()
    assert some.counts()["pending"] == 22
    some.look()
    assert some.counts()["pending"] == 0
    true_after(some)


def test_a_damaged_database_is_made_anew(some: Trial) -> None:
    some.index.close()
    some.vault.index_file.write_bytes(b"this is no database" * 1000)
    some.reopen()
    some.look()
    assert some.found("aaa") == ["dir/a.md"]
    true_after(some)


def test_a_truncated_database_is_made_anew(some: Trial) -> None:
    some.index.close()
    data = some.vault.index_file.read_bytes()
    some.vault.index_file.write_bytes(data[: len(data) // 2])
    some.reopen()
    some.look()
    true_after(some)


def test_a_newer_database_is_refused(some: Trial) -> None:
    some.index.db.execute(f"PRAGMA user_version = {len(schema.INDEX_MIGRATIONS) + 1}")
    some.index.close()
    with pytest.raises(NewerDatabaseError, match="later version"):
        wiring.open_index(some.vault)
    db = apsw.Connection(str(some.vault.index_file))
    db.execute(f"PRAGMA user_version = {len(schema.INDEX_MIGRATIONS)}")
    db.close()
    some.reopen()


def test_a_file_that_keeps_changing_is_tried_again(some: Trial) -> None:
    """Written while it is read: by a pipe of bytes that a thread appends without end."""
    import threading

    path = some.root / "busy.md"
    path.write_text("x" * 3_000_000)
    ended = threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not ended.is_set():
                file.write(b"y")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        outcome = some.look()
    finally:
        ended.set()
        writer.join()
    assert some.counts()["pending"] == len(outcome.retry)
    some.index.refresh(sorted(outcome.retry) or ["busy.md"])
    true_after(some)


def test_files_that_vanish_or_change_between_the_walk_and_the_reading(some: Trial) -> None:
    some.put({"going.md": "x", "turning.md": "before", "becoming.md": "x"})

    def meanwhile() -> None:
        some.index.between_batches = lambda: None
        some.remove("going.md")
        some.put({"turning.md": "after"})
        some.remove("becoming.md")
        some.put({"becoming.md/inside.md": "y"})

    some.index.between_batches = meanwhile
    outcome = some.look()
    assert outcome.retry == {"going.md", "becoming.md"}
    some.index.refresh(sorted(outcome.retry))
    true_after(some)


def test_renames_are_recorded_together(trial: Trial) -> None:
    trial.put({f"a/{number}.md": f"text {number}" for number in range(300)})
    trial.look()
    trial.move("a", "b")
    trial.look()
    found = renames(trial)
    assert sorted(found) == sorted((f"a/{number}.md", f"b/{number}.md") for number in range(300))


# --- hints


def refreshed(trial: Trial, *hints: str) -> reconcile.Outcome:
    return trial.index.refresh(list(hints))


def same_as_whole(trial: Trial) -> None:
    """What the hints led to is what a whole look leads to."""
    trial.assert_true()
    before = trial.dump()
    outcome = trial.look()
    assert not outcome.touched()
    assert trial.dump() == before


def test_hints_of_files(some: Trial) -> None:
    some.put({"n03.md": "changed", "new.md": "[[n03]]", "sub/deep.md": "[[new]]"})
    some.remove("n04.md")
    outcome = refreshed(some, "n03.md", "new.md", "n04.md", "sub/deep.md", "not/there.md")
    assert outcome.changed == {"n03.md", "new.md", "sub/deep.md"}
    assert outcome.removed == {"n04.md"}
    same_as_whole(some)


def test_hints_of_a_move(some: Trial) -> None:
    before = some.ids()["n03.md"]
    some.move("n03.md", "sub/n03.md")
    assert refreshed(some, "n03.md", "sub/n03.md").renamed == [("n03.md", "sub/n03.md")]
    assert some.ids()["sub/n03.md"] == before
    same_as_whole(some)


def test_hints_of_folders(some: Trial) -> None:
    some.move("dir", "moved")
    outcome = refreshed(some, "dir/", "moved/")
    assert len(outcome.renamed) == 2
    same_as_whole(some)
    some.remove("moved")
    assert refreshed(some, "moved/").removed == {"moved/a.md", "moved/b.md"}
    same_as_whole(some)


def test_a_hint_that_leaves_out_the_slash_of_a_folder(some: Trial) -> None:
    assert not refreshed(some, "dir").touched()
    some.put({"dir/c.md": "ccc"})
    assert refreshed(some, "dir").changed == {"dir/c.md"}
    same_as_whole(some)


def test_a_file_that_became_a_folder(some: Trial) -> None:
    some.remove("n03.md")
    some.put({"n03.md/inside.md": "inside"})
    refreshed(some, "n03.md", "n03.md/")
    same_as_whole(some)
    some.remove("n03.md")
    some.put({"n03.md": "a file again"})
    refreshed(some, "n03.md")
    same_as_whole(some)


def test_hints_about_conflict_copies(some: Trial) -> None:
    copy = "dir/a.sync-conflict-20240101-120000-ABCDEFG.md"
    some.put({copy: "another"})
    refreshed(some, copy)
    assert some.problems() == [(copy, "conflict-copy")]
    same_as_whole(some)
    some.move("dir", "moved")
    refreshed(some, "dir/", "moved/")
    same_as_whole(some)
    some.remove("moved")
    refreshed(some, "moved/")
    assert some.problems() == []
    same_as_whole(some)


def test_hints_about_a_copy_beside_its_note(some: Trial) -> None:
    some.put({"n03-DESKTOP-ABC1234.md": "another"})
    refreshed(some, "n03-DESKTOP-ABC1234.md")
    assert some.problems() == [("n03-DESKTOP-ABC1234.md", "conflict-copy")]
    some.remove("n03.md")
    refreshed(some, "n03.md")
    assert some.problems() == []
    same_as_whole(some)


def test_hints_about_names_that_clash(some: Trial) -> None:
    some.put({"N03.md": "shouting"})
    refreshed(some, "N03.md")
    assert sorted(some.problems()) == [("N03.md", "name-case"), ("n03.md", "name-case")]
    same_as_whole(some)
    some.remove("N03.md")
    refreshed(some, "N03.md")
    assert some.problems() == []
    same_as_whole(some)


def test_hints_about_symbolic_links(some: Trial, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("outside")
    (some.root / "out").symlink_to(tmp_path / "outside")
    (some.root / "out.md").symlink_to(tmp_path / "outside/x.md")
    (some.root / "in").symlink_to("dir")
    (some.root / "nested/.obsidian").mkdir(parents=True)
    refreshed(some, "out", "out.md", "in", "nested/")
    assert some.problems("out") == [("out", "symlink-out")]
    same_as_whole(some)
    some.configure("[vault]\nfollow_symlinks = true\n")
    some.look()
    assert set(some.found("outside")) == {"out/x.md", "out.md"}
    refreshed(some, "out", "out/", "out.md", "in", "nested")
    same_as_whole(some)
    for link in ("out", "out.md", "in"):
        (some.root / link).unlink()
    assert refreshed(some, "out", "out.md", "in").removed == {"out/x.md", "out.md"}
    same_as_whole(some)


def test_hints_about_the_one_gone_of_two_that_differ_in_case(some: Trial) -> None:
    some.put({"B/x.md": "upper", "b/x.md": "lower", "B/y.md": "upper y", "Same.md": "1", "same.md": "2"})
    refreshed(some, "B/", "b/", "Same.md", "same.md")
    same_as_whole(some)
    some.remove("b")
    some.remove("same.md")
    assert refreshed(some, "b/", "same.md").removed == {"b/x.md", "same.md"}
    same_as_whole(some)


def test_hints_about_names_in_other_code_points(some: Trial) -> None:
    forms = [unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD")]
    some.put(dict.fromkeys(forms, "x"))
    refreshed(some, *forms)
    same_as_whole(some)


def test_a_loss_among_hints_is_held(some: Trial) -> None:
    for number in range(10):
        some.remove(f"n{number:02}.md")
    outcome = refreshed(some, *(f"n{number:02}.md" for number in range(10)))
    assert len(outcome.held) == 10
    assert some.ids()["n00.md"]


def test_hints_within_what_is_left_out(some: Trial) -> None:
    some.configure('[index]\nexclude = ["out/"]\n')
    some.look()
    some.put({"out/x.md": "unseen", "n00.md": "[[x]]"})
    refreshed(some, "out/x.md", "n00.md")
    assert some.targets("n00.md") == ["out/x.md"]
    assert some.found("unseen") == []
    same_as_whole(some)


def test_twenty_thousand_files_at_once(trial: Trial) -> None:
    """In small: as many as it takes for several batches, through one hint."""
    trial.put({f"flood/{number % 20}/{number}.md": f"[[{number + 1}]] #t{number % 7}" for number in range(1500)})
    refreshed(trial, "flood/")
    assert trial.counts()["indexed"] == 1500
    same_as_whole(trial)


def test_an_empty_vault_is_an_unmounted_drive_however_often_one_looks(trial: Trial) -> None:
    trial.put({f"{number}.md": "text" for number in range(20)})
    trial.look()
    for number in range(20):
        trial.remove(f"{number}.md")
    held = trial.index.reconcile().held
    assert len(held) == 20
    assert len(trial.index.reconcile(agreed=held).held) == 20
    trial.put({"1.md": "text"})
    assert not trial.index.reconcile(agreed=held).held
    assert set(trial.ids()) == {"1.md"}
