"""The block structure of a note: which stretches hold running text, which are code, HTML, maths or
comments, and where headings stand. One walk over the lines, after CommonMark's own algorithm, with
the app's `%%` and `$$` blocks and footnotes added.

Only notes in which such structure can matter come here; `scan` reads the plain ones without it.
"""

import re
from typing import NamedTuple


class ItemMark(NamedTuple):
    """Where a list item begins; lines are 0-based here."""

    line: int
    start: int
    end: int
    parent: int
    task: str | None


class Layout(NamedTuple):
    runs: list[tuple[int, int]]
    """Stretches of running text, each an inline world of its own."""
    headings: list[tuple[int, int, int, int]]
    """Level, offset of the block, then the stretch of the text; only those outside quotes and lists."""
    comments: list[tuple[int, int]]
    """`%%` blocks: the app reads tags in them, and nothing else."""
    definitions: dict[str, str]
    """Link reference definitions: normalised label -> destination as written."""
    items: list[ItemMark]


_NONE, _PARA, _FENCE, _HTML, _MATH, _COMMENT = range(6)

_ATX = re.compile(r"#{1,6}(?=[ \t\n]|\Z)")
_FENCE_OPEN = re.compile(r"(`{3,})[^`\n]*(?=\n|\Z)|(~{3,})")
_RULE = re.compile(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})(?=\n|\Z)")
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*(?=\n|\Z)")
_MARKER = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t\n]|\Z)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_TASK = re.compile(r"\[(.)\](?=[ \t\n]|\Z)", re.DOTALL)
_DEFINITION = re.compile(
    r"\[((?:[^\[\]\\]|\\.)+)\]:[ \t]*(?:\n[ \t>]*)?(<(?:[^<>\n\\]|\\.)*>|[^\s<][^\s]*)"
    r"(?:[ \t]+(?:\n[ \t>]*)?(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*(?=\n|\Z)"
)
_ESCAPED = re.compile(r"\\.")
_TITLES = ('"', "'", "(")
_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|"
    "dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|"
    "link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|"
    "tfoot|th|thead|title|tr|track|ul"
)
_HTML_RAW = re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
_HTML_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_HTML_BLOCK = re.compile(rf"</?(?:{_BLOCK_TAGS})(?=\s|/?>|\Z)", re.IGNORECASE)
_ATTRIBUTE = r"(?:[ \t]+[A-Za-z_:][\w:.-]*(?:[ \t]*=[ \t]*(?:[^\s\"'=<>`]+|'[^'\n]*'|\"[^\"\n]*\"))?)"
_HTML_ALONE = re.compile(
    rf"(?:<[A-Za-z][A-Za-z0-9-]*{_ATTRIBUTE}*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*(?=\n|\Z)"
)
_CONTAINER = re.compile(r"[ \t>]*")
_BLANK = re.compile(r"[ \t]*")

_INTERRUPTS = frozenset(" \t>#-+*=_`~<$%123456789[0\n")
"""First characters of a line that may end a paragraph (or be a blank line)."""

_QUOTE, _ITEM, _NOTE = range(3)


class _Box:
    """An open quote, list item or footnote."""

    __slots__ = ("empty", "item", "kind", "marker", "root", "width")

    def __init__(self, kind: int, width: int = 0, marker: str = "", root: int = 0, item: int = -1) -> None:
        self.kind = kind
        self.width = width
        self.marker = marker
        self.root = root
        self.item = item
        self.empty = False


def label(text: str) -> str:
    """A reference label as it is compared."""
    return " ".join(text.split()).casefold()


def layout(text: str, start: int, *, items: bool = False) -> Layout:
    runs: list[tuple[int, int]] = []
    headings: list[tuple[int, int, int, int]] = []
    comments: list[tuple[int, int]] = []
    definitions: dict[str, str] = {}
    marks: list[ItemMark] = []
    boxes: list[_Box] = []
    n = len(text)
    leaf = _NONE
    fence = ""
    html_end: object = None
    para = para_end = opened = 0
    at = start
    number = text.count("\n", 0, start) - 1 if items else -1
    blank_of = _BLANK.match
    find = text.find

    def close_paragraph() -> None:
        nonlocal para
        if text[para] == "[":
            while (after := _define(text, para, para_end, definitions)) >= 0:
                gap = _CONTAINER.match(text, after + 1, para_end)
                para = gap.end() if gap else after + 1
                if para >= para_end:
                    return
        if find("|", para, para_end) >= 0 and find("\n", para, para_end) >= 0:
            _table(text, para, para_end, runs)
        else:
            runs.append((para, para_end))

    while at <= n:
        end = find("\n", at)
        if end < 0:
            end = n
        number += 1
        if leaf == _PARA and not boxes and at < end and text[at] not in _INTERRUPTS:
            para_end = end
            at = end + 1
            continue
        here = at
        at = end + 1
        # Where the first visible character stands; `base` is the column that the open boxes end on.
        skip = blank_of(text, here, end)
        p = skip.end() if skip else here
        column = p - here
        if column and "\t" in text[here:p]:
            column = _columns(text, here, p, 0)
        base = 0
        matched = 0
        for box in boxes:
            if box.kind == _QUOTE:
                if p < end and text[p] == ">" and column - base <= 3:
                    p, column, base = _after_quote(text, p, column, end)
                else:
                    break
            elif p >= end:
                pass
            elif column - base >= box.width:
                base += box.width
            else:
                break
            matched += 1
        whole = matched == len(boxes)
        blank = p >= end

        if leaf > _PARA:
            if whole:
                if leaf == _FENCE:
                    if not blank and column - base <= 3 and text.startswith(fence, p):
                        rest = text[p:end].rstrip(" \t")
                        if rest.strip(fence[0]) == "":
                            leaf = _NONE
                elif leaf == _HTML:
                    if html_end is None:
                        if blank:
                            leaf = _NONE
                    elif ends_html(text, p, end, html_end):
                        leaf = _NONE
                elif find("$$" if leaf == _MATH else "%%", p, end) >= 0:
                    if leaf == _COMMENT:
                        comments.append((opened, end))
                    leaf = _NONE
                continue
            if leaf == _COMMENT:
                comments.append((opened, here))
            leaf = _NONE

        if blank:
            if leaf == _PARA:
                close_paragraph()
                leaf = _NONE
            del boxes[matched:]
            if boxes and boxes[-1].empty:
                boxes.pop()
            continue

        fresh = False
        while True:
            indent = column - base
            going = leaf == _PARA and not fresh
            if indent >= 4:
                if going:
                    para_end = end
                else:
                    del boxes[matched:]
                break
            c = text[p]
            if c == ">":
                if leaf == _PARA:
                    close_paragraph()
                    leaf = _NONE
                del boxes[matched:]
                p, column, base = _after_quote(text, p, column, end)
                boxes.append(_Box(_QUOTE))
                matched += 1
                whole = fresh = True
                if p >= end:
                    break
                continue
            if c == "#" and (atx := _ATX.match(text, p, end)) is not None:
                if leaf == _PARA:
                    close_paragraph()
                    leaf = _NONE
                del boxes[matched:]
                left, right = _heading_text(text, atx.end(), end)
                runs.append((left, right))
                if not boxes:
                    headings.append((atx.end() - p, p, left, right))
                break
            if c in "`~" and (got := _FENCE_OPEN.match(text, p, end)) is not None:
                if leaf == _PARA:
                    close_paragraph()
                del boxes[matched:]
                leaf, fence = _FENCE, got.group(1) or got.group(2)
                break
            if c in "$%" and text.startswith(c, p + 1) and find(c + c, p + 2, end) < 0:
                if leaf == _PARA:
                    close_paragraph()
                del boxes[matched:]
                leaf, opened = (_MATH if c == "$" else _COMMENT), p
                break
            if c == "<":
                kind = html_block(text, p, end, interrupting=going)
                if kind is not NO_HTML:
                    if leaf == _PARA:
                        close_paragraph()
                    del boxes[matched:]
                    leaf, html_end = _HTML, kind
                    if kind is not None and ends_html(text, p, end, kind):
                        leaf = _NONE
                    break
            if (
                c in "=-"
                and going
                and whole
                and not _has_rows(text, para, para_end)
                and (got := _SETEXT.match(text, p, end)) is not None
            ):
                close_paragraph()
                leaf = _NONE
                if para < para_end:
                    if not boxes:
                        headings.append((1 if c == "=" else 2, para, para, para_end))
                    break
                leaf, para, para_end = _PARA, p, end
                break
            if c in "-*_" and _RULE.match(text, p, end) is not None:
                if leaf == _PARA:
                    close_paragraph()
                    leaf = _NONE
                del boxes[matched:]
                break
            if c in "-+*0123456789" and (got := _MARKER.match(text, p, end)) is not None:
                after = got.end()
                skip = blank_of(text, after, end)
                q = skip.end() if skip else after
                hollow = q >= end
                if not (going and whole and (hollow or (got.group(1) and int(got.group(1)) != 1))):
                    if leaf == _PARA:
                        close_paragraph()
                        leaf = _NONE
                    marker = text[after - 1]
                    width_to = column + after - p
                    column_q = _columns(text, after, q, width_to)
                    sibling = None
                    task = None
                    if matched < len(boxes) and boxes[matched].kind == _ITEM and boxes[matched].marker == marker:
                        sibling = boxes[matched]
                    del boxes[matched:]
                    spaces = column_q - width_to
                    pad = 1 if hollow or spaces > 4 else spaces
                    box = _Box(_ITEM, width_to + pad - base, marker, sibling.root if sibling else number)
                    box.empty = hollow
                    if items:
                        parent = next((b for b in reversed(boxes) if b.kind == _ITEM), None)
                        box.item = len(marks)
                        task = _TASK.match(text, q, end)
                        root = marks[parent.item].line if parent else -1 - box.root
                        left = _reached(text, here, p, column, base)
                        marks.append(ItemMark(number, left, end, root, task.group(1) if task else None))
                    boxes.append(box)
                    matched += 1
                    base = width_to + pad
                    p, column = q, column_q
                    whole = fresh = True
                    if hollow:
                        break
                    if items and task is not None:
                        # The app reads on behind the box: `- [ ] 1. x` is an item within an item.
                        skip = blank_of(text, task.end(), end)
                        q = skip.end() if skip else task.end()
                        column = base = _columns(text, p, q, column)
                        p = q
                        if p >= end:
                            break
                    continue
            if c == "[" and not (going and whole) and (got := _FOOTNOTE.match(text, p, end)) is not None:
                if leaf == _PARA:
                    close_paragraph()
                    leaf = _NONE
                del boxes[matched:]
                boxes.append(_Box(_NOTE, 4))
                matched += 1
                skip = blank_of(text, got.end(), end)
                q = skip.end() if skip else got.end()
                column = base = _columns(text, got.end(), q, column + got.end() - p)
                p = q
                whole = fresh = True
                if p >= end:
                    break
                continue
            if going:
                para_end = end
            else:
                if leaf == _PARA:
                    close_paragraph()
                del boxes[matched:]
                if c == "[" and _define(text, p, end, definitions) >= 0 and text[end + 1 : end + 2] not in _TITLES:
                    leaf = _NONE  # a definition is a block of its own: anything may follow it
                else:
                    leaf, para, para_end = _PARA, p, end
            break
        if boxes and not blank and boxes[-1].empty and p < end and not fresh:
            boxes[-1].empty = False
        if items and leaf == _PARA and para_end == end:
            inner = next((b for b in reversed(boxes) if b.kind == _ITEM), None)
            if inner is not None and not fresh and inner.item >= 0:
                marks[inner.item] = marks[inner.item]._replace(end=end)
    if leaf == _PARA:
        close_paragraph()
    elif leaf == _COMMENT:
        comments.append((opened, n))
    return Layout(runs, headings, comments, definitions, marks)


def _define(text: str, p: int, end: int, definitions: dict[str, str]) -> int:
    """Notes the link definition that begins at `p`; where it ends, or -1 when there is none."""
    found = _DEFINITION.match(text, p, end)
    if found is None or not found.group(1).strip() or found.group(1)[0] == "^":
        return -1
    written = found.group(2)
    if "(" in written or ")" in written:
        depth = 0
        for c in _ESCAPED.sub("", written) if not written.startswith("<") else "":
            depth += (c == "(") - (c == ")")
            if depth < 0:
                return -1
        if depth:
            return -1
    definitions.setdefault(label(found.group(1)), written)
    return found.end()


def _has_rows(text: str, left: int, right: int) -> bool:
    return text.find("|", left, right) >= 0 and _rows(text[left:right].split("\n")) > 0


def _columns(text: str, left: int, right: int, column: int) -> int:
    for at in range(left, right):
        column = column + 4 - column % 4 if text[at] == "\t" else column + 1
    return column


def _reached(text: str, line: int, p: int, column: int, base: int) -> int:
    """Where, in the space before `p`, the column `base` is reached: there the app lets an item begin."""
    q = p
    while q > line and text[q - 1] in " \t":
        q -= 1
    at = column - _columns(text, q, p, 0) if "\t" not in text[q:p] else _columns(text, line, q, 0)
    while q < p and at < base:
        at = _columns(text, q, q + 1, at)
        q += 1
    return q


def _after_quote(text: str, p: int, column: int, end: int) -> tuple[int, int, int]:
    """Past a `>` and the one space that may follow it: place and column of what is next, and the base."""
    p += 1
    column += 1
    base = column
    if p < end and text[p] in " \t":
        base += 1
        skip = _BLANK.match(text, p, end)
        q = skip.end() if skip else p
        return q, _columns(text, p, q, column), base
    return p, column, base


def _heading_text(text: str, left: int, right: int) -> tuple[int, int]:
    while left < right and text[left] in " \t":
        left += 1
    while right > left and text[right - 1] in " \t":
        right -= 1
    cut = right
    while cut > left and text[cut - 1] == "#":
        cut -= 1
    if cut == left:
        return left, left
    if cut < right and text[cut - 1] in " \t":
        right = cut
        while right > left and text[right - 1] in " \t":
            right -= 1
    return left, right


NO_HTML = object()


def html_block(text: str, p: int, end: int, *, interrupting: bool) -> object:
    """What ends the HTML block that begins here: a string, a pattern, None (a blank line), or none begins."""
    if text.startswith("<!--", p):
        return "-->"
    if _HTML_RAW.match(text, p, end):
        return _HTML_RAW_END
    if text.startswith("<?", p):
        return "?>"
    if text.startswith("<![CDATA[", p):
        return "]]>"
    if text.startswith("<!", p) and text[p + 2 : p + 3].isalpha():
        return ">"
    if _HTML_BLOCK.match(text, p, end) or (not interrupting and _HTML_ALONE.match(text, p, end)):
        return None
    return NO_HTML


def ends_html(text: str, p: int, end: int, by: object) -> bool:
    if isinstance(by, str):
        return text.find(by, p, end) >= 0
    return isinstance(by, re.Pattern) and by.search(text, p, end) is not None


def _table(text: str, left: int, right: int, runs: list[tuple[int, int]]) -> None:
    """The rows of a table are worlds of their own; text before it is one run."""
    lines = text[left:right].split("\n")
    head = _rows(lines) - 1
    at = left
    for line in lines[: max(head, 0)]:
        at += len(line) + 1
    if head < 0:
        runs.append((left, right))
        return
    if at > left:
        runs.append((left, at - 1))
    for line in lines[head:]:
        runs.append((at, at + len(line)))
        at += len(line) + 1


def _rows(lines: list[str]) -> int:
    """The place of the line that rules off a table's head, or 0."""
    for row in range(1, len(lines)):
        line = lines[row]
        if "|" in line and "|" in lines[row - 1] and _DELIMITER.match(line) and _cells(line) == _cells(lines[row - 1]):
            return row
    return 0


def _cells(line: str) -> int:
    line = line.strip(" \t>").replace("\\|", "")
    return line.removeprefix("|").removesuffix("|").count("|")
