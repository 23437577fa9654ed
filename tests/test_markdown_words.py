"""The words a text is found by: how they are folded, and where they begin."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.markdown.words import fold, is_paired, segment, segment_all, tokens

MIXED = st.text(
    st.one_of(
        st.sampled_from(
            "abcXYZ 019.,-_'\n\t\x00\x1f资金费率資費率，。カガｶﾞ한국ไทย😀👍🏽𠀀éÉßİſΑαяЯﬁ①Ａ　\u200b\u0301\ufe0f々〇"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ABC", "abc"),
        ("ＡＢＣ１２", "abc12"),
        ("Café", "cafe"),
        ("Cafe\u0301", "cafe"),
        ("資金費率", "资金费率"),
        ("體會發現", "体会发现"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("Straße", "straße"),
        ("ПРИВЕТ", "привет"),
        ("Øre", "øre"),
        ("😀", "😀"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("资金费率", ["资金", "金费", "费率", "率"]),
        ("资", ["资"]),
        ("BTC资金", ["btc", "资金", "金"]),
        ("看BTC吧", ["看", "btc", "吧"]),
        ("资金，费率", ["资金", "金", "费率", "率"]),
        ("a-b_c.d", ["a", "b", "c", "d"]),
        ("don't", ["don", "t"]),
        ("😀👍", ["😀👍", "👍"]),
        ("x😀", ["x", "😀"]),
        ("한국어", ["한국", "국어", "어"]),
        ("第1章", ["第", "1", "章"]),
        ("", []),
        (" \n\t.,;", []),
        ("naïve Ünïcode", ["naive", "unicode"]),
        ("ab\x00cd", ["ab", "cd"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(MIXED)
def test_fold_is_settled_after_once(text: str) -> None:
    once = fold(text)
    assert fold(once) == once


@given(MIXED)
def test_forms_of_unicode_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@given(MIXED)
def test_folded_text_has_the_same_tokens(text: str) -> None:
    assert tokens(fold(text)) == tokens(text)


@given(MIXED, MIXED)
def test_texts_are_segmented_together_as_alone(one: str, other: str) -> None:
    alone = [tokens(text.replace("\x1f", " ")) for text in (one, other)]
    assert [segmented.split() for segmented in map(_spaced, segment_all([one, other]))] == alone


def _spaced(segmented: str) -> str:
    return "".join(c if c >= "\x80" or c.isalnum() else " " for c in segmented)


@given(MIXED)
def test_every_paired_character_begins_a_token(text: str) -> None:
    found = tokens(text)
    for char in fold(text):
        if char.strip() and unicodedata.category(char) == "Lo" and is_paired(char) and tokens(char) == [char]:
            assert any(token.startswith(char) for token in found), char


@given(MIXED)
def test_tokens_hold_no_separator(text: str) -> None:
    for token in tokens(text):
        assert token
        assert not any(c.isspace() or (c < "\x80" and not c.isalnum()) for c in token), token
        assert is_paired(token) is False or len(token) <= 2


@given(st.text())
def test_any_text_is_segmented(text: str) -> None:
    segment(text)
    fold(text)
