"""The scanner against its independent reference on markdown-it-py: invented nasty text, then every
note of the public vaults."""

import os
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ohmykb.markdown.quick import quick
from ohmykb.markdown.reference import reference
from ohmykb.markdown.scan import scan

SHARED = Path(os.environ.get("OHMYKB_SHARED", Path(__file__).parents[1].parent / "shared"))

FRAGMENTS = [
    "a", "b c", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\n\n", "\r\n", "- ", "* ", "1. ", "2) ", "> ", ">", "# ", "## ",
    "#", "#tag", "#a/b", " #1", " #t1", "#中文", "[[A]]", "[[A|b]]", "[[A#H|c]]", "![[A]]", "[[", "]]", "[", "]", "![", "(", ")",
    "](", "[x](y.md)", "![x](y.png)", "[x](a%20b.md#h)", "[x](<a b.md>)", "[x](http://e.com/#f)", "[x][r]", "[r]", "[r]: B.md",
    "\n[r]: B.md\n", "[^1]", "[^1]: ", "`", "``", "```", "\n```\n", "~~~", "\n~~~\n", "$", "$$", "\n$$\n", "%%", "\n%%\n", "%% x %%",
    "<!--", "-->", "<div>", "\n<div>\n", "</div>", "<br>", "<b", ">", "<http://e.com/#x>", "\\", "\\[", "\\#", "\\|", "|", "| a | b |\n|---|---|\n",
    "---", "\n---\n", "===", "\n===\n", "***", "_", "*", "**", "~~", "==", "^id", " ^id\n", "&amp;", "'", '"', ":", ".", "!",
]  # fmt: skip

Seen = tuple[Counter[tuple[object, ...]], list[tuple[object, ...]], list[tuple[object, ...]]]


def flat(text: str) -> str:
    """What is compared of a stretch over several lines: containers put marks between them."""
    return "" if "\n" in text or "\r" in text else text


def ours(text: str) -> Seen:
    found = scan(text)
    return (
        Counter(
            (k.kind, flat(k.raw), k.linkpath, k.subpath, flat(k.display) if flat(k.raw) else "", k.line if k.kind != "property" else None, k.key)
            for k in found.links
        ),
        [(t.name, t.line if t.start >= 0 else None) for t in found.tags],
        [(h.level, h.text, h.line) for h in found.headings],
    )  # fmt: skip


def theirs(text: str) -> Seen:
    found = reference(text)
    return (
        Counter(
            (k.kind, flat(k.raw), k.linkpath, k.subpath, flat(k.display) if flat(k.raw) else "", k.line, k.key)
            for k in found.links
        ),
        [tuple(t) for t in found.tags],
        [tuple(h) for h in found.headings],
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_invented_text_is_read_as_the_reference_reads_it(text: str) -> None:
    assert ours(text) == theirs(text)
