"""Globs of the settings, as in `.gitignore`: compiled once, matched against vault paths.

A pattern without a slash fits a name at any depth; with one in front or in the middle it starts at the
vault; with one at the end it fits folders only. `*` and `?` stop at `/`, `**` does not; `[a-z]`, `[!a]`
and `\\` work as usual. What fits a folder covers everything below it. `!` takes back what an earlier
pattern left out, and unlike git even below a folder that is out. Case counts; both sides are NFC.
"""

import re
from collections.abc import Iterable
from unicodedata import normalize

from ohmykb.config import glob_fault


class Globs:
    """Ordered patterns. Raises ValueError for one that cannot be parsed (`config.glob_fault`)."""

    __slots__ = ("_any", "_ordered")

    def __init__(self, patterns: Iterable[str]) -> None:
        rules = []
        for pattern in patterns:
            fault = glob_fault(pattern)
            if fault:
                raise ValueError(f"{pattern!r} {fault}")
            rules.append((pattern.startswith("!"), _translate(pattern.removeprefix("!"))))
        self._any: re.Pattern[str] | None = None
        self._ordered: list[tuple[bool, re.Pattern[str]]] = []
        if any(negated for negated, _ in rules):
            self._ordered = [(negated, re.compile(source)) for negated, source in reversed(rules)]
        elif rules:
            self._any = re.compile("|".join(source for _, source in rules))

    def __bool__(self) -> bool:
        return self._any is not None or bool(self._ordered)

    def match(self, path: str) -> bool:
        """Whether `path` (vault-relative, NFC; a folder ends in `/`) is covered."""
        if self._any is not None:
            return self._any.match(path) is not None
        for negated, pattern in self._ordered:
            if pattern.match(path):
                return not negated
        return False


def _translate(glob: str) -> str:
    """The regular expression of one valid pattern, for `match`."""
    body = normalize("NFC", glob)
    end = "/" if body.endswith("/") else r"(?:/|\Z)"
    body = body.removesuffix("/")
    out = "" if "/" in body else "(?:.*/)?"
    parts = body.removeprefix("/").split("/")
    for part in parts[:-1]:
        out += "(?:.*/)?" if part == "**" else _translate_part(part) + "/"
    out += ".+" if parts[-1] == "**" else _translate_part(parts[-1])
    return f"(?s:{out}{end})"


def _translate_part(part: str) -> str:
    out = ""
    at = 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            out += "[^/]*"
            while part[at : at + 1] == "*":
                at += 1
        elif char == "?":
            out += "[^/]"
        elif char == "\\":
            out += re.escape(part[at])
            at += 1
        elif char == "[":
            source, at = _translate_class(part, at)
            out += source
        else:
            out += re.escape(char)
    return out


def _translate_class(part: str, at: int) -> tuple[str, int]:
    """From behind the `[`, to behind its `]`. A range that runs backwards fits nothing, as in git."""
    negated = part[at] in "!^"
    at += negated
    first = at
    members: list[tuple[str, bool]] = []  # with whether it is escaped: `\-` makes no range
    while part[at] != "]" or at == first:
        escaped = part[at] == "\\"
        at += escaped
        members.append((part[at], escaped))
        at += 1
    out = ""
    while members:
        low = members.pop(0)[0]
        if len(members) > 1 and members[0] == ("-", False):
            high = members[1][0]
            del members[:2]
            if low <= high:
                out += f"{re.escape(low)}-{re.escape(high)}"
        else:
            out += re.escape(low)
    if not out:
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{out}]", at + 1
