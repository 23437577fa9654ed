"""The quick way through a note: line by line, with `str.find` within a line, and no block structure.

It answers only where that is surely the same as the careful way (`regions`, then `inline`). Fences,
HTML, formulas and comments at the margin it steps over; at the first sign of anything else (code in
a list, a link over two lines) it gives up, and the careful way reads the note.
"""

import re

from ohmykb.markdown.inline import TAG, Inline, destination, tag_at, tags_of_comment, target_of, wikilink
from ohmykb.markdown.regions import NO_HTML, ends_html, html_block
from ohmykb.note import Block, Heading, Link, Tag

Rows = tuple[list[Link], list[Tag], list[Heading], list[Block]]

_new = tuple.__new__  # a named tuple without the detour through its own __new__

_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!\"'(|“《「")
_MARGIN = frozenset(" \t#=-+*>0123456789_[`~<$%")
"""First characters of a line that may be more than text."""
_NOT_CONTINUED = re.compile(
    r"[ \t>]*(?:(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*#{1,6}(?:[ \t].*)?|(?:[-+*_=]|\d{1,9}[.)])?[-+*_=> \t]*)"
)
"""A line that no paragraph goes on after: blank, a heading, a rule, an empty item."""
_ITEM_CODE = re.compile(
    r"(?:(?:[-+*]|\d{1,9}[.)]) {1,4}|> ?)*(?:(?:[-+*]|\d{1,9}[.)])(?: {5}|[ ]*\t[ \t])|>[> \t]*(?:    |\t))"
)
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t>]+)*")
_DEFINES = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t>]+)*(?:\[\^[^\]\s]+\]:[ \t]*)*\[(?!\^)")
_NOTE = re.compile(_PREFIX.pattern + r"\[\^[^\]\s]+\]:")
_DESTINATION = re.compile(r"\(([^\s()<>\\&%#]+)\)")
_WEB = re.compile(r"\(https?://[^\s()<>\\]*\)")
_BLOCK = re.compile(r"(?:.*[ \t>])?\^([A-Za-z0-9-]+)[ \t]*\Z", re.DOTALL)
_AFTER_BLOCK = re.compile(r"[ \t]*\Z|[ \t]*[-+*][ \t]|#{1,6} ")
_CLOSERS = {"`": "`", "$": "$", "<": ">"}


def quick(text: str, body: int, number: int) -> Rows | None:
    """Links, tags, headings and blocks of the text from `body` on, which is on line `number`; or None."""
    find = text.find
    special = "".join(c for c in "`<\\$" if find(c, body) >= 0)
    if find("%", body) >= 0 and find("%%", body) >= 0:
        special += "%"
    if find("~", body) >= 0 and find("~~~", body) >= 0:
        special += "~"
    caret = find("^", body) >= 0
    links: list[Link] = []
    tags: list[Tag] = []
    headings: list[Heading] = []
    blocks: list[Block] = []
    inline: Inline | None = None
    fence = ""  # the fence, or what ends the block that we are in
    until: object = None
    comment = 0
    half = False  # a bracket was opened on a line above
    waiting: Block | None = None
    before = above = ""  # the two lines above; empty where a block ended
    pos = body
    number -= 1
    after = -1
    for line in (text[body:] if body else text).split("\n"):
        number += 1
        if after >= 0:
            pos = after
        after = pos + len(line) + 1
        if not line:
            if fence:
                if fence == "html" and until is None:
                    fence = above = ""
                continue
            before, above = above, ""
            half = False
            if waiting is not None:
                blocks.append(waiting)
                waiting = None
            continue
        if fence:
            if fence == "html":
                if line.isspace() if until is None else ends_html(line, 0, len(line), until):
                    fence = above = ""
            elif fence[0] in "$%":
                if fence in line:
                    if fence == "%%":
                        for name, at in tags_of_comment(text, comment, after - 1):
                            tags.append(Tag(name, number - text.count("\n", at, pos), at))
                    fence = above = ""
            elif line.lstrip(" ")[: len(fence)] == fence and not line.strip(" \t").strip(fence[0]):
                if line[:4] != "    ":
                    fence = above = ""
            continue
        first = line[0]
        rest = line
        if first in _MARGIN:
            if first == "#":
                rest = line.lstrip("#")
                level = len(line) - len(rest)
                if level < 7 and (not rest or rest[0] in " \t"):
                    words = rest.strip(" \t")
                    if words and words[-1] == "#":
                        bare = words.rstrip("#")
                        if not bare or bare[-1] in " \t":
                            words = bare.rstrip(" \t")
                    headings.append(_new(Heading, (level, words, number, pos)))
            elif first == " " or first == "\t":
                rest = line.lstrip(" \t")
                if not rest:
                    before, above = above, ""
                    half = False
                    if waiting is not None:
                        blocks.append(waiting)
                        waiting = None
                    continue
                deep = len(line) - len(rest)
                if (deep > 3 or "\t" in line[:deep]) and _NOT_CONTINUED.fullmatch(above):
                    return None
                if rest[0] == "#":
                    return None
                if rest[0] in "=-" and above and not rest.strip("=- \t"):
                    return None
            elif first == "=" or first == "-":
                if above and line[1:2] in "=- \t" and not line.strip(first).strip(" \t"):
                    if before or not above[0].isalpha() or not line.rstrip(" \t").strip(first) == "":
                        return None
                    at = pos - len(above) - 1
                    headings.append(Heading(1 if first == "=" else 2, above.strip(), number - 1, at))
                    before = above = ""
                    continue
            if ("    " in line or "\t" in line) and _ITEM_CODE.match(rest):
                return None
        if waiting is not None:
            if not _AFTER_BLOCK.match(line):
                return None
            blocks.append(waiting)
            waiting = None
        if half and "](" in line:
            return None
        if special:
            for c in special:
                if c in line:
                    break
            else:
                c = ""
            if c:
                if "]:" in line and (_DEFINES.match(line) or _NOTE.match(line)):
                    return None
                prefix = _PREFIX.match(line)
                start = prefix.end() if prefix else 0
                begins = line[start : start + 1]
                if begins and begins in "`~$%<":
                    kind: object = NO_HTML
                    opened = ""
                    if begins == "<":
                        kind = html_block(line, start, len(line), interrupting=bool(above))
                        if (
                            kind is None
                            and above
                            and html_block(line, start, len(line), interrupting=False) is not kind
                        ):
                            return None
                        if kind is NO_HTML and above and html_block(line, start, len(line), interrupting=False) is None:
                            return None
                        if kind is not NO_HTML:
                            opened = "html"
                    elif begins in "$%":
                        if line.startswith(begins, start + 1) and line.find(begins * 2, start + 2) < 0:
                            opened = begins * 2
                    else:
                        opened = line[start : len(line) - len(line[start:].lstrip(begins))]
                        if len(opened) < 3 or (begins == "`" and "`" in line[start + len(opened) :]):
                            opened = ""
                    if opened:
                        if start:
                            return None
                        half = False
                        before, above = above, ""
                        if opened == "html":
                            if kind is not None and ends_html(line, 0, len(line), kind):
                                continue
                            until = kind
                        fence = opened
                        comment = pos
                        continue
                if inline is None:
                    inline = Inline(text, {})
                inline.read(pos, after - 1)
                for sign in inline.loose:
                    if sign == "[":
                        half = True
                        continue
                    later = find(_CLOSERS[sign], after)
                    if later >= 0 and find("\n\n", after - 1, later) < 0:
                        return None
                if inline.cut:
                    return None
                for at, end, link_kind, (path, sub, shown) in inline.links:
                    links.append(_new(Link, (link_kind, text[at:end], path, sub, shown, number, at, None)))
                for name, at in inline.tags:
                    tags.append(_new(Tag, (name, number, at)))
                inline.links = []
                inline.tags = []
                if caret and (got := _BLOCK.match(line)) is not None:
                    waiting = Block(got.group(1), number, pos + got.start(1) - 1)
                before, above = above, line
                continue
        spans = None
        p = line.find("[")
        if p >= 0:
            if "]:" in line and _DEFINES.match(line):
                return None
            while p >= 0:
                if line[p + 1 : p + 2] == "[":
                    end = line.find("]]", p + 2)
                    if end < 0:
                        return None
                    inner = line[p + 2 : end]
                    end += 2
                    path = inner.strip()
                    sub = None
                    shown = path
                    if not path or "|" in path or "#" in path or "[" in path:
                        target = wikilink(inner)
                        if target is None or "[" in path:
                            return None
                        path, sub, shown = target
                    if p and line[p - 1] == "!":
                        row = ("embed", line[p - 1 : end], path, sub, shown, number, pos + p - 1, None)
                    else:
                        row = ("wikilink", line[p:end], path, sub, shown, number, pos + p, None)
                    links.append(_new(Link, row))
                    if spans is None:
                        spans = [(p, end)]
                    else:
                        spans.append((p, end))
                    p = line.find("[", end)
                    continue
                close = line.find("]", p + 1)
                nested = line.find("[", p + 1)
                if close < 0:
                    half = True
                    p = nested
                    continue
                if 0 <= nested < close:
                    return None
                if line[close + 1 : close + 2] != "(" or line[p + 1] == "^":
                    p = nested
                    continue
                shown = line[p + 1 : close]
                web = _WEB.match(line, close + 1)
                if web is not None:
                    end = web.end()
                else:
                    plain = _DESTINATION.match(line, close + 1)
                    if plain is not None:
                        written, end = plain.group(1), plain.end()
                    else:
                        got_it = destination(line, close + 1, len(line))
                        if got_it is None:
                            if line.find(")", close) < 0:
                                return None
                            p = nested
                            continue
                        written, end = got_it
                    aim = target_of(written, shown)
                    if aim is not None:
                        if p and line[p - 1] == "!":
                            row = ("embed", line[p - 1 : end], aim[0], aim[1], shown, number, pos + p - 1, None)
                        else:
                            row = ("markdown", line[p:end], aim[0], aim[1], shown, number, pos + p, None)
                        links.append(_new(Link, row))
                if spans is None:
                    spans = [(close, end)]
                else:
                    spans.append((close, end))
                p = line.find("[", end)
        p = (
            line.find("#", 1)
            if first == "#" and rest is not line and (not rest or rest[0] in " \t")
            else line.find("#")
        )
        ended = -1
        while p >= 0:
            if (p and line[p - 1] == " ") or not p:
                match = TAG.match(line, p + 1)
                name = match.group() if match is not None else None
                if name is not None and name.isdigit() and name.isascii():
                    name = None
                last = ended
            elif p and line[p - 1] == "#" and ended != p:
                p = line.find("#", p + 1)
                continue
            else:
                last = ended
                if spans is not None:
                    for _, right in spans:
                        if right == p:
                            last = p
                name = tag_at(line, p, 0, len(line), last)
            if name is not None:
                hidden = 0
                if spans is not None:
                    for left, right in spans:
                        if left <= p < right:
                            hidden = right
                if hidden:
                    p = line.find("#", hidden)
                    continue
                tags.append(_new(Tag, (name, number, pos + p)))
                ended = p + 1 + len(name)
                p = line.find("#", ended)
            else:
                p = line.find("#", p + 1)
        if caret and "^" in line and (got := _BLOCK.match(line)) is not None:
            waiting = Block(got.group(1), number, pos + got.start(1) - 1)
        before, above = above, line
    if fence == "%%":
        for name, at in tags_of_comment(text, comment, len(text)):
            tags.append(Tag(name, number - text.count("\n", at), at))
    if waiting is not None:
        blocks.append(waiting)
    return links, tags, headings, blocks
