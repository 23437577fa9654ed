"""Headings and block ids that were renamed inside a note, told from its text before and after.

Only what cannot well be anything else counts: in the same place among its neighbours, and either alike
by name or over the same text.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ohmykb.markdown.scan import scan
from ohmykb.note import Block
from ohmykb.store import displaced, links, notes
from ohmykb.store.anchors import Renamed, anchor_key, plain
from ohmykb.store.connection import Database
from ohmykb.store.notes import NoteRow

ALIKE = 0.5
"""Likeness (difflib's ratio, 0 to 1) from which one heading in the place of another is the same, renamed."""

_DIGITS = re.compile(r"\d+")
_BLANK = re.compile(r"\n[ \t>]*\n")


class Section(NamedTuple):
    level: int
    text: str
    under: str
    """The text between this heading and the next; where there is none, all up to the next of its level."""


def renamed_in(db: Database, state: Database, rows: Iterable[NoteRow]) -> list[Renamed]:
    """What was renamed in notes that are about to be stored. Nothing is looked at where no link would break."""
    found: list[Renamed] = []
    for row in rows:
        before = links.headings_and_blocks(db, row.id)
        headings = json.loads(before[0])
        blocks = json.loads(before[1])
        some = _went([h[1] for h in headings], [h.text for h in row.headings], plain)
        if not some and not _went(blocks, row.blocks, str.lower):
            continue
        if not (links.has_subpaths_into(db, row.id) or displaced.has_subpaths_into(state, row.path)):
            continue
        text = notes.text(db, row.id)
        if some:
            old = _sections(text, [(level, heading, line) for level, heading, line in headings])
            new = _sections(row.text, [(h.level, h.text, h.line) for h in row.headings])
            found += (Renamed(row.path, "heading", a, b) for a, b in renamed_headings(old, new))
        if blocks and row.blocks:
            found += (
                Renamed(row.path, "block", a, b)
                for a, b in renamed_blocks(_marked(text, scan(text).blocks), _marked(row.text, scan(row.text).blocks))
            )
    return found


def _went(old: Sequence[str], new: Sequence[str], key: Callable[[str], str]) -> bool:
    return old != new and not {key(one) for one in old} <= {key(one) for one in new}


def renamed_headings(old: Sequence[Section], new: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """(old text, new text)."""
    before, after = [plain(one.text) for one in old], [plain(one.text) for one in new]
    went, came = set(before) - set(after), set(after) - set(before)
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what != "replace":
            continue
        gone = [one for one, key in zip(old[i:j], before[i:j], strict=True) if key in went]
        fresh = [one for one, key in zip(new[k:m], after[k:m], strict=True) if key in came]
        if len(gone) == len(fresh) == 1:
            if gone[0].level == fresh[0].level and (_same_text(gone[0], fresh[0]) or _alike(gone[0], fresh[0])):
                yield gone[0].text, fresh[0].text
        elif len(gone) == len(fresh):
            for a, b in zip(gone, fresh, strict=True):
                if a.level == b.level and _same_text(a, b):
                    yield a.text, b.text
        else:
            times = Counter(one.under for one in (*gone, *fresh))
            for a in gone:
                for b in fresh:
                    if a.level == b.level and _same_text(a, b) and times[a.under] == 2:
                        yield a.text, b.text


def _same_text(a: Section, b: Section) -> bool:
    """The text under them stayed. Days and versions over one form are not one another: numbers tell them apart."""
    return bool(a.under) and a.under == b.under and _one_number(a, b)


def _alike(a: Section, b: Section) -> bool:
    """A name mended, over text that was mended at most."""
    return (
        _one_number(a, b)
        and SequenceMatcher(None, a.text.lower(), b.text.lower(), autojunk=False).ratio() >= ALIKE
        and (a.under == b.under or SequenceMatcher(None, a.under, b.under, autojunk=False).ratio() >= ALIKE)
    )


def _one_number(a: Section, b: Section) -> bool:
    left, right = _DIGITS.findall(a.text), _DIGITS.findall(b.text)
    return not (left and right) or left == right


def _sections(text: str, headings: Sequence[tuple[int, str, int]]) -> list[Section]:
    """`headings` as (level, text, 1-based line)."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = []
    for number, (level, heading, line) in enumerate(headings):
        end = headings[number + 1][2] - 1 if number + 1 < len(headings) else len(lines)
        under = "\n".join(lines[line:end]).strip()
        if not under:
            whole = next((at - 1 for depth, _, at in headings[number + 1 :] if depth <= level), len(lines))
            under = "\n".join(lines[line:whole]).strip()
        found.append(Section(level, heading, under))
    return found


def renamed_blocks(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """(old id, new id) of blocks given as (id, text)."""
    went = {anchor_key("block", name) for name, _ in old} - {anchor_key("block", name) for name, _ in new}
    came = {anchor_key("block", name) for name, _ in new} - {anchor_key("block", name) for name, _ in old}
    gone: dict[str, list[str]] = {}
    fresh: dict[str, list[str]] = {}
    for blocks, keys, into in ((old, went, gone), (new, came, fresh)):
        for name, text in blocks:
            if text and anchor_key("block", name) in keys:
                into.setdefault(text, []).append(name)
    for text, names in gone.items():
        if len(names) == len(fresh.get(text, ())):
            yield from zip(names, fresh[text], strict=True)


def _marked(text: str, blocks: Sequence[Block]) -> list[tuple[str, str]]:
    """(id, text of the block): its line up to the mark, or the paragraph above a mark on a line of its own."""
    found = []
    for block in blocks:
        above = text[: block.start].replace("\r\n", "\n")
        line = above.rsplit("\n", 1)[-1].strip(" \t>")
        if not line:
            line = _BLANK.split(above.rstrip(" \t>\n"))[-1].strip()
        found.append((block.id, line))
    return found
