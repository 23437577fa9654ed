"""The scanner against its independent reference on markdown-it-py: invented nasty text, then every
note of the public vaults."""

import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ohmykb.markdown.quick import quick
from ohmykb.markdown.reference import RefLink, reference
from ohmykb.markdown.scan import careful, scan
from ohmykb.note import Link, Tag

ACCEPTED: dict[str, str] = {}
"""Notes of the vaults on which the two may differ, each with the reason. There is none."""

# fmt: off
FRAGMENTS = [
    "a", "b c", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\n\n", "\r\n", "- ", "* ", "1. ", "2) ", "> ",
    ">", "# ", "## ", "#", "#tag", "#a/b", " #1", " #t1", "#中文", "[[A]]", "[[A|b]]", "[[A#H|c]]", "![[A]]",
    "[[", "]]", "[", "]", "![", "(", ")", "](", "[x](y.md)", "![x](y.png)", "[x](a%20b.md#h)", "[x](<a b.md>)",
    "[x](http://e.com/#f)", "[x][r]", "[r]", "[r]: B.md", "\n[r]: B.md\n", "[^1]", "[^1]: ", "`", "``", "```",
    "\n```\n", "~~~", "\n~~~\n", "$", "$$", "\n$$\n", "%%", "\n%%\n", "%% x %%", "<!--", "-->", "<div>",
    "\n<div>\n", "</div>", "<br>", "<b", ">", "<http://e.com/#x>", "\\", "\\[", "\\#", "\\|", "|",
    "| a | b |\n|---|---|\n", "---", "\n---\n", "===", "\n===\n", "***", "_", "*", "**", "~~", "==", "^id",
    " ^id\n", "&amp;", "'", "\"", ":", ".", "!",
]
# fmt: on

Seen = tuple[Counter[tuple[object, ...]], list[tuple[object, ...]], list[tuple[object, ...]]]


def flat(text: str) -> str:
    """What is compared of a stretch over several lines: containers put marks between them."""
    return "" if "\n" in text or "\r" in text else text


def row(link: Link | RefLink, line: int | None) -> tuple[object, ...]:
    raw = flat(link.raw)
    return link.kind, raw, link.linkpath, link.subpath, flat(link.display) if raw else "", line, link.key


def ours(text: str) -> Seen:
    found = scan(text)
    return (
        Counter(row(k, None if k.kind == "property" else k.line) for k in found.links),
        [(t.name, t.line if t.start >= 0 else None) for t in found.tags],
        [(h.level, h.text, h.line) for h in found.headings],
    )


def theirs(text: str) -> Seen:
    found = reference(text)
    return (
        Counter(row(k, k.line) for k in found.links),
        [tuple(t) for t in found.tags],
        [tuple(h) for h in found.headings],
    )


@settings(max_examples=1500, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_invented_text_is_read_as_the_reference_reads_it(text: str) -> None:
    # markdown-it does not see the end of a comment in `---->`, CommonMark does.
    assume(re.search("-{3,}>", text) is None)
    assert ours(text) == theirs(text)


# fmt: off
TRAPS = [
    "text", "\n", "\n", "\n    ", "- [ ] ", "[[A\\|b]]", "[[A#b #c]]", "[[#H]]", "[[A]]#t", "`x`", "`#a`#b", "``a`b``",
    "`` ` ``", "\\`", "$x$", "$$x$$", "$5", "<b>", "<!-- a -->", "[a\n", "](", "[a](b \"t\")", "> [!note] ", " #t_",
    "#a#b", "[^1]: `",
]
# fmt: on


@settings(max_examples=1500, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(FRAGMENTS + TRAPS), max_size=14).map("".join))
def test_the_quick_way_says_what_the_careful_way_says(text: str) -> None:
    """To the letter: places and block ids too, which the reference does not know."""
    text = text.replace("\r\n", " \n")
    links: list[Link] = []
    tags: list[Tag] = []
    found = quick(text, 0, 1, links, tags)
    slow = careful(text, text, 0, 1, {}, [], [], [])
    assert found is None or (links, tags, *found) == (slow.links, slow.tags, slow.headings, slow.blocks)


@pytest.mark.parametrize("vault", ["jacky-garden", "kepano-vault", "zh-knowledge-garden"])
def test_every_note_of_a_public_vault_is_read_as_the_reference_reads_it(
    shared: Path, tmp_path: Path, vault: str
) -> None:
    with tarfile.open(shared / "vaults" / f"{vault}.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    different = []
    notes = sorted(tmp_path.rglob("*.md"))
    for path in notes:
        text = path.read_text("utf-8", errors="replace")
        if ours(text) != theirs(text):
            different.append(path.relative_to(tmp_path).as_posix())
    assert len(notes) > 100
    assert [name for name in different if name not in ACCEPTED] == []


def test_the_quick_way_reads_nearly_all_notes(shared: Path, tmp_path: Path) -> None:
    """Else the scan is right but slow, and no other test would say so."""
    with tarfile.open(shared / "vaults" / "zh-knowledge-garden.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    texts = [path.read_text("utf-8", errors="replace") for path in sorted(tmp_path.rglob("*.md"))[::5]]
    careful = [text for text in texts if quick(text, scan(text).body, 1, [], []) is None]
    assert len(careful) < len(texts) / 20
