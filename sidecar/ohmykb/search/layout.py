"""Text on a terminal: its columns (a Chinese character takes two), cut or wrapped; elsewhere left as it is."""

import re
from dataclasses import dataclass
from unicodedata import category, east_asian_width

_JOINERS = "\u200c\u200d"
_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\U0001f300-\U0003fffd"
_WHOLE = re.compile(rf"[{_WIDE}]\s*|[^\s{_WIDE}]+\s*|\s+")
"""What is not broken in two if it can be helped."""

WIDEST = 110
NARROWEST = 40
LISTED = 40
"""Rows of a list on a terminal before it is cut; `--all` shows them all."""


@dataclass(frozen=True, slots=True)
class Style:
    """How wide to print, how much, and whether in colour."""

    width: int = 0
    """0: no terminal, nothing is cut or wrapped."""
    colour: bool = False
    most: int | None = None
    """Rows of a list; None: all."""

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.colour else text

    def cut(self, text: str, indent: int = 0) -> str:
        """One line, cut where a terminal ends: for what can be missed."""
        return clip(text, self.width - indent) if self.width else clean(text)

    def lines(self, text: str, indent: int = 0, hanging: int | None = None) -> list[str]:
        """All of the text, wrapped where a terminal ends."""
        hanging = indent if hanging is None else hanging
        if not self.width:
            return [" " * indent + clean(text)]
        return wrap(clean(text), self.width, " " * indent, " " * hanging)


PLAIN = Style()


def style(width: int, *, colour: bool, everything: bool = False) -> Style:
    """For a terminal of `width` columns; 0 where there is none."""
    if not width:
        return Style(colour=colour)
    return Style(min(max(width, NARROWEST), WIDEST), colour, None if everything else LISTED)


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, width: int) -> str:
    return text + " " * max(width - columns(text), 0)


def clean(text: str) -> str:
    """One line that is safe to print; `?` for bytes that are no text."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else "?" if category(c) == "Cs" else " " for c in text)


def wrap(text: str, width: int, first: str, later: str) -> list[str]:
    """Lines of at most `width` columns, broken at spaces and beside wide characters, else anywhere."""
    found: list[str] = []
    line, taken = first, columns(first)
    began = True
    for piece in _WHOLE.findall(text):
        size = columns(piece.rstrip())
        if not began and taken + size > width:
            found.append(line.rstrip())
            line, taken, began = later, columns(later), True
        if taken + size <= width:
            line, taken = line + piece, taken + columns(piece)
        else:
            for char in piece:
                if taken + columns(char) > width:
                    found.append(line.rstrip())
                    line, taken = later, columns(later)
                line, taken = line + char, taken + columns(char)
        began = False
    return [*found, line.rstrip()]


def clip(text: str, width: int) -> str:
    """Cut to `width` columns, with an ellipsis, and safe to print."""
    text = clean(text)
    if columns(text) <= width:
        return text
    kept, taken = [], 1
    for char in text:
        taken += columns(char)
        if taken > width:
            break
        kept.append(char)
    return "".join(kept) + "…"
