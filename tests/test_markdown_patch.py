"""Properties changed by line: all else keeps its bytes."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ohmykb.markdown.edits import apply_edits
from ohmykb.markdown.patch import PatchError, add_to_list, remove_property, set_property
from ohmykb.markdown.scan import scan

NOTE = """---
# mine
title: "A: b"   # keep
tags: [x, 'y']
aliases:
  - 一
  - "two"

other:   value
text: >-
  folded
  lines
---
# Body
title: not this
"""


def patched(text: str, key: str, value: object) -> str:
    return apply_edits(text, set_property(text, key, value))  # type: ignore[arg-type]


def test_one_line_changes() -> None:
    assert patched(NOTE, "title", "New") == NOTE.replace('title: "A: b"   # keep', "title: New   # keep")
    assert patched(NOTE, "other", 3) == NOTE.replace("other:   value", "other: 3")
    assert patched(NOTE, "kb_id", "a1") == NOTE.replace("  lines\n---", "  lines\nkb_id: a1\n---")
    assert patched(NOTE, "text", "short") == NOTE.replace("text: >-\n  folded\n  lines\n", "text: short\n")
    assert patched(NOTE, "aliases", ["z"]) == NOTE.replace('aliases:\n  - 一\n  - "two"\n', "aliases:\n  - z\n")


def test_lists_grow_in_their_style() -> None:
    grown = apply_edits(NOTE, add_to_list(NOTE, "tags", ["x", "a, b", "新"]))
    assert grown == NOTE.replace("[x, 'y']", "[x, 'y', \"a, b\", 新]")
    grown = apply_edits(NOTE, add_to_list(NOTE, "aliases", ["three: 3"]))
    assert grown == NOTE.replace('  - "two"\n', '  - "two"\n  - "three: 3"\n')
    assert add_to_list(NOTE, "tags", ["x"]) == ()
    assert scan(apply_edits(NOTE, add_to_list(NOTE, "other", ["more"]))).properties["other"] == ["value", "more"]


def test_taken_out() -> None:
    assert apply_edits(NOTE, remove_property(NOTE, "aliases")) == NOTE.replace('aliases:\n  - 一\n  - "two"\n', "")
    assert remove_property(NOTE, "none") == ()


@pytest.mark.parametrize(
    "text", ["", "body\n", "\ufeffbody\r\nmore\r\n", "---\n---\nbody\n", "\ufeff---\r\na: 1\r\n---\r\nx"]
)
def test_line_ends_and_marks_stay(text: str) -> None:
    after = patched(text, "kb", "v")
    assert scan(after).properties["kb"] == "v"
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\n" in after.replace("\r\n", "")) == ("\r\n" not in text)
    assert apply_edits(after, remove_property(after, "kb")).replace("---\r\n---\r\n", "").replace("---\n---\n", "") in (
        text, text.replace("---\n---\n", ""),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["---\na: [\n---\n", "---\nx: {{title}}\n---\n"])
def test_what_cannot_be_read_is_not_written(text: str) -> None:
    with pytest.raises(PatchError):
        set_property(text, "a", 1)


VALUES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12),
    st.integers(), st.booleans(), st.none(),
    st.lists(st.text("ab, :#'\"[]{}-字", min_size=1, max_size=6), max_size=3),
)  # fmt: skip


@given(st.sampled_from(["title", "tags", "aliases", "other", "text", "new key"]), VALUES)
def test_any_value_reads_back(key: str, value: object) -> None:
    before = scan(NOTE).properties
    try:
        after = patched(NOTE, key, value)
    except PatchError:
        return
    now = scan(after).properties
    assert now.pop(key) == value
    before.pop(key, None)
    assert now == before
    assert after.endswith("---\n# Body\ntitle: not this\n")
    assert "# mine\n" in after
