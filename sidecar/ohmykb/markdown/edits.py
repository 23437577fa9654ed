"""Changes to a text as replacements of slices: what is not named keeps its bytes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """`text` in place of what stands from `start` up to `end`, code points of the text before."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, whose places are those of `text`. Raises ValueError where two overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at or not edit.start <= edit.end <= len(text):
            raise ValueError(f"edits overlap or leave the text at {edit.start}")
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def in_utf16(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The same edits with places in UTF-16 units, as JavaScript counts."""
    if text.isascii():
        return list(edits)
    return [Edit(_units(text, edit.start), _units(text, edit.end), edit.text) for edit in edits]


def _units(text: str, end: int) -> int:
    return len(text[:end].encode("utf-16-le", "surrogatepass")) // 2
