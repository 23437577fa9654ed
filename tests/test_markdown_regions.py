"""Text that is broken, huge or made to hurt: read without a crash and in linear time.

Nothing is timed. A quadratic reading of these 200,000 characters takes minutes, which no run bears."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.chunks import chunk
from ohmykb.markdown.items import list_items
from ohmykb.markdown.scan import scan
from ohmykb.note import Scan

UNITS = [
    "[", "[[", "]]", "](", "[a](", "[[a", "[[a]]", "![", "`", "`a``", "$", "$a ", "$$", "<", "<!--", "<a ",
    "<a x=\"", "<?", "%%", "> ", "#", "#a", "^a", "*", "_", "~~~", "\\", "|", "| a ", "&", "- ", "- [ ] ",
    "1. ", "# ", "[a]: b\n", "[^1]:", "[a][a]", "\n", "\r", "\t", "    ", "a\n", "> a\n", "- a\n", "`\n",
    "$x\n", "[a\n", "<div>\n", "\n    ", "\u0000", "{{", "\ufeff",
]  # fmt: skip
LENGTH = 200_000


def everything(text: str) -> Scan:
    found = scan(text)
    chunk(text, found)
    list_items(text)
    for link in found.links:
        if link.start >= 0:
            assert text.startswith(link.raw, link.start)
    for tag in found.tags:
        if tag.start >= 0:
            assert text.startswith("#" + tag.name, tag.start)
    for heading in found.headings:
        assert 1 <= heading.level <= 6
    return found


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("before", ["", "---\na: 1\n---\n"], ids=["bare", "after properties"])
def test_repeats(unit: str, before: str) -> None:
    everything(before + unit * (LENGTH // len(unit)))


@pytest.mark.parametrize(
    "unit", ["[[", '"[[', "a: [", "- - ", "{", "&a [", "*a, ", "a: b\n", "- x\n", "'", '"'], ids=repr
)
def test_repeats_in_the_properties(unit: str) -> None:
    everything("---\nk: " + unit * (20_000 // len(unit)) + "\n---\ntext [[A]]\n")


def test_a_line_of_a_hundred_thousand_characters() -> None:
    found = everything("x" * 100_000 + " [[A]] " + "字" * 100_000 + " #tag")
    assert [k.linkpath for k in found.links] == ["A"]
    assert [t.name for t in found.tags] == ["tag"]


def test_aliases_of_aliases_end() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    found = everything(f"---\n{bomb}---\n[[A]]\n")
    assert found.properties == {}
    assert [p.code for p in found.problems] == ["bad-yaml"]
    assert [k.linkpath for k in found.links] == ["A"]


def test_an_alias_within_itself_ends() -> None:
    found = everything("---\na: &a [*a]\n---\n[[A]]\n")
    assert [p.code for p in found.problems] == ["bad-yaml"]


@given(st.text(max_size=300))
def test_any_text_at_all(text: str) -> None:
    everything(text)
    everything("---\n" + text)
    scan_canvas(text)


@given(st.text(alphabet="-: \n\r\t#[]{}'\"|>&*!?,ab1.<%\x00\ufeff\u2028", max_size=60))
def test_any_properties_at_all(text: str) -> None:
    found = everything(f"---\n{text}\n---\n[[A]]")
    assert all(p.message and (p.line or 0) >= 1 for p in found.problems)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_give_the_same_lines(end: str) -> None:
    text = '---\nup: "[[U]]"\ntags: [t]\n---\n# H\n\n[[A]] `x`\n\n```\n[[no]]\n```\n- [b](B.md) #tag ^id\n'
    plain, other = scan(text), everything(text.replace("\n", end))
    assert [(k.raw, k.linkpath, k.line) for k in other.links] == [(k.raw, k.linkpath, k.line) for k in plain.links]
    assert [(t.name, t.line) for t in other.tags] == [(t.name, t.line) for t in plain.tags]
    assert [(h.text, h.line) for h in other.headings] == [(h.text, h.line) for h in plain.headings]
    assert [(b.id, b.line) for b in other.blocks] == [(b.id, b.line) for b in plain.blocks]


def test_a_byte_order_mark_is_skipped() -> None:
    found = everything("\ufeff---\na: 1\n---\n# H\n[[A]]")
    assert found.properties == {"a": 1}
    assert [(h.text, h.line) for h in found.headings] == [("H", 4)]
    assert everything("\ufeff# H").headings[0].start == 1
