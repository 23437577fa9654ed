"""Two versions made one: what neither touched together is merged, the rest is asked."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ohmykb.evolve.three_way import merge

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "字\n", "\n"]), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "a\nb\nc\n", "a\nc\n", "a\nc\n"),
        ("a\n", "a\nours\n", "a\nours\n", "a\nours\n"),
        ("a\r\nb\r\n", "a\r\nb\r\nx\r\n", "A\r\nb\r\n", "A\r\nb\r\nx\r\n"),
        ("", "new\n", "", "new\n"),
        ("a\nb", "a\nb", "a\nB", "a\nB"),
        ("a\nb\n", "a\nB\n", "a\nb\nnew\n", "a\nB\nnew\n"),
        ("a\nb\n", "new\na\nb\n", "A\nb\n", "new\nA\nb\n"),
    ],
)
def test_merged(base: str, ours: str, theirs: str, merged: str) -> None:
    found = merge(base, ours, theirs)
    assert found.conflicts == ()
    assert found.text == merged


def test_the_same_place_is_asked() -> None:
    found = merge("a\nb\nc\n", "a\nours\nc\n", "a\ntheirs\nc\n")
    (conflict,) = found.conflicts
    assert (conflict.line, conflict.ours, conflict.theirs) == (2, "ours\n", "theirs\n")
    assert found.text == "a\nours\ntheirs\nc\n"


@given(LINES, LINES, LINES)
def test_no_line_goes_that_its_side_did_not_take_away(base: str, ours: str, theirs: str) -> None:
    found = merge(base, ours, theirs)
    merged = found.text.splitlines()
    for line in {*ours.splitlines(), *theirs.splitlines()} - set(base.splitlines()):
        assert line in merged
    if not found.conflicts and ours == base:
        assert found.text == theirs
    if not found.conflicts and theirs == base:
        assert found.text == ours
