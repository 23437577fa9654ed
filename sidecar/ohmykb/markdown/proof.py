"""The proof before a write: read again, the changed text says the same but for what was to change."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.rewrite import has_words
from ohmykb.markdown.scan import scan
from ohmykb.note import JSON, Heading, Link, Scan

Target = tuple[str, str | None]
"""linkpath, subpath."""

Changed = Mapping[tuple[str, str | None, str], Target]
"""(linkpath, subpath, raw) of links in a canvas, and where they are to lead."""

_CARD_STRINGS: Final = ("file", "subpath")


def proves(before: Scan, after: str, expected: Mapping[int, Target]) -> str | None:
    """None when the links at these places of `before.links` lead where they should and all else is as it was; else
    a sentence."""
    now = scan(after)
    said = _links(before.links, now.links, expected)
    if said is not None:
        return said
    pairs = [(one, other) for one, other in zip(before.links, now.links, strict=True) if one.raw != other.raw]
    if [(tag.name, tag.line) for tag in before.tags] != [(tag.name, tag.line) for tag in now.tags]:
        return "a tag would change"
    if [(one.id, one.line) for one in before.blocks] != [(one.id, one.line) for one in now.blocks]:
        return "a block id would change"
    if len(before.headings) != len(now.headings) or not all(
        _same_heading(old, new, pairs) for old, new in zip(before.headings, now.headings, strict=True)
    ):
        return "a heading would change"
    values = {one.key: (one.raw, other.raw) for one, other in pairs if one.kind == "property"}
    if list(before.properties) != list(now.properties) or not all(
        _same_value(key, value, now.properties[key], values) for key, value in before.properties.items()
    ):
        return "a property would change"
    return None


def _links(old: Sequence[Link], new: Sequence[Link], expected: Mapping[int, Target]) -> str | None:
    if len(old) != len(new):
        return "the note would have other links"
    inner = [(old[at], new[at]) for at in expected]
    for at, (one, other) in enumerate(zip(old, new, strict=True)):
        goal = expected.get(at, one[2:4])
        # A property is known by its key: its line is a guess where its quotes hold an escape.
        lines = other.line != one.line and one.kind != "property"
        if (other.kind, other.linkpath, other.subpath, other.key) != (one.kind, *goal, one.key) or lines:
            return f"{one.raw} would not lead where it should" if at in expected else f"{one.raw} would change too"
        label = one.display if not has_words(one) else _carried(one, one.display, inner)
        if has_words(one):
            if other.display != label:
                return f"{one.raw} would show other words"
        elif has_words(other) and other.display != one.display:
            return f"{one.raw} would be given words that it did not show"
        if at not in expected and other.raw != _carried(one, one.raw, inner):
            return f"{one.raw} would change too"
    return None


def _carried(outer: Link, text: str, inner: Sequence[tuple[Link, Link]]) -> str:
    """`text`, the slice or the label of a link, with the links that stand in its label written anew."""
    within = [
        (one, other)
        for one, other in inner
        if one is not outer and outer.start >= 0 and outer.start < one.start < outer.start + len(outer.raw)
    ]
    for one, other in within:
        text = text.replace(one.raw, other.raw, 1)
    return text


def _same_heading(old: Heading, new: Heading, pairs: Sequence[tuple[Link, Link]]) -> bool:
    if (old.level, old.line) != (new.level, new.line):
        return False
    text, at = old.text, 0
    if text != new.text:
        for one, other in pairs:
            place = text.find(one.raw, at) if one.start >= old.start else -1
            if place >= 0:
                text = text[:place] + other.raw + text[place + len(one.raw) :]
                at = place + len(other.raw)
    return text == new.text


def _same_value(path: str, old: JSON, new: JSON, changed: Mapping[str | None, tuple[str, str]]) -> bool:
    if type(old) is not type(new):
        return False
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(_same_value(f"{path}.{key}", old[key], new[key], changed) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(
            _same_value(f"{path}.{number}", one, other, changed)
            for number, (one, other) in enumerate(zip(old, new, strict=True))
        )
    if isinstance(old, str) and path in changed:
        raw, new_raw = changed[path]
        return old.replace(raw, new_raw, 1) == new
    return old == new


# --- canvases


def proves_canvas(before: str, after: str, changed: Changed) -> str | None:
    """The same for a canvas: all its JSON is as it was, but for these links in the cards that hold them."""
    old, new = scan_canvas(before), scan_canvas(after)
    if old.problems or new.problems or len(old.links) != len(new.links):
        return "the canvas would be broken"
    for one, other in zip(old.links, new.links, strict=True):
        if other.kind != one.kind or other[2:4] != changed.get((one.linkpath, one.subpath, one.raw), one[2:4]):
            return f"{one.raw} would not lead where it should"
    return _same_json((), _pairs(before), _pairs(after), changed)


def _pairs(text: str) -> Any:
    """The JSON with its objects as pairs, so that keys in double count."""
    return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=tuple) if text.strip("\ufeff \t\r\n") else None


def _same_json(path: tuple[str | int, ...], old: Any, new: Any, changed: Changed) -> str | None:
    if type(old) is not type(new):
        return "the canvas would be another"
    if isinstance(old, list):
        rows = [((*path, at), one, other) for at, (one, other) in enumerate(zip(old, new, strict=False))]
    elif isinstance(old, tuple):
        if [key for key, _ in old] != [key for key, _ in new]:
            return "the canvas would be another"
        rows = [((*path, key), one, other) for (key, one), (_, other) in zip(old, new, strict=True)]
    else:
        if old == new:
            return None
        if len(path) != 3 or path[0] != "nodes" or path[2] not in ("text", *_CARD_STRINGS):
            return "another part of the canvas would change"
        return _same_card(old, new, changed) if path[2] == "text" else None
    if len(old) != len(new):
        return "the canvas would be another"
    return next((said for row in rows if (said := _same_json(*row, changed)) is not None), None)


def _same_card(old: str, new: str, changed: Changed) -> str | None:
    before = scan(old)
    keys = [(link.linkpath, link.subpath, link.raw) for link in before.links]
    return proves(before, new, {at: changed[key] for at, key in enumerate(keys) if key in changed})
