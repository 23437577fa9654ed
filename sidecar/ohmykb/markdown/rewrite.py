"""The text of a link that is to lead elsewhere, in the style it had."""

import re
from typing import Final
from urllib.parse import quote

from ohmykb.note import Link

_NO_NAME: Final = frozenset("#^[]|\\\n")
"""What a wikilink cannot spell in a name."""
_NO_SUBPATH: Final = frozenset("[]|\\\n")
_ASIDE: Final = re.compile(r"\\?\|")
_KEPT: Final = "/!$&'*+,;=:@-._~^[]{}|"
"""Not encoded in a Markdown destination, as the app leaves them."""


def retarget(link: Link, linkpath: str, subpath: str | None) -> str | None:
    """The exact new slice for `link`; None where its style cannot spell the target.

    `linkpath` is decoded, and as it should stand (bare, a path, relative, with or without `.md`).
    """
    if link.raw.startswith(("[[", "![[")):
        return _wiki(link.raw, linkpath, subpath)
    return _markdown(link.raw, linkpath, subpath)


def with_display(link: Link, linkpath: str, display: str, bar: str = "|") -> str | None:
    """For a wikilink that names an alias: leads to the note, and shows what it showed. One with words of its own
    keeps them, and an embed gets none. `bar` is `\\|` inside a table."""
    new = retarget(link, linkpath, link.subpath)
    if new is None or not link.raw.startswith("[[") or _ASIDE.search(link.raw):
        return new
    return None if _NO_SUBPATH & set(display) else f"{new[:-2]}{bar}{display}]]"


def _wiki(raw: str, linkpath: str, subpath: str | None) -> str | None:
    if _NO_NAME & set(linkpath) or (subpath is not None and _NO_SUBPATH & set(subpath)):
        return None
    start = raw.index("[[") + 2
    inner = raw[start:-2]
    aside = _ASIDE.search(inner)
    target, rest = (inner, "") if aside is None else (inner[: aside.start()], inner[aside.start() :])
    if linkpath != linkpath.strip() or not target.strip():
        return None
    lead = target[: len(target) - len(target.lstrip())]
    trail = target[len(target.rstrip()) :]
    return f"{raw[:start]}{lead}{_whole(linkpath, subpath)}{trail}{rest}]]"


def _whole(linkpath: str, subpath: str | None) -> str:
    return linkpath if subpath is None else f"{linkpath}#{subpath}"


def _markdown(raw: str, linkpath: str, subpath: str | None) -> str | None:
    span = _destination(raw)
    if span is None or "\n" in linkpath:
        return None
    start, end = span
    old = raw[start:end]
    angled = raw[start - 1 : start] == "<"
    encoded = "%" in old or not angled
    plain = not re.search(r"%[89A-Fa-f][0-9A-Fa-f]", old)  # letters beyond ASCII stood as they are
    new = _encode(linkpath, angled=angled, encoded=encoded, plain=plain)
    if subpath is not None:
        new += "#" + _encode(subpath, angled=angled, encoded=encoded, plain=plain, more="#")
    if not angled and not _balanced(new):
        new = new.replace("(", "%28").replace(")", "%29")
    if angled and not encoded and ("<" in new or ">" in new or "%" in new or "#" in linkpath):
        return None
    return raw[:start] + new + raw[end:]


def _encode(text: str, *, angled: bool, encoded: bool, plain: bool, more: str = "") -> str:
    if not encoded:
        return text
    safe = _KEPT + "()" + more + (" " if angled and plain else "")
    found = "".join(
        char if not char.isascii() and plain and char.isprintable() else quote(char, safe=safe) for char in text
    )
    return found.replace(" ", "%20") if not angled else found


def _destination(raw: str) -> tuple[int, int] | None:
    """Where the destination of `[label](destination "title")` stands, without angle brackets."""
    depth, at = 0, raw.index("[")
    while at < len(raw):
        char = raw[at]
        if char == "\\":
            at += 1
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                break
        at += 1
    if raw[at + 1 : at + 2] != "(":
        return None
    start = at + 2
    while raw[start : start + 1] in (" ", "\t", "\n"):
        start += 1
    if raw[start : start + 1] == "<":
        end = raw.find(">", start)
        return (start + 1, end) if end > 0 else None
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
        elif char in " \t\n":
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
