"""Headings and block ids that were renamed inside a note, so that links to the old ones can follow."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from ohmykb.store.connection import Database
from ohmykb.store.files import path_key

Kind = Literal["heading", "block"]

_UNLINKABLE = re.compile(r"[:#|^\\\r\n]|%%|\[\[|\]\]")
"""What the app takes out of a heading when it writes a link to it."""


class Renamed(NamedTuple):
    note: str
    kind: Kind
    old: str
    """Text of the heading, or the block's id without `^`."""
    new: str


def plain(heading: str) -> str:
    """A heading without what a link may not hold or leave out: marks, punctuation, doubled spaces."""
    return " ".join("".join(c if c.isalnum() else " " for c in path_key(heading)).split())


def anchor_key(kind: Kind, name: str) -> str:
    """A heading or block id as links are compared to it."""
    return name.lower() if kind == "block" else plain(name)


def remember(db: Database, renamed: Iterable[Renamed], at: float) -> None:
    """Takes note of renames, composed with earlier ones; back to the old name, nothing is left of it.

    The caller holds the transaction.
    """
    for note, kind, old, new in renamed:
        before, now = anchor_key(kind, old), anchor_key(kind, new)
        for key, last in db.rows("SELECT key, new FROM anchors WHERE note = ? AND kind = ?", (note, kind)):
            if key != now and anchor_key(kind, last) == before:
                db.execute(
                    "UPDATE anchors SET new = ?, at = ? WHERE note = ? AND kind = ? AND key = ?",
                    (new, at, note, kind, key),
                )
        db.execute("DELETE FROM anchors WHERE note = ? AND kind = ? AND key = ?", (note, kind, now))
        if before != now:
            db.execute("INSERT OR REPLACE INTO anchors VALUES (?, ?, ?, ?, ?, ?)", (note, kind, before, old, new, at))


def current_anchor(db: Database, note: str, old: str) -> str | None:
    """What the subpath of a link (`H`, `H1#H2`, `^block`) into a note is now, as it would be written in a link.

    None where no part of it was renamed. Whether it is still there is for the caller to see.
    """
    if old.startswith("^"):
        found = _renamed(db, note, "block", old[1:])
        return None if found is None else "^" + found
    parts = old.split("#")
    now = [None if not part.strip() else _renamed(db, note, "heading", part) for part in parts]
    if not any(part is not None for part in now):
        return None
    return "#".join(part if new is None else linkable(new) for part, new in zip(parts, now, strict=True))


def _renamed(db: Database, note: str, kind: Kind, name: str) -> str | None:
    found = db.value(
        "SELECT new FROM anchors WHERE note = ? AND kind = ? AND key = ?", (note, kind, anchor_key(kind, name))
    )
    return None if found is None else str(found)


def linkable(heading: str) -> str:
    """A heading as it may stand in a link."""
    return " ".join(_UNLINKABLE.sub(" ", heading).split())
