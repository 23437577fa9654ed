"""What the beginnings of lines tell the quick way: headings that are underlined, and whether it has to
give up, since code may be meant by an indent, or a `[label]:` may be a definition.

All of this is about a text whose holes are blotted out, and which begins with a line end.
"""

import re

from ohmykb.markdown.holes import MARK, UnsureError

_NOTE = r"\[\^[^\]\s]+\]:"

_MARGIN = re.compile(r"\n(?=[ \t=\-])(?:[ \t]++#|([ \t]*+)([=-])[=\- \t]*+(?=\n|\Z))")
"""A heading that is indented; a line of marks, that may make the one above a heading."""
_INDENTED = re.compile(r"\n(?: {4}| {0,3}+\t)[ \t]*+[^ \t\n]")
_NOT_CONTINUED = re.compile(
    rf"[ \t>]*+(?:{_NOTE}[ \t>]*+)?(?:(?:{MARK}[ \t]++)*+#{{1,6}}(?:[ \t].*)?|(?:[-+*_=]|\d{{1,9}}[.)])?+[-+*_=> \t]*+)"
)
"""A line that no paragraph goes on after: blank, a heading, a rule, an empty item."""
_ITEM_CODE = re.compile(
    rf"\n[ \t>]*+(?:{_NOTE}[ \t]*+)?(?:{MARK}(?! {{5}}| +\t|\t[ \t])[ \t>]++)*+{MARK}(?: {{5}}| +\t|\t[ \t])"
)
"""Five columns behind the mark of an item: it holds code."""
_QUOTE_CODE = re.compile(r">(?: {4}| *+\t)")
_DEFINES = re.compile(rf"\n[ \t>]*+(?:{MARK}[ \t>]++|{_NOTE}[ \t>]*+)*+\[(?!\^)(?:[^\[\]\\]|\\.)++\]:")


def underlined(seen: str) -> list[tuple[int, int, int]]:
    """Level, beginning and end of headings that are underlined with `===` or `---`."""
    headings: list[tuple[int, int, int]] = []
    for line in _MARGIN.finditer(seen):
        indent, sign = line.groups()
        if sign is None:
            raise UnsureError
        p = line.start()
        left = seen.rfind("\n", 0, p) + 1
        above = seen[left:p]
        if not above or above.isspace():
            continue
        marks = line[0].strip()
        if indent:
            raise UnsureError
        if marks.strip(sign).strip(" \t"):
            continue
        if not above[0].isalpha() or marks.strip(sign) or seen[max(left - 2, 0)] != "\n":
            raise UnsureError
        headings.append((1 if sign == "=" else 2, left, p))
    return headings


def no_code_by_indent(seen: str) -> None:
    """Gives up when some indent may make code."""
    if "    " not in seen and "\t" not in seen:
        return
    for line in _INDENTED.finditer(seen):
        p = line.start()
        above = seen.rfind("\n", 0, p) + 1
        if not seen[above].isalpha() and _NOT_CONTINUED.fullmatch(seen, above, p) is not None:
            raise UnsureError
    if ("\t" in seen or "     " in seen) and _ITEM_CODE.search(seen) is not None:
        raise UnsureError
    if ">" in seen and _QUOTE_CODE.search(seen) is not None:
        raise UnsureError


def no_definition(seen: str) -> None:
    """Gives up when a link may be defined."""
    if _DEFINES.search(seen) is not None:
        raise UnsureError
