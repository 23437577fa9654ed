"""Links to notes that nobody links to: made where others speak of them, and nowhere else."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import breaking
from ohmykb import wiring
from ohmykb.evolve.changes import changes
from ohmykb.evolve.mending import Mending
from ohmykb.evolve.plan import Mend
from ohmykb.evolve.relink.mentions import find, proves
from ohmykb.evolve.relink.plan import COMMON, NO_NAMES
from ohmykb.markdown.edits import Edit, apply_edits
from ohmykb.markdown.scan import scan
from trial import Trial


def places(text: str, name: str, *longer: str) -> list[str]:
    """The text, each place in brackets."""
    return [
        text[: at.start] + "<" + text[at.start : at.end] + ">" + text[at.end :]
        for at in find(text, scan(text), name, longer)
    ]


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("The funding rate rose.", "Funding rate", 1),
        ("Refunding rates and prefunding rate", "funding rate", 0),
        ("资金费率由多头支付", "资金费率", 1),
        ("(funding rate), “funding rate”", "funding rate", 2),
        ("pre-funding rate, funding rate-based", "funding rate", 0),
        ("Node.js and C++", "Node.js", 1),
        ("Node.json", "Node.js", 0),
        ("S05与S051", "S05", 1),
        ("可转债2很好", "可转债", 0),
        ("[[funding rate]] and [funding rate](x.md)", "funding rate", 0),
        ("# funding rate\n\nfunding rate", "funding rate", 1),
        ("funding rate\n===\n\ntext", "funding rate", 0),
        ("---\nx: funding rate\n---\ntext", "funding rate", 0),
        ("https://x.org/funding rate or see www.funding.org", "funding", 0),
        ("%% funding rate %% <!-- funding rate -->", "funding rate", 0),
        ("#funding and #x/funding", "funding", 0),
    ],
)
def test_where_a_note_is_spoken_of(text: str, name: str, count: int) -> None:
    assert len(places(text, name)) == count


def test_the_longer_name_is_meant() -> None:
    assert places("可转债低价轮动很好，可转债也是", "可转债", "可转债低价轮动") == ["可转债低价轮动很好，<可转债>也是"]


HIDING = ["`funding rate`", "```\nfunding rate\n```", "$funding rate$", "    funding rate"]


@pytest.mark.parametrize("text", HIDING)
def test_never_where_a_link_would_be_none(text: str) -> None:
    for at in find(text, scan(text), "funding rate"):
        assert not proves(scan(text), text, [Edit(at.start, at.end, "[[funding rate]]")], ["funding rate"])


PARTS = [
    "资金 ", "note ", "[[x]] ", "`note` ", "# note\n", "\n", "> ", "- ", "|", "**note** ", "#note ", "$note$ ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS)))
def test_only_the_link_is_new(parts: list[str]) -> None:
    text = "".join(parts)
    before = scan(text)
    for at in find(text, before, "note"):
        edit = Edit(at.start, at.end, "[[note]]")
        if proves(before, text, [edit], ["note"]):
            after = apply_edits(text, [edit])
            assert re.sub(r"\[\[note\]\]", "note", after) == text
            assert len(scan(after).links) == len(before.links) + 1


@pytest.fixture
def spoken(trial: Trial) -> Trial:
    trial.put(
        {
            "notes/资金费率.md": "---\naliases: [Funding rate]\n---\nwhat it is\n",
            "a.md": "永续合约的资金费率每八小时结算。\n",
            "b.md": "The funding rate is paid by longs; Funding rate again.\n",
            "c.md": "[[b]] has nothing on it.\n",
            "d.md": "Linked: [[资金费率]] 资金费率\n",
            "kept.md": "---\nkb_protect: true\n---\n资金费率\n",
        }
    )
    trial.look()
    return trial


def plan(trial: Trial, mending: Mending, *notes: str) -> dict[str, Mend]:
    return {mend.source: mend for mend in mending.plan_links(trial.index.db, notes or None).mends}


def test_what_is_proposed(spoken: Trial) -> None:
    with wiring.mending(spoken.vault, spoken.index) as mending:
        found = plan(spoken, mending, "notes/资金费率.md")
        assert set(found) == {"a.md", "b.md"}
        assert (found["a.md"].replacement, found["a.md"].certain) == ("[[资金费率]]", True)
        assert (found["b.md"].replacement, found["b.md"].certain) == ("[[资金费率|Funding rate]]", True)


def test_made_undone_and_not_made_again_when_rejected(spoken: Trial) -> None:
    before = {path: (spoken.root / path).read_bytes() for path in ("a.md", "b.md")}
    with wiring.mending(spoken.vault, spoken.index) as mending:
        made = mending.plan_links(spoken.index.db, ["notes/资金费率.md"])
        done = mending.apply(made, decider="person")
        assert done.op is not None
        assert (done.op.kind, len(done.applied)) == ("relink", 2)
        assert (spoken.root / "a.md").read_text("utf-8") == "永续合约的[[资金费率]]每八小时结算。\n"
        assert spoken.targets("b.md") == ["notes/资金费率.md"]
        assert plan(spoken, mending, "notes/资金费率.md") == {}
        spoken.assert_true()
        mending.written(mending.door.undo([done.op.id]))
        assert {path: (spoken.root / path).read_bytes() for path in before} == before
        again = mending.plan_links(spoken.index.db, ["notes/资金费率.md"])
        mending.reject(again.mends)
        assert plan(spoken, mending, "notes/资金费率.md") == {}


def test_what_is_not_certain(trial: Trial) -> None:
    trial.put(
        {
            "Seed.md": "x", "one/Twin.md": "x", "two/Twin.md": "x", "苹果.md": "x", "Report 3.md": "x",
            "s.md": "A seed. Some Twin here. 苹果很好。 See Report 3 then.\n",
        }
    )  # fmt: skip
    trial.look()
    with wiring.mending(trial.vault, trial.index) as mending:
        found = mending.plan_links(trial.index.db, ["Seed.md", "one/Twin.md", "苹果.md", "Report 3.md"]).mends
        assert {str(mend.target): mend.certain for mend in found} == {
            "Seed.md": False, "one/Twin.md": False, "苹果.md": False, "Report 3.md": False,
        }  # fmt: skip
        assert all(len(mend.reasons) == 2 for mend in found)


def test_two_links_in_one_note_at_once(trial: Trial) -> None:
    trial.put({"Alpha beta.md": "x", "Gamma delta.md": "x", "s.md": "Alpha beta and Gamma delta and Alpha beta.\n"})
    trial.look()
    with wiring.mending(trial.vault, trial.index) as mending:
        found = mending.plan_links(trial.index.db)
        (change,) = changes(found.mends, trial.root, trial.index.config)
        assert change.after == b"[[Alpha beta]] and [[Gamma delta]] and Alpha beta.\n"


@pytest.mark.parametrize("name", ["jacky-garden", "zh-knowledge-garden"])
def test_every_true_mention_in_public_vaults_is_proposed(shared: Path, trial: Trial, tmp_path: Path, name: str) -> None:
    """Found by another way: a plain search for the title between borders, in paragraphs of nothing but words."""
    root = breaking.unpack(shared / "vaults" / f"{name}.tar.gz", tmp_path / "public")
    made = Trial(root)
    made.look()
    with wiring.mending(made.vault, made.index) as mending:
        proposed = {(mend.source, str(mend.target)) for mend in mending.plan_links(made.index.db).mends}
        targets = {target for _, target in proposed}
        orphans = [path for path in mending_orphans(made) if _telling(path)]
        missed = []
        for path in orphans:
            stem = path.rpartition("/")[2].removesuffix(".md")
            sources = [source for source, text in plain(made) if source != path and re.search(bordered(stem), text)]
            if sources and path not in targets and not common(made, stem):
                missed.append((path, sources[:3]))
        assert not missed
    made.close()


def mending_orphans(trial: Trial) -> list[str]:
    from ohmykb.search.graph import orphans

    found: list[str] = orphans(trial.index.db)["orphans"]
    return found


def common(trial: Trial, word: str) -> bool:
    """A word of the vault, that happens to be a file's name."""
    rows = trial.index.db.rows("SELECT text FROM texts")
    return sum(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None for (text,) in rows) > COMMON


def _telling(path: str) -> bool:
    stem = path.rpartition("/")[2].removesuffix(".md")
    return (
        len(stem) >= 3
        and stem.lower() not in NO_NAMES
        and not re.fullmatch(r"[\d\s.:/年月日周W-]+", stem)
        and not re.search(r"[\[\]|#^`$*_<>%]", stem)
    )


def plain(trial: Trial) -> list[tuple[str, str]]:
    rows = trial.index.db.rows(
        "SELECT f.path, t.text FROM texts t JOIN files f ON f.id = t.note WHERE f.kind = 0 AND f.scope = 0"
    )
    simple = re.compile(r"^[^\n#\[\]`$|<>%*_!\\(){}/@:-]+$", re.MULTILINE)
    return [
        (path, "\n".join(simple.findall(re.sub(r"\A---\n.*?\n---\n|```.*?```", "", text, flags=re.DOTALL))))
        for path, text in rows
    ]


def bordered(stem: str) -> str:
    edge = r"(?<![\w.'’&+=~-])", r"(?![\w'’&+=~-]|\.\w)"
    if any("\u2e80" <= char <= "\u9fff" for char in stem):
        edge = (
            r"(?<![A-Za-z0-9])" if stem[0].isascii() else r"(?<!\d)",
            r"(?![A-Za-z0-9])" if stem[-1].isascii() else r"(?!\d)",
        )
    return edge[0] + re.escape(stem) + edge[1]
