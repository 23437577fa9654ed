"""The text of a link that is to lead elsewhere, in the style it had.

What stays the same keeps its bytes, and nothing is handed out that does not read back as what was asked for.
"""

import html
import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from ohmykb.markdown.inline import target_of, wikilink
from ohmykb.note import Link

_NO_NAME: Final = re.compile(r"[#^\[\]|\\\r\n]")
"""What a wikilink cannot spell in a name."""
_NO_SUBPATH: Final = re.compile(r"[\[\]|\\\r\n]")
_RAW: Final = "/!$&'*+,;=:@-._~^[]{}?\"()"
"""What stays as it is in a Markdown destination. The rest of ASCII would mean something else, or end the cell of a
table."""
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENCODED_LETTER: Final = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_LOWER: Final = re.compile(r"%(?:[0-9][a-f]|[a-f][0-9a-f])")
_GAP: Final = re.compile(r"[ \t\r]*(?:\n[ \t>]*)?")
_ANGLE: Final = re.compile(r"<((?:[^<>\n\\]|\\.)*)>")
_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")


def is_wiki(link: Link) -> bool:
    """Written with `[[ ]]`. `[[x] y](z.md)` begins so too, and is not."""
    if link.kind == "embed":
        return link.raw.startswith("![[") and link.raw.endswith("]]")
    return link.kind != "markdown"


def retarget(link: Link, linkpath: str, subpath: str | None) -> str | None:
    """The exact new slice for `link`; None where its style cannot spell the target.

    `linkpath` is decoded, and as it should stand (bare, a path, relative, with or without `.md`). Quotes of a
    property around the slice are the business of `link_edits`.
    """
    subpath = subpath or None
    if (linkpath, subpath) == (link.linkpath, link.subpath):
        return link.raw
    return (_wiki if is_wiki(link) else _markdown)(link, linkpath, subpath)


def with_display(link: Link, linkpath: str, display: str, bar: str = "|") -> str | None:
    """For a wikilink that names an alias: leads to the note, and shows what it showed. One with words of its own
    keeps them, and an embed gets none. `bar` is `\\|` inside a table."""
    new = retarget(link, linkpath, link.subpath)
    if new is None or link.kind == "embed" or has_words(link):
        return new
    if not display or display != display.strip() or _NO_SUBPATH.search(display):
        return None
    return f"{new[:-2]}{display if _pipe(link.raw) > 0 else bar + display}]]"


def has_words(link: Link) -> bool:
    """Whether it says itself what it shows: a Markdown link does, and a wikilink with words after its pipe."""
    if not is_wiki(link):
        return True
    pipe = _pipe(link.raw)
    return pipe > 0 and bool(link.raw[pipe + 1 : -2].strip())


def _pipe(raw: str) -> int:
    """Where the pipe of a wikilink stands, or -1. One in first place belongs to the name, as the scanner has it."""
    return raw.find("|", raw.index("[[") + 3)


# --- wikilinks


def _wiki(link: Link, linkpath: str, subpath: str | None) -> str | None:
    if _NO_NAME.search(linkpath, linkpath.startswith("|")) or (subpath is not None and _NO_SUBPATH.search(subpath)):
        return None
    raw = link.raw
    start = raw.index("[[") + 2
    pipe = _pipe(raw)
    stop = len(raw) - 2 if pipe < 0 else pipe - (raw[pipe - 1] == "\\")
    path, hash_, sub = raw[start:stop].partition("#")
    if linkpath != link.linkpath:
        path = _in_place(path, linkpath)
    if subpath is None and link.subpath is not None:
        hash_, sub = "", sub[len(sub.rstrip()) :]
    elif subpath is not None and subpath != link.subpath:
        hash_, sub = "#", _in_place(sub, subpath)
    target = path + hash_ + sub
    read = wikilink(target + raw[stop:-2])
    return f"{raw[:start]}{target}{raw[stop:]}" if read is not None and read[:2] == (linkpath, subpath) else None


def _in_place(old: str, new: str) -> str:
    """With the white space that stood around the old."""
    bare = old.strip()
    if not bare:
        return new + old
    at = old.index(bare)
    return old[:at] + new + old[at + len(bare) :]


# --- Markdown links


def _markdown(link: Link, linkpath: str, subpath: str | None) -> str | None:
    span = _destination(link)
    if span is None:
        return None
    raw = link.raw
    start, end = span
    angled = raw[start - 1] == "<"
    style = _Style(raw[start:end], angled=angled)
    path, hash_, sub = raw[start:end].partition("#")
    if linkpath != link.linkpath:
        path = style.written(linkpath)
    if subpath is None and link.subpath is not None:
        hash_ = sub = ""
    elif subpath is not None and subpath != link.subpath:
        hash_, sub = "#", style.written(subpath, more="#")
    new = path + hash_ + sub
    if not angled and not _balanced(_ESCAPE.sub("", new)):
        return None  # a pair that stood partly in the name, partly in the heading
    if _SCHEME.match(new):
        new = new.replace(":", "%3A", 1)
    read = target_of(new, "")
    if read is None or read[:2] != (linkpath, subpath):
        return None
    return raw[:start] + new + raw[end:]


class _Style:
    """How a destination is encoded, as far as the old one tells."""

    def __init__(self, old: str, *, angled: bool) -> None:
        self.angled = angled
        self.letters = False
        self.lower = False
        raw = _RAW
        if "%" in old:
            self.letters = _ENCODED_LETTER.search(old) is not None
            self.lower = _LOWER.search(old) is not None
            codes = {chr(int(code[1:], 16)) for code in _ENCODED.findall(old)}
            if codes != {" "}:  # what was encoded without need is encoded again
                raw = "".join(char for char in raw if char not in codes)
                if not codes.isdisjoint("()") and not _balanced(unquote(old)):
                    raw += "()"
        self.raw = raw + (" " if angled and "%20" not in old else "")

    def written(self, text: str, more: str = "") -> str:
        found = _unsafe(self.raw + more, letters=self.letters).sub(_percent, text)
        if not self.angled and not _balanced(found):
            found = found.replace("(", "%28").replace(")", "%29")
        if "&" in found and html.unescape(found) != found:
            found = found.replace("&", "%26")
        return _ENCODED.sub(lambda one: one.group().lower(), found) if self.lower else found


@lru_cache(maxsize=64)
def _unsafe(safe: str, *, letters: bool) -> re.Pattern[str]:
    """What is to be encoded: ASCII that is neither safe nor a letter or digit, and `letters` beyond ASCII."""
    kept = re.escape(safe)
    return re.compile(f"[^A-Za-z0-9{kept}{'' if letters else chr(0x80) + '-' + chr(0x10FFFF)}]")


def _percent(one: re.Match[str]) -> str:
    return quote(one.group(), safe="", errors="surrogatepass")


def _destination(link: Link) -> tuple[int, int] | None:
    """Where the destination of `[label](destination "title")` stands, without angle brackets; None for a link
    by reference."""
    raw = link.raw
    close = raw.index("[") + 1 + len(link.display)
    if not raw.startswith("](", close):
        return None
    gap = _GAP.match(raw, close + 2)
    start = gap.end() if gap else close + 2
    if raw.startswith("<", start):
        angle = _ANGLE.match(raw, start)
        return angle.span(1) if angle else None
    end, depth = start, 0
    while end < len(raw):
        char = raw[end]
        if char == "\\":
            end += 1
        elif char == "(":
            depth += 1
        elif char == ")":
            if depth == 0:
                return start, end
            depth -= 1
        elif char in " \t\r\n":
            return start, end
        end += 1
    return None


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0
