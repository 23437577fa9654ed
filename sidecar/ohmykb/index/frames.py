"""Text that stands all over a vault: templates, frames of daily notes, headings of reading notes.

A line that stands in several notes says nothing about any of them, and would make notes near each
other for their frame alone (measured on daily notes: unrelated ones .36 alike with it, .06 without).
It is left out of what is encoded; words, snippets and citations keep it.
"""

import re
from collections.abc import Iterable

FRAME = 5
"""Notes that a line must stand in to be frame."""
_DIGITS = re.compile(r"\d+")
_CHANGING = re.compile(
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?|\d{1,2}[:：]\d\d(?::\d\d)?|[Ww]\d\d\b|\d{7,}(?:-\d+)*"
)
"""What a frame fills in by itself: dates, times, weeks, long numbers as of books. Other figures are what was noted."""


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
        """`text` without its lines of frame; may be empty."""
        return "\n".join(line for line in text.split("\n") if _key(line) not in self._frame).strip()


def _key(line: str) -> int:
    """The same for lines that differ only in spaces and in what a frame fills in."""
    line = " ".join(line.split())
    return hash((_DIGITS if line.startswith("#") else _CHANGING).sub("0", line))
