"""One pass over a note's text: properties, links, tags, headings and block ids.

The hot path. Nearly all notes are read the quick way (`quick`), from one `[` or `#` to the next. Where a
note's block structure bears on what counts (code within a list, a link over two lines), it goes the
careful way (`regions`, then `inline`), which knows everything and is slower.
"""

import re
from operator import itemgetter

from ohmykb.markdown import properties as props
from ohmykb.markdown.inline import Inline, tags_of_comment, wikilink
from ohmykb.markdown.quick import quick
from ohmykb.markdown.regions import layout
from ohmykb.note import JSON, Block, Heading, Link, Problem, Scan, Tag

_new = tuple.__new__  # a named tuple without the detour through its own __new__

_BLOCK = re.compile(r"(?:^|[ \t\n>])\^([A-Za-z0-9-]+)[ \t]*\Z")
_WIKI_VALUE = re.compile(r"\s*(\[\[[^\n]*?\]\])\s*\Z")


def scan(text: str) -> Scan:
    """Reads a note. Offsets are in code points of `text` as given."""
    source = text
    if "\r" in text:
        # Same length, so that offsets hold.
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    body = 1 if text.startswith("\ufeff") else 0
    properties: dict[str, JSON] = {}
    problems: list[Problem] = []
    links: list[Link] = []
    tags: list[Tag] = []
    line = 1
    if text.startswith("---", body):
        block = props.split(text, body)
        if block is not None:
            yaml_start, yaml_end, body = block
            properties, problems = props.parse(text[yaml_start:yaml_end])
            line += text.count("\n", 0, body)
            if properties:
                _property_rows(text, yaml_start, yaml_end, properties, links, tags)
    found = quick(text, body, line, links, tags)
    if found is None:
        return careful(source, text, body, line, properties, problems, links, tags)
    return _new(Scan, (properties, body, links, tags, found[0], found[1], problems))


def careful(
    source: str,
    text: str,
    body: int,
    line: int,
    properties: dict[str, JSON],
    problems: list[Problem],
    links: list[Link],
    tags: list[Tag],
) -> Scan:
    """The same for any text, by its block structure."""
    found = layout(text, body)
    inline = Inline(text, found.definitions)
    blocks: list[Block] = []
    here, seen = body, line
    count = text.count
    caret = text.find("^", body) >= 0
    for start, end in found.runs:
        if start >= end:
            continue
        inline.read(start, end)
        if caret:
            left = text.rfind("\n", start, end) + 1 or start
            got = _BLOCK.search(text, max(left - 1, 0), end) if text.rfind("^", left, end) >= 0 else None
            if got is not None:
                at = got.start(1) - 1
                seen += count("\n", here, at)
                here = at
                blocks.append(Block(got.group(1), seen, at))
    for start, end in found.comments:
        inline.tags += tags_of_comment(text, start, end)
    if found.comments:
        inline.tags.sort(key=itemgetter(1))
    if any(b.start < a.start for a, b in zip(inline.links, inline.links[1:], strict=False)):
        inline.links.sort()
    here, seen = body, line
    for start, end, kind, (path, sub, shown) in inline.links:
        seen += count("\n", here, start)
        here = start
        links.append(_new(Link, (kind, source[start:end], path, sub, shown, seen, start, None)))
    here, seen = body, line
    for name, start in inline.tags:
        seen += count("\n", here, start)
        here = start
        tags.append(_new(Tag, (name, seen, start)))
    headings: list[Heading] = []
    here, seen = body, line
    for level, start, left, right in found.headings:
        seen += count("\n", here, start)
        here = start
        words = text[left:right]
        if "\n" in words:
            words = " ".join(part.strip() for part in words.split("\n"))
        headings.append(_new(Heading, (level, words.strip(), seen, start)))
    return _new(Scan, (properties, body, links, tags, headings, blocks, problems))


# -- links and tags of the properties -------------------------------------------------------------


def _property_rows(
    text: str,
    start: int,
    end: int,
    properties: dict[str, JSON],
    links: list[Link],
    tags: list[Tag],
) -> None:
    if text.find("[[", start, end) >= 0:
        values: list[tuple[str, str, str]] = []
        for key, value in properties.items():
            if value:
                _link_values(key, key, value, values)
        at = start
        for top, key, value in values:
            target = wikilink(value[2:-2])
            if target is None:
                continue
            path, sub, shown = target
            place = text.find(value, at, end)
            if place < 0:
                place = text.find(value, start, end)
            if place >= 0:
                at = place + len(value)
                row = 1 + text.count("\n", 0, place)
            else:
                row = 1 + text.count("\n", 0, _key_at(text, start, end, top))
            links.append(_new(Link, ("property", value, path, sub, shown, row, place, key)))
    if properties.get("tags"):
        at = _key_at(text, start, end, "tags")
        row = 1 + text.count("\n", 0, at)
        for name in props.property_tags(properties):
            place = text.find(name, at, end)
            if place >= 0:
                row += text.count("\n", at, place)
                at = place
            tags.append(_new(Tag, (name, row, -1)))


def _link_values(top: str, path: str, value: JSON, into: list[tuple[str, str, str]]) -> None:
    """Adds top key, key and text of each value that is a wikilink and nothing else."""
    if isinstance(value, str):
        if "[[" in value and (whole := _WIKI_VALUE.match(value)) is not None:
            into.append((top, path, whole[1]))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if not isinstance(item, str) or "[[" in item:
                _link_values(top, f"{path}.{number}", item, into)
    elif isinstance(value, dict):
        for key, item in value.items():
            _link_values(top, f"{path}.{key}", item, into)


def _key_at(text: str, start: int, end: int, key: str) -> int:
    """Where the line of a key begins; the properties, when none begins with it."""
    return text.find(f"\n{key}:", start - 1, end) + 1 or start
