"""Headings and block ids renamed inside a note are noticed, and nothing else is taken for that."""

import pytest

from ohmykb import wiring
from ohmykb.store import anchors, displaced
from trial import Trial


def now(trial: Trial, subpath: str, note: str = "t.md") -> str | None:
    return anchors.current_anchor(trial.index._history, note, subpath)


@pytest.fixture
def linked(trial: Trial) -> Trial:
    trial.put({"s.md": "[[t#Foo]] [[t#Other#Foo]] [[t#^b1]]", "t.md": "# Top\n\n# Foo\nunder foo\n\n# End\nlast\n"})
    trial.look()
    return trial


def write(trial: Trial, text: str) -> set[str]:
    trial.put({"t.md": text})
    return trial.look().anchors


def test_another_name_over_the_same_text(linked: Trial) -> None:
    assert write(linked, "# Top\n\n# Quite different\nunder foo\n\n# End\nlast\n") == {"t.md"}
    assert now(linked, "Foo") == "Quite different"
    assert now(linked, "foo!") == "Quite different"
    assert now(linked, "Other#Foo") == "Other#Quite different"
    assert now(linked, "End") is None
    assert now(linked, "^Foo") is None


def test_a_like_name_over_mended_text(linked: Trial) -> None:
    assert write(linked, "# Top\n\n# Foo bar\nunder the foo\n\n# End\nlast\n")
    assert now(linked, "Foo") == "Foo bar"


def test_another_number_is_another_heading(linked: Trial) -> None:
    write(linked, "# Top\n\n# Version 1\nunder\n\n# End\nlast\n")
    linked.put({"s.md": "[[t#Version 1]]"})
    linked.look()
    assert write(linked, "# Top\n\n# Version 2\nunder\n\n# End\nlast\n") == set()
    assert now(linked, "Version 1") is None


@pytest.mark.parametrize(
    "text",
    [
        "# Top\n\n# Quite different\nrewritten\n\n# End\nlast\n",
        "# Top\n\n# Foo bar\nrewritten\n\n# End\nlast\n",
        "# Top\n\n## Foo bar\nunder foo\n\n# End\nlast\n",
        "# Top\n\nunder foo\n\n# End\nlast\n",
        "# Top\n\n# End\nlast\n\n# Quite different\nunder foo\n",
        "# Top\n\n# Foo\nunder foo\n\n# New\nmore\n\n# End\nlast\n",
        "",
        "no headings",
    ],
    ids=["neither", "alike over other text", "level", "vanished", "elsewhere", "added", "empty", "all gone"],
)
def test_what_is_no_rename(linked: Trial, text: str) -> None:
    assert write(linked, text) == set()
    assert now(linked, "Foo") is None


def test_two_at_once_only_over_their_own_texts(linked: Trial) -> None:
    write(linked, "# Top\n\n# A\none\n\n# B\ntwo\n")
    linked.put({"s.md": "[[t#A]] [[t#B]]"})
    linked.look()
    assert write(linked, "# Top\n\n# A new\none\n\n# B new\ntwo, changed\n") == {"t.md"}
    assert (now(linked, "A"), now(linked, "B")) == ("A new", None)


def test_one_became_two_of_which_one_has_its_text(linked: Trial) -> None:
    write(linked, "# Top\n\n# Intro\nfresh\n\n# Bar\nunder foo\n\n# End\nlast\n")
    assert now(linked, "Foo") == "Bar"


def test_a_chain_and_back(linked: Trial) -> None:
    for name in ("Foo b", "Foo bar"):
        write(linked, f"# Top\n\n# {name}\nunder foo\n\n# End\nlast\n")
    assert (now(linked, "Foo"), now(linked, "Foo b")) == ("Foo bar", "Foo bar")
    linked.put({"s.md": "[[t#Foo]] [[t#Foo bar]]"})
    linked.look()
    write(linked, "# Top\n\n# Foo\nunder foo\n\n# End\nlast\n")
    assert (now(linked, "Foo"), now(linked, "Foo bar")) == (None, "Foo")


def test_nothing_is_kept_where_no_link_breaks(trial: Trial) -> None:
    trial.put({"s.md": "[[t]]", "t.md": "# Foo\nunder\n"})
    trial.look()
    assert write(trial, "# Bar\nunder\n") == set()


def test_a_link_within_the_note(trial: Trial) -> None:
    trial.put({"t.md": "# Foo\nsee [[#Foo]]\n"})
    trial.look()
    assert write(trial, "# Bar\nsee [[#Foo]]\n") == {"t.md"}
    assert now(trial, "Foo") == "Bar"


def test_a_heading_as_a_link_can_hold_it(linked: Trial) -> None:
    write(linked, "# Top\n\n# C# and [[x|y]]: z\nunder foo\n\n# End\nlast\n")
    assert now(linked, "Foo") == "C and x y z"


def test_a_heading_over_subheadings_only(trial: Trial) -> None:
    trial.put({"s.md": "[[t#Foo]]", "t.md": "# Foo\n\n## One\n1\n\n# End\n"})
    trial.look()
    write(trial, "# Zebra\n\n## One\n1\n\n# End\n")
    assert now(trial, "Foo") == "Zebra"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_block_ids(trial: Trial, newline: str) -> None:
    text = "# H\n\nsome words ^one\n\n- item ^two\n\n| a |\n|---|\n| b |\n\n^three\n\nkept ^four\n"
    trial.put({"s.md": "[[t#^one]]", "t.md": text.replace("\n", newline)})
    trial.look()
    changed = (
        text.replace("^one", "^uno").replace("^two", "^dos").replace("^three", "^tres").replace("kept ^four", "k ^f")
    )
    assert write(trial, changed.replace("\n", newline)) == {"t.md"}
    assert [now(trial, f"^{name}") for name in ("ONE", "two", "three", "four")] == ["^uno", "^dos", "^tres", None]


def test_renamed_while_the_note_moves_about(linked: Trial) -> None:
    linked.move("t.md", "dir/other.md")
    linked.look()
    linked.put({"dir/other.md": "# Top\n\n# Foo two\nunder foo\n\n# End\nlast\n"})
    assert linked.look().anchors == {"dir/other.md"}  # its links are displaced, and mean it all the same
    linked.move("dir/other.md", "third.md")
    linked.look()
    assert now(linked, "Foo", "third.md") == "Foo two"
    found = displaced.displaced(linked.index._history, linked.index.db, 0)
    assert {(one.subpath, one.target) for one in found} == {
        ("Foo", "third.md"), ("Other#Foo", "third.md"), ("^b1", "third.md"),
    }  # fmt: skip


def test_seen_first_after_a_restart(linked: Trial) -> None:
    linked.index.close()
    linked.put({"t.md": "# Top\n\n# Foo!bar\nunder foo\n\n# End\nlast\n"})
    linked.index = wiring.open_index(linked.vault)
    linked.look()
    assert now(linked, "Foo") == "Foo!bar"
