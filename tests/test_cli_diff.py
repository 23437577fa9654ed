"""Diffs that people read: signs, marked words, columns."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ohmykb.cli.diff import show
from ohmykb.evolve.diffs import edits_between, unified
from ohmykb.markdown.edits import apply_edits, in_utf16
from ohmykb.search.layout import style

OLD = "# 标题\n\n见 [[资金費率]]，还有别的。\nkept\n"
NEW = "# 标题\n\n见 [[资金费率]]，还有别的。\nkept\n"


def test_plain() -> None:
    lines = show(unified("a.md", OLD, NEW), style(0, colour=False))
    assert lines == [
        "  line 1",
        "    # 标题",
        "    ",
        "  - 见 [[资金費率]]，还有别的。",
        "  + 见 [[资金费率]]，还有别的。",
        "    kept",
    ]


def test_the_word_that_differs_is_marked() -> None:
    coloured = "\n".join(show(unified("a.md", OLD, NEW), style(80, colour=True)))
    assert "资金\x1b[7m費\x1b[27m率" in coloured
    assert "资金\x1b[7m费\x1b[27m率" in coloured


def test_lines_that_look_like_headers() -> None:
    lines = show(unified("a.md", "-- x\n++ y\n", "-- z\n"), style(0, colour=False))
    assert lines[1:] == ["  - -- x", "  - ++ y", "  + -- z"]


@pytest.mark.parametrize(("before", "after"), [(None, "new\n"), ("gone", None), ("a", "a\n"), ("a\r\n", "b\r\n")])
def test_files_that_come_and_go(before: str | None, after: str | None) -> None:
    diff = unified("a.md", before, after)
    assert diff.startswith("--- /dev/null\n" if before is None else "--- a.md\n")
    assert ("\\ No newline" in diff) == (before in ("gone", "a"))


@given(st.text("ab\r\n字😀", max_size=40), st.text("ab\r\n字😀", max_size=40))
def test_edits_make_the_one_of_the_other(before: str, after: str) -> None:
    edits = edits_between(before, after)
    assert apply_edits(before, edits) == after
    units = before.encode("utf-16-le", "surrogatepass")
    for edit in sorted(in_utf16(before, edits), reverse=True):
        units = units[: 2 * edit.start] + edit.text.encode("utf-16-le") + units[2 * edit.end :]
    assert units.decode("utf-16-le") == after
