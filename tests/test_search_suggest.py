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
    "如何写作.md": "",
    "Rock 'n' Roll - Live.md": "",
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
        ("Ｆｕｎｄｉｎｇ　Rate", "Funding Rate.md", "normalised"),
        ("wiki/perpetual  swap mechanics.md", "wiki/Perpetual Swap Mechanics.md", "normalised"),
        ("Ｗiki/perpetual　swap mechanics", "wiki/Perpetual Swap Mechanics.md", "normalised"),
        ("Rock ‘n’ roll — live", "Rock 'n' Roll - Live.md", "normalised"),
        ("old/folder/Funding Rate", "Funding Rate.md", "elsewhere"),
        ("../wiki/Funding Rate", "Funding Rate.md", "elsewhere"),
        ("funding-rate", "Funding Rate.md", "letters"),
        ("Funding_Rate.md", "Funding Rate.md", "letters"),
        ("Funding%20Rate", "Funding Rate.md", "letters"),
        ("Cafe", "café.md", "letters"),
        ("深度學習筆記", "wiki/深度学习笔记.md", "converted"),
        ("資金費率", "Funding Rate.md", "alias"),
        ("fr basics", "Funding Rate.md", "alias"),
        ("Perpetual Swap", "wiki/Perpetual Swap Mechanics.md", "begun"),
        ("Perpetual Swap Mechanics revisited", "wiki/Perpetual Swap Mechanics.md", "begun"),
        ("深度学习", "wiki/深度学习笔记.md", "begun"),
        ("Fundin Rate", "Funding Rate.md", "close"),
        ("Funding Raet", "Funding Rate.md", "close"),
        ("Neighborhood", "Neighbourhood.md", "close"),
        ("深度学习比记", "wiki/深度学习笔记.md", "close"),
        ("如何写做", "如何写作.md", "close"),
        ("Perpetaul Swap Mechanic", "wiki/Perpetual Swap Mechanics.md", "alike"),
        ("pic-of-it.png", "pic of it.png", "letters"),
        ("Pic  of it.PNG", "pic of it.png", "normalised"),
        ("pic of it.jpg", "pic of it.png", "letters"),
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


def test_a_number_that_differs_is_no_fault_of_spelling(names: Names) -> None:
    for link in ("2024-05-07", "2024-05-0"):
        assert [(one.path, one.score <= 0.5, one.only) for one in names.suggest(link)] == [
            ("2024-05-06.md", True, False)
        ]


@pytest.mark.parametrize(("link", "name"), [("第二章", "第一章"), ("Appendix B", "Appendix A"), ("Part IV", "Part V")])
def test_nor_is_a_numeral(trial: Trial, link: str, name: str) -> None:
    trial.put({f"{name}.md": ""})
    trial.look()
    assert all(one.score <= 0.5 for one in Names(trial.index.db).suggest(link))


def test_whether_a_name_is_the_only_one_counts_what_is_left_out(trial: Trial) -> None:
    trial.configure('[index]\nexclude = ["old/"]\n')
    trial.put({"A – B.md": "", "C - D.md": "", "old/C – D.md": "", "x/E-F.md": "", "y/E–F.md": ""})
    trial.look()
    names = Names(trial.index.db)
    assert [one.only for one in names.suggest("a - b")] == [True]
    assert [(one.path, one.only) for one in names.suggest("c — d")] == [("C - D.md", False)]
    assert next((one.path, one.only) for one in names.suggest("x/e—f")) == ("x/E-F.md", True)
    assert [one.only for one in names.suggest("E—F")] == [False, False]


@pytest.mark.parametrize("told", [True, False])
def test_names_follow_the_vault(trial: Trial, told: bool) -> None:
    trial.put({"Alpha Beta.md": "---\naliases: [Gamma]\n---", "Delta Epsilon.md": ""})
    trial.look()
    names = Names(trial.index.db)
    links = ("Alpha Bata", "alpha-beta", "Alpha", "gamma", "Delta Epsilno", "New One")
    before = {link: [one.path for one in names.suggest(link)] for link in links}
    trial.move("Alpha Beta.md", "x/New  One.md")
    trial.put({"Zeta.md": "---\naliases: [Gamma]\n---"})
    trial.look()
    if told:
        names.refresh(trial.index.db, ["Alpha Beta.md", "x/New  One.md", "Zeta.md"])
    else:
        names.catch_up(trial.index.db)
    fresh = Names(trial.index.db)
    after = {link: names.suggest(link) for link in links}
    assert after == {link: fresh.suggest(link) for link in links}
    assert [[one.path for one in after[link]] for link in links] == [
        [], [], [], ["Zeta.md", "x/New  One.md"], ["Delta Epsilon.md"], ["x/New  One.md"],
    ]  # fmt: skip
    assert before["Alpha Bata"] == ["Alpha Beta.md"]


def test_every_single_fault_is_found(trial: Trial) -> None:
    words = ("graph", "知识图谱", "tester", "abcdefg", "如何写好作文")
    trial.put({f"{word}.md": "" for word in words})
    trial.look()
    names = Names(trial.index.db)
    for word in words:
        for at in range(len(word)):
            swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
            for link in (
                word[:at] + "ж" + word[at + 1 :],
                word[:at] + word[at + 1 :],
                word[:at] + "ж" + word[at:],
                swapped,
            ):
                assert f"{word}.md" in [one.path for one in names.suggest(link)], link
