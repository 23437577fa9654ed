"""Chunks: all text, in order, in slices that fit an encoder, under the right headings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.markdown.chunks import MOST, chunk, size
from ohmykb.markdown.scan import scan
from ohmykb.note import Chunk


def chunks(text: str) -> list[Chunk]:
    read = scan(text)
    found = chunk(text, read)
    at = read.body
    for one in found:
        assert one.start >= at
        assert one.end > one.start
        assert not text[at : one.start].replace("\ufeff", "").strip()
        at = one.end
    return found


def words(text: str) -> str:
    return "".join(text.split()).replace("\ufeff", "")


def test_a_short_note_is_one_chunk() -> None:
    text = "---\na: 1\n---\n\n# H\n\ntext\n\n## I\n\nmore\n"
    assert chunks(text) == [Chunk(text.index("# H"), len(text) - 1, 5, "H")]


def test_nothing_but_blanks_is_no_chunk() -> None:
    assert chunks("") == []
    assert chunks("---\na: 1\n---\n \n\n") == []


def test_long_sections_stand_under_their_headings() -> None:
    long = "Some words of no great weight. " * 30
    text = f"# Top\n\n{long}\n\n## One\n\n{long}\n\n## Two\n\n{long}\n\n### Deep\n\n{long}"
    assert [(c.heading, c.line) for c in chunks(text)] == [
        ("Top", 1), ("Top > One", 5), ("Top > Two", 9), ("Top > Two > Deep", 13),
    ]  # fmt: skip


def test_small_neighbours_share_a_chunk_and_what_they_stand_under() -> None:
    small = "A few words here. " * 6
    text = "# Top\n\n" + "".join(f"## S{n}\n\n{small}\n\n" for n in range(20))
    found = chunks(text)
    assert len(found) < 10
    assert {c.heading for c in found} == {"Top"}


def test_a_chinese_character_weighs_two_and_a_half_letters() -> None:
    assert size("a" * 100) == 100
    assert size("字" * 100) == 250
    text = "资金费率是多空双方之间的费用。" * 200
    found = chunks(text)
    assert all(size(text[c.start : c.end]) <= MOST for c in found)
    assert all(text[c.end - 1] == "。" for c in found)


def test_text_without_a_gap_is_cut_but_no_character_is() -> None:
    family = "👨\u200d👩\u200d👧"
    text = family * 2000
    found = chunks(text)
    assert all(text[c.start] == "👨" for c in found)
    assert "".join(text[c.start : c.end] for c in found) == text


@pytest.mark.parametrize("text", ["\n\n# H\nx\r", "\r\r# H", "\r\n\r# H\n", "a\r\n\r\n# H"])
def test_lines_end_in_three_ways(text: str) -> None:
    assert [one.line for one in chunks(text)][-1:] == [3 if "a" not in text else 1]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["\n\n", "\n", "# H\n", "## I\n", " ", "。", ". ", "```\nx\n```\n", "\r\n"]),
            st.text(max_size=5),
            st.integers(1, 900).map(lambda n: "word " * n),
            st.integers(1, 900).map(lambda n: "字" * n),
        ),
        max_size=12,
    ).map("".join)
)
def test_all_text_is_covered_and_no_chunk_is_too_large(text: str) -> None:
    found = chunks(text)
    body = scan(text).body
    assert words("".join(text[c.start : c.end] for c in found)) == words(text[body:])
    assert all(size(text[c.start : c.end]) <= MOST for c in found)
    for one in found:
        assert one.line == 1 + text.replace("\r\n", "\n\n").replace("\r", "\n")[: one.start].count("\n") - text[
            : one.start
        ].count("\r\n")
