"""Cuts a note into slices that are encoded and cited as one: along headings, then paragraphs, then
sentences. Sizes are in Latin letters; a Chinese character weighs about 2.5 of them, which is what
tokenizers make of it."""

import re
import unicodedata
from itertools import pairwise

from ohmykb.note import Chunk, Scan

AIM = 1000
"""About 250 tokens."""
MOST = 1600
"""About 400 tokens: what an encoder takes in whole."""

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_LINE = re.compile(r"[\n\r]\s*")
_SENTENCE = re.compile(r"[.!?][\"')\]]*\s+|[。！？；…][”’」』）]*|[,:;]\s+|[，：、]")
_WORD = re.compile(r"\s+")


def size(text: str) -> int:
    """Weight in Latin letters: UTF-8 spends two bytes more on a CJK character than on a letter."""
    n = len(text)
    return n if text.isascii() else n + (len(text.encode("utf-8", "surrogatepass")) - n) * 3 // 4


def chunk(text: str, scan: Scan) -> list[Chunk]:
    """All text of the body that is not blank, in order; at most about `MOST` each."""
    body = scan.body
    end = len(text)
    if scan.body == 0 and text.startswith("\ufeff"):
        body = 1
    cr = "\r" in text
    first = 1 + _breaks(text, 0, body, cr=cr) if body > 1 else 1
    headings = scan.headings
    whole = text[body:]
    if size(whole) <= AIM:
        slices = [(body, end)]
    else:
        cuts = [body, *(h.start for h in headings if h.start > body), end]
        sections = [(a, b, size(text[a:b])) for a, b in pairwise(cuts)]
        slices = _join(text, sections)
    chunks: list[Chunk] = []
    here, line = body, first
    for a, b in slices:
        piece = text[a:b]
        bare = piece.strip()
        if not bare:
            continue
        a += len(piece) - len(piece.lstrip())
        b = a + len(bare)
        line += _breaks(text, here, a, cr=cr)
        here = a
        chunks.append(Chunk(a, b, line, _path(scan, a, b, text) if headings else ""))
    return chunks


def _breaks(text: str, start: int, end: int, *, cr: bool) -> int:
    """Ends of lines, of all three kinds. `cr`: whether the text has any but the plain one."""
    plain = text.count("\n", start, end)
    return plain + text.count("\r", start, end) - text.count("\r\n", start, end) if cr else plain


def _join(text: str, sections: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Small neighbouring sections become one slice; large ones are cut."""
    slices: list[tuple[int, int]] = []
    left = right = weight = 0
    for a, b, heavy in sections:
        if weight and weight + heavy <= AIM:
            right, weight = b, weight + heavy
            continue
        if weight:
            slices.append((left, right))
        if heavy > MOST:
            slices += _cut(text, a, b)
            weight = 0
        else:
            left, right, weight = a, b, heavy
    if weight:
        slices.append((left, right))
    return slices


def _cut(text: str, left: int, right: int) -> list[tuple[int, int]]:
    """Cuts a long stretch at the widest gaps that serve, greedily up to `AIM`."""
    pieces = _pieces(text, left, right, (_PARAGRAPH, _LINE, _SENTENCE, _WORD))
    slices: list[tuple[int, int]] = []
    start, weight = left, 0
    for a, b, heavy in pieces:
        if weight and weight + heavy > AIM:
            slices.append((start, a))
            start, weight = a, 0
        weight += heavy
        del b
    slices.append((start, right))
    return slices


def _pieces(text: str, left: int, right: int, gaps: tuple[re.Pattern[str], ...]) -> list[tuple[int, int, int]]:
    heavy = size(text[left:right])
    if heavy <= AIM:
        return [(left, right, heavy)]
    if not gaps:
        return _hard(text, left, right)
    found: list[tuple[int, int, int]] = []
    at = left
    for gap in gaps[0].finditer(text, left, right):
        found += _pieces(text, at, gap.end(), gaps[1:])
        at = gap.end()
    if at < right:
        found += _pieces(text, at, right, gaps[1:])
    return found


def _hard(text: str, left: int, right: int) -> list[tuple[int, int, int]]:
    """No gap at all (a link of ten thousand letters): cut by count, never inside a character that is
    made of several code points."""
    step = AIM if text[left:right].isascii() else AIM * 2 // 5
    found = []
    while left < right:
        cut = min(left + step, right)
        back = cut
        while back > left + step // 2 and back < right and _joined(text[back - 1], text[back]):
            back -= 1
        cut = back if back > left else cut
        found.append((left, cut, size(text[left:cut])))
        left = cut
    return found


def _joined(before: str, char: str) -> bool:
    return (
        bool(unicodedata.combining(char))
        or before == "\u200d"
        or char in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\udc00" <= char <= "\udfff"
    )


def _path(scan: Scan, start: int, end: int, text: str) -> str:
    """The headings that all text of the slice stands under."""
    stack: list[tuple[int, str]] = []
    common: list[tuple[int, str]] | None = None
    at = start
    for heading in scan.headings:
        if heading.start >= end:
            break
        if heading.start > start and text[at : heading.start].strip():
            common = stack[:] if common is None else _shared(common, stack)
        while stack and stack[-1][0] >= heading.level:
            stack.pop()
        stack.append((heading.level, heading.text))
        if heading.start >= start:
            at = text.find("\n", heading.start)
            at = len(text) if at < 0 else at
    if at >= end or text[at:end].strip() or common is None:
        common = stack if common is None else _shared(common, stack)
    return " > ".join(name for _, name in common if name)


def _shared(one: list[tuple[int, str]], other: list[tuple[int, str]]) -> list[tuple[int, str]]:
    same = []
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same.append(a)
    return same
