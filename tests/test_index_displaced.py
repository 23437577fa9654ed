"""What a link meant is remembered when notes move or go outside the app, until it leads there again."""

from pathlib import Path

import pytest

from ohmykb import wiring
from ohmykb.store import displaced, state
from ohmykb.store.displaced import Displaced, Lost
from trial import Trial

DAY = 86_400.0


def at(trial: Trial) -> float:
    return trial.index._clock.wall()


def moved(trial: Trial, later: float = 0) -> list[Displaced]:
    return displaced.displaced(trial.index._history, trial.index.db, at(trial) + later)


def gone(trial: Trial, later: float = 0) -> list[Lost]:
    return displaced.lost(trial.index._history, trial.index.db, at(trial) + later)


def meant(trial: Trial) -> set[tuple[str, str, str]]:
    """(source, raw, target)."""
    return {(one.source, one.raw, one.target) for one in moved(trial)}


def found(trial: Trial) -> set[tuple[str, str, str | None]]:
    """(source, raw, where the bytes are)."""
    return {(one.source, one.raw, one.found) for one in gone(trial)}


def true_after(trial: Trial) -> None:
    trial.assert_true()
    assert not trial.look().touched()


# --- the ways to link


LINKS = {
    "bare": "[[t]]",
    "with a heading and a name": "[[t#One|shown]]",
    "with its extension": "[[t.md]]",
    "by path": "[[dir/t]]",
    "relative": "[[../dir/t]]",
    "from the root": "[[/dir/t]]",
    "Markdown": "[x](dir/t.md)",
    "Markdown, encoded": "[x](dir/t.md#One%20two)",
    "embed": "![[t]]",
    "embed of a block": "![[dir/t#^b]]",
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_every_kind_of_link(trial: Trial, link: str) -> None:
    trial.put({"notes/s.md": f"see {link} here", "dir/t.md": "# One\n\n# One two\n\nx ^b\n"})
    trial.look()
    assert trial.targets("notes/s.md") == ["dir/t.md"]
    trial.move("dir/t.md", "elsewhere/u.md")
    outcome = trial.look()
    assert (outcome.displaced, outcome.repairs_due()) == ({"notes/s.md"}, True)
    assert meant(trial) == {("notes/s.md", link, "elsewhere/u.md")}
    (one,) = moved(trial)
    assert (one.how, one.at) == ("target", pytest.approx(at(trial), abs=60))
    true_after(trial)


def test_links_in_properties(trial: Trial) -> None:
    trial.put({"s.md": '---\nup: "[[t]]"\nsee:\n  - "[[dir/t|T]]"\n---\n', "dir/t.md": ""})
    trial.put({"dir/t.md": "words"})
    trial.look()
    trial.move("dir/t.md", "dir/u.md")
    trial.look()
    assert meant(trial) == {("s.md", "[[t]]", "dir/u.md"), ("s.md", "[[dir/t|T]]", "dir/u.md")}
    assert {one.kind for one in moved(trial)} == {"property"}


def test_links_in_a_canvas(trial: Trial) -> None:
    canvas = (
        '{"nodes":[{"type":"file","file":"dir/t.md","subpath":"#One"},{"type":"file","file":"dir/t.md"},'
        '{"type":"text","text":"[[t]]"}],"edges":[]}'
    )
    trial.put({"c.canvas": canvas, "dir/t.md": "# One\n"})
    trial.look()
    trial.move("dir/t.md", "u.md")
    assert trial.look().displaced == {"c.canvas"}
    assert {(one.raw, one.subpath) for one in moved(trial)} == {
        ("dir/t.md", "One"),
        ("dir/t.md", None),
        ("[[t]]", None),
    }


def test_attachments_and_canvases(trial: Trial) -> None:
    trial.put({"s.md": "![[p.png]] ![x](a/p.png) [[c.canvas]]", "a/p.png": "bytes", "c.canvas": "{}"})
    trial.look()
    trial.move("a/p.png", "b/q.png")
    trial.move("c.canvas", "d.canvas")
    outcome = trial.look()
    assert sorted(outcome.renamed) == [("a/p.png", "b/q.png"), ("c.canvas", "d.canvas")]
    assert meant(trial) == {
        ("s.md", "![[p.png]]", "b/q.png"), ("s.md", "![x](a/p.png)", "b/q.png"), ("s.md", "[[c.canvas]]", "d.canvas"),
    }  # fmt: skip
    trial.move("b/q.png", "a/p.png")
    trial.look()
    assert ("s.md", "![[p.png]]", "a/p.png") not in meant(trial)
    true_after(trial)


def test_an_attachment_that_was_replaced_first(trial: Trial) -> None:
    trial.put({"s.md": "![[p.png]]", "p.png": "bytes"})
    trial.look()
    trial.put({"p.png": "other bytes"})
    trial.look()
    trial.move("p.png", "q.png")
    trial.look()
    assert meant(trial) == {("s.md", "![[p.png]]", "q.png")}


# --- links whose meaning shifts


def test_one_of_two_of_the_same_name_moves(trial: Trial) -> None:
    trial.put({"s.md": "[[t]] [[a/t]]", "a/t.md": "one", "bb/t.md": "two", "other.md": "[[bb/t]]"})
    trial.look()
    trial.move("a/t.md", "a/u.md")
    trial.look()
    assert trial.targets("s.md") == ["bb/t.md", None]  # the first silently means another note now
    assert meant(trial) == {("s.md", "[[t]]", "a/u.md"), ("s.md", "[[a/t]]", "a/u.md")}


def test_a_note_that_moves_before_another(trial: Trial) -> None:
    trial.put({"s.md": "[[t]]", "aa/t.md": "one", "bbb/t.md": "two"})
    trial.look()
    trial.move("bbb/t.md", "t.md")
    trial.look()
    assert trial.targets("s.md") == ["t.md"]
    (one,) = moved(trial)
    assert (one.target, one.how) == ("aa/t.md", "other")


def test_the_source_moves_away_from_its_folder(trial: Trial) -> None:
    trial.put({"x/s.md": "[[t]] [[./t]] [[../y/t]] [[y/t]]", "x/t.md": "1", "y/t.md": "2"})
    trial.look()
    assert trial.targets("x/s.md") == ["x/t.md", "x/t.md", "y/t.md", "y/t.md"]
    trial.move("x/s.md", "y/s.md")
    trial.look()
    assert meant(trial) == {("y/s.md", "[[t]]", "x/t.md"), ("y/s.md", "[[./t]]", "x/t.md")}
    assert {one.how for one in moved(trial)} == {"source"}
    trial.move("y/s.md", "deep/er/s.md")
    trial.look()
    assert ("deep/er/s.md", "[[../y/t]]", "y/t.md") in meant(trial)
    assert ("deep/er/s.md", "[[./t]]", "x/t.md") in meant(trial)


def test_source_and_target_move_together(trial: Trial) -> None:
    trial.put({"p/s.md": "[[t]] [[./t]] [[p/t]]", "p/t.md": "x", "a/t.md": "other"})
    trial.look()
    trial.move("p", "q")
    trial.look()
    assert meant(trial) == {("q/s.md", "[[p/t]]", "q/t.md")}


def test_a_merely_new_note_takes_a_name(trial: Trial) -> None:
    trial.put({"s.md": "[[t]] [[u]]", "aa/t.md": "one", "aa/u.md": "two"})
    trial.look()
    trial.put({"t.md": "new"})
    trial.move("aa/u.md", "aa/v.md")
    outcome = trial.look()
    assert trial.targets("s.md") == ["t.md", None]
    assert outcome.renamed
    assert meant(trial) == {("s.md", "[[u]]", "aa/v.md")}


def test_a_new_note_where_one_moved_away(trial: Trial) -> None:
    trial.put({"s.md": "[[t]]", "t.md": "one"})
    trial.look()
    trial.move("t.md", "old/u.md")
    trial.look()
    trial.put({"t.md": "new"})
    trial.look()
    assert meant(trial) == {("s.md", "[[t]]", "old/u.md")}


def test_what_still_leads_there_is_not_displaced(trial: Trial) -> None:
    trial.put({"s.md": "[[t]] [[#h]] [[none]]\n# h", "t.md": "x"})
    trial.look()
    trial.move("t.md", "deep/T.md")
    trial.move("s.md", "deep/s.md")
    assert not trial.look().repairs_due()
    assert moved(trial) == []


@pytest.mark.parametrize("at_once", [True, False])
def test_a_conflict_copy_takes_no_links_along(trial: Trial, *, at_once: bool) -> None:
    copy = "t.sync-conflict-20240101-120000-ABCDEFG.md"
    trial.put({"s.md": "[[t]] [[old]]", "old.md": "mine"})
    trial.look()
    trial.move("old.md", "t.md")
    trial.look()
    assert meant(trial) == {("s.md", "[[old]]", "t.md")}
    if at_once:
        trial.move("t.md", copy)
    else:
        trial.remove("t.md")
        trial.look()
        trial.put({copy: "mine"})
    trial.look()
    assert not any(target == copy for _, _, target in meant(trial) | found(trial))
    trial.put({"t.md": "theirs"})
    trial.look()
    assert trial.targets("s.md") == ["t.md", None]
    assert meant(trial) == ({("s.md", "[[old]]", "t.md")} if at_once else set())


# --- over time


def test_a_folder_of_a_hundred_notes(trial: Trial) -> None:
    trial.put({f"p/n{number}.md": f"text {number} [[p/n{(number + 1) % 100}]]" for number in range(100)})
    trial.put({"s.md": " ".join(f"[[p/n{number}]] [[n{number}]]" for number in range(100))})
    trial.look()
    trial.move("p", "q/r")
    outcome = trial.look()
    assert len(outcome.renamed) == 100
    assert len(outcome.displaced) == 101
    expected = {("s.md", f"[[p/n{number}]]", f"q/r/n{number}.md") for number in range(100)}
    expected |= {(f"q/r/n{n}.md", f"[[p/n{(n + 1) % 100}]]", f"q/r/n{(n + 1) % 100}.md") for n in range(100)}
    assert meant(trial) == expected
    true_after(trial)


def test_while_nothing_ran(trial: Trial) -> None:
    trial.put({"s.md": "[[t]]", "t.md": "words"})
    trial.look()
    trial.index.close()
    trial.move("t.md", "u.md")
    trial.index = wiring.open_index(trial.vault)
    trial.look()
    assert meant(trial) == {("s.md", "[[t]]", "u.md")}
    trial.index.close()
    wiring.drop_index(trial.vault)
    trial.index = wiring.open_index(trial.vault)
    trial.look()
    assert meant(trial) == {("s.md", "[[t]]", "u.md")}


def test_on_and_on_and_back(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    for old, new in (("a.md", "b.md"), ("b.md", "c.md"), ("s.md", "dir/s.md")):
        trial.move(old, new)
        trial.look()
    assert meant(trial) == {("dir/s.md", "[[a]]", "c.md")}
    trial.move("c.md", "a.md")
    trial.look()
    assert moved(trial) == []
    assert trial.index._history.value("SELECT count(*) FROM displaced") == 0


def test_there_and_back_between_two_looks_of_the_planner(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    for old, new in (("a.md", "b.md"), ("b.md", "a.md"), ("a.md", "z.md")):
        trial.move(old, new)
        trial.look()
    assert meant(trial) == {("s.md", "[[a]]", "z.md")}


def test_renamed_then_edited(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    trial.move("a.md", "b.md")
    trial.look()
    trial.put({"b.md": "other words"})
    trial.look()
    assert meant(trial) == {("s.md", "[[a]]", "b.md")}


def test_the_link_is_taken_out_or_mended(trial: Trial) -> None:
    trial.put({"s.md": "[[a]] [[b]]", "a.md": "words", "b.md": "more"})
    trial.look()
    trial.move("a.md", "c.md")
    trial.move("b.md", "d.md")
    trial.look()
    trial.put({"s.md": "[[c]] [[b]]"})
    trial.look()
    assert meant(trial) == {("s.md", "[[b]]", "d.md")}
    trial.put({"s.md": "[[a]] [[b]]"})  # an undo, or a save that was half done
    trial.look()
    assert len(moved(trial)) == 2
    trial.put({"s.md": "[[c]] [[b]]"})
    trial.look()
    assert len(moved(trial, later=3601)) == 1
    assert trial.index._history.value("SELECT count(*) FROM displaced") == 1


def test_after_three_months_it_is_history(trial: Trial) -> None:
    trial.put({"s.md": "[[a]] [[b]]", "a.md": "words", "b.md": "x"})
    trial.look()
    trial.move("a.md", "c.md")
    trial.remove("b.md")
    trial.look()
    assert (len(moved(trial, 89 * DAY)), len(gone(trial, 89 * DAY))) == (1, 1)
    assert (len(moved(trial, 91 * DAY)), len(gone(trial, 91 * DAY))) == (0, 0)
    assert trial.index._history.value("SELECT count(*) FROM displaced") == 0


def test_of_some_sources_only(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "r.md": "[[a]]", "a.md": "words"})
    trial.look()
    trial.move("a.md", "c.md")
    trial.look()
    history, db = trial.index._history, trial.index.db
    assert [one.source for one in displaced.displaced(history, db, at(trial), ["r.md", "x.md"])] == ["r.md"]


# --- targets that went


def test_deleted_and_made_elsewhere_later(trial: Trial) -> None:
    trial.put({"s.md": "[[a]] [[none]]", "a.md": "words"})
    trial.look()
    trial.remove("a.md")
    assert trial.look().displaced == {"s.md"}
    assert found(trial) == {("s.md", "[[a]]", None)}
    (one,) = gone(trial)
    assert (one.target, one.linkpath, one.kind) == ("a.md", "a", "wikilink")
    trial.put({"dir/b.md": "words"})
    assert trial.look().displaced == {"s.md"}
    assert found(trial) == {("s.md", "[[a]]", "dir/b.md")}
    trial.put({"dir/b.md": "words and more"})
    trial.look()
    trial.move("dir/b.md", "c.md")
    trial.look()
    assert found(trial) == {("s.md", "[[a]]", "c.md")}
    trial.remove("c.md")
    trial.look()
    assert found(trial) == {("s.md", "[[a]]", None)}


def test_two_have_its_bytes(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    trial.remove("a.md")
    trial.look()
    trial.put({"b.md": "words", "c.md": "words"})
    trial.look()
    assert found(trial) == {("s.md", "[[a]]", None)}


def test_made_elsewhere_first_and_deleted_later(trial: Trial) -> None:
    trial.put({"s.md": "[[x/a]]", "x/a.md": "words"})
    trial.look()
    trial.put({"y/b.md": "words"})
    trial.look()
    trial.remove("x/a.md")
    trial.look()
    assert found(trial) == {("s.md", "[[x/a]]", "y/b.md")}


def test_it_is_there_again(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    trial.remove("a.md")
    trial.look()
    trial.put({"a.md": "anything"})
    trial.look()
    assert gone(trial) == []
    assert trial.index._history.value("SELECT count(*) FROM lost") == 0


def test_a_link_that_fell_to_another_note(trial: Trial) -> None:
    trial.put({"s.md": "[[t]]", "a/t.md": "one", "bb/t.md": "two"})
    trial.look()
    trial.remove("a/t.md")
    trial.look()
    assert trial.targets("s.md") == ["bb/t.md"]
    assert gone(trial) == []
    trial.put({"ccc/t.md": "one"})
    trial.look()
    assert trial.targets("s.md") == ["bb/t.md"]
    assert found(trial) == {("s.md", "[[t]]", "ccc/t.md")}


def test_renamed_and_edited_at_once(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    trial.move("a.md", "b.md")
    trial.put({"b.md": "altogether different"})
    trial.look()
    assert found(trial) == {("s.md", "[[a]]", None)}  # known to have led somewhere


def test_what_a_displaced_link_meant_goes(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words"})
    trial.look()
    trial.move("a.md", "b.md")
    trial.look()
    trial.remove("b.md")
    trial.look()
    assert moved(trial) == []
    assert found(trial) == {("s.md", "[[a]]", None)}
    trial.put({"c.md": "words"})
    trial.look()
    assert found(trial) == {("s.md", "[[a]]", "c.md")}


def test_empty_notes_are_no_evidence(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": ""})
    trial.look()
    trial.remove("a.md")
    trial.look()
    trial.put({"b.md": ""})
    trial.look()
    assert found(trial) == {("s.md", "[[a]]", None)}


def test_a_vault_of_folders_deleted_is_soon_remembered(trial: Trial) -> None:
    trial.put({f"p/n{number}.md": f"text {number} [[n{number + 1}]]" for number in range(500)})
    trial.put({f"s{number}.md": " ".join(f"[[n{n}]]" for n in range(500)) for number in range(10)})
    trial.look()
    trial.remove("p")
    trial.settle()
    assert len(gone(trial)) == 5000
    true_after(trial)


# --- killed in between


class _KilledError(Exception):
    pass


@pytest.mark.parametrize("change", ["moved", "deleted"])
def test_killed_before_the_index_commits(trial: Trial, change: str) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "words", "dir/r.md": "[[../a]]"})
    trial.look()

    def die() -> bool:
        if trial.index._history.value("SELECT (SELECT count(*) FROM displaced) + (SELECT count(*) FROM lost)"):
            raise _KilledError
        return False

    if change == "moved":
        trial.move("a.md", "b.md")
        trial.move("dir/r.md", "r.md")
    else:
        trial.remove("a.md")
    trial.index.db.set_commit_hook(die)
    with pytest.raises(_KilledError):
        trial.look()
    assert "a.md" in trial.ids()
    table = "displaced" if change == "moved" else "lost"
    assert trial.index._history.value(f"SELECT count(*) FROM {table}") == 2
    trial.reopen()
    trial.look()
    assert trial.index._history.value(f"SELECT count(*) FROM {table}") == 2
    if change == "moved":
        assert meant(trial) == {("s.md", "[[a]]", "b.md"), ("r.md", "[[../a]]", "b.md")}
    else:
        assert len(gone(trial)) == 2
    true_after(trial)


def test_two_notes_swap_names_in_the_memory(tmp_path: Path) -> None:
    db = state.open_state(tmp_path / "state.db")
    rows = [Displaced(f"{n}.md", "[[x]]", "x", None, "wikilink", f"{n}.md", 1.0, "target") for n in "ab"]
    displaced.remember_displaced(db, rows)
    state.record_renames(db, 1.0, [("a.md", "b.md"), ("b.md", "a.md")])
    assert db.rows("SELECT source, target FROM displaced ORDER BY rowid") == [("b.md", "b.md"), ("a.md", "a.md")]
    db.close()


@pytest.mark.parametrize("told", ["whole", "both", "one"])
def test_two_notes_swap_names(trial: Trial, told: str) -> None:
    trial.put({"s.md": "[[a]] [[b]]", "a.md": "the first", "b.md": "the second"})
    trial.look()
    trial.move("a.md", "x.tmp")
    trial.move("b.md", "a.md")
    trial.move("x.tmp", "b.md")
    outcome = trial.look() if told == "whole" else trial.index.refresh(["a.md", "b.md"] if told == "both" else ["a.md"])
    assert sorted(outcome.renamed) == [("a.md", "b.md"), ("b.md", "a.md")]
    assert meant(trial) == {("s.md", "[[a]]", "b.md"), ("s.md", "[[b]]", "a.md")}
    assert state.follow_renames(trial.index._history, "a.md", "2000-01-01T00:00:00Z") == "b.md"
    true_after(trial)


@pytest.mark.parametrize("told", [None, ["plan.md", "plan old.md", "plan 2.md"], ["plan old.md"]])
def test_a_name_is_given_on(trial: Trial, told: list[str] | None) -> None:
    trial.put({"s.md": "[[plan]] [[plan 2]]", "plan.md": "the first", "plan 2.md": "the second"})
    trial.look()
    trial.move("plan.md", "plan old.md")
    trial.move("plan 2.md", "plan.md")
    trial.look() if told is None else trial.index.refresh(told)
    assert meant(trial) == {("s.md", "[[plan]]", "plan old.md"), ("s.md", "[[plan 2]]", "plan.md")}
    true_after(trial)


def test_an_editor_that_keeps_the_old_file_renames_nothing(trial: Trial) -> None:
    trial.put({"s.md": "[[a]]", "a.md": "before"})
    trial.look()
    trial.move("a.md", "a (old).md")
    trial.put({"a.md": "after"})
    assert trial.look().renamed == []
    assert (trial.targets("s.md"), meant(trial)) == (["a.md"], set())
    true_after(trial)


def test_of_two_alike_that_came_back_elsewhere_nobody_knows_which_is_which(trial: Trial) -> None:
    text = "# Minutes\n\nThe same words were said, and that at some length.\n"
    trial.put({"s.md": "[[a]] [[b]] [[c]]", "a.md": text, "b.md": text, "c.md": text})
    trial.look()
    for name in "abc":
        trial.remove(f"{name}.md")
    trial.put({"x/one.md": text, "x/two.md": text, "x/c.md": text})
    assert trial.settle().renamed == [("c.md", "x/c.md")]
    true_after(trial)


def test_both_ends_left_before_they_came_back(trial: Trial) -> None:
    """A note is renamed and its folder right after: of both notes the old ends are told first."""
    trial.put({"dir/s.md": "[x](t.md) [[other]] [y](../k.md)", "dir/t.md": "the target", "other.md": "", "k.md": ""})
    trial.look()
    trial.move("dir/s.md", "dir/s2.md")
    trial.move("dir/t.md", "dir/t2.md")
    (trial.root / "dir").rename(trial.root / "far")
    trial.index.refresh(["dir/s.md", "dir/t.md", "dir/s2.md", "dir/t2.md"])
    (trial.root / "far").rename(trial.root / "far2")
    trial.index.refresh(["dir/"])
    trial.index.refresh(["far2/"])
    assert meant(trial) == {("far2/s2.md", "[x](t.md)", "far2/t2.md")}
    true_after(trial)
