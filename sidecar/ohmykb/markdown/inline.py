"""Links and tags within running text, left to right: whatever begins first wins, as in the app."""

import html
import re
from bisect import bisect_left
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from ohmykb.markdown.regions import label as normal_label
from ohmykb.note import LinkKind


class Target(NamedTuple):
    linkpath: str
    subpath: str | None
    display: str


class Found(NamedTuple):
    """A link before its line is known."""

    start: int
    end: int
    kind: LinkKind
    target: Target


_new = tuple.__new__  # a named tuple without the detour through its own __new__

_new = tuple.__new__  # a named tuple without the detour through its own __new__

TAG = re.compile(r"[^\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+")
"""The app's own class (obsidian-help#816): no ASCII punctuation but `-_/`, no general punctuation."""

SPACE = frozenset(" \t\n\r\f\v\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | {
    chr(c) for c in range(0x2000, 0x200B)
}
"""What JavaScript calls white space: only after it (or at a line's start) does a tag begin."""

_EVENT = re.compile(r"[\[\]`<$\\#]")
_TICKS = re.compile(r"`+")
_NO_MARKUP = frozenset("0123456789 \t\n=-<>.,;:()[]{}|*&#$%'\"")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+)>")
_ATTRIBUTE = r"(?:\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)"
HTML_TAG = re.compile(rf"<(?:[A-Za-z][A-Za-z0-9-]*{_ATTRIBUTE}*\s*/?|/[A-Za-z][A-Za-z0-9-]*\s*)>")
_MARKUP = re.compile(r"<!--|<\?|<!\[CDATA\[|<![A-Za-z]")
_MARKUP_END = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_PREFIX = re.compile(r" {0,3}(?:>[ \t>]*|(?:[-+*]|\d{1,9}[.)])[ \t]+|\[\^[^\]\s]+\]:[ \t>]*)*[ \t]*")
_WIKI = re.compile(r"\[\[(?:(?!\[\[|\]\])[^\n])+\]\]")
_GAP = re.compile(r"[ \t]*(?:\n[ \t>]*)?")
_TITLE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)", re.DOTALL)
_ANGLE = re.compile(r"<((?:[^<>\n\\]|\\.)*)>")
_BARE = re.compile(r"(?:[^\x00-\x20\x7f()\\]|\\[^\x00-\x20]|\\(?=[\x00-\x20]))*")


def wikilink(inner: str) -> Target | None:
    """What stands between `[[` and `]]`. A pipe at the very start is part of the name (oracle)."""
    pipe = inner.find("|", 1)
    alias = ""
    link = inner
    if pipe > 0:
        link = inner[: pipe - 1] if inner[pipe - 1] == "\\" else inner[:pipe]
        alias = inner[pipe + 1 :].strip()
    link = link.strip()
    if not link:
        return None
    path, hash_, sub = link.partition("#")
    if not hash_:
        return _new(Target, (link, None, alias or link))
    path, sub = path.rstrip(), sub.strip()
    if not alias:
        if path and sub and "#" not in sub:
            alias = f"{path} > {sub}"
        else:
            alias = " > ".join(part for part in (piece.strip() for piece in link.split("#")) if part)
    return _new(Target, (path, sub or None, alias))


def target_of(destination: str, shown: str) -> Target | None:
    """A Markdown destination as written; None for a web address or nothing."""
    if "\\" in destination:
        destination = _ESCAPE.sub(r"\1", destination)
    if "&" in destination:
        destination = html.unescape(destination)
    if not destination or ((":" in destination or destination[0] == "/") and _SCHEME.match(destination)):
        return None
    path, hash_, sub = destination.partition("#")
    if "%" in destination:
        path = _decoded(path)
        if sub:
            sub = _decoded(sub)
    path, sub = path.strip(), sub.strip()
    if not path and not hash_:
        return None
    return _new(Target, (path, sub or None, shown))


def _decoded(text: str) -> str:
    text = text.replace("%20", " ")  # nearly always the only one
    if "%" not in text:
        return text
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        return text.replace(" ", "%20")


def destination(text: str, p: int, end: int) -> tuple[str, int] | None:
    """The destination in the brackets that open at `p`, and the place after them."""
    gap = _GAP.match(text, p + 1, end)
    q = gap.end() if gap else p + 1
    if text.startswith("<", q):
        angle = _ANGLE.match(text, q, end)
        if angle is None:
            return None
        found, q = angle.group(1), angle.end()
    else:
        left = q
        depth = 0
        while True:
            bare = _BARE.match(text, q, end)
            q = bare.end() if bare else q
            if q < end and text[q] == "(":
                depth += 1
                if depth > 32:
                    return None
            elif q < end and text[q] == ")" and depth:
                depth -= 1
            else:
                break
            q += 1
        if depth:
            return None
        found = text[left:q]
    gap = _GAP.match(text, q, end)
    after = gap.end() if gap else q
    if after > q and after < end and text[after] in "\"'(":
        title = _TITLE.match(text, after, end)
        if title is None:
            return None
        gap = _GAP.match(text, title.end(), end)
        after = gap.end() if gap else title.end()
    if after >= end or text[after] != ")":
        return None
    return found, after + 1


def tag_at(text: str, p: int, start: int, end: int, last_end: int) -> str | None:
    """The tag whose `#` stands at `p`, or None. It begins a line, follows white space, an emphasis
    mark, `[`, or whatever ended just there (an escape, a link, code, another tag), or opens a table
    cell (oracle: internal_heading_links; read back from the app: obsidian-mcp-server#138, #140)."""
    before = text[p - 1] if p > start else "\n"
    if before not in SPACE and p != last_end:
        if before == ">":
            if _line_start(text, p) < p:
                return None
        elif before == "|":
            if not text.startswith("|", _line_start(text, p)):
                return None
        elif before not in "_*[" and (text[p - 2 : p] not in ("~~", "==") or text[p - 3 : p - 2] == "\\"):
            return None
    got = TAG.match(text, p + 1, end)
    if got is None:
        return None
    name = got.group()
    if before == "_":
        name = name.rstrip("_")
    if not name or (name.isdigit() and name.isascii()):
        return None
    return name


def _line_start(text: str, p: int) -> int:
    got = _PREFIX.match(text, text.rfind("\n", 0, p) + 1)
    return got.end() if got else p


class Inline:
    """Collects from one run of text after another."""

    def __init__(self, text: str, definitions: dict[str, str]) -> None:
        self.text = text
        self.definitions = definitions
        self.links: list[Found] = []
        self.tags: list[tuple[str, int]] = []
        self.loose: set[str] = set()
        """What the last run opened and did not close."""
        self.cut = False
        """Whether the last run ended within a destination."""

    def read(self, start: int, end: int) -> None:
        text = self.text
        find = text.find
        self.loose = set()
        self.cut = False
        skip = start
        openers: list[tuple[int, bool]] = []
        dead = 0  # openers below this one may not be links: they hold one
        ticks: dict[int, list[int]] | None = None
        never: set[str] = set()  # closers that do not come any more
        close = line_end = ended = -1
        for event in _EVENT.finditer(text, start, end):
            p = event.start()
            if p < skip:
                continue
            c = text[p]
            if c == "[":
                if text.startswith("[", p + 1) and p + 2 < end:
                    if close < p + 2:
                        close = find("]]", p + 2, end)
                        close = end if close < 0 else close
                    if line_end < p:
                        line_end = find("\n", p, end)
                        line_end = end if line_end < 0 else line_end
                    if close < line_end and text.rfind("[[", p + 1, close) < 0:
                        target = wikilink(text[p + 2 : close])
                        if target is not None:
                            embed = self._bang(p, start)
                            self.links.append(Found(p - embed, close + 2, "embed" if embed else "wikilink", target))
                            if not embed:
                                dead = len(openers)
                            skip = ended = close + 2
                            continue
                openers.append((p, self._bang(p, start)))
            elif c == "]":
                if not openers:
                    continue
                opener, image = openers.pop()
                if not image and len(openers) < dead:
                    dead = len(openers)
                    continue
                dead = min(dead, len(openers))
                after = self._link(opener, p, end, image=image)
                if after:
                    skip = ended = after
                    if not image:
                        dead = len(openers)
            elif c == "#":
                name = tag_at(text, p, start, end, ended)
                if name is not None:
                    self.tags.append((name, p))
                    skip = ended = p + 1 + len(name)
            elif c == "`":
                if ticks is None:
                    ticks = {}
                    for run in _TICKS.finditer(text, p, end):
                        ticks.setdefault(run.end() - run.start(), []).append(run.start())
                run_end = p + 1
                while run_end < end and text[run_end] == "`":
                    run_end += 1
                places = ticks.get(run_end - p, [])
                at = bisect_left(places, run_end)
                if at < len(places):
                    skip = ended = places[at] + run_end - p
                else:
                    skip = run_end
                    self.loose.add("`")
            elif c == "\\":
                if p + 1 < end and text[p + 1] in PUNCTUATION:
                    skip = ended = p + 2
            elif c == "<":
                skip = self._markup(p, end, never)
                ended = skip or ended
                if not skip and text[p + 1 : p + 2] not in _NO_MARKUP:
                    self.loose.add("<")
            else:
                skip = self._maths(p, end, never)
                if "$" in never or "$$" in never:
                    self.loose.add("$")
                if skip and not (skip == p + 2 and text.startswith("$$", p)):
                    ended = skip
        if openers:
            self.loose.add("[")

    def _bang(self, p: int, start: int) -> bool:
        """Whether a `!` that nothing escapes stands before `p`."""
        text = self.text
        if p <= start or text[p - 1] != "!":
            return False
        q = p - 1
        while q > start and text[q - 1] == "\\":
            q -= 1
        return (p - 1 - q) % 2 == 0

    def _link(self, opener: int, p: int, end: int, *, image: bool) -> int:
        """Reads the link whose label closes at `p`; the place after it, or 0 when it is none."""
        text = self.text
        if text[opener + 1] == "^":
            return 0  # a footnote
        written = None
        after = p + 1
        if text.startswith("(", after) and after < end:
            got = destination(text, after, end)
            if got is not None:
                written, after = got
            elif text.find(")", after, end) < 0:
                self.cut = True
        if written is None:
            if not self.definitions or _WIKI.match(text, p + 1, end) is not None:
                return 0  # what follows is a link of its own
            after = p + 1
            name = text[opener + 1 : p]
            full = _LABEL.match(text, after, end)
            if full is not None:
                name = full.group(1) or name
                after = full.end()
            written = self.definitions.get(normal_label(name))
            if written is None or name.startswith("^"):
                return 0
            if written.startswith("<"):
                written = written[1:-1]
        target = target_of(written, text[opener + 1 : p])
        if target is not None:
            self.links.append(Found(opener - image, after, "embed" if image else "markdown", target))
        return after

    def _markup(self, p: int, end: int, never: set[str]) -> int:
        """The end of the HTML tag, comment or autolink that opens at `p`, or 0."""
        text = self.text
        got = AUTOLINK.match(text, p, end) or HTML_TAG.match(text, p, end)
        if got is not None:
            return got.end()
        opened = _MARKUP.match(text, p, end)
        if opened is None:
            return 0
        closer = _MARKUP_END.get(opened.group(), ">")
        if closer in never:
            return 0
        if closer == "-->" and text.startswith((">", "->"), p + 4):
            return text.index(">", p) + 1
        at = text.find(closer, opened.end(), end)
        if at < 0:
            never.add(closer)
            return 0
        return at + len(closer)

    def _maths(self, p: int, end: int, never: set[str]) -> int:
        """The end of `$…$` or `$$…$$`, or 0. As in the app, `$` opens before and closes after a visible
        character, and does not close before a digit (so that prices are no formula)."""
        text = self.text
        if text.startswith("$", p + 1) and p + 1 < end:
            if "$$" in never:
                return p + 2
            at = text.find("$$", p + 2, end)
            if at < 0:
                never.add("$$")
                return p + 2
            return at + 2
        if "$" in never or p + 1 >= end or text[p + 1] in " \t\n":
            return 0
        at = p + 1
        while (at := text.find("$", at, end)) >= 0:
            if text[at - 1] not in " \t\n\\" and not (at + 1 < end and text[at + 1] in "0123456789"):
                return at + 1
            at += 1
        never.add("$")
        return 0


def tags_of_comment(text: str, start: int, end: int) -> list[tuple[str, int]]:
    """The app reads the tags of a `%%` block, but not its links (oracle: comments_markdown_style)."""
    found = []
    last = -1
    p = text.find("#", start, end)
    while p >= 0:
        name = tag_at(text, p, start, end, last) if p == start or text[p - 1] not in "|>" else None
        if name is not None:
            found.append((name, p))
            last = p + 1 + len(name)
        p = text.find("#", p + 1, end)
    return found
