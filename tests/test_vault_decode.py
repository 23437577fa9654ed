import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.vault.decode import decode

CHINESE = "资金费率是永续合约的多头与空头之间定期交换的费用。\n# 标题\n[[链接]]\n"
WESTERN = "Le café était fermé, naïve façade — à bientôt.\nÜber Größe; mañana señor.\n"


@pytest.mark.parametrize("text", ["", "plain\n", CHINESE, "🍀", "\ufeffwith a mark", "a\r\nb\tc"])
def test_utf8_as_it_is(text: str) -> None:
    assert decode(text.encode()) == (text, ())


@pytest.mark.parametrize(
    "data, text, name",
    [
        (codecs.BOM_UTF16_LE + CHINESE.encode("utf-16-le"), CHINESE, "UTF-16"),
        (codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), CHINESE, "UTF-16"),
        (codecs.BOM_UTF32_LE + CHINESE.encode("utf-32-le"), CHINESE, "UTF-32"),
        (CHINESE.encode("gb18030"), CHINESE, "GB 18030"),
        (("# English first\n" + CHINESE).encode("gbk"), "# English first\n" + CHINESE, "GB 18030"),
        (WESTERN.encode("cp1252"), WESTERN, "Windows-1252"),
        ("caf\u00e9teria".encode("latin-1"), "caf\u00e9teria", "Windows-1252"),
        (b"broken \x81 byte", "broken \ufffd byte", "Windows-1252"),
    ],
)
def test_other_encodings_are_guessed_and_said(data: bytes, text: str, name: str) -> None:
    found, (problem,) = decode(data)
    assert found == text
    assert problem.code == "not-utf8"
    assert name in problem.message


def test_one_spoilt_character_does_not_spoil_a_chinese_note() -> None:
    data = CHINESE.encode() + b"\xe8\xb5" + CHINESE.encode()
    text, (problem,) = decode(data)
    assert problem.code == "not-utf8"
    assert text == CHINESE + "\ufffd" + CHINESE


def test_nul_bytes_are_kept_and_named_with_their_line() -> None:
    text, (problem,) = decode(b"a\nb\0c\n")
    assert text == "a\nb\0c\n"
    assert (problem.code, problem.line) == ("nul-bytes", 2)


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    text, problems = decode(data)
    text.encode()  # no lone surrogates: the text goes into SQLite
    assert all(problem.message.endswith(".") for problem in problems)
