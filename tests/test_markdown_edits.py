"""Edits: replaced slices, and their places as JavaScript counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.markdown.edits import Edit, apply_edits, in_utf16


def test_what_is_not_named_stays() -> None:
    assert apply_edits("abcdef", [Edit(4, 5, "E"), Edit(0, 1, ""), Edit(2, 2, "-")]) == "b-cdEf"
    assert apply_edits("", [Edit(0, 0, "x")]) == "x"
    assert apply_edits("a\r\nb", []) == "a\r\nb"


@pytest.mark.parametrize(
    "edits", [[Edit(0, 2, ""), Edit(1, 3, "")], [Edit(2, 9, "")], [Edit(2, 1, "")], [Edit(-1, 1, "")]]
)
def test_edits_that_overlap_or_leave_the_text_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abc", edits)


TEXT = st.text(st.sampled_from("ab文😀é\u200d\n"), max_size=20)


@given(TEXT, st.lists(st.integers(0, 20), min_size=2, max_size=6), TEXT)
def test_places_in_utf16_lead_to_the_same_text(text: str, places: list[int], new: str) -> None:
    ends = sorted({min(place, len(text)) for place in places})
    edits = [Edit(a, b, new) for a, b in zip(ends[::2], ends[1::2], strict=False)]
    units = text.encode("utf-16-le")
    for edit in reversed(in_utf16(text, edits)):
        units = units[: 2 * edit.start] + edit.text.encode("utf-16-le") + units[2 * edit.end :]
    assert units.decode("utf-16-le") == apply_edits(text, edits)
