"""Links lead where the Obsidian app leads them: rule by rule, by its own dumps, and by a generator's truth."""

import json
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.index.resolve import Resolver, subpath_found
from ohmykb.store.files import name_key
from trial import Trial

NFC, NFD = (lambda text: unicodedata.normalize("NFC", text)), (lambda text: unicodedata.normalize("NFD", text))


def kind(path: str) -> int:
    low = path.lower()
    return 0 if low.endswith(".md") else 1 if low.endswith(".canvas") else 2


def resolve(files: list[str], link: str, source: str = "s.md") -> str | None:
    """Where `link` leads in a vault of these files."""
    numbered = dict(enumerate([*files, *([] if source in files else [source])], 1))
    by_name: dict[str, list[tuple[int, str, int]]] = {}
    for number, path in numbered.items():
        by_name.setdefault(name_key(path), []).append((number, path, kind(path)))
    here = next(number for number, path in numbered.items() if path == source)
    found = Resolver(lambda key: by_name.get(key, ())).resolve(link, source, here)
    return None if found is None else numbered[found]


@pytest.mark.parametrize(
    ("files", "link", "source", "expected"),
    [
        pytest.param(["x/Note.md", "Note.md"], "Note", "x/s.md", "Note.md", id="the vault's top before the own folder"),
        pytest.param(["x/Note.md", "y/Note.md"], "Note", "y/s.md", "y/Note.md", id="own folder (links.jsonl 20)"),
        pytest.param(["a/Note.md", "x/y/Note.md"], "Note", "x/y/z/s.md", "a/Note.md", id="ancestors do not count"),
        pytest.param(["zzzz/Note.md", "a/b/Note.md"], "Note", "s.md", "a/b/Note.md", id="shortest string, not depth"),
        pytest.param(["b/Note.md", "a/Note.md"], "Note", "s.md", "a/Note.md", id="equal length: stable"),
        pytest.param(["A Note.md"], "a note", "s.md", "A Note.md", id="case (links.jsonl 18)"),
        pytest.param(["Ext.md"], "Ext.MD", "s.md", "Ext.md", id="case of the extension in the link"),
        pytest.param(["Ext.MD"], "ext", "s.md", "Ext.MD", id="case of the extension on the disk"),
        pytest.param(["a.md", "A.md"], "A", "s.md", "A.md", id="of names differing in case the one spelled alike"),
        pytest.param(["a.md", "A.md"], "a", "s.md", "a.md", id="of names differing in case the other one"),
        pytest.param(["x/a.md", "x/A.md"], "A", "s.md", "x/A.md", id="spelled alike, deeper"),
        pytest.param([NFD("Café.md")], NFC("Café"), "s.md", NFD("Café.md"), id="an NFD name, an NFC link"),
        pytest.param([NFC("Café.md")], NFD("Café"), "s.md", NFC("Café.md"), id="an NFC name, an NFD link"),
        pytest.param([NFD("é/a.md"), "b/a.md"], NFC("é/a"), "s.md", NFD("é/a.md"), id="an NFD folder"),
        pytest.param(["A.md"], "A.md", "s.md", "A.md", id="with .md (links.jsonl 15)"),
        pytest.param(["Dr. Smith.md", "v2.0 Release.md"], "Dr. Smith", "s.md", "Dr. Smith.md", id="a dot (14)"),
        pytest.param(["v2.0 Release.md"], "v2.0 Release", "s.md", "v2.0 Release.md", id="a dot in the middle (14)"),
        pytest.param(["img/fig.png"], "fig.png", "s.md", "img/fig.png", id="an attachment (16)"),
        pytest.param(["fig.png"], "fig", "s.md", None, id="an attachment needs its extension"),
        pytest.param(["Board.canvas"], "Board", "s.md", None, id="a canvas needs its extension"),
        pytest.param(["c/Board.canvas"], "Board.canvas", "s.md", "c/Board.canvas", id="a canvas"),
        pytest.param(["c/All.base"], "all.base", "s.md", "c/All.base", id="a base"),
        pytest.param(["test-file.md", "file.md"], "file", "s.md", "file.md", id="whole names only (21)"),
        pytest.param(["test-file.md"], "file", "s.md", None, id="no end of a name"),
        pytest.param(["a/xb/Note.md"], "b/Note", "s.md", None, id="no end of a folder's name"),
        pytest.param(["q/a/b/Note.md", "x/Note.md"], "b/Note", "s.md", "q/a/b/Note.md", id="the end of a path"),
        pytest.param(["a/b/Note.md", "b/Note.md"], "b/Note", "a/s.md", "b/Note.md", id="an exact path first"),
        pytest.param(
            ["z/b/Note.md", "y/b/Note.md"], "b/Note", "z/s.md", "z/b/Note.md", id="a path below the own folder"
        ),
        pytest.param(["x/y/a.md", "a.md"], "./a", "x/y/s.md", "x/y/a.md", id="./ is the own folder"),
        pytest.param(["a.md"], "./a", "x/s.md", None, id="./ has no fallback"),
        pytest.param(["x/a.md", "a.md"], "../a", "x/y/s.md", "x/a.md", id="../"),
        pytest.param(["x/a.md", "a.md"], "../../a.md", "x/y/s.md", "a.md", id="../../"),
        pytest.param(["a.md"], "../../a", "x/s.md", None, id="../ out of the vault"),
        pytest.param(["x/b/a.md"], "./b/../b/a", "x/s.md", "x/b/a.md", id="./ and ../ mixed"),
        pytest.param(["Folder/B.md", "B.md"], "/Folder/B.md", "s.md", "Folder/B.md", id="a leading slash (38)"),
        pytest.param(["Folder/B.md"], "/B", "s.md", None, id="a leading slash is the vault's top"),
        pytest.param([], "", "x/s.md", "x/s.md", id="the note itself (7)"),
        pytest.param(["pa#th/b.md"], "pa", "s.md", None, id="# ends the path"),
        pytest.param(["🍀 Garden/🌱.md"], "🌱", "s.md", "🍀 Garden/🌱.md", id="emoji"),
        pytest.param(["概念/资金费率.md"], "资金费率", "s.md", "概念/资金费率.md", id="Chinese"),
        pytest.param(["a.md"], "|alias", "s.md", None, id="[[|alias]] (41)"),
        pytest.param(["a.md"], "https://a.example/a", "s.md", None, id="an address in brackets"),
        pytest.param(["x/.md.md"], "x/", "s.md", None, id="a folder is no target"),
    ],
)
def test_rule(files: list[str], link: str, source: str, expected: str | None) -> None:
    assert resolve(files, link, source) == expected
    assert resolve(files[::-1], link, source) == expected


NAMES = st.text("aAéÉ.ſ 资", min_size=1, max_size=3).filter(lambda name: not name.startswith("."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")


@given(st.lists(PATHS, min_size=1, max_size=6, unique=True), PATHS)
def test_every_note_is_reached_by_its_own_path(files: list[str], source: str) -> None:
    for path in files:
        assert resolve(files, path, source) == path
        if not path[:-3].lower().endswith(".md"):
            assert resolve(files, path[:-3], source) == path or path[:-3] in files


@given(st.lists(PATHS, min_size=1, max_size=6, unique=True), NAMES, PATHS)
def test_the_order_of_files_does_not_matter(files: list[str], link: str, source: str) -> None:
    assert resolve(files, link, source) == resolve(files[::-1], link, source)


@pytest.mark.parametrize(
    ("subpath", "found"),
    [
        ("One", True), ("one", True), ("Two words", True), ("two  words", True), ("Nope", False),
        ("One#Inner", True), ("Inner", True), ("Inner#One", False), ("One#Two words", True),
        ("^b-1", True), ("^B-1", True), ("^b", False), ("Has [[Link]] in it", True), ("Has Link in it", True),
        ("A: colon, and 1", True), ("A colon and 1", True), ("标题", True), (NFD("Café"), True), ("", True),
    ],
)  # fmt: skip
def test_subpath(subpath: str, found: bool) -> None:
    headings = ["One", "Inner", "Two words", "Has [[Link]] in it", "A: colon, and #1", "标题", "Café"]
    assert subpath_found(subpath, headings, ["b-1"]) is found


def test_aliases_never_resolve(trial: Trial) -> None:
    trial.put({"X.md": "---\naliases: [Alias1]\n---\n", "s.md": "[[Alias1]] [[X|Alias1]]"})
    trial.look()
    assert trial.targets("s.md") == [None, "X.md"]


# --- the settled cases

CASES: dict[int, tuple[dict[str, str], list[str | None]]] = {
    7: ({"s.md": "# H\n[[#H]] text"}, ["s.md"]),
    10: ({"My Note.md": "", "s.md": "[t](My%20Note.md)"}, ["My Note.md"]),
    11: ({"My Note.md": "", "s.md": "[t](My%20Note)"}, ["My Note.md"]),
    12: ({"My Note.md": "", "s.md": "[t](<My Note.md>)"}, ["My Note.md"]),
    13: ({"a_(b).md": "", "s.md": "[t](a_(b).md)"}, ["a_(b).md"]),
    14: (
        {"Dr. Smith.md": "", "v2.0 Release.md": "", "s.md": "[[Dr. Smith]] [[v2.0 Release]]"},
        ["Dr. Smith.md", "v2.0 Release.md"],
    ),
    15: ({"A.md": "", "s.md": "[[A.md]]"}, ["A.md"]),
    16: ({"fig.png": "", "s.md": "[[fig.png]] [[fig]]"}, ["fig.png", None]),
    17: ({"A.md": "", "s.md": "[[ A ]]"}, ["A.md"]),
    18: ({"A Note.md": "", "s.md": "[[a note]]"}, ["A Note.md"]),
    19: ({"X.md": "---\naliases: [Alias1]\n---\n", "s.md": "[[Alias1]]"}, [None]),
    20: ({"x/Note.md": "", "y/Note.md": "", "y/s.md": "[[Note]]"}, ["y/Note.md"]),
    21: ({"test-file.md": "", "file.md": "", "s.md": "[[file]]"}, ["file.md"]),
    22: ({"A.md": "", "s.md": '---\nrelated: "[[A]]"\n---\n'}, ["A.md"]),
    23: ({"A.md": "", "s.md": "---\nrelated: [[A]]\n---\n"}, []),
    37: ({"B.md": "", "s.md": "[a][r]\n\n[r]: B.md"}, ["B.md"]),
    41: ({"alias.md": "", "s.md": "[[|alias]]"}, [None]),
}
"""By number in shared/cases/links.jsonl; the others concern scanning alone."""


@pytest.mark.parametrize("number", CASES)
def test_settled_case(trial: Trial, shared: Path, number: int) -> None:
    cases = [json.loads(line) for line in (shared / "cases/links.jsonl").read_text("utf-8").splitlines()]
    assert not next(case for case in cases if case["id"] == number)["source"].startswith("?")
    files, expected = CASES[number]
    trial.put(dict(files))
    trial.look()
    source = next(path for path in files if path.rpartition("/")[2] == "s.md")
    assert trial.targets(source) == expected


# --- the app's own dumps

ACCEPTED: dict[tuple[str, str], str] = {
    (
        "How To/Find tasks in notes with particular tag.md",
        "Test Data/yaml_all_property_types_populated.md",
    ): "the dump is older than the note: the link stands in the note, and the dump has nothing of it",
}
"""(source, target or link): why ours differs from the app's dump."""


def oracle_counts(trial: Trial, source: str) -> tuple[Counter[str], Counter[str]]:
    links = trial.index.db.rows(
        "SELECT t.path, l.linkpath FROM links l JOIN files s ON s.id = l.source LEFT JOIN files t ON t.id = l.target"
        " WHERE s.path = ?",
        (source,),
    )
    return Counter(t for t, _ in links if t is not None), Counter(p for t, p in links if t is None)


def test_the_whole_vault_of_the_oracle(trial_at: Callable[[Path], Trial], shared: Path, tmp_path: Path) -> None:
    oracle = shared / "oracle/obsidian-tasks"
    shutil.copytree(oracle / "vault", tmp_path / "vault")
    trial = trial_at(tmp_path / "vault")
    trial.look()
    wanted: dict[str, dict[str, dict[str, int]]] = {
        name: json.loads((oracle / f"{name}Links.json").read_text("utf-8")) for name in ("resolved", "unresolved")
    }
    differing: dict[tuple[str, str], tuple[int, int]] = {}
    checked = 0
    for source in sorted(wanted["resolved"].keys() | wanted["unresolved"].keys()):
        ours = oracle_counts(trial, source)
        for name, found in zip(("resolved", "unresolved"), ours, strict=True):
            theirs = Counter(wanted[name].get(source, {}))
            checked += 1
            for key in theirs.keys() | found.keys():
                if theirs[key] != found[key]:
                    differing[source, key] = (theirs[key], found[key])
    assert checked > 250
    assert differing.keys() == ACCEPTED.keys(), differing
    trial.assert_true()


# --- a generated vault whose truth is known

KINDS = {"wiki": "wikilink", "embed": "embed", "md": "markdown"}


def test_the_truth_of_a_generated_vault(trial_at: Callable[[Path], Trial], shared: Path, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    subprocess.run([sys.executable, str(shared / "tools/gen_vault.py"), str(root), "600", "3"], check=True)
    truth: dict[str, list[Any]] = {}
    for line in (tmp_path / "vault.truth.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] != "decoy":
            truth.setdefault(row["src"], []).append((row["line"], row["raw"], KINDS[row["kind"]], row["dst"]))
    trial = trial_at(root)
    trial.look()
    ours: dict[str, list[Any]] = {}
    for link in trial.graph()["links"]:
        ours.setdefault(link["source"], []).append((link["line"], link["raw"], link["kind"], link["target"]))
    assert sum(map(len, ours.values())) > 1500
    assert ours == truth
    trial.assert_true()
