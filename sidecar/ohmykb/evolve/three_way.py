"""Two versions of a text that come of one are made one again, line by line; where both changed the same place, nobody
decides but a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that both changed, each in its way."""

    line: int
    """1-based in `ours`."""
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    text: str
    """Whole only without conflicts: at each of them it holds ours, then theirs."""
    conflicts: tuple[Conflict, ...]


def merge(base: str, ours: str, theirs: str) -> Merged:
    """diff3 over lines, with their ends: what one side left as it was, the other may change. The same change on both
    sides counts once."""
    old, left, right = (_lines(text) for text in (base, ours, theirs))
    own, other = _map(old, left), _map(old, right)
    result: list[str] = []
    conflicts: list[Conflict] = []
    at = at_left = at_right = 0
    for stop, stop_left, stop_right in _anchors(old, own, other, len(left), len(right)):
        before, one, two = old[at:stop], left[at_left:stop_left], right[at_right:stop_right]
        if one == two or two == before:
            result += one
        elif one == before:
            result += two
        elif (both := _beside(before, one, two) or _beside(before, two, one)) is not None:
            result += both
        else:
            conflicts.append(Conflict(at_left + 1, "".join(one), "".join(two)))
            result += _ended(one, two)
        if stop < len(old):
            result.append(old[stop])
        at, at_left, at_right = stop + 1, stop_left + 1, stop_right + 1
    return Merged("".join(result), tuple(conflicts))


def _beside(before: Sequence[str], one: Sequence[str], two: Sequence[str]) -> list[str] | None:
    """Where one side only added lines before or after what the other changed."""
    size = len(before)
    if not size or (two and not two[-1].endswith("\n")) or (one and not one[-1].endswith("\n")):
        return None
    if list(two[:size]) == list(before):
        return [*one, *two[size:]]
    if list(two[len(two) - size :]) == list(before):
        return [*two[: len(two) - size], *one]
    return None


def _lines(text: str) -> list[str]:
    found = text.split("\n")
    return [line + "\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def _map(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Line of the old → the same line in the new."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def _anchors(
    old: Sequence[str], own: dict[int, int], other: dict[int, int], left: int, right: int
) -> list[tuple[int, int, int]]:
    """Lines that all three have, as (place in each), and the end."""
    return [*((n, own[n], other[n]) for n in range(len(old)) if n in own and n in other), (len(old), left, right)]


def _ended(one: Sequence[str], two: Sequence[str]) -> list[str]:
    """Both, so that the first's last line does not run into the second's first."""
    if one and two and not one[-1].endswith("\n"):
        return [*one[:-1], one[-1] + "\n", *two]
    return [*one, *two]
