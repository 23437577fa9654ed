"""Text that stands all over a vault: templates, frames of daily notes, headings of reading notes.

A line that stands in several notes says nothing about any of them, and would make notes near each
other for their frame alone (measured on daily notes: unrelated ones .36 alike with it, .06 without).
It is left out of what is encoded; words, snippets and citations keep it.
"""

import re
from collections.abc import Iterable

from ohmykb.markdown.words import CHINESE_LETTER, is_chinese

FRAME = 5
"""Notes that a line must stand in to be frame."""
LABEL = 24
"""Letters of a label; a line with more to say is none, whatever is filled in."""
OWN_LETTERS = 16
"""Outside headings and labels, in all; from then on a text is somebody's own."""
_DIGITS = re.compile(r"\d+")
_CHANGING = re.compile(
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?|\d{1,2}[:：]\d\d(?::\d\d)?|[Ww]\d\d\b|\d{7,}(?:-\d+)*"
)
"""What a frame fills in by itself: dates, times, weeks, long numbers as of books. Other figures are what was noted."""
_BARE = re.compile(
    r"(?:#+(?:\s.*)?|.{1,40}[:：]|(?:[-*+]|\d+[.)])?\s*(?:\[ ?\])?|[-*_=|:\s]+|!?\[\[.*\]\]|[`~]{3}.*|<!--.*-->)"
)
"""A line that only holds other lines: headings, labels, empty items and boxes, rules, links alone."""


class Frames:
    """The lines that are frame, as they were when this was made."""

    def __init__(self, texts: Iterable[str]) -> None:
        notes: dict[int, int] = {}
        for text in texts:
            for key in {_key(line) for line in text.split("\n")}:
                notes[key] = notes.get(key, 0) + 1
        self._frame = {key for key, count in notes.items() if count >= FRAME}
        self._frame.discard(_key(""))

    def strip(self, text: str) -> str:
        """`text` without its lines of frame.

        A text that would be nothing but frame keeps all its lines: what was noted five times is still all that was
        noted. Only where none of them says a thing, as in a template that nobody filled in, it is empty.
        """
        lines = text.split("\n")
        left = "\n".join(line for line in lines if _key(line) not in self._frame).strip()
        if left or all(_bare(line) for line in lines):
            return left
        return text.strip()


def says_something(text: str) -> bool:
    """Whether somebody wrote more in it than a word or two: a form that nobody filled in says nothing."""
    return sum(_letters(line) for line in text.split("\n") if not _bare(line)) > OWN_LETTERS


def _bare(line: str) -> bool:
    line = _CHANGING.sub("", line).strip()
    return not line or _BARE.fullmatch(line) is not None


def _key(line: str) -> int:
    """The same for lines that differ only in spaces and in what a frame fills in: any figure of a heading,
    dates and such behind a label."""
    line = " ".join(line.split())
    if line.startswith("#"):
        return hash(_DIGITS.sub("0", line))
    plain = _CHANGING.sub("0", line)
    return hash(plain if _letters(plain) <= LABEL else line)


def _letters(line: str) -> float:
    """In Latin letters, signs and digits aside."""
    return sum(CHINESE_LETTER if is_chinese(char) else 1 for char in line if char.isalpha())
