"""Edits that write one link anew: in a note at its place, in the quotes of a property, in the strings of a canvas."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import yaml

from ohmykb.markdown.canvas_places import Token, nodes
from ohmykb.markdown.edits import Edit
from ohmykb.markdown.rewrite import retarget
from ohmykb.markdown.scan import scan
from ohmykb.markdown.yaml_places import composed, front, scalars
from ohmykb.note import Link

_YAML_ESCAPE: Final = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^xuU\n])|[^\\\n]")
_BEFORE: Final = re.compile(r"(?:[&!]\S*\s+)*")
"""Anchors and types, which the loader counts as part of a value."""
_SINGLE: Final = re.compile(r"''|[^'\n]")
_JSON_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]|[^\\]"
)
_BEYOND: Final = re.compile(r"\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])")
"""Escaped though no control character: the writer of this file leaves only ASCII."""
_UPPER: Final = re.compile(r"\\u[0-9a-fA-F]*[A-F]")
_HEX: Final = re.compile(r"\\u[0-9a-f]{4}")

Escape = Callable[[str], str]


class _Slot(NamedTuple):
    """Where a stretch of a string stands, character by character, and how text is written there."""

    places: Sequence[int]
    """One more than it has characters."""
    escape: Escape


def link_edit(text: str, link: Link, new_raw: str, body: int | None = None) -> tuple[Edit, ...] | None:
    """For a link of a note's text as it stands (`body`: where the frontmatter ends, where that is known). None where
    its place is not certain, or its quotes cannot hold the new text."""
    start, raw = link.start, link.raw
    if link.kind == "property":
        slot = _property_slot(text, link, body)
        return None if slot is None else (_least(slot, raw, new_raw),)
    if start < 0 or not text.startswith(raw, start):
        return None
    return (_least(_Slot(range(start, start + len(raw) + 1), str), raw, new_raw),)


def _least(slot: _Slot, old: str, new: str) -> Edit:
    """Only what differs: the brackets and the words shown stay untouched."""
    shorter = min(len(old), len(new))
    same = 0
    while same < shorter and old[same] == new[same]:
        same += 1
    last = 0
    while last < shorter - same and old[-1 - last] == new[-1 - last]:
        last += 1
    return Edit(slot.places[same], slot.places[len(old) - last], slot.escape(new[same : len(new) - last]))


# --- properties


def _property_slot(text: str, link: Link, body: int | None) -> _Slot | None:
    start, end = link.start, link.start + len(link.raw)
    if start >= 0 and body is not None and text.find(link.raw) == start and text.find(link.raw, end, body) < 0:
        mark = text[start - 1]
        if mark in "'\"" and text.startswith(mark, end) and text.startswith(link.raw, start):
            return _Slot(range(start, end + 1), _single if mark == "'" else _double)
    return _composed_slot(text, link)


def _composed_slot(text: str, link: Link) -> _Slot | None:
    """By the loader: for quotes with escapes, white space around, links named twice, comments that look so."""
    there = front(text)
    try:
        found = [node for path, node in scalars(composed(there.source)) if path == link.key]
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if len(found) != 1:
        return None
    (node,) = found
    value = str(node.value)
    first = value.find(link.raw)
    if value.strip() != link.raw:
        return None
    last = first + len(link.raw)
    begun, ended = there.start + node.start_mark.index, there.start + node.end_mark.index
    before = _BEFORE.match(text, begun, ended)
    begun = before.end() if before else begun
    if node.style in ("'", '"'):
        single = node.style == "'"
        places = _places(text, begun + 1, ended - 1, _SINGLE if single else _YAML_ESCAPE)
        if places is None or len(places) != len(value) + 1:
            return None  # over several lines, which are folded, or with a line end written out
        if not single and _BEYOND.search(text, begun, ended):
            return _Slot(places[first : last + 1], _ascii)
        return _Slot(places[first : last + 1], _single if single else _double)
    at = text.find(link.raw, begun, ended)  # the text of `>` or `|`, which knows no escapes
    return None if at < 0 else _Slot(range(at, at + len(link.raw) + 1), str)


def _single(text: str) -> str:
    return text.replace("'", "''")


def _double(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _ascii(text: str) -> str:
    """For quotes whose letters beyond ASCII are written out."""
    return "".join(
        char if char.isascii() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in _double(text)
    )


def _places(text: str, start: int, end: int, piece: re.Pattern[str]) -> list[int] | None:
    """Where each character of a quoted string begins in the text, and where the last ends."""
    found, at = [start], start
    while at < end:
        got = piece.match(text, at, end)
        if got is None:
            return None
        at = got.end()
        found.append(at)
    return found


# --- canvases


def is_card(link: Link) -> bool:
    """A file card of a canvas: its link is the path and nothing else."""
    return link.kind == "embed" and link.raw == link.linkpath


def canvas_edits(text: str, link: Link, linkpath: str, subpath: str | None) -> tuple[Edit, ...] | None:
    """For every card of a canvas with this very link (they have no place of their own): the path of file cards,
    the link in text cards. None where there is none, or where one cannot be led there."""
    found: list[Edit] = []
    edits = _of_card if is_card(link) else _in_words
    try:
        for card in nodes(text):
            found += edits(text, card, link, linkpath, subpath)
    except _CannotError:
        return None
    return tuple(found) or None


class _CannotError(Exception):
    pass


def _of_card(text: str, card: dict[str, Token], link: Link, linkpath: str, subpath: str | None) -> Iterator[Edit]:
    file, sub = card.get("file"), card.get("subpath")
    if _type(card) != "file" or file is None or file.value != link.linkpath:
        return
    if ((sub.value.removeprefix("#") if sub is not None else "") or None) != link.subpath:
        return
    if linkpath != link.linkpath:
        yield _least(_json_slot(text, file, 0, len(file.value)), file.value, linkpath)
    if subpath != link.subpath:
        if sub is None or not link.subpath or not subpath:
            raise _CannotError  # a heading has a string of its own, which cannot be put in or taken out with certainty
        yield _least(_json_slot(text, sub, 0, len(sub.value)), sub.value, f"#{subpath}")


def _in_words(text: str, card: dict[str, Token], link: Link, linkpath: str, subpath: str | None) -> Iterator[Edit]:
    token = card.get("text")
    if _type(card) != "text" or token is None:
        return
    for one in scan(token.value).links:
        if one[1:4] == link[1:4] and one.kind != "property":
            new = retarget(one, linkpath, subpath)
            if new is None:
                raise _CannotError
            yield _least(_json_slot(text, token, one.start, one.start + len(one.raw)), one.raw, new)


def _type(card: dict[str, Token]) -> str:
    return card["type"].value if "type" in card else ""


def _json_slot(text: str, token: Token, first: int, last: int) -> _Slot:
    places = _places(text, token.start + 1, token.end - 1, _JSON_ESCAPE)
    if places is None or len(places) != len(token.value) + 1:
        raise _CannotError
    own = text[token.start : token.end]
    return _Slot(places[first : last + 1], partial(_json, own, text))


def _json(own: str, whole: str, new: str) -> str:
    """Escaped as the string around it is; where that does not tell, as the file is."""
    beyond = next(
        (bool(_BEYOND.search(one)) for one in (own, whole) if _BEYOND.search(one) or not one.isascii()), False
    )
    escaped = json.dumps(new, ensure_ascii=beyond)[1:-1]
    if beyond and _UPPER.search(whole):
        escaped = _HEX.sub(lambda one: "\\u" + one.group()[2:].upper(), escaped)
    slashed = next(("\\/" in one for one in (own, whole) if "/" in one), False)
    return escaped.replace("/", "\\/") if slashed else escaped
