"""Text for people: columns, cuts, and what each answer looks like."""

import pytest

from ohmykb.search import layout, present
from ohmykb.search.layout import PLAIN, Style, clean, clip, columns, pad, style, wrap


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
    assert pad("资", 4) == "资  "
    for width in range(1, 12):
        assert columns(clip("资a金b费c率", width)) <= width


def test_style() -> None:
    assert style(0, colour=False) == PLAIN
    assert style(20, colour=True).width == layout.NARROWEST
    assert style(500, colour=True).width == layout.WIDEST
    assert Style(80, colour=True).bold("x") == "\x1b[1mx\x1b[0m"
    assert Style(80).bold("x") == "x"


HIT = {
    "path": "a/资金费率.md", "title": "资金费率" * 30, "score": 0.876, "confidence": "high", "why": ["title", "text"],
    "heading": None, "line": 3, "snippet": "很长的一段话" * 50, "cite": "[[资金费率]]",
}  # fmt: skip


def test_a_probe() -> None:
    answer = {"query": "q", "mode": "token", "verdict": "read", "took_ms": 1.0, "results": [HIT], "degraded": "so"}
    text = present.probe(answer)
    assert "a/资金费率.md:3 · high 0.88 · title, text · [[资金费率]]" in text
    assert text.endswith("read: worth opening\n(so)\n")
    assert "很长的一段话" * 50 in text
    for width in (40, 80):
        narrow = present.probe(answer, style(width, colour=False))
        assert all(columns(line) <= width for line in narrow.splitlines())
        assert "[[资金费率]]" in narrow.replace("\n   ", "")
    nothing = {**answer, "results": [], "verdict": "skip"}
    assert present.probe(nothing).startswith("skip: nothing here so far\n")
    del nothing["degraded"]
    assert present.probe(nothing) == "skip: nothing here that answers\n"
    assert "nothing certain; the nearest notes are above" in present.probe({**answer, "verdict": "skip"})


def test_nothing_is_lost_by_wrapping() -> None:
    text = "wiki/一个很长的名字/note with words.md:12: [[另一个 name]] → somewhere/else.md"
    for width in range(20, 100, 7):
        lines = wrap(text, width, "", "    ")
        assert all(columns(line) <= width for line in lines)
        assert "".join("".join(lines).split()) == "".join(text.split())
    assert clean("a\udcff\nb\x1b") == "a? b "


def test_links_that_lead_nowhere_can_be_searched_by_line() -> None:
    path = "a/" * 80 + "笔记.md"
    links = [{"source": path, "raw": "[[x]]", "line": 3, "suggestions": [{"path": "b/x1.md"}]}] * 60
    text = present.unresolved({"unresolved": links})
    assert text.splitlines()[1:] == [f"{path}:3: [[x]] → b/x1.md"] * 60
    seen = present.unresolved({"unresolved": links}, style(80, colour=False))
    assert "… and 20 more (--all shows them)" in seen
    assert "more" not in present.unresolved({"unresolved": links}, style(80, colour=False, everything=True))


def test_a_problem_is_never_cut() -> None:
    one = {"path": "p" * 200 + ".md", "line": 4, "code": "x", "message": "word " * 60 + "end"}
    assert present.problems({"problems": [one]}).splitlines()[1] == f"{one['path']}:4: {one['message']}"
    narrow = present.problems({"problems": [one]}, style(40, colour=False))
    assert all(columns(line) <= 40 for line in narrow.splitlines())
    assert "".join(narrow.split()).endswith("end")


def test_neighbours_one_row_a_note() -> None:
    def tie(path: str, relation: str, hops: int = 1, via: str | None = None) -> dict[str, object]:
        return {"path": path, "title": path, "hops": hops, "via": via, "relation": relation}

    near = [tie("a.md", "backlink"), tie("a.md", "link"), tie("c.md", "link", 2, "x/b.md")]
    alike = [tie(f"t{number}.md", "type", via="concept") for number in range(9)]
    text = present.query({"note": "n.md", "neighbors": [*alike, *near], "related": [], "degraded": "so"})
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert rows[1:4] == ["backlink, link a.md a.md", "through b c.md c.md", "type concept t0.md t0.md"]
    assert rows[-2:] == ["… and 4 more of the same type or domain (--json)", "(so)"]


def test_long_lists_are_cut_and_say_so() -> None:
    lone = [f"note {number}.md" for number in range(100)]
    answer = {"orphans": lone, "isolated": lone[:1], "notes": 200, "orphan_rate": 0.5}
    assert "more" not in present.orphans(answer)
    text = present.orphans(answer, style(80, colour=False))
    assert "100 of 200 notes (50%)" in text
    assert "… and 60 more" in text
    assert "(no links at all)" in text
    found = {"unresolved": [{"source": "笔记.md", "raw": "[[x]]", "line": 3, "suggestions": []}]}
    assert "1 link leads nowhere" in present.unresolved(found)
