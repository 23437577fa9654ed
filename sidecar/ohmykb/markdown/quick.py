"""The quick way through a note: `str.find` from one candidate to the next, with no block structure.

It answers only where that is surely the same as the careful way (`regions`, then `inline`); at the
first sign of anything else (code in a list, a bracket within a bracket, an open formula) it gives
up, and the careful way reads the note. `holes` are stretches that hide what they hold.
"""

import re
from bisect import bisect_right
from operator import itemgetter

from ohmykb.markdown.inline import (
    AUTOLINK,
    HTML_TAG,
    PUNCTUATION,
    SPACE,
    TAG,
    destination,
    tag_at,
    target_of,
    wikilink,
)
from ohmykb.markdown.regions import starts_html
from ohmykb.note import Block, Heading, Link, Tag

Rows = tuple[list[Link], list[Tag], list[Heading], list[Block]]
Span = tuple[int, int]

_new = tuple.__new__  # a named tuple without the detour through its own __new__
_start = itemgetter(6)

_ODD = re.compile(
    r"\n(?:[ \t=]|-[- \t]*(?=\n|\Z)|[-+*>][> ]*(?:    |\t)|\d{1,9}[.)](?:    |\t))"
)
"""A line that may be more than it seems; without one, no line needs a second look."""
_UNDER = re.compile(r"(?:=+|-+)[ \t]*(?=\n|\Z)")
_NOT_CONTINUED = re.compile(
    r"[ \t>]*(?:(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*#{1,6}(?:[ \t].*)?|(?:[-+*_=]|\d{1,9}[.)])?[-+*_=> \t]*)"
)
"""A line that no paragraph goes on after: blank, a heading, a rule, an empty item."""
_FIRST = re.compile(r"[ \t]+[^ \t\n]|[-+*>][> ]*(?:    |\t)|\d{1,9}[.)](?:    |\t)")
_TICKS = re.compile(r"`+")
_TILDES = re.compile(r"~{3,}")
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t>]+)*")
_MARKUP = re.compile(r"<[A-Za-z/!?]")
_CLOSE = {"`": re.compile(r"\n {0,3}(`{3,})[ \t]*(?=\n|\Z)"), "~": re.compile(r"\n {0,3}(~{3,})[ \t]*(?=\n|\Z)")}
_DESTINATION = re.compile(r"\(([^\s()<>\\&%#]+)\)")
_WEB = re.compile(r"\(https?://[^\s()<>\\]*\)")
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*(\n|\Z)")
_AFTER_BLOCK = re.compile(r"[ \t]*(?:\n|\Z)|[ \t]*[-+*][ \t]|#{1,6} ")


def quick(text: str, body: int, line: int) -> Rows | None:  # noqa: C901 - flat on purpose: calls cost
    """Links, tags, headings and blocks of the text from `body` on, which is on line `line`; or None."""
    find = text.find
    holes: list[Span] = []
    if (
        find("`", body) >= 0
        or find("<", body) >= 0
        or find("\\", body) >= 0
        or find("$", body) >= 0
        or (find("%", body) >= 0 and find("%%", body) >= 0)
        or (find("~", body) >= 0 and find("~~~", body) >= 0)
    ):
        got = _holes(text, body)
        if got is None:
            return None
        holes = got
    underlined: list[Span] = []
    if (odd := _ODD.search(text, body - 1 if body else 0)) and not _plain(text, body, odd.start(), holes, underlined):
        return None
    if body < 2 and _FIRST.match(text, body):
        return None
    count = text.count
    links: list[Link] = []
    shut: list[Span] = []
    tags: list[Tag] = []
    headings: list[Heading] = []

    p = find("[", body)
    if p >= 0:
        hole = 0
        close = -1
        here, seen = body, line
        while p >= 0:
            if holes:
                while hole < len(holes) and holes[hole][1] <= p:
                    hole += 1
                if hole < len(holes) and holes[hole][0] <= p:
                    p = find("[", holes[hole][1])
                    continue
            if text[p + 1 : p + 2] == "[":
                if close < p + 2:
                    close = find("]]", p + 2)
                    if close < 0:
                        return None
                inner = text[p + 2 : close]
                if "\n" in inner or "[" in inner or not inner:
                    return None
                end = close + 2
                if "|" in inner or "#" in inner or inner[0] in SPACE or inner[-1] in SPACE:
                    target = wikilink(inner)
                    if target is None:
                        return None
                    path, sub, shown = target
                else:
                    path, sub, shown = inner, None, inner
                seen += count("\n", here, p)
                here = p
                if p > body and text[p - 1] == "!" and not (holes and hole and holes[hole - 1][1] == p):
                    links.append(_new(Link, ("embed", text[p - 1 : end], path, sub, shown, seen, p - 1, None)))
                else:
                    links.append(_new(Link, ("wikilink", text[p:end], path, sub, shown, seen, p, None)))
                left = p
            else:
                close_one = find("]", p + 1)
                if close_one < 0:
                    break
                after = text[close_one + 1 : close_one + 2]
                if after != "(":
                    if after == ":" and text[p + 1] != "^":
                        before = text[text.rfind("\n", 0, p) + 1 : p]
                        if not before.strip(" \t>"):
                            return None
                    nested = find("[", p + 1)
                    if 0 <= nested < close_one and (find("\n\n", p, nested) < 0 or find("\n\n", nested, close_one) >= 0):
                        return None
                    p = nested
                    continue
                shown = text[p + 1 : close_one]
                if "[" in shown or "\n" in shown or text[p + 1] == "^":
                    return None
                left = close_one
                web = _WEB.match(text, close_one + 1)
                if web is not None:
                    end = web.end()
                else:
                    plain = _DESTINATION.match(text, close_one + 1)
                    if plain is not None:
                        written, end = plain.group(1), plain.end()
                    else:
                        line_end = find("\n", close_one)
                        if line_end < 0:
                            line_end = len(text)
                        got_it = destination(text, close_one + 1, line_end)
                        if got_it is None:
                            if find(")", close_one, line_end) < 0:
                                return None
                            p = find("[", close_one)
                            continue
                        written, end = got_it
                    aim = target_of(written, shown)
                    if aim is not None:
                        seen += count("\n", here, p)
                        here = p
                        if p > body and text[p - 1] == "!" and not (holes and hole and holes[hole - 1][1] == p):
                            row = ("embed", text[p - 1 : end], aim[0], aim[1], shown, seen, p - 1, None)
                        else:
                            row = ("markdown", text[p:end], aim[0], aim[1], shown, seen, p, None)
                        links.append(_new(Link, row))
            if holes:
                # A hole may lie within the link, but neither may cut the other.
                at = hole
                while at < len(holes) and holes[at][0] < end:
                    if holes[at][1] > end or holes[at][0] < left < holes[at][1]:
                        return None
                    at += 1
            shut.append((left, end))
            p = find("[", end)

    if holes:
        shut = sorted(shut + holes)
    p = find("#", body)
    if p >= 0:
        here, seen = body, line
        cursor = 0
        last = -1
        while p >= 0:
            after = text[p + 1 : p + 2]
            before = text[p - 1] if p > body else "\n"
            if before == "\n":
                right = p
                while after == "#":
                    right += 1
                    after = text[right + 1 : right + 2]
                if right - p < 6 and after in " \t\n":  # holds at the end of the text too: `after` is empty
                    if holes and _inside(shut, p):
                        p = find("#", right + 1)
                        continue
                    end = find("\n", p)
                    if end < 0:
                        end = len(text)
                    words = text[right + 1 : end].strip(" \t")
                    if words[-1:] == "#":
                        bare = words.rstrip("#")
                        if not bare or bare[-1] in " \t":
                            words = bare.rstrip(" \t")
                    seen += count("\n", here, p)
                    here = p
                    headings.append(_new(Heading, (right - p + 1, words, seen, p)))
                    p = find("#", right + 1)
                    continue
                p = right
                if right > p:
                    p = find("#", right + 1)
                    continue
            elif before == "#":
                p = find("#", p + 1)
                continue
            if after and after not in " #\n":
                while cursor < len(shut) and shut[cursor][1] <= p:
                    last = max(last, shut[cursor][1])
                    cursor += 1
                if cursor < len(shut) and shut[cursor][0] <= p:
                    p = find("#", shut[cursor][1])
                    continue
                if before == " " or before == "\n":
                    match = TAG.match(text, p + 1)
                    name = match.group() if match else None
                    if name is not None and name.isdigit() and name.isascii():
                        name = None
                else:
                    name = tag_at(text, p, body, len(text), last)
                if name is not None:
                    seen += count("\n", here, p)
                    here = p
                    tags.append(_new(Tag, (name, seen, p)))
                    last = p + 1 + len(name)
                    p = find("#", last)
                    continue
            p = find("#", p + 1)
    for left, at in underlined:
        words = text[left:at].strip()
        headings.append(Heading(1 if text[at + 1] == "=" else 2, words, line + count("\n", body, left), left))
    if underlined:
        headings.sort(key=itemgetter(3))
    blocks: list[Block] = []
    if find("^", body) >= 0:
        found = _blocks(text, body, line, shut)
        if found is None:
            return None
        blocks = found
    return links, tags, headings, blocks


def _inside(spans: list[Span], p: int) -> bool:
    at = bisect_right(spans, (p, len(spans) and spans[-1][1] + 1))
    return any(left <= p < right for left, right in spans[max(0, at - 4) : at])


def _blocks(text: str, body: int, line: int, shut: list[Span]) -> list[Block] | None:
    found: list[Block] = []
    p = text.find("^", body)
    while p >= 0:
        got = _BLOCK.match(text, p)
        if got is not None and (p == body or text[p - 1] in " \t\n>") and not _inside(sorted(shut), p):
            if got.group(2) and not _AFTER_BLOCK.match(text, got.end()):
                return None
            found.append(Block(got.group(1), line + text.count("\n", body, p), p))
        p = text.find("^", p + 1)
    return found


def _plain(text: str, body: int, first: int, holes: list[Span], underlined: list[Span]) -> bool:
    """Whether no line outside the holes is code or something else by its indentation; headings that
    are underlined with nothing around them are noted."""
    rfind = text.rfind
    for got in _ODD.finditer(text, first):
        p = got.start()
        q = p + 1
        c = text[q : q + 1]
        if c == " " or c == "\t":
            while (c := text[q : q + 1]) == " " or c == "\t":
                q += 1
            if c == "\n" or not c:
                continue
            if c in "#=-" and (c == "#" or _UNDER.match(text, q)):
                if holes and _inside(holes, q):
                    continue
                return False
            if q - p > 4 or "\t" in text[p:q]:
                above = max(rfind("\n", 0, p) + 1, body)
                if (p < body or _NOT_CONTINUED.fullmatch(text, above, p)) and not (holes and _inside(holes, q)):
                    return False
                if got.end() > q:
                    return False
            after = text[q + 1 : q + 6]
            if c in "-+*>" and (after == "     " or "\t" in after) and not (holes and _inside(holes, q)):
                return False
            continue
        if holes and _inside(holes, q):
            continue
        under = _UNDER.match(text, q)
        if under is None:
            if c == "=":
                continue
            return False
        if p < body:
            continue
        left = max(rfind("\n", 0, p) + 1, body)
        above = text[left:p]
        if above.strip():
            edge = max(left - 1, body)
            if not above[0].isalpha() or (edge > body and text[max(rfind("\n", 0, edge) + 1, body) : edge].strip()):
                return False
            underlined.append((left, p))
    return True


def _holes(text: str, body: int) -> list[Span] | None:  # noqa: C901 - one rule a character
    """Code, HTML, maths and escapes, each on one line or a fence at the margin; None when unsure."""
    find = text.find
    n = len(text)
    holes: list[Span] = []
    places: list[int] = []
    for c in "`<\\$%~":
        p = find(c, body)
        while p >= 0:
            places.append(p)
            p = find(c, p + 1)
    places.sort()
    skip = line_end = body - 1
    left = body
    for p in places:
        if p < skip:
            continue
        c = text[p]
        if c == "\\":
            if text[p + 1 : p + 2] in PUNCTUATION:
                holes.append((p, p + 2))
                skip = p + 2
            continue
        if c == "~" and not text.startswith("~~~", p):
            continue
        if c == "%":
            if not text.startswith("%%", p):
                continue
        elif c == "<" and not _MARKUP.match(text, p):
            continue
        if line_end < p:
            left = max(text.rfind("\n", 0, p) + 1, body)
            line_end = find("\n", p)
            if line_end < 0:
                line_end = n
        first = p == left
        if text.startswith("[^", left):
            return None
        opens = first or (
            not text[left:p].strip(" \t>-+*.)0123456789") and _PREFIX.fullmatch(text, left, p) is not None
        )
        if c == "`" or c == "~":
            run = (_TICKS if c == "`" else _TILDES).match(text, p)
            if run is None:
                continue
            width = run.end() - p
            if opens and width >= 3 and (c == "~" or find("`", run.end(), line_end) < 0):
                if not first:
                    return None
                end = n
                for closing in _CLOSE[c].finditer(text, line_end):
                    if len(closing.group(1)) >= width:
                        end = closing.end()
                        break
                if text.startswith(("    ", "\t", " \t", "  \t", "   \t"), end + 1):
                    return None
                holes.append((p, end))
                skip = end
                continue
            if c == "~":
                skip = run.end()
                continue
            ticks = run.group()
            at = find(ticks, run.end(), line_end)
            while at >= 0 and (text[at - 1] == "`" or text[at + width : at + width + 1] == "`"):
                other = _TICKS.match(text, at)
                at = find(ticks, other.end() if other else at + 1, line_end)
            if at < 0:
                return None
            holes.append((p, at + width))
            skip = at + width
        elif c == "<":
            if opens and starts_html(text, p, line_end):
                return None
            tag = HTML_TAG.match(text, p, line_end) or AUTOLINK.match(text, p, line_end)
            if tag is None:
                if not text.startswith("<!--", p) or text.startswith((">", "->"), p + 4):
                    return None
                end = find("-->", p + 4, line_end)
                if end < 0:
                    return None
                end += 3
            else:
                end = tag.end()
            holes.append((p, end))
            skip = end
        elif c == "%":
            at = find("%%", p + 2, line_end)
            if opens and at < 0:
                return None
            skip = at + 2 if at >= 0 else p + 2
        else:
            if text.startswith("$$", p):
                at = find("$$", p + 2, line_end)
                if at < 0:
                    if not first:
                        return None
                    at = find("$$", line_end)
                    end = n if at < 0 else find("\n", at)
                    if end < 0:
                        end = n
                    if text.startswith(("    ", "\t", " \t", "  \t", "   \t"), end + 1):
                        return None
                else:
                    end = at + 2
                holes.append((p, end))
                skip = end
                continue
            if p + 1 >= n or text[p + 1] in " \t\n":
                continue
            at = p + 1
            while (at := find("$", at, line_end)) >= 0:
                if text[at - 1] not in " \t\n\\" and not (at + 1 < n and text[at + 1] in "0123456789"):
                    break
                at += 1
            if at < 0:
                later = find("$", p + 1)
                if later >= 0 and find("\n\n", p, later) < 0:
                    return None
                continue
            holes.append((p, at + 1))
            skip = at + 1
    return holes
