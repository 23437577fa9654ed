"""The settled cases of ../shared/cases/links.jsonl that concern parsing, and the fixtures of
tests/markdown: `input`, a line with `.`, what is expected (one row a line), a line with `.`."""

import json
import re
from pathlib import Path

import pytest

from ohmykb.markdown.reference import reference
from ohmykb.markdown.scan import scan

FIXTURES = Path(__file__).parent / "markdown"

# id -> (text, link targets as `linkpath#subpath`, tags). Written out, since `expect` is prose in places;
# the test below checks that no settled case is forgotten.
SETTLED: dict[int, tuple[str, list[str], list[str]]] = {
    1: ("`[[A]]` and [[B]]", ["B"], []),
    2: ("```\n[[A]]\n```\n[[B]]", ["B"], []),
    3: ("````md\n```\n[[A]]\n```\n````\n[[B]]", ["B"], []),
    4: ("| [[A\\|x]] | [[B]] |", ["A", "B"], []),
    6: ("[[A#H1#H2]]", ["A#H1#H2"], []),
    7: ("[[#H]] text", ["#H"], []),
    8: ("[[A#^id-1]]", ["A#^id-1"], []),
    9: ("para ^under_score", [], []),
    10: ("[t](My%20Note.md)", ["My Note.md"], []),
    11: ("[t](My%20Note)", ["My Note"], []),
    12: ("[t](<My Note.md>)", ["My Note.md"], []),
    13: ("[t](a_(b).md)", ["a_(b).md"], []),
    14: ("[[Dr. Smith]] [[v2.0 Release]]", ["Dr. Smith", "v2.0 Release"], []),
    15: ("[[A.md]]", ["A.md"], []),
    17: ("[[ A ]]", ["A"], []),
    22: ('---\nrelated: "[[A]]"\n---\n', ["A"], []),
    23: ("---\nrelated: [[A]]\n---\n", [], []),
    24: ("---\nx: {{title}}\n---\n[[A]]", ["A"], []),
    25: ("#1984 #y1984", [], ["y1984"]),
    26: ("#A/b and #a/B", [], ["A/b", "a/B"]),
    27: ("word#no #中文/子", [], ["中文/子"]),
    28: ("---\ntags: [802.11]\n---\n", [], []),
    29: ("[x](https://e.com/a#b) [[A]]", ["A"], []),
    31: ("%% [[A]] %%", ["A"], []),
    32: ("<!-- [[A]] -->", [], []),
    34: ("\\[\\[A\\]\\]", [], []),
    35: ("[[]]", [], []),
    36: ("[^1] and [^1]: note", [], []),
    37: ("[a][r]\n\n[r]: B.md", ["B.md"], []),
    39: ("%%\n[[A]]\n%%\n[[B]]", ["B"], []),
    40: ("## I link to [[A]]", ["A"], []),
    41: ("[[|alias]]", ["|alias"], []),
}
RESOLVING = {16, 18, 19, 20, 21}
"""These are about resolution, which is the index's."""


@pytest.mark.parametrize("number", SETTLED)
def test_settled_case(number: int) -> None:
    text, links, tags = SETTLED[number]
    found = scan(text)
    assert [k.linkpath + (f"#{k.subpath}" if k.subpath else "") for k in found.links] == links
    assert [t.name for t in found.tags] == tags
    assert found.blocks == []


def test_no_settled_case_is_forgotten(shared: Path) -> None:
    lines = (shared / "cases" / "links.jsonl").read_text("utf-8").splitlines()
    settled = {case["id"] for case in map(json.loads, lines) if not case["source"].startswith("?")}
    assert settled == set(SETTLED) | RESOLVING


def fixtures() -> list[tuple[str, str, list[str]]]:
    found = []
    for path in sorted(FIXTURES.glob("*.md")):
        parts = re.split(r"^\.\n", path.read_text("utf-8"), flags=re.MULTILINE)
        for at in range(0, len(parts) - 2, 3):
            name = parts[at].rstrip().rsplit("\n", 1)[-1].removeprefix("## ")
            source, expected = parts[at + 1][:-1].replace("→", "\t"), parts[at + 2]
            found.append((f"{path.stem}: {name}", source, expected.splitlines()))
    return found


def rows(text: str) -> list[str]:
    found = scan(text)
    lines = [
        (k.line or 0, k.start, f"{k.kind} {k.linkpath!r} {k.subpath!r} {k.display!r} {k.raw!r}".replace("None", "-"))
        for k in found.links
    ]
    lines += [(t.line, t.start, f"tag {t.name}") for t in found.tags]
    lines += [(h.line, h.start, f"h{h.level} {h.text}") for h in found.headings]
    lines += [(b.line, b.start, f"block {b.id}") for b in found.blocks]
    lines += [(p.line or 0, -1, f"problem {p.code}") for p in found.problems]
    return [f"{line}: {what}" for line, _, what in sorted(lines)]


@pytest.mark.parametrize(
    "name, source, expected", fixtures(), ids=lambda v: v if isinstance(v, str) and ":" in v else ""
)
def test_fixture(name: str, source: str, expected: list[str]) -> None:
    assert rows(source) == expected
    theirs = reference(source)
    ours = scan(source)
    assert sorted((k.kind, k.linkpath) for k in theirs.links) == sorted((k.kind, k.linkpath) for k in ours.links)
    assert [t.name for t in theirs.tags] == [t.name for t in ours.tags]
    assert [(h.level, h.text) for h in theirs.headings] == [(h.level, h.text) for h in ours.headings]
