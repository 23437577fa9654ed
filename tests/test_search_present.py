"""Text for people: columns, cuts, and what each answer looks like."""

import pytest

from ohmykb.search import present
from ohmykb.search.present import PLAIN, Style, clip, clip_path, columns, pad, style


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("资金", 4), ("e\u0301", 1), ("ｱ", 1), ("Ａ", 2), ("a\u200bb", 2)]
)
def test_columns(text: str, width: int) -> None:
    assert columns(text) == width


def test_cuts_keep_within_the_columns() -> None:
    assert clip("abcdef", 4) == "abc…"
    assert clip("资金费率", 5) == "资金…"
    assert clip("资金费率", 8) == "资金费率"
    assert clip("a\nb\x1b[1m", 10) == "a b [1m"
    assert clip_path("folder/资金费率.md", 10) == "…金费率.md"
    assert pad("资", 4) == "资  "
    for width in range(1, 12):
        assert columns(clip("资a金b费c率", width)) <= width
        assert columns(clip_path("资a金b费c率", width)) <= width


def test_style() -> None:
    assert style(0, colour=False) == PLAIN
    assert style(20, colour=True).width == present.NARROWEST
    assert style(500, colour=True).width == present.WIDEST
    assert Style(80, colour=True).bold("x") == "\x1b[1mx\x1b[0m"
    assert Style(80).bold("x") == "x"


HIT = {
    "path": "a/资金费率.md", "title": "资金费率" * 30, "score": 0.876, "confidence": "high", "why": ["title", "text"],
    "heading": None, "line": 3, "snippet": "很长的一段话" * 50, "cite": "[[资金费率]]",
}  # fmt: skip


def test_a_probe() -> None:
    answer = {"query": "q", "mode": "token", "verdict": "read", "took_ms": 1.0, "results": [HIT], "degraded": "so"}
    text = present.probe(answer)
    assert "a/资金费率.md:3 · high 0.88 · title, text" in text
    assert text.endswith("read: worth opening\n(so)\n")
    assert all(columns(line) <= PLAIN.width for line in text.splitlines())
    assert present.probe({**answer, "results": [], "verdict": "skip"}).startswith("skip: nothing here")


def test_long_lists_are_cut_and_say_so() -> None:
    lone = [f"note {number}.md" for number in range(100)]
    text = present.orphans({"orphans": lone, "isolated": lone[:1], "notes": 200, "orphan_rate": 0.5})
    assert "100 of 200 notes (50%)" in text
    assert "… and 60 more" in text
    assert "(no links at all)" in text
    found = {"unresolved": [{"source": "笔记.md", "raw": "[[x]]", "line": 3, "suggestions": []}]}
    assert "1 link leads nowhere" in present.unresolved(found)
