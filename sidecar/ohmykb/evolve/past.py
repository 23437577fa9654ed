"""What is remembered of links that do not lead where they did: it knows better than any likeness of names."""

from collections.abc import Callable, Collection, Iterable
from itertools import groupby
from typing import NamedTuple

from ohmykb.index.same import may_be
from ohmykb.search.shelf import stem
from ohmykb.store import displaced
from ohmykb.store.connection import Database
from ohmykb.store.files import path_key
from ohmykb.store.state import renames

Mark = tuple[str, str, str, str]
"""source, raw, linkpath, subpath (empty for none)."""


class Former(NamedTuple):
    """What a name meant before renames."""

    path: str
    """Where that file is now."""
    only: bool
    """No other file lost it too."""


TOLD_LATE_S = 600.0
"""The two ends of a rename may be told in different looks."""


class Past:
    """What the state remembers, checked against the index; of some notes, or of all."""

    def __init__(
        self, db: Database, state: Database, now: float, sources: Collection[str] | None,
        text: Callable[[str], str | None],
    ) -> None:  # fmt: skip
        """`now` in seconds since the epoch; `text` of a note, None where it cannot be read."""
        self._text = text
        self._db = db
        self._state = state
        self.displaced: dict[Mark, displaced.Displaced] = {
            (one.source, one.raw, one.linkpath, one.subpath or ""): one
            for one in displaced.displaced(state, db, now, sources)
        }
        self.lost: dict[Mark, displaced.Lost] = {
            (one.source, one.raw, one.linkpath, one.subpath or ""): one
            for one in displaced.lost(state, db, now, sources)
        }
        self._left: set[tuple[str, str]] = set(state.rows("SELECT source, linkpath FROM left_alone"))
        self._former: dict[str, list[tuple[str, str, float]]] | None = None

    def is_left(self, source: str, linkpath: str) -> bool:
        """Whether somebody said that this link is meant as it stands."""
        return not self._left.isdisjoint(((source, linkpath), ("", linkpath)))

    def broken_since(self, source: str, linkpath: str) -> float | None:
        """When that link was first seen to lead nowhere, in seconds since the epoch."""
        sql = "SELECT at FROM broken_since WHERE source = ? AND linkpath = ?"
        row = self._state.row(sql, (source, linkpath))
        return None if row is None else float(row[0])

    def former(self, linkpath: str) -> Former | None:
        """The file that had this name, or this path, and has another now; the last of several."""
        key = path_key(linkpath).removesuffix(".md").lstrip("/")
        if key.startswith(("./", "../")):
            return None
        if self._former is None:
            self._former = _former(renames(self._state))
        known = self._former.get(path_key(stem(key)), [])
        fits = [one for one in known if one[0] == key or one[0].endswith("/" + key)]
        there = [path for _, path, _ in fits if self._there(path)]
        if not there:
            return None
        return Former(there[-1], only=len(set(there)) == 1)

    def may_be(self, old: str, new: str, since: float) -> bool:
        """Whether a note with the same bytes is surely the same: seen to be renamed, or more than a form."""
        path = old
        for _, was, now in renames(self._state, since - TOLD_LATE_S):
            path = now if path == was else path
        return path == new or may_be(old, new, self._text(new) or "")

    def _there(self, path: str) -> bool:
        return self._db.row("SELECT 1 FROM files WHERE path = ? AND scope = 0", (path,)) is not None


def _former(moves: Iterable[tuple[float, str, str]]) -> dict[str, list[tuple[str, str, float]]]:
    """Key of the name → (key of the old path without `.md`, path now, when it got another), oldest first."""
    trails: dict[str, list[tuple[float, str]]] = {}
    for at, batch in groupby(moves, key=lambda move: move[0]):
        at_once = [(new, [*trails.pop(old, []), (at, old)]) for _, old, new in batch]  # they may swap names
        trails.update(at_once)
    found: dict[str, list[tuple[str, str, float]]] = {}
    for now, trail in trails.items():
        for at, old in trail:
            if old != now:
                found.setdefault(path_key(stem(old)), []).append((path_key(old).removesuffix(".md"), now, at))
    for steps in found.values():
        steps.sort(key=lambda step: step[2])
    return found
