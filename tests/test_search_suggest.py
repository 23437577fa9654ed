"""What an unresolved link may have meant, rule by rule."""

import pytest

from ohmykb.search import graph
from ohmykb.search.suggest import Names
from trial import Trial

FILES = {
    "Funding Rate.md": "---\naliases: [资金费率, FR Basics]\n---\n",
    "wiki/Perpetual Swap Mechanics.md": "",
    "wiki/深度学习笔记.md": "",
    "café.md": "",
    "C++.md": "",
    "pic of it.png": "",
    "quiet/Hidden Note.md": "",
    "x/Twin.md": "",
    "y/Twin.md": "",
    "Neighbourhood.md": "",
    "2024-05-06.md": "",
}


@pytest.fixture
def names(trial: Trial) -> Names:
    trial.configure('[index]\nsearch_only = ["quiet/"]\n')
    trial.put(dict(FILES))
    trial.look()
    return Names(trial.index.db)


@pytest.mark.parametrize(
    ("link", "path", "rule"),
    [
        ("funding-rate", "Funding Rate.md", "normalised"),
        ("Funding_Rate.md", "Funding Rate.md", "normalised"),
        ("old/folder/Funding Rate", "Funding Rate.md", "normalised"),
        ("Ｆｕｎｄｉｎｇ　Rate", "Funding Rate.md", "normalised"),
        ("Cafe", "café.md", "normalised"),
        ("資金費率", "Funding Rate.md", "alias"),
        ("fr basics", "Funding Rate.md", "alias"),
        ("Perpetual Swap", "wiki/Perpetual Swap Mechanics.md", "begun"),
        ("深度学习", "wiki/深度学习笔记.md", "begun"),
        ("Fundin Rate", "Funding Rate.md", "close"),
        ("Neighborhood", "Neighbourhood.md", "close"),
        ("深度学习比记", "wiki/深度学习笔记.md", "close"),
        ("pic-of-it.png", "pic of it.png", "normalised"),
    ],
)
def test_rule(names: Names, link: str, path: str, rule: str) -> None:
    best = names.suggest(link)[0]
    assert (best.path, best.rule) == (path, rule)
    assert 0 < best.score < 1


@pytest.mark.parametrize(
    "link", ["", "/", "...", "|alias", "Fun", "zzz", "Hidden Note", "https://example.com", "深", "\ud83d", "x" * 5000]
)
def test_nothing_to_suggest(names: Names, link: str) -> None:
    assert names.suggest(link) == []


def test_of_twins_both(names: Names) -> None:
    assert [one.path for one in names.suggest("T-win")] == ["x/Twin.md", "y/Twin.md"]


def test_at_most_three_and_the_surest_first(trial: Trial) -> None:
    trial.put({f"Alpha Beta {number}.md": "" for number in range(9)} | {"alpha-beta.md": ""})
    trial.look()
    found = Names(trial.index.db).suggest("Alpha Beta")
    assert len(found) == 3
    assert found[0].path == "alpha-beta.md"
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_the_list_of_unresolved_links(trial: Trial) -> None:
    trial.put({"a.md": "x\n[[Funding rat]] [[zzz]]\n![[Fundin Rate|shown]]", "Funding Rate.md": ""})
    trial.look()
    found = graph.unresolved(trial.index.db)["unresolved"]
    assert [(one["source"], one["raw"], one["line"]) for one in found] == [
        ("a.md", "[[Funding rat]]", 2), ("a.md", "[[zzz]]", 2), ("a.md", "![[Fundin Rate|shown]]", 3),
    ]  # fmt: skip
    assert [[s["path"] for s in one["suggestions"]] for one in found] == [["Funding Rate.md"], [], ["Funding Rate.md"]]


def test_a_link_is_not_said_to_mean_the_note_it_stands_in(trial: Trial) -> None:
    trial.put({"2026-11-23.md": "yesterday: [[2026-11-22]]", "2026-11-21.md": "earlier"})
    trial.look()
    found = graph.unresolved(trial.index.db)["unresolved"]
    assert [one["path"] for one in found[0]["suggestions"]] == ["2026-11-21.md"]


def test_a_picture_is_only_taken_for_a_picture(trial: Trial) -> None:
    trial.put({"Arcosanti.md": "![[arcosanti.png]]", "img/arcosanti 1.png": b"", "arcosantis.md": ""})
    trial.look()
    found = graph.unresolved(trial.index.db)["unresolved"]
    assert [one["path"] for one in found[0]["suggestions"]] == ["img/arcosanti 1.png"]
