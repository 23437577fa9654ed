"""Holes: what hides links and tags. Code, formulas, HTML, escapes and `%%` blocks, found by their first
character and blotted out, so that whoever looks for links need not know of them.

Only what stands on one line, or in a block at the margin, is dealt with here. A line that opens more
than it closes is handed back as odd; a block within a list or quote is for the careful way.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from ohmykb.markdown.inline import AUTOLINK, HTML_TAG
from ohmykb.markdown.regions import NO_HTML, ends_html, html_block

MASK = "\1"
"""Stands in for a character that is hidden. Of a block there remain its line ends, so that to
its neighbours it is blank lines, and lines can be counted."""

MARK = r"(?:[-+*]|\d{1,9}[.)])"
"""What begins a list item."""


class Body(NamedTuple):
    """The text of a note after its properties, with a line end before it, so that its first line is like
    any other."""

    source: str
    seen: str
    """The same with its holes blotted out, as long as before."""
    start: int
    """Where the note has what is at 0 here."""
    first: int
    """The line of that."""
    odd: list[int]
    """Places on lines that have to be read character by character; those who look add to it."""
    comments: list[tuple[int, int]]
    """`%%` blocks, whose tags count."""


class UnsureError(Exception):
    """The careful way has to look."""


class _Opening(NamedTuple):
    """What may open a hole, on a line that ends at `line_end`; `blank` is where the last block ended."""

    text: str
    start: int
    end: int
    line_end: int
    blank: int


Hole = tuple[int, str]
"""Where it ends and what it is: a block, a span, nothing but text, or odd, and then the line's end."""

_CONTAINERS = re.compile(rf"[ \t>]*+(?:(?:{MARK}(?=[ \t>])|\[\^[^\]\s]+\]:)[ \t>]*+)*+")
_BEARING = re.compile(r"\\(?:[\[\]#`$<!]|[!-/:-@\[-`{-~]#)")
"""An escape that bears on links, tags or other holes. Most backslashes are TeX."""
_PERCENTS = re.compile(r"%(?=%)")
_TILDES = re.compile(r"~(?=~~)")
_PERCENTS = re.compile(r"%(?=%)")
_TILDES = re.compile(r"~(?=~~)")
_MARKUP = re.compile(r"<[A-Za-z/!?]")
_FENCE = re.compile(r"\n {0,3}(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_BLANK = re.compile(r"\n[ \t]*+(?=\n|\Z)")
_FORMULA = re.compile(r"\$(?:\$.*?\$\$|(?![ \t$]).*?(?<![ \t\\])\$(?![0-9]))")
_RUN = re.compile(r"`+|~+")

# What is frequent the pattern reads whole; of the rest it finds how it begins, and `_OPENERS` reads on.
_KINDS = {
    "`": r"`(?!`)[^`\n]++`(?!`)|``?+",
    "$": r"\$(?![ \t$\n])[^$\n]++(?<![ \t\\])\$(?![0-9])|\$",
    "\\": r"\\[!-/:-@\[-`{-~]",
    "<": r"<(?=[A-Za-z/!?])",
    "%": r"%%",
    "~": r"~~~",
}
_patterns: dict[str, re.Pattern[str]] = {}


def body_of(text: str, begins: int, number: int) -> Body:
    """The body that begins at `begins`, on line `number`."""
    source = text[begins - 1 :] if begins and text[begins - 1] == "\n" else "\n" + text[begins:]
    if MASK in source:
        raise UnsureError
    seen = source
    odd: list[int] = []
    comments: list[tuple[int, int]] = []
    if kinds := _kinds(source):
        pattern = _patterns.get(kinds)
        if pattern is None:
            pattern = _patterns[kinds] = re.compile("(" + "|".join(_KINDS[kind] for kind in kinds) + ")")
        parts = pattern.split(source)
        if _OPENERS.keys().isdisjoint(parts[1::2]):
            parts[1::2] = [MASK * len(hole) for hole in parts[1::2]]
            seen = "".join(parts)
        else:
            seen = _one_by_one(source, pattern, odd, comments)
    return Body(source, seen, begins - 1, number - 1, odd, comments)


def _kinds(text: str) -> str:
    """The characters that open holes in this text. Each test is a `memchr`: to look for two characters
    at once would take twenty times as long."""
    kinds = ""
    if "`" in text:
        kinds = "`"
    if "$" in text:
        kinds += "$"
    if "<" in text and _MARKUP.search(text) is not None:
        kinds += "<"
    if "\\" in text and _BEARING.search(text) is not None:
        kinds += "\\"
    if "%" in text and _PERCENTS.search(text) is not None:
        kinds += "%"
    if "~" in text and _TILDES.search(text) is not None:
        kinds += "~"
    return kinds


def _one_by_one(text: str, pattern: re.Pattern[str], odd: list[int], comments: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = blank = line_end = 0  # `blank`: where the last block ended
    while (found := pattern.search(text, done)) is not None:
        p, end = found.span()
        opener = _OPENERS.get(found[0])
        if opener is None:
            parts += text[done:p], MASK * (end - p)
            done = end
            continue
        if p >= line_end:
            line_end = _closed_at(text, p)
        end, what = opener(_Opening(text, p, end, line_end, blank))
        parts.append(text[done:p])
        if what == "span":
            parts.append(MASK * (end - p))
        elif what == "block":
            lines = text.count("\n", p, end)
            parts += " " * (end - p - lines), "\n" * lines
            blank = end
            if text[p] == "%":
                comments.append((p, end))
        else:
            parts.append(text[p:end])
            if what == "odd":
                odd.append(p)
        done = end
    parts.append(text[done:])
    return "".join(parts)


def _boxed(text: str, p: int) -> bool:
    """Whether only marks of lists, quotes and notes, or space, stand before `p` on its line."""
    return text[p - 1] in " \t>:" and _CONTAINERS.fullmatch(text, text.rfind("\n", 0, p) + 1, p) is not None


def _at_margin(text: str, p: int) -> bool:
    """Whether the block opens at `p`. In a list or quote it is not for us to say where it ends."""
    if text[p - 1] == "\n":
        return True
    if _boxed(text, p):
        raise UnsureError
    return False


def _closed_at(text: str, at: int) -> int:
    """The end of the line on which a block closes; the end of the text when it does not."""
    end = text.find("\n", at) if at >= 0 else -1
    return end if end >= 0 else len(text)


def _fence(text: str, p: int, after: int) -> Hole:
    for closing in _FENCE.finditer(text, after):
        if closing[1].startswith(text[p:after]):
            return closing.end(), "block"
    return len(text), "block"


def _run_end(text: str, p: int) -> int:
    run = _RUN.match(text, p)
    return run.end() if run is not None else p


def _tildes(at: _Opening) -> Hole:
    after = _run_end(at.text, at.start)
    return _fence(at.text, at.start, after) if _at_margin(at.text, at.start) else (after, "text")


def _ticks(at: _Opening) -> Hole:
    text, p = at.text, at.start
    after = _run_end(text, p)
    if after - p > 2 and text.find("`", after, at.line_end) < 0 and _at_margin(text, p):
        return _fence(text, p, after)
    for run in _RUN.finditer(text, after, at.line_end):
        if run[0] == text[p:after]:
            return run.end(), "span"
    return at.line_end, "odd"


def _dollar(at: _Opening) -> Hole:
    text, p, after, line_end, _ = at
    if text.startswith("$", after) and text.find("$$", p + 2, line_end) < 0 and _at_margin(text, p):
        return _closed_at(text, text.find("$$", line_end)), "block"
    formula = _FORMULA.match(text, p)
    if formula is not None:
        return formula.end(), "span"
    return (after, "text") if after == line_end or text[after] in " \t" else (line_end, "odd")


def _percent(at: _Opening) -> Hole:
    text, p, after, line_end, _ = at
    if text.find("%%", after, line_end) < 0 and _at_margin(text, p):
        return _closed_at(text, text.find("%%", line_end)), "block"
    return after, "text"


def _angle(at: _Opening) -> Hole:
    text, p, _, line_end, blank = at
    boxed = _boxed(text, p)
    if boxed or text[p - 1] == "\n":
        above = p - 1
        while above and text[above - 1] in " \t":
            above -= 1
        paragraph = above > 0 and text[above - 1] != "\n" and above != blank
        kind = html_block(text, p, line_end, interrupting=paragraph)
        if kind is not NO_HTML and not boxed:
            return _html_end(text, p, line_end, kind), "block"
        if kind is not NO_HTML or (paragraph and html_block(text, p, line_end, interrupting=False) is not NO_HTML):
            raise UnsureError
    tag = HTML_TAG.match(text, p, line_end) or AUTOLINK.match(text, p, line_end)
    return (tag.end(), "span") if tag is not None else (line_end, "odd")


def _html_end(text: str, p: int, line_end: int, by: object) -> int:
    if by is None:
        closing = _BLANK.search(text, line_end)
        return closing.start() if closing is not None else len(text)
    if ends_html(text, p, line_end, by):
        return line_end
    if isinstance(by, re.Pattern):
        closing = by.search(text, line_end)
        return _closed_at(text, closing.start() if closing is not None else -1)
    return _closed_at(text, text.find(str(by), line_end))


_OPENERS: dict[str, Callable[[_Opening], Hole]] = {
    "`": _ticks,
    "``": _ticks,
    "$": _dollar,
    "<": _angle,
    "%%": _percent,
    "~~~": _tildes,
}
