"""Rows of links: where they lead, who links here, and what lies within two hops."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ohmykb.note import Scope
from ohmykb.store.connection import Database

_GRAPH = int(Scope.GRAPH)


class Pending(NamedTuple):
    """A link to be resolved again."""

    id: int
    source: int
    source_path: str
    linkpath: str
    target: int | None


def by_name(db: Database, key: str) -> list[Pending]:
    """Every link that looks for this name."""
    rows = db.rows(
        "SELECT l.id, l.source, f.path, l.linkpath, l.target FROM links l JOIN files f ON f.id = l.source"
        " WHERE l.name_key = ?",
        (key,),
    )
    return [Pending(*row) for row in rows]


def by_source(db: Database, sources: Sequence[int]) -> list[Pending]:
    """Every link of these notes that leads anywhere."""
    rows = db.rows(
        "SELECT l.id, l.source, f.path, l.linkpath, l.target FROM json_each(?) j"
        " CROSS JOIN links l ON l.source = j.value CROSS JOIN files f ON f.id = l.source WHERE l.target IS NOT NULL",
        (json.dumps(sources),),
    )
    return [Pending(*row) for row in rows]


def set_targets(db: Database, rows: Iterable[tuple[int | None, int]]) -> None:
    """(target, link id)."""
    db.executemany("UPDATE links SET target = ?, subpath_found = NULL WHERE id = ?", rows)


def forget_subpaths(db: Database, targets: Sequence[int]) -> None:
    """Links into these notes must have their headings and blocks looked up again."""
    db.executemany(
        "UPDATE links SET subpath_found = NULL WHERE target = ? AND subpath IS NOT NULL",
        ((target,) for target in targets),
    )


def unchecked_subpaths(db: Database) -> list[tuple[int, str, int]]:
    """(link id, subpath, target) of resolved links whose subpath was not looked up yet."""
    return db.rows(
        "SELECT l.id, l.subpath, l.target FROM links l JOIN files f ON f.id = l.target AND f.kind = 0"
        " WHERE l.subpath IS NOT NULL AND l.subpath_found IS NULL AND length(f.hash) > 0 ORDER BY l.target"
    )


def set_subpaths(db: Database, rows: Iterable[tuple[int, int]]) -> None:
    """(found, link id)."""
    db.executemany("UPDATE links SET subpath_found = ? WHERE id = ?", rows)


def has_subpaths_into(db: Database, note: int) -> bool:
    """Whether any link leads to a heading or block of this note."""
    return db.row("SELECT 1 FROM links WHERE target = ? AND subpath IS NOT NULL LIMIT 1", (note,)) is not None


def headings_and_blocks(db: Database, note: int) -> tuple[str, str]:
    """The JSON of a note's headings and of its block ids."""
    row = db.row("SELECT headings, blocks FROM notes WHERE id = ?", (note,))
    return row or ("[]", "[]")


def missing_subpaths(db: Database) -> list[tuple[str, int | None, str]]:
    """(path, line, raw) of links whose heading or block is not in the note they lead to."""
    return db.rows(
        "SELECT f.path, l.line, l.raw FROM links l JOIN files f ON f.id = l.source"
        " WHERE l.subpath_found = 0 ORDER BY f.path, l.line, l.id"
    )


def backlinks(db: Database, note: int) -> int:
    """Distinct other notes of the graph that link to or embed this one."""
    row = db.row(
        "SELECT count(DISTINCT l.source) FROM links l CROSS JOIN files f ON f.id = l.source"
        f" WHERE l.target = ? AND l.source <> l.target AND f.kind = 0 AND f.scope = {_GRAPH}",
        (note,),
    )
    return int(row[0])


def linked(db: Database) -> list[tuple[int, int]]:
    """(file, other files that link to it): one pass over one index, for ranking."""
    return db.rows(
        "SELECT target, count(DISTINCT source) FROM links WHERE target IS NOT NULL AND source <> target GROUP BY target"
    )


def all_backlinks(db: Database) -> dict[int, int]:
    """Note → backlinks, for all that have any."""
    rows = db.rows(
        "SELECT l.target, count(DISTINCT l.source) FROM links l JOIN files f ON f.id = l.source"
        f" WHERE l.target IS NOT NULL AND l.source <> l.target AND f.kind = 0 AND f.scope = {_GRAPH}"
        " GROUP BY l.target"
    )
    return dict(rows)
