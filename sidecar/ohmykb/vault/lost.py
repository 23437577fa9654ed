"""Text that once stood in a note, found wherever it may still be: the notes, what we archived, copies that sync
tools set aside, the trash, git."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from ohmykb.clock import iso
from ohmykb.errors import NotFoundError, UsageError
from ohmykb.note import NotePath
from ohmykb.vault import git
from ohmykb.vault.conflicts import conflict_copy
from ohmykb.vault.decode import decode
from ohmykb.vault.history import History
from ohmykb.vault.operations import Change
from ohmykb.vault.replace import digest

Where = Literal["note", "history", "conflict-copy", "trash", "versions", "git"]

LONGEST_S: Final = 20.0
"""A search that takes longer says what it found until then."""
MOST: Final = 50
BIGGEST: Final = 10_000_000
SHORTEST: Final = 2
_ASIDE: Final[dict[str, Where]] = {".trash": "trash", ".stversions": "versions"}
_VERSION: Final = re.compile(r"~\d{8}-\d{6}(?=\.[^.]*$)")
_ILLEGAL: Final = re.compile(r'[:*?"<>|\\/\x00-\x1f]')


@dataclass(frozen=True, slots=True)
class Found:
    where: Where
    path: NotePath
    """Of the note it stood in."""
    at: str | None
    """When that version was current: ISO, or unknown."""
    op: str | None
    line: int
    snippet: str
    hash: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Search:
    found: tuple[Found, ...]
    cut: str | None
    """Why the search ended early, in words."""


def search(root: Path, text: str) -> Search:
    """Every distinct version that holds `text` (folded in case and spaces where it is not there to the letter),
    those of now first, then the newest. Raises UsageError for a text too short to search for."""
    if len(text.strip()) < SHORTEST:
        raise UsageError("That is too short to search for.", "Give some words of the sentence")
    until = monotonic() + LONGEST_S
    found: dict[tuple[str, str], Found] = {}
    cut = None
    sought = _Sought(text)
    for one in _candidates(root, text):
        if monotonic() > until:
            cut = f"The search was ended after {LONGEST_S:.0f} s; there may be more."
            break
        if len(found) >= MOST:
            cut = f"There is more; these are the first {MOST}."
            break
        hit = sought.match(one)
        if hit is not None:
            found.setdefault((hit.path, hit.hash), hit)
    ordered = sorted(found.values(), key=lambda hit: (hit.where == "note", _when(hit.at)), reverse=True)
    return Search(tuple(ordered), cut)


def restore_change(root: Path, found: Found, today: str) -> Change:
    """Brings a version back without touching anything: at its old place where nothing is, else beside it."""
    if not (root / found.path).exists():
        return Change(found.path, None, found.data)
    above, _, name = found.path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    for number in range(1, 1000):
        more = "" if number == 1 else f" {number}"
        fresh = _ILLEGAL.sub("-", f"{stem or name} (recovered {today}{more})") + (f"{dot}{ending}" if stem else "")
        path = f"{above}/{fresh}" if above else fresh
        if not (root / path).exists():
            return Change(NotePath(path), None, found.data)
    raise NotFoundError(f"{found.path} was recovered a thousand times today.", "Delete some of the copies")


@dataclass(frozen=True, slots=True)
class _Version:
    where: Where
    path: str
    at: str | None
    op: str | None
    data: bytes


class _Sought:
    def __init__(self, text: str) -> None:
        self._plain = text.strip().encode()
        self._loose = re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)

    def match(self, one: _Version) -> Found | None:
        place = one.data.find(self._plain)
        text = None
        if place >= 0 and _is_utf8(one.data):
            text = one.data.decode()
            at = len(one.data[:place].decode())
        else:
            text = decode(one.data)[0]
            hit = self._loose.search(text)
            if hit is None:
                return None
            at = hit.start()
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        snippet = text[start : end if end >= 0 else len(text)].strip()
        line = text.count("\n", 0, at) + 1
        return Found(one.where, NotePath(one.path), one.at, one.op, line, snippet, digest(one.data), one.data)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _candidates(root: Path, text: str) -> Iterator[_Version]:
    for file, path in _files(root):
        data = _read(file)
        if data is None:
            continue
        original = conflict_copy(file.name, lambda name, here=file: (here.parent / name).exists())  # type: ignore[misc]
        if original is None:
            yield _Version("note", path, _changed(file), None, data)
        else:
            yield _Version("conflict-copy", path[: -len(file.name)] + original, _changed(file), None, data)
    history = History(root)
    for op in reversed(history.operations()):
        for one in op.files:
            kept = history.kept(op.id, one.path)
            if one.before and (data := _read(kept)) is not None and digest(data) == one.before:
                yield _Version("history", one.path, op.at, op.id, data)
        for path, kept in history.kept_aside(op.id):
            if (data := _read(kept)) is not None:
                yield _Version("history", path, op.at, op.id, data)
    for folder, where in _ASIDE.items():
        for file, path in _files(root / folder):
            if (data := _read(file)) is not None:
                yield _Version(where, _VERSION.sub("", path), _changed(file), None, data)
    for commit in git.holding(root, text.strip()):
        for name in (commit.id, f"{commit.id}^"):  # it was added there, or taken away
            if (data := git.content(root, name, commit.path)) is not None:
                yield _Version("git", commit.path, commit.at, None, data)


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    """Notes and canvases below a folder, links and hidden folders left out."""
    for above, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith((".md", ".canvas")) and not name.startswith("."):
                file = Path(above, name)
                if not file.is_symlink():
                    yield file, file.relative_to(root).as_posix()


def _read(file: Path) -> bytes | None:
    try:
        seen = file.stat()
        return file.read_bytes() if stat.S_ISREG(seen.st_mode) and seen.st_size <= BIGGEST else None
    except OSError:
        return None


def _changed(file: Path) -> str | None:
    try:
        return iso(file.stat().st_mtime)
    except OSError:
        return None


def _when(at: str | None) -> float:
    return datetime.fromisoformat(at).astimezone(UTC).timestamp() if at else 0.0
