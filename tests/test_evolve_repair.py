"""Which links are mended, to what, how they are written then, and what is never certain."""

from collections.abc import Callable
from pathlib import Path

import pytest

import breaking
from ohmykb.config import load
from ohmykb.errors import KbError, NotFoundError, UsageError
from ohmykb.evolve.changes import changes
from ohmykb.evolve.plan import Mend, Plan
from ohmykb.evolve.repair import GRACE_S, plan_repairs, retargeted
from ohmykb.note import NotePath
from ohmykb.store.connection import Database
from trial import Trial


class Bench:
    """A vault, its index and its state."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    @property
    def state(self) -> Database:
        return self.trial.index._history

    def plan(self, **how: object) -> Plan:
        self.trial.settle()
        return plan_repairs(
            self.trial.index.db, self.state, self.trial.root, load(self.trial.root), **how,  # type: ignore[arg-type]
        )  # fmt: skip

    def apply(self) -> Plan:
        """Writes what is certain, straight to disk."""
        plan = self.plan()
        for change in changes([one for one in plan.mends if one.certain], self.trial.root, load(self.trial.root)):
            assert change.after is not None
            (self.trial.root / change.path).write_bytes(change.after)
        self.trial.settle()
        return plan

    def text(self, path: str) -> str:
        return (self.trial.root / path).read_bytes().decode()


@pytest.fixture
def bench(trial: Trial) -> Bench:
    return Bench(trial)


def only(plan: Plan) -> Mend:
    (mend,) = plan.mends
    return mend


def test_what_differs_in_form_is_certain(bench: Bench) -> None:
    bench.trial.put({
        "Funding–Rate.md": "", "b/Only one.md": "# H\n",
        "a.md": "---\nup: \"[[Only　one]]\"\n---\nx [[Funding-Rate#h|shown]]\r\n"
        "![[B/Only  one#H]] [t](Only%20%20one.md \"T\")\n",
    })  # fmt: skip
    plan = bench.apply()
    assert [(one.rule, one.certain, one.target) for one in plan.mends] == [
        ("normalised", True, "b/Only one.md"), ("normalised", True, "Funding–Rate.md"),
        ("normalised", True, "b/Only one.md"), ("normalised", True, "b/Only one.md"),
    ]  # fmt: skip
    assert bench.text("a.md") == (
        '---\nup: "[[Only one]]"\n---\nx [[Funding–Rate#h|shown]]\r\n![[b/Only one#H]] [t](Only%20one.md "T")\n'
    )
    bench.trial.assert_true()
    assert bench.plan().mends == ()


@pytest.mark.parametrize(
    ("files", "link"),
    [
        ({"A–B.md": "", "x/A—B.md": ""}, "[[A-B]]"),  # two may be meant
        ({"Chapter 1 2.md": ""}, "[[Chapter 12]]"),  # a number differs
        ({"2024.md": ""}, "[[2025]]"),
        ({"Funding Rate.md": ""}, "[[Fundin Rate]]"),
        ({"Funding Rate.md": ""}, "[[Funding]]"),
        ({"Funding Rate.md": ""}, "[[old/Funding Rate]]"),
        ({"Funding Rate.md": "---\naliases: [FR]\n---"}, "[[FR]]"),
        ({"资金费率.md": ""}, "[[資金費率]]"),
        ({"C#.md": ""}, "[[C＃]]"),
    ],
)
def test_what_is_never_certain(bench: Bench, files: dict[str, str], link: str) -> None:
    bench.trial.put({**files, "a.md": link})
    mend = only(bench.plan())
    assert not mend.certain
    assert mend.candidates
    assert mend.reasons


def test_a_renamed_note_is_followed_in_every_style(bench: Bench) -> None:
    bench.trial.put({
        "Old.md": "# H\ntext", "b/pic.png": "p", "c/Deep.md": "deep",
        "b/s.md": "[[Old#H|o]] [o](../Old.md#H) ![[pic.png|100]] ![](./pic.png) [[c/Deep]] [[../c/Deep.md]]\n"
        "| a |\n|--|\n| [[Old\\|x]] |",
        "m.canvas": '{"nodes":[{"type":"file","file":"Old.md"},{"type":"text","text":"[[Old]] \\u4e2d"}]}',
    })  # fmt: skip
    bench.trial.look()
    bench.trial.move("Old.md", "n/New (1).md")
    bench.trial.move("b/pic.png", "img/画.png")
    bench.trial.move("c/Deep.md", "d/Deeper.md")
    plan = bench.apply()
    assert all(one.certain and one.rule == "renamed" for one in plan.mends), plan.mends
    assert bench.text("b/s.md") == (
        "[[New (1)#H|o]] [o](../n/New%20(1).md#H) ![[画.png|100]] ![](../img/画.png) [[d/Deeper]] [[../d/Deeper.md]]\n"
        "| a |\n|--|\n| [[New (1)\\|x]] |"
    )
    assert bench.text("m.canvas") == (
        '{"nodes":[{"type":"file","file":"n/New (1).md"},{"type":"text","text":"[[New (1)]] \\u4e2d"}]}'
    )
    bench.trial.assert_true()
    assert bench.plan().mends == ()


def test_a_link_that_leads_to_another_note_than_before(bench: Bench) -> None:
    bench.trial.put({"a.md": "[[Note]]", "x/Note.md": "one"})
    bench.trial.look()
    bench.trial.move("x/Note.md", "deep/er/Note old.md")
    bench.trial.put({"Note.md": "two"})
    bench.apply()
    assert bench.text("a.md") == "[[Note old]]"


def test_a_note_that_came_back_under_another_name(bench: Bench) -> None:
    text = "what somebody wrote, and nobody else would\n" * 6
    bench.trial.put({"a.md": "[[Old]]", "Old.md": text})
    bench.trial.look()
    bench.trial.remove("Old.md")
    bench.trial.look()
    bench.trial.put({"x/New.md": text})
    plan = bench.apply()
    assert only(plan).certain
    assert bench.text("a.md") == "[[New]]"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [("Anna.md", "Ben.md", "# Person\n\nBorn:\n"), ("Week 31.md", "Week 32.md", "# Week\n\n- [ ] plan\n" * 20)],
)
def test_a_note_from_the_same_form_is_not_the_one_that_went(bench: Bench, old: str, new: str, text: str) -> None:
    bench.trial.put({"a.md": f"[[{old[:-3]}]]", old: text})
    bench.trial.look()
    bench.trial.remove(old)
    bench.trial.look()
    bench.trial.put({new: text})
    assert not any(one.certain for one in bench.apply().mends)
    assert bench.text("a.md") == f"[[{old[:-3]}]]"


def test_a_copy_does_not_take_the_place_of_the_file_itself(bench: Bench) -> None:
    text = "what somebody wrote, and nobody else would\n" * 6
    bench.trial.put({"a.md": "[[Old]]", "Old.md": text})
    bench.trial.look()
    bench.trial.put({"A copy.md": text})
    bench.trial.move("Old.md", "z/Moved.md")
    assert only(bench.apply()).target == "z/Moved.md"


def test_an_alias_of_a_note_that_took_the_place_of_another(bench: Bench) -> None:
    bench.trial.put({
        "a.md": "[[Old]] [[Old#h|o]] ![[Old]]\n| [[Old]] |\n[o](Old.md)", "Old.md": "gone",
        "資金.md": "too", "b.md": "[[資金]]",
    })  # fmt: skip
    bench.trial.look()
    bench.trial.remove("Old.md")
    bench.trial.remove("資金.md")
    bench.trial.put({"New.md": "---\naliases: [old]\n---\n", "资金.md": "other"})
    bench.apply()
    assert bench.text("a.md") == "[[New|Old]] [[New#h|o]] ![[New]]\n| [[New\\|Old]] |\n[o](New.md)"
    assert bench.text("b.md") == "[[资金]]"


def test_a_renamed_heading_and_block(bench: Bench) -> None:
    text = "# Top\n\n## Old heading\n\nunder it stands much text\n\na block of words ^old\n"
    bench.trial.put({"n.md": text, "a.md": "[[n#Old heading|x]] ![[n#^old]] [[n#Top#Old heading]] [[n#never]]"})
    bench.trial.look()
    bench.trial.put({"n.md": text.replace("Old heading", "New heading").replace("^old", "^new")})
    plan = bench.apply()
    assert {one.rule for one in plan.mends} == {"heading", "block"}
    assert bench.text("a.md") == "[[n#New heading|x]] ![[n#^new]] [[n#Top#New heading]] [[n#never]]"


def test_what_may_not_be_written_says_why(bench: Bench) -> None:
    bench.trial.configure('[roles]\nraw = "raw"\n')
    bench.trial.put({
        "A–B.md": "", "p.md": "---\nkb_protect: true\n---\n[[A-B]]", "y.md": "---\na: [\n---\n[[A-B]]",
        "g.md": "[[A-B]] 中文".encode("gb18030"), "raw/r.md": "[[A-B]]",
    })  # fmt: skip
    plan = bench.plan()
    assert len(plan.mends) == 4
    for mend in plan.mends:
        assert (mend.certain, mend.edits, mend.replacement, mend.target) == (False, (), "[[A–B]]", "A–B.md")
        assert len(mend.reasons) == 2
        with pytest.raises(KbError):
            changes([mend], bench.trial.root, load(bench.trial.root))


def test_of_one_note(bench: Bench) -> None:
    bench.trial.put({"a.md": "[[A-B]]", "b.md": "[[A-B]] [[Old]]", "A–B.md": "", "Old.md": "[[b]]"})
    bench.trial.look()
    bench.trial.move("Old.md", "New.md")
    assert {one.source for one in bench.plan().mends} == {"a.md", "b.md"}
    assert [one.linkpath for one in bench.plan(sources=["a.md"]).mends] == ["A-B"]
    assert [(one.source, one.linkpath) for one in bench.plan(note="New.md").mends] == [("b.md", "Old")]


def test_dead_after_a_week_and_not_before(bench: Bench) -> None:
    bench.trial.put({"a.md": "[[zzz zzz]] [[A-B]]", "A–B.md": ""})
    fresh = bench.plan()
    assert ([one.linkpath for one in fresh.mends], fresh.dead) == (["zzz zzz", "A-B"], ())
    then = bench.trial.index._clock.wall() + GRACE_S + 60
    plan = bench.plan(now=then)
    assert ([one.linkpath for one in plan.mends], [one.raw for one in plan.dead]) == (["A-B"], ["[[zzz zzz]]"])


def test_left_as_it_is_meant(bench: Bench) -> None:
    bench.trial.put({"a.md": "[[A-B]]", "b.md": "[[A-B]]", "A–B.md": ""})
    bench.trial.look()
    bench.state.execute("INSERT INTO left_alone VALUES ('a.md', 'A-B')")
    assert [one.source for one in bench.plan().mends] == ["b.md"]
    bench.state.execute("INSERT INTO left_alone VALUES ('', 'A-B')")
    assert bench.plan().mends == ()


def test_a_person_names_the_target(bench: Bench) -> None:
    bench.trial.put({"a.md": "x [[Fundin]]", "Funding.md": "", "b/Other.md": "", "b/C#.md": ""})
    mend = only(bench.plan())
    config = load(bench.trial.root)
    made = retargeted(bench.trial.index.db, bench.trial.root, config, mend, NotePath("b/Other.md"))
    (change,) = changes([made], bench.trial.root, config)
    assert change.after == b"x [[Other]]"
    with pytest.raises(UsageError):
        retargeted(bench.trial.index.db, bench.trial.root, config, mend, NotePath("b/C#.md"))
    with pytest.raises(NotFoundError):
        retargeted(bench.trial.index.db, bench.trial.root, config, mend, NotePath("nowhere.md"))


def test_the_edits_are_against_the_bytes_of_now(bench: Bench) -> None:
    bench.trial.put({"a.md": "[[A-B]]", "A–B.md": ""})
    bench.trial.look()
    bench.trial.put({"a.md": "first\n\n[[A-B]] and [[A-B]]"})
    plan = plan_repairs(bench.trial.index.db, bench.state, bench.trial.root, load(bench.trial.root))
    (change,) = changes(plan.mends, bench.trial.root, load(bench.trial.root))
    assert change.after == "first\n\n[[A–B]] and [[A-B]]".encode()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zh-knowledge-garden", "jacky-garden", "kepano-vault"])
def test_public_vaults_broken_against_known_truth(
    name: str, shared: Path, tmp_path: Path, trial_at: Callable[[Path], Trial]
) -> None:
    root = breaking.unpack(shared / "vaults" / f"{name}.tar.gz", tmp_path / "packed")
    breaks = breaking.break_links(root, 400, 7)
    made = trial_at(root)
    made.look()
    told = breaking.tally(breaks, breaking.plan_of(made))
    assert told.wrong == []
    assert len(told.uncertain) <= 0.05 * told.form
    assert len(told.missed) <= 0.2 * told.others


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zh-knowledge-garden", "jacky-garden", "kepano-vault"])
def test_links_of_public_vaults_follow_renames(
    name: str, shared: Path, tmp_path: Path, trial_at: Callable[[Path], Trial]
) -> None:
    made = trial_at(breaking.unpack(shared / "vaults" / f"{name}.tar.gz", tmp_path / "packed"))
    told = breaking.rename_trial(made, 200, 10, 7)
    assert told.links
    assert (told.strayed, told.spoilt) == ([], [])
    made.assert_true()
