"""Questions to the graph: neighbours with their relations, related notes, orphans, unresolved links, the whole."""

import json

import pytest

from ohmykb.errors import AmbiguousError, NotFoundError, UsageError
from ohmykb.search import graph
from trial import Trial

FILES = {
    "hub.md": "# Hub\n[[a]] ![[b]] [x](c.md) [[gone]] [[hub]] [[pic.png]]\n",
    "a.md": "---\ntype: idea\ndomain: Finance\nrelated: \"[[b]]\"\ntags: [rare, t]\n---\n[[c#Head]]\n",
    "b.md": "---\ntype: idea\n---\n#rare\n",
    "c.md": "# Head\n\n[[far]]\n",
    "far.md": "---\ndomain: finance\n---\n[[hub]]\n",
    "lone.md": "nobody links here [[a]]\n",
    "island.md": "nobody at all, but [[island]] [[pic.png]] [[gone]]\n",
    "quiet/noise.md": "[[island]] [[a]] #rare\n",
    "board.canvas": '{"nodes":[{"type":"file","file":"lone.md"},{"type":"text","text":"[[gone too]]"}]}',
    "pic.png": "x",
    ".kb/config.toml": '[index]\nsearch_only = ["quiet/"]\n',
}  # fmt: skip


@pytest.fixture
def some(trial: Trial) -> Trial:
    trial.configure(FILES[".kb/config.toml"])
    trial.put(dict(FILES))
    trial.look()
    return trial


def relations(trial: Trial, name: str, hops: int = 1) -> set[tuple[str, int, str | None, str]]:
    found = graph.query(trial.index.db, name, hops=hops)
    return {(one["path"], one["hops"], one["via"], one["relation"]) for one in found["neighbors"]}


def test_one_hop(some: Trial) -> None:
    assert relations(some, "hub") == {
        ("a.md", 1, None, "link"),
        ("b.md", 1, None, "embed"),
        ("c.md", 1, None, "link"),
        ("far.md", 1, None, "backlink"),
    }
    assert relations(some, "a.md") >= {
        ("b.md", 1, None, "property:related"), ("c.md", 1, None, "link"), ("hub.md", 1, None, "backlink"),
        ("lone.md", 1, None, "backlink"), ("far.md", 1, "finance", "domain"),
    }  # fmt: skip


def test_tag_type_and_domain_join(some: Trial) -> None:
    some.put({"t.md": "---\ntype: Idea\n---\n#rare"})
    some.look()
    assert ("t.md", 1, "rare", "tag") in relations(some, "b")
    assert ("t.md", 1, "idea", "type") in relations(some, "b")


def test_two_hops(some: Trial) -> None:
    found = relations(some, "hub", 2)
    assert ("lone.md", 2, "a.md", "backlink") in found
    assert not [one for one in found if one[0] in ("hub.md", "island.md", "quiet/noise.md")]
    assert [one[1] for one in found if one[0] == "a.md"] == [1]


def test_two_hops_lead_over_notes(trial: Trial) -> None:
    """Not over an attachment, nor over a note that is out of the graph, though they come first."""
    trial.configure('[index]\nsearch_only = ["q/"]\n')
    trial.put({"pic.png": "x", "q/s.md": "[[x]] [[y]]"})
    trial.look()
    trial.put({"x.md": "[[pic.png]] [[m]]", "y.md": "[[pic.png]] [[m]]", "z.md": "[[pic.png]]", "m.md": ""})
    trial.look()
    assert relations(trial, "x", 2) == {("m.md", 1, None, "link"), ("y.md", 2, "m.md", "backlink")}
    (one,) = graph.related(trial.index.db, "x")["related"]
    assert (one["path"], one["shared"]) == ("y.md", ["m.md"])


def test_the_number_of_neighbours(some: Trial) -> None:
    some.put({f"n{number}.md": "[[hub]]" for number in range(60)})
    some.look()
    for n in (1, 7, 50):
        assert len(graph.query(some.index.db, "hub", hops=2, n=n)["neighbors"]) == n
    with pytest.raises(UsageError):
        graph.query(some.index.db, "hub", hops=3)


def test_related_through_shared_neighbours(some: Trial) -> None:
    found = graph.related(some.index.db, "hub")
    assert found["note"] == "hub.md"
    assert [(one["path"], one["shared"]) for one in found["related"]] == [("lone.md", ["a.md"])]
    assert all(0 < one["score"] <= 1 for one in found["related"])


def test_orphans(some: Trial) -> None:
    found = graph.orphans(some.index.db)
    assert found["orphans"] == ["island.md", "lone.md"]
    assert found["isolated"] == ["island.md"]
    assert (found["notes"], found["machine_linked"]) == (7, [])
    assert found["orphan_rate"] == round(2 / 7, 4)


def test_backlinks_count_distinct_other_notes_of_the_graph(some: Trial) -> None:
    some.put({"twice.md": "[[a]] [[a]] [[a#x]]"})
    some.look()
    counted = {one["path"]: one["backlinks"] for one in some.graph()["notes"]}
    assert counted["a.md"] == 3
    assert counted["hub.md"] == 1
    assert counted["lone.md"] == 0


def test_the_whole_graph(some: Trial) -> None:
    whole = some.graph()
    assert [note["path"] for note in whole["notes"]] == sorted(
        path for path in FILES if path.endswith(".md") and "/" not in path
    )
    note = whole["notes"][0]
    assert note == {
        "path": "a.md",
        "title": "a",
        "aliases": [],
        "tags": ["rare", "t"],
        "type": "idea",
        "domain": "finance",
        "backlinks": 2,
    }
    sources = [link["source"] for link in whole["links"]]
    assert sources == sorted(sources)
    assert {link["source"] for link in whole["links"]} >= {"board.canvas"}
    property_link = next(link for link in whole["links"] if link["kind"] == "property")
    assert property_link == {
        "source": "a.md", "target": "b.md", "raw": "[[b]]", "linkpath": "b", "kind": "property", "subpath": None,
        "display": "b", "line": 4,
    }  # fmt: skip
    own = [link["target"] for link in whole["links"] if link["raw"] == "[[hub]]" and link["source"] == "hub.md"]
    assert own == ["hub.md"]
    card = [(link["raw"], link["target"], link["line"]) for link in whole["links"] if link["source"] == "board.canvas"]
    assert card == [("lone.md", "lone.md", None), ("[[gone too]]", None, None)]


def test_the_graph_is_stable(some: Trial) -> None:
    before = json.dumps(some.graph())
    assert json.dumps(some.graph()) == before
    some.move("a.md", "z.md")
    some.look()
    some.move("z.md", "a.md")
    some.look()
    assert json.dumps(some.graph()) == before


def test_counts_agree(some: Trial) -> None:
    counts, whole = some.counts(), some.graph()
    assert counts["links"] == counts["resolved"] + counts["unresolved"] == len(whole["links"])
    assert counts["unresolved"] == sum(link["target"] is None for link in whole["links"])
    assert counts["unresolved"] == len(graph.unresolved(some.index.db)["unresolved"]) == 3
    assert counts["embeds"] == sum(link["kind"] == "embed" for link in whole["links"])
    assert counts["tags"] == len({tag for note in whole["notes"] for tag in note["tags"]}) == 2
    assert counts["problems"] == len(whole["problems"])
    assert counts["notes"] == counts["on_disk"] == counts["indexed"] == 8
    assert counts["pending"] == 0


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("hub", "hub.md"),
        ("HUB.md", "hub.md"),
        ("quiet/noise", "quiet/noise.md"),
        ("noise", "quiet/noise.md"),
        ("x/Same", "x/Same.md"),
        ("x/Same.md", "x/Same.md"),
        ("e\u0301", "é.md"),
        ("Case", "Case.md"),
        ("case", "case.md"),
    ],
)
def test_find_note(some: Trial, name: str, path: str) -> None:
    some.put({"x/Same.md": "", "y/Same.md": "", "é.md": "", "Case.md": "", "case.md": ""})
    some.look()
    assert graph.find_note(some.index.db, name)[1] == path


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Same", AmbiguousError),
        ("nope", NotFoundError),
        ("pic.png", NotFoundError),
        ("board.canvas", NotFoundError),
        ("", UsageError),
        ("../x", UsageError),
        ("/etc/passwd", UsageError),
        ("a/../b", UsageError),
        ("CASE", AmbiguousError),
        ("\ud83d", NotFoundError),
        ("a\x00", NotFoundError),
        ("ame", NotFoundError),
    ],
)
def test_no_note_found(some: Trial, name: str, error: type[Exception]) -> None:
    some.put({"x/Same.md": "", "y/Same.md": "", "Case.md": "", "case.md": ""})
    some.look()
    with pytest.raises(error):
        graph.find_note(some.index.db, name)


def test_one_note(some: Trial) -> None:
    found = graph.note(some.index.db, "hub")
    assert (found["path"], found["title"]) == ("hub.md", "Hub")
    assert [link["target"] for link in found["links"]] == ["a.md", "b.md", "c.md", None, "hub.md", "pic.png"]
    assert [link["source"] for link in found["backlinks"]] == ["far.md"]


def test_what_is_left_out_is_not_asked_about(some: Trial) -> None:
    some.configure('[index]\nexclude = ["quiet/"]\n')
    some.look()
    with pytest.raises(NotFoundError):
        graph.note(some.index.db, "quiet/noise.md")


def test_a_note_named_as_a_link_and_one_by_its_alias(trial: Trial) -> None:
    trial.put({"wiki/可转债.md": "---\naliases: [转债]\n---\n# 强赎\n"})
    trial.look()
    assert graph.find_note(trial.index.db, "[[可转债#强赎|x]]")[1] == "wiki/可转债.md"
    with pytest.raises(NotFoundError) as caught:
        graph.find_note(trial.index.db, "转债")
    assert "wiki/可转债.md" in caught.value.fix
