"""The quick way through a note: not line by line, but from one `[`, `#` or `^` to the next.

It answers only where that is surely the same as the careful way (`regions`, then `inline`). What hides
links is blotted out beforehand (`holes`); a line that is odd in some way is read by itself, character
by character; at the first sign of anything that block structure decides (code in a list, a link over
two lines) it gives up, and the careful way reads the note.

A pattern that begins with one literal character is looked for with `memchr`, twenty times as fast as a
set of characters. So each of these does, and what has to stand before is looked back at.
"""

import re

from ohmykb.markdown.holes import MARK, MASK, Body, UnsureError, body_of
from ohmykb.markdown.inline import SPACE, tags_of_comment, target_of, wikilink
from ohmykb.markdown.margins import no_code_by_indent, no_definition, underlined
from ohmykb.markdown.odd import read_alone
from ohmykb.note import Block, Heading, Link, Tag

_new = tuple.__new__  # a named tuple without the detour through its own __new__

_SPACES = "".join(sorted(SPACE - {"\n"}))
_NAME = r"[^\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s" + MASK + "]"
_BARE = rf"[^\s()<\\{MASK}]*+"
_LINK = re.compile(rf"(\[(?:\[([^\[\]\n{MASK}]++)\]\]|(?!\^)([^\[\]\n]*+)\]\(({_BARE}(?:\({_BARE}\){_BARE})*+)\)))")
"""A wikilink, with what is in it; or a Markdown link, with label and destination."""
_HASH = re.compile(rf"#(?:(?<=\n#)(#{{0,5}})(?=[ \t]([^\n]*)|\n|\Z)|(?<=[\n{_SPACES}_*\[|>~=)\]{MASK}]#)({_NAME}++#?))")
"""A heading, of which it takes the marks and looks at the words; or what may be a tag."""
_HALF = re.compile(r"\](?=\()|\[(?=\[)")
_HALF = re.compile(r"\](?=\()|\[(?=\[)")
_BLOCK = re.compile(r"\^(?<=[ \t>\n]\^)([A-Za-z0-9-]+)[ \t]*+(?:\n|\Z)")
_AFTER_BLOCK = re.compile(r"([ \t]*+)(?:\n|\Z|[-+*][ \t]++[^ \t\n])|#{1,6} ")
_ITEM = re.compile(rf"([ \t]*+){MARK}[ \t]")


def quick(
    text: str, begins: int, number: int, links: list[Link], tags: list[Tag]
) -> tuple[list[Heading], list[Block]] | None:
    """Adds the links and tags of the body that begins at `begins`, on line `number`, and gives its
    headings and blocks; None, and nothing added, when the careful way has to look."""
    try:
        body = body_of(text, begins, number)
        source, seen, start, first, odd, comments = body
        headings = [
            Heading(level, source[left:right].strip(), first + seen.count("\n", 0, left), start + left)
            for level, left, right in underlined(seen)
        ]
        no_code_by_indent(seen)
        found_links = _links(body) if "[" in seen else []
        found_tags: list[Tag] = []
        if "#" in seen:
            in_order = not headings
            found_tags = _headings_and_tags(body, headings)
            if not in_order:
                headings.sort(key=lambda heading: heading.start)
        blocks = _blocks(body) if "^" in seen else []
        if odd:
            found_links, found_tags = read_alone(body, found_links, found_tags)
        if comments:
            found_tags = sorted(found_tags + _tags_of_comments(body), key=lambda tag: tag.start)
    except UnsureError:
        return None
    links += found_links
    tags += found_tags
    return headings, blocks


def _links(body: Body) -> list[Link]:
    """Wikilinks, embeds and Markdown links, each within its line."""
    source, seen, start, number, odd, _ = body
    links: list[Link] = []
    add = links.append
    defines = False
    masked = seen is not source  # then a hole may have swallowed a bracket
    at = 0
    parts = iter(_LINK.split(seen))
    for between, raw, inner, label, written in zip(parts, parts, parts, parts, parts, strict=False):
        if "]" in between or (masked and "[" in between):
            defines = "]:" in between or defines
            _loose(between, at, odd)
        at += len(between)
        number += between.count("\n")
        if inner is not None:
            if "#" in inner or "\\" in inner:
                target = wikilink(inner)
                path, sub, shown = target or ("", None, "")
                if " #" in inner or target is None:
                    odd.append(at)  # what looks like a tag is none
            else:
                sub = None
                path, bar, shown = inner.partition("|")
                path = path.strip()
                if not bar or not (shown := shown.strip()):
                    shown = path
                if not path:
                    odd.append(at)
            kind = "wikilink"
        else:
            if "[" in between and (between[-1] == "[" or "[[" in between):
                odd.append(at)  # it may be within a wikilink: `[[x](y)]]`
            if written[:7] == "http://" or written[:8] == "https://":
                at += len(raw)
                continue
            if MASK in label:
                raw = source[at : at + len(raw)]
                label = raw[1 : 1 + len(label)]
            target = target_of(written, label)
            if target is None:
                at += len(raw)
                continue
            path, sub, shown = target
            kind = "markdown"
        if between[-1:] == "!":
            add(_new(Link, ("embed", "!" + raw, path, sub, shown, number, start + at - 1, None)))
        else:
            add(_new(Link, (kind, raw, path, sub, shown, number, start + at, None)))
        at += len(raw)
    rest = seen[at:]
    if "]" in rest or (masked and "[" in rest):
        defines = "]:" in rest or defines
        _loose(rest, at, odd)
    if defines:
        no_definition(seen)
    return links


def _loose(between: str, at: int, odd: list[int]) -> None:
    """Brackets that are no plain link. Most are a task or a footnote; the others make a line odd."""
    if "](" in between or "[[" in between:
        odd += [at + found.start() for found in _HALF.finditer(between)]


def _headings_and_tags(body: Body, headings: list[Heading]) -> list[Tag]:
    source, seen, start, number, odd, _ = body
    tags: list[Tag] = []
    at = 0
    parts = iter(_HASH.split(seen))
    for between, marks, words, name in zip(parts, parts, parts, parts, strict=False):
        at += len(between)
        number += between.count("\n")
        if name is None:
            level = 1 + len(marks)
            if words is None:
                words = ""
            elif MASK in words:
                words = source[at + level + 1 : at + level + 1 + len(words)]
            words = words.strip(" \t")
            if words and words[-1] == "#":
                bare = words.rstrip("#")
                if not bare or bare[-1] in " \t":
                    words = bare.rstrip(" \t")
            headings.append(_new(Heading, (level, words, number, start + at)))
            at += level
            continue
        before = between[-1:]
        if (before == " " or before in SPACE) and name[-1] != "#":
            if not (name.isdigit() and name.isascii()):
                tags.append(_new(Tag, (name, number, start + at)))
        elif before != "[" or _LINK.match(seen, at - 2) is None:
            odd.append(at)
        at += 1 + len(name)
    return tags


def _tags_of_comments(body: Body) -> list[Tag]:
    source, _, start, first, _, comments = body
    return [
        Tag(name, first + source.count("\n", 0, at), start + at)
        for left, right in comments
        for name, at in tags_of_comment(source, left, right)
    ]


def _blocks(body: Body) -> list[Block]:
    """Block ids at the end of a paragraph or item, where that is plain to see."""
    source, seen, start, number, _, _ = body
    blocks: list[Block] = []
    here = 0
    for found in _BLOCK.finditer(source):
        p = found.start()
        if seen[p] != "^":
            continue
        below = _AFTER_BLOCK.match(seen, found.end())
        if below is None:
            raise UnsureError
        if below[1] and below[0][-1:] not in ("", "\n"):
            item = _ITEM.match(seen, seen.rfind("\n", 0, p) + 1)
            if len(below[1].expandtabs(4)) > (len(item[1].expandtabs(4)) + 4 if item is not None else 3):
                raise UnsureError
        number += source.count("\n", here, p)
        here = p
        blocks.append(_new(Block, (found[1], number, start + p)))
    return blocks
