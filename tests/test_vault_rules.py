import json
from pathlib import Path
from typing import Any

import pytest

from ohmykb.config import AgentSettings, Config, ConfigError, IndexSettings, RoleSettings
from ohmykb.note import Scope
from ohmykb.vault.rules import Rules


def rules(
    exclude: tuple[str, ...] = (),
    search_only: tuple[str, ...] = (),
    system: tuple[str, ...] = (),
    filters: Any = None,
) -> Rules:
    index = IndexSettings(exclude=exclude, search_only=search_only)
    return Rules(Config(index=index, roles=RoleSettings(system=system)), filters)


@pytest.mark.parametrize(
    "path", [".trash/a.md", ".obsidian/app.json", ".a.md", "x/.b/c.md", "x/.hidden.md", ".git/HEAD"]
)
def test_hidden_is_invisible(path: str) -> None:
    assert rules().scope(path) is None
    assert rules(search_only=("**",)).scope(path) is None
    assert not rules().descend(path)


def test_without_rules_all_is_in_the_graph() -> None:
    for path in ("a.md", "x/y.z/a.md", "x/a..b.md", "日记/一.md", "x/…/a.md"):
        assert rules().scope(path) is Scope.GRAPH
        assert rules().descend(path)


def test_scopes() -> None:
    these = rules(("archive/", "*.excalidraw.md"), ("clips", "archive"), ("系统",))
    assert these.scope("archive/a.md") is Scope.TARGET
    assert these.scope("x/a.excalidraw.md") is Scope.TARGET
    assert these.scope("clips/a.md") is Scope.SEARCH
    assert these.scope("系统/a.md") is Scope.TARGET
    assert these.scope("系统的/a.md") is Scope.GRAPH
    assert these.scope("a.md") is Scope.GRAPH
    assert these.descend("archive")


def test_system_holds_only_when_set() -> None:
    assert rules().scope("system/a.md") is Scope.GRAPH


def test_agent_globs_are_no_matter_of_scope() -> None:
    assert Rules(Config(agent=AgentSettings(exclude=("a",)))).scope("a/b.md") is Scope.GRAPH


def test_a_conflict_copy_is_searchable_only_and_an_excluded_one_out() -> None:
    path = "x/a.sync-conflict-20240101-120000-ABCDEFG.md"
    assert rules().scope(path) is Scope.SEARCH
    assert rules(exclude=("x",)).scope(path) is Scope.TARGET
    onedrive = "x/a-DESKTOP-ABC1234.md"
    assert rules().scope(onedrive) is Scope.GRAPH
    assert rules().scope(onedrive, lambda name: name == "a.md") is Scope.SEARCH


def test_a_decomposed_path_is_judged_composed() -> None:
    decomposed = "Cafe\u0301/a.md"
    assert rules(exclude=("Caf\u00e9",)).scope(decomposed) is Scope.TARGET
    assert rules(system=("Caf\u00e9",)).scope(decomposed) is Scope.TARGET
    assert rules(filters=["Caf\u00e9/"]).scope(decomposed) is Scope.TARGET


def test_a_glob_that_cannot_be_parsed_names_its_key() -> None:
    with pytest.raises(ConfigError, match=r"index.exclude.*'a\['"):
        rules(exclude=("a[",))


# In the app each filter becomes a RegExp with the flag `i`: what stands between slashes as it is, anything
# else escaped after `^`.
@pytest.mark.parametrize(
    "filter_, out, free",
    [
        ("Templates/", ["Templates/a.md", "templates/a.md"], ["Templates.md", "x/Templates/a.md"]),
        ("Tem", ["Templates/a.md", "tempo.md"], ["x/tem.md"]),
        ("a.b", ["a.b.md"], ["aXb.md"]),
        ("/draft/", ["x/My Draft.md", "DRAFT/a.md"], ["x.md"]),
        (r"/^\d+\.md$/", ["123.md"], ["x/123.md", "٣.md"]),
        (r"/^[\w]+\.md$/", ["abc.md"], ["日记.md"]),
        (r"/^\w+\.md$/", ["abc.md"], ["日记.md"]),
        (r"/日记\/2024/", ["日记/2024/a.md"], ["日记/2025.md"]),
        (r"/(?<year>\d{4})-\k<year>/", ["2024-2024.md"], ["2024-2025.md"]),
        (r"/(?<!x)y/", ["ay.md"], ["xy.md"]),
        (r"/\a\-\_/", ["a-_.md"], ["b.md"]),
        (r"/[[]x[\]]/", ["[x].md", "[x].md"], ["x.md"]),
        ("//", ["//x"], ["a.md"]),
        ("日", ["日记.md"], ["记日.md"]),
    ],
)
def test_excluded_files_of_the_app(filter_: str, out: list[str], free: list[str]) -> None:
    these = rules(filters=[filter_])
    assert not these.warnings
    assert [path for path in out + free if these.scope(path) is Scope.TARGET] == out


@pytest.mark.parametrize("filter_", ["/(/", r"/[z-a]/", r"/[^]/"])
def test_a_filter_that_is_no_expression_is_skipped_and_named(filter_: str) -> None:
    these = rules(filters=[filter_, "out/"])
    assert filter_ in these.warnings[0]
    assert these.scope("out/a.md") is Scope.TARGET
    assert these.scope("a.md") is Scope.GRAPH


def test_filters_do_not_share_their_groups() -> None:
    these = rules(filters=[r"/(a)\1/", r"/(?<x>b)\k<x>/", r"/(?<x>c)\1/"])
    assert not these.warnings
    assert [path for path in ("aa", "bb", "cc", "ab") if these.scope(path) is Scope.TARGET] == ["aa", "bb", "cc"]


@pytest.mark.parametrize("filters", [None, [], "x", {"a": 1}, [1, None, ""]])
def test_filters_of_any_shape(filters: object) -> None:
    assert rules(filters=filters).scope("x.md") is Scope.GRAPH


def test_read_from_the_app(tmp_path: Path) -> None:
    assert Rules.of(tmp_path, Config()).scope("t/a.md") is Scope.GRAPH
    app = tmp_path / ".obsidian/app.json"
    app.parent.mkdir()
    app.write_text(json.dumps({"userIgnoreFilters": ["t/"]}))
    assert Rules.of(tmp_path, Config()).scope("t/a.md") is Scope.TARGET
    for text in ('{"userIgnoreFilters": null}', "[]", "{}"):
        app.write_text(text)
        assert Rules.of(tmp_path, Config()).warnings == []
    app.write_text("{half")
    broken = Rules.of(tmp_path, Config())
    assert broken.scope("t/a.md") is Scope.GRAPH
    assert "app.json" in broken.warnings[0]
