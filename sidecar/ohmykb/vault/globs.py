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

    __slots__ = ("_covered", "_folder_names", "_names", "_ordered", "_paths")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._ordered: list[tuple[bool, re.Pattern[str]]] = []
        self._covered = {"": False}
        names: list[str] = []
        folder_names: list[str] = []
        paths: list[str] = []
        negations = False
        for pattern in patterns:
            fault = glob_fault(pattern)
            if fault:
                raise ValueError(f"{pattern!r} {fault}")
            negations |= pattern.startswith("!")
            body = normalize("NFC", pattern.removeprefix("!"))
            whole, anchored = _translate(body)
            self._ordered.insert(0, (pattern.startswith("!"), re.compile(whole)))
            if anchored:
                paths.append(whole)
            else:
                (folder_names if body.endswith("/") else names).append(_translate_part(body.rstrip("/")))
        if not negations:
            self._ordered.clear()
        # Folders are judged once each, which leaves the name alone to be looked at for most files.
        self._names = _one_of(names)
        self._folder_names = _one_of(folder_names + names)
        self._paths = _one_of(paths)

    def __bool__(self) -> bool:
        return bool(self._ordered or self._folder_names or self._paths)

    def match(self, path: str) -> bool:
        """Whether `path` (vault-relative, NFC; a folder ends in `/`) is covered."""
        if self._ordered:
            return next((not negated for negated, pattern in self._ordered if pattern.match(path)), False)
        cut = path.rfind("/") + 1
        folder = path[:cut]
        covered = self._covered.get(folder)
        if covered is None:
            covered = self._folder(folder)
        return (
            covered
            or (self._names is not None and self._names.fullmatch(path, cut) is not None)
            or (self._paths is not None and self._paths.match(path) is not None)
        )

    def _folder(self, folder: str) -> bool:
        above = folder[: folder.rfind("/", 0, -1) + 1]
        covered = self._covered.get(above)
        if covered is None:
            covered = self._folder(above)
        self._covered[folder] = found = (
            covered
            or (
                self._folder_names is not None
                and self._folder_names.fullmatch(folder, len(above), len(folder) - 1) is not None
            )
            or (self._paths is not None and self._paths.match(folder) is not None)
        )
        return found


def _one_of(sources: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{source})" for source in sources)) if sources else None


def _translate(body: str) -> tuple[str, bool]:
    """The regular expression of one valid pattern, for `match` of a path; whether it starts at the vault."""
    end = "/" if body.endswith("/") else r"(?:/|\Z)"
    body = body.removesuffix("/")
    anchored = "/" in body
    out = "" if anchored else "(?:.*/)?"
    parts = body.removeprefix("/").split("/")
    for part in parts[:-1]:
        out += "(?:.*/)?" if part == "**" else _translate_part(part) + "/"
    out += ".+" if parts[-1] == "**" else _translate_part(parts[-1])
    return f"(?s:{out}{end})", anchored


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
