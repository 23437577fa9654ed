"""Links of the index that may need mending: those that lead nowhere, or not where they did."""

from collections.abc import Iterable
from typing import NamedTuple, cast

from ohmykb.note import Link, LinkKind, NotePath
from ohmykb.store.connection import Database
from ohmykb.store.notes import LINK_KINDS, PROTECTED

_COLUMNS = (
    "SELECT f.id, f.path, f.kind, n.flags, t.path, l.kind, l.raw, l.linkpath, l.subpath, l.display, l.line, l.start,"
    " l.key FROM links l JOIN files f ON f.id = l.source JOIN notes n ON n.id = f.id"
    " LEFT JOIN files t ON t.id = l.target WHERE f.scope = 0 AND "
)


class Row(NamedTuple):
    """One occurrence of a link."""

    source_id: int
    source: NotePath
    source_kind: int
    protected: bool
    link: Link
    target: NotePath | None
    """Where it leads now."""

    @property
    def mark(self) -> tuple[str, str, str, str]:
        """What is remembered of it is found by."""
        return self.source, self.link.raw, self.link.linkpath, self.link.subpath or ""


def broken(db: Database, sources: Iterable[str] | None) -> list[Row]:
    """Links that lead nowhere, in order of place; of some notes, or of all."""
    return _read(db, "l.target IS NULL", sources)


def without_anchor(db: Database, sources: Iterable[str] | None) -> list[Row]:
    """Links whose note is there, and its heading or block is not."""
    return _read(db, "l.subpath_found = 0", sources)


def written_so(db: Database, source: str, raw: str) -> list[Row]:
    """Every occurrence of this very text in a note, wherever it leads."""
    return [_row(row) for row in db.rows(f"{_COLUMNS} f.path = ? AND l.raw = ? ORDER BY l.id", (source, raw))]


def _read(db: Database, what: str, sources: Iterable[str] | None) -> list[Row]:
    if sources is None:
        return [_row(row) for row in db.rows(f"{_COLUMNS} {what} ORDER BY f.path, l.id")]
    found = []
    for source in sources:
        found += [_row(row) for row in db.rows(f"{_COLUMNS} f.path = ? AND {what} ORDER BY l.id", (source,))]
    return found


def _row(row: tuple) -> Row:  # type: ignore[type-arg]
    number, path, kind, flags, target, link_kind, *rest = row
    return Row(
        number, path, kind, bool(flags & PROTECTED), Link(cast("LinkKind", LINK_KINDS[link_kind]), *rest), target
    )
