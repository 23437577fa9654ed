"""Edits that write one link anew: in a note at its place, in a canvas inside the JSON strings that hold it."""

import json
import re
from typing import Final

from ohmykb.markdown.edits import Edit
from ohmykb.markdown.rewrite import retarget
from ohmykb.markdown.scan import scan
from ohmykb.note import Link

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_AFTER_KEY: Final = re.compile(r"\s*:")


def link_edit(text: str, link: Link, new_raw: str, body: int) -> tuple[Edit, ...] | None:
    """For a link of a note's text as it stands (`body`: where the frontmatter ends). None where its place is not
    certain, or its quotes cannot hold the new text."""
    start = link.start
    if start < 0:
        first = text.find(link.raw, 0, body)
        if first < 0 or text.find(link.raw, first + 1, body) >= 0:
            return None
        start = first
    end = start + len(link.raw)
    if text[start:end] != link.raw:
        return None
    if link.kind == "property":
        mark = text[start - 1 : start]
        if mark == "'":
            new_raw = new_raw.replace("'", "''")
        elif mark == '"':
            new_raw = new_raw.replace("\\", "\\\\").replace('"', '\\"')
    return (_least(text, start, end, new_raw),)


def _least(text: str, start: int, end: int, new: str) -> Edit:
    """Only what differs: the brackets and the words shown stay untouched."""
    old = text[start:end]
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    last = 0
    while last < min(len(old), len(new)) - same and old[len(old) - 1 - last] == new[len(new) - 1 - last]:
        last += 1
    return Edit(start + same, end - last, new[same : len(new) - last])


def canvas_edits(text: str, link: Link, linkpath: str, subpath: str | None) -> tuple[Edit, ...] | None:
    """For every card of a canvas with this very link (they have no place of their own): the path of file cards,
    the link in text cards. None where there is none, or the style cannot spell the target."""
    found: list[Edit] = []
    key, value_of_key = "", ""
    keys: list[tuple[str, re.Match[str]]] = []
    for token in _STRING.finditer(text):
        if _AFTER_KEY.match(text, token.end()):
            key = token.group()[1:-1]
            continue
        value_of_key = key
        keys.append((value_of_key, token))
        key = ""
    for name, token in keys:
        if name == "file" and not link.raw.startswith(("[[", "![[", "[", "![")) and _value(token) == link.linkpath:
            if subpath != link.subpath:
                return None  # the heading stands in a string of its own, which card it belongs to is not certain
            found.append(Edit(token.start() + 1, token.end() - 1, _as(linkpath, token.group())))
        elif name == "text":
            edits = _in_card(token, link, linkpath, subpath)
            if edits is None:
                return None
            found += edits
    return tuple(found) or None


def _in_card(token: re.Match[str], link: Link, linkpath: str, subpath: str | None) -> list[Edit] | None:
    words = _value(token)
    places: list[int] | None = None
    found = []
    for one in scan(words).links:
        if one.raw != link.raw or one.start < 0 or one.kind == "property":
            continue
        new = retarget(one, linkpath, subpath)
        if new is None:
            return None
        places = places if places is not None else _places(token)
        found.append(Edit(places[one.start], places[one.start + len(one.raw)], _as(new, token.group())))
    return found


def _value(token: re.Match[str]) -> str:
    try:
        return str(json.loads(token.group()))
    except ValueError:
        return ""


def _places(token: re.Match[str]) -> list[int]:
    """Where each character of the string's value begins in the file, and where the last ends."""
    raw, at, found = token.group(), 1, []
    while at < len(raw) - 1:
        found.append(token.start() + at)
        if raw[at] != "\\":
            at += 1
        elif raw[at + 1] != "u":
            at += 2
        else:
            high = 0xD800 <= int(raw[at + 2 : at + 6], 16) < 0xDC00
            at += 12 if high and raw[at + 6 : at + 8] == "\\u" else 6
    return [*found, token.start() + at]


def _as(text: str, token: str) -> str:
    """Escaped as the string around it is."""
    escaped = json.dumps(text, ensure_ascii=bool(re.search(r"\\u[89a-fA-F]", token)))[1:-1]
    return escaped.replace("/", "\\/") if "\\/" in token else escaped
