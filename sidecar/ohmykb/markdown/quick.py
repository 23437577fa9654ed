"""The quick way through a note: line by line, with `str.find` within a line, and no block structure.

It answers only where that is surely the same as the careful way (`regions`, then `inline`). Fences,
HTML, formulas and comments at the margin it steps over; at the first sign of anything else (code in
a list, a link over two lines) it gives up, and the careful way reads the note.
"""

import re

from ohmykb.markdown.inline import (
    AUTOLINK,
    HTML_TAG,
    PUNCTUATION,
    TAG,
    Inline,
    destination,
    tag_at,
    tags_of_comment,
    target_of,
    wikilink,
)
from ohmykb.markdown.regions import NO_HTML, ends_html, html_block
from ohmykb.note import Block, Heading, Link, Tag

_new = tuple.__new__  # a named tuple without the detour through its own __new__

MASK = "\u2064"
"""Stands in for a character that a code span, an escape, a formula or an HTML tag hides. No tag goes
over it (it is general punctuation), and one may begin behind it."""

_MARGIN = frozenset(" \t#=-+*>0123456789_[`~<$%")
"""First characters of a line that may be more than text."""
_NOT_CONTINUED = re.compile(
    r"[ \t>]*(?:(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*#{1,6}(?:[ \t].*)?|(?:[-+*_=]|\d{1,9}[.)])?[-+*_=> \t]*)"
)
"""A line that no paragraph goes on after: blank, a heading, a rule, an empty item."""
_ITEM_CODE = re.compile(
    r"(?:(?:[-+*]|\d{1,9}[.)]) {1,4}|> ?)*(?:(?:[-+*]|\d{1,9}[.)])(?: {5}| +\t|\t[ \t])|>[> \t]*(?:    |\t))"
)
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t>]+)*")
_DEFINES = re.compile(_PREFIX.pattern + r"(?:\[\^[^\]\s]+\]:[ \t]*)*\[(?!\^)(?:[^\[\]\\]|\\.)+\]:")
_NOTE = re.compile(_PREFIX.pattern + r"(?:\[\^[^\]\s]+\]:[ \t]*)+(?:[-+*>#][ \t>]*|\d+[.)][ \t]+)*[`~$%<]")
_WIKILINK = re.compile(
    rf"\[\[([^\[\]|#\s\\{MASK}][^\[\]|#\n\\{MASK}]*)(?:#([^\[\]|#\n\\{MASK}]+))?(?:\|([^\[\]\n{MASK}]+))?\]\]"
)
_NOT_PLAIN = re.compile(rf"[\s(<\\&{MASK}]")
_BLOCK = re.compile(r"(?:.*[ \t>])?\^([A-Za-z0-9-]+)[ \t]*\Z", re.DOTALL)
_AFTER_BLOCK = re.compile(r"[ \t]*\Z|[ \t]*[-+*][ \t]|#{1,6} ")
_UNDER = frozenset(("", "=", "-", " ", "\t", "==", "--", "= ", "- ", "=\t", "-\t", "- ", " -", " =", "  ", " \t"))
_SCHEME = re.compile(r"https?:")
_CLOSERS = {"`": "`", "$": "$", "<": ">"}
_SPECIAL = re.compile(r"[`<$\\]")
_ESCAPE = re.compile(r"\\[!-/:-@\[-`{-~]")
_MARKUP = re.compile(r"<[A-Za-z/!?]")
_FORMULA = re.compile(r"\$(?:\$.*?\$\$|(?![ \t$]).*?(?<![ \t\\])\$(?![0-9]))")


def quick(
    text: str, body: int, number: int, links: list[Link], tags: list[Tag]
) -> tuple[list[Heading], list[Block]] | None:
    """Adds the links and tags of the text from `body` on, which is on line `number`, and gives its
    headings and blocks; None, and some links and tags too many, when the careful way has to look."""
    find = text.find
    special = "".join(c for c in "`<\\$" if find(c, body) >= 0)
    if find("%", body) >= 0 and find("%%", body) >= 0:
        special += "%"
    if find("~", body) >= 0 and find("~~~", body) >= 0:
        special += "~"
    if special and find(MASK, body) >= 0:
        return None
    caret = find("^", body) >= 0
    headings: list[Heading] = []
    blocks: list[Block] = []
    inline: Inline | None = None
    fence = ""  # the fence, or the mark that ends the block we are in
    until: object = None
    comment = 0
    half = False  # a bracket was opened on a line above
    waiting: Block | None = None
    odd = False  # one of these three is set
    pos, step = body, 0
    tagless = 0  # how many of a heading's marks are no tag
    trouble = False
    lines = text[body:].split("\n") if body else text.split("\n")
    first_number = number
    number -= 1
    for line in lines:
        number += 1
        pos += step
        step = len(line) + 1
        if odd:
            if fence:
                ended = False
                if fence == "html":
                    ended = not line or line.isspace() if until is None else ends_html(line, 0, len(line), until)
                elif fence[0] in "$%":
                    ended = fence in line
                    if ended and fence == "%%":
                        _comment_tags(text, comment, pos + step - 1, pos, number, tags)
                elif line[:4] != "    " and line.lstrip(" ")[: len(fence)] == fence:
                    ended = not line.strip(" \t").strip(fence[0])
                if ended:
                    fence = ""
                    odd = False
                    lines[number - first_number] = ""
                continue
            blank = not line or line.isspace()
            if waiting is not None:
                if not _AFTER_BLOCK.match(line):
                    return None
                blocks.append(waiting)
                waiting = None
            if half and "](" in line:
                return None
            half = half and not blank
            odd = half
        if not line:
            continue
        first = line[0]
        if first in _MARGIN:
            rest = line
            if first == "#":
                rest = line.lstrip("#")
                tagless = len(line) - len(rest)
                if tagless < 7 and (not rest or rest[0] in " \t"):
                    words = rest.strip(" \t")
                    if words and words[-1] == "#":
                        bare = words.rstrip("#")
                        if not bare or bare[-1] in " \t":
                            words = bare.rstrip(" \t")
                    headings.append(_new(Heading, (tagless, words, number, pos)))
                else:
                    tagless -= 1
            elif first == " " or first == "\t":
                rest = line.lstrip(" \t")
                above = _above(lines, number - first_number)
                if not rest:
                    lines[number - first_number] = ""
                    continue
                deep = len(line) - len(rest)
                if (deep > 3 or "\t" in line[:deep]) and not above[:1].isalpha() and _NOT_CONTINUED.fullmatch(above):
                    return None
                if rest[0] == "#" or ">#" in line or (rest[0] in "=-" and above and not rest.strip("=- \t")):
                    return None
            elif (first == "=" or first == "-") and line[1:3] in _UNDER and not line.strip(first).strip(" \t"):
                above = _above(lines, number - first_number)
                if above:
                    here = number - first_number
                    if (here > 1 and lines[here - 2]) or not above[0].isalpha() or line.rstrip(" \t").strip(first):
                        return None
                    headings.append(Heading(1 if first == "=" else 2, above.strip(), number - 1, pos - len(above) - 1))
                    lines[here] = lines[here - 1] = ""
                    continue
            if ("    " in line or "\t" in line) and _ITEM_CODE.match(rest):
                return None
        seen = line
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
                    opened, until = _block(line, start, begins, paragraph=bool(_above(lines, number - first_number)))
                    if opened is None or (opened and start):
                        return None
                    if opened == "html" and until is not None and ends_html(line, 0, len(line), until):
                        lines[number - first_number] = ""
                        continue
                    if opened:
                        fence, comment, odd = opened, pos, True
                        continue
                masked = _mask(line)
                trouble = masked is None
                seen = masked or line
        if "[" in seen or "#" in seen or trouble:
            mark_links, mark_tags = len(links), len(tags)
            spans = []
            if "[" in seen and not trouble:
                if "]:" in seen and _DEFINES.match(seen):
                    return None
                p = seen.find("[")
                while p >= 0:
                    got = _WIKILINK.match(seen, p)
                    if got is not None:
                        path, sub, shown = got.groups()
                        path = path.rstrip()
                        if sub is not None:
                            sub = sub.strip() or None
                        if shown is None or not (shown := shown.strip()):
                            shown = path if sub is None else f"{path} > {sub}"
                        end = got.end()
                    elif seen[p + 1 : p + 2] == "[":
                        end = seen.find("]]", p + 2) + 2
                        inner = seen[p + 2 : end - 2]
                        target = wikilink(inner) if end > 2 and "[" not in inner and MASK not in inner else None
                        if target is None:
                            trouble = True
                            break
                        path, sub, shown = target
                    else:
                        close = seen.find("]", p + 1)
                        nested = seen.find("[", p + 1)
                        if close < 0:
                            half = odd = True
                            p = nested
                            continue
                        if 0 <= nested < close:
                            trouble = True
                            break
                        if seen[close + 1 : close + 2] != "(" or seen[p + 1] == "^":
                            p = nested
                            continue
                        end = seen.find(")", close) + 1
                        written = seen[close + 2 : end - 1]
                        if not written or not end or _NOT_PLAIN.search(written):
                            read = destination(seen, close + 1, step - 1)
                            if read is None or MASK in read[0]:
                                trouble = True
                                break
                            written, end = read
                        if written[:4] != "http" or _SCHEME.match(written) is None:
                            shown = line[p + 1 : close]
                            aim = target_of(written, shown)
                            if aim is not None:
                                if p and seen[p - 1] == "!":
                                    row = ("embed", line[p - 1 : end], aim[0], aim[1], shown, number, pos + p - 1, None)
                                else:
                                    row = ("markdown", line[p:end], aim[0], aim[1], shown, number, pos + p, None)
                                links.append(_new(Link, row))
                        spans.append((close, end))
                        p = seen.find("[", end)
                        continue
                    if p and seen[p - 1] == "!":
                        links.append(
                            _new(Link, ("embed", line[p - 1 : end], path, sub, shown, number, pos + p - 1, None))
                        )
                    else:
                        links.append(_new(Link, ("wikilink", line[p:end], path, sub, shown, number, pos + p, None)))
                    spans.append((p, end))
                    p = seen.find("[", end)
            if not trouble:
                p = seen.find("#", tagless) if tagless or "#" in seen else -1
                ended_at = -1
                while p >= 0:
                    if p == 0 or seen[p - 1] == " ":
                        match = TAG.match(seen, p + 1)
                        name = match[0] if match is not None else None
                        if name is not None and name.isdigit() and name.isascii():
                            name = None
                    else:
                        if seen[p - 1] == MASK or any(right == p for _, right in spans):
                            ended_at = p
                        name = tag_at(seen, p, 0, step - 1, ended_at)
                    if name is None:
                        p = seen.find("#", p + 1)
                        continue
                    hidden = 0
                    for left, right in spans:
                        if left <= p < right:
                            hidden = right
                    if hidden:
                        p = seen.find("#", hidden)
                        continue
                    tags.append(_new(Tag, (name, number, pos + p)))
                    ended_at = p + 1 + len(name)
                    p = seen.find("#", ended_at)
                tagless = 0
            else:
                trouble, tagless = False, 0
                # The careful way, for this line alone, if nothing in it goes on on the next.
                del links[mark_links:], tags[mark_tags:]
                if inline is None:
                    inline = Inline(text, {})
                if not _alone(inline, text, pos, pos + step - 1):
                    return None
                half = odd = half or "[" in inline.loose
                for at, end, kind, (path, sub, shown) in inline.links:
                    links.append(_new(Link, (kind, text[at:end], path, sub, shown, number, at, None)))
                for name, at in inline.tags:
                    tags.append(_new(Tag, (name, number, at)))
        if caret and "^" in line and (block := _BLOCK.match(line)) is not None:
            waiting = Block(block[1], number, pos + block.start(1) - 1)
            odd = True
    if fence == "%%":
        _comment_tags(text, comment, len(text), len(text), number, tags)
    if waiting is not None:
        blocks.append(waiting)
    return headings, blocks


def _above(lines: list[str], at: int) -> str:
    return lines[at - 1] if at else ""


def _comment_tags(text: str, start: int, end: int, here: int, number: int, tags: list[Tag]) -> None:
    """Tags of the comment that ends at `end`; `here`, in its last line, is on line `number`."""
    for name, at in tags_of_comment(text, start, end):
        tags.append(Tag(name, number - text.count("\n", at, here) if at < here else number, at))


def _alone(inline: Inline, text: str, start: int, end: int) -> bool:
    """Reads one line by itself; False when what it opens may be closed further down its paragraph."""
    inline.links, inline.tags = [], []
    inline.read(start, end)
    if inline.cut:
        return False
    for sign in inline.loose:
        if sign != "[":
            later = text.find(_CLOSERS[sign], end)
            if later >= 0 and text.find("\n\n", end, later) < 0:
                return False
    return True


def _block(line: str, start: int, begins: str, *, paragraph: bool) -> tuple[str | None, object]:
    """What opens at `start`: a fence or mark, `html` and what ends it, or nothing; None when unsure."""
    if begins == "<":
        kind = html_block(line, start, len(line), interrupting=paragraph)
        if paragraph and kind is NO_HTML and html_block(line, start, len(line), interrupting=False) is not NO_HTML:
            return None, None
        return ("", None) if kind is NO_HTML else ("html", kind)
    if begins in "$%":
        opens = line.startswith(begins, start + 1) and line.find(begins * 2, start + 2) < 0
        return (begins * 2 if opens else ""), None
    run = line[start : len(line) - len(line[start:].lstrip(begins))]
    if len(run) < 3 or (begins == "`" and "`" in line[start + len(run) :]):
        return "", None
    return run, None


def _mask(line: str) -> str | None:
    """The line with all that hides something, or is an escape, blotted out; None when something is
    opened and not closed."""
    kinds = [c for c in "`<\\$" if c in line]
    if not kinds:
        return line
    only = kinds[0] if len(kinds) == 1 else ""
    if only == "`" and "``" not in line:
        pieces = line.split(only)
        if len(pieces) % 2 == 0:
            return None
        for at in range(1, len(pieces), 2):
            pieces[at] = MASK * len(pieces[at])
        return MASK.join(pieces)
    if only == "\\":
        return _ESCAPE.sub(MASK * 2, line)
    find = line.find
    parts = []
    done = 0
    p = -1
    end = 0
    while True:
        if only:
            p = find(only, end)
            if p < 0:
                break
            c = only
        else:
            got = _SPECIAL.search(line, end)
            if got is None:
                break
            p = got.start()
            c = got[0]
        end = p + 1
        if c == "`":
            ticks = c
            while line[end : end + 1] == "`":
                ticks += c
                end += 1
            at = find(ticks, end)
            while at >= 0 and (line[at - 1] == "`" or line[at + len(ticks) : at + len(ticks) + 1] == "`"):
                while line[at : at + 1] == "`":
                    at += 1
                at = find(ticks, at)
            if at < 0:
                return None
            end = at + len(ticks)
        elif c == "\\":
            if line[p + 1 : p + 2] not in PUNCTUATION:
                continue
            end = p + 2
        elif c == "$":
            formula = _FORMULA.match(line, p)
            if formula is None:
                if line[p + 1 : p + 2] not in " \t":
                    return None
                continue
            end = formula.end()
        else:
            if not _MARKUP.match(line, p):
                continue
            tag = HTML_TAG.match(line, p) or AUTOLINK.match(line, p)
            if tag is None:
                return None
            end = tag.end()
        parts.append(line[done:p])
        parts.append(MASK * (end - p))
        done = end
    if not parts:
        return line
    parts.append(line[done:])
    return "".join(parts)
