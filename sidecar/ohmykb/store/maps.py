"""What a map needs of the index: notes by folder or tag, and the ties among some notes."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from ohmykb.note import Scope
from ohmykb.store.connection import Database

_NOTE = f"f.kind = 0 AND f.scope = {int(Scope.GRAPH)}"


class Drawn(NamedTuple):
    id: int
    path: str
    title: str
    type: str | None
    links: int
    """Of both ways, to any note: what is linked much is shown first."""


class Link(NamedTuple):
    source: int
    target: int
    key: str | None
    """The property that holds it."""


def notes(db: Database, ids: Sequence[int]) -> dict[int, Drawn]:
    """Those of them that are notes of the graph."""
    rows = db.rows(
        "SELECT f.id, f.path, n.title, n.type, (SELECT count(*) FROM links l WHERE l.source = f.id AND l.target IS NOT"
        " NULL) + (SELECT count(*) FROM links l WHERE l.target = f.id) FROM json_each(?) j"
        f" CROSS JOIN files f ON f.id = j.value CROSS JOIN notes n ON n.id = f.id WHERE {_NOTE}",
        (json.dumps(list(ids)),),
    )
    return {row[0]: Drawn(*row) for row in rows}


def in_folder(db: Database, folder: str) -> list[int]:
    low, high = folder + "/", folder + "0"  # "0" is the character after "/"
    return [row[0] for row in db.rows(f"SELECT id FROM files f WHERE path >= ? AND path < ? AND {_NOTE}", (low, high))]


def tagged(db: Database, tag: str) -> list[int]:
    """With the tag, or one below it."""
    rows = db.rows(
        f"SELECT DISTINCT t.note FROM tags t CROSS JOIN files f ON f.id = t.note WHERE {_NOTE}"
        " AND (t.tag = ?1 OR (t.tag >= ?1 || '/' AND t.tag < ?1 || '0'))",
        (tag,),
    )
    return [row[0] for row in rows]


def all_notes(db: Database) -> list[int]:
    return [row[0] for row in db.rows(f"SELECT id FROM files f WHERE {_NOTE} ORDER BY id")]


def ties(db: Database, ids: Sequence[int]) -> list[Link]:
    """Links among these notes."""
    rows = db.rows(
        "SELECT DISTINCT l.source, l.target, l.key FROM json_each(?1) j CROSS JOIN links l ON l.source = j.value"
        " WHERE l.target <> l.source AND l.target IN (SELECT value FROM json_each(?1)) ORDER BY 1, 2, 3",
        (json.dumps(list(ids)),),
    )
    return [Link(*row) for row in rows]


def around(db: Database, ids: Sequence[int]) -> list[Link]:
    """Links from and to these notes."""
    rows = db.rows(
        "SELECT DISTINCT l.source, l.target, l.key FROM json_each(?1) j CROSS JOIN links l ON l.source = j.value"
        " WHERE l.target IS NOT NULL AND l.target <> l.source UNION"
        " SELECT l.source, l.target, l.key FROM json_each(?1) j CROSS JOIN links l ON l.target = j.value"
        " WHERE l.target <> l.source ORDER BY 1, 2, 3",
        (json.dumps(list(ids)),),
    )
    return [Link(*row) for row in rows]


def tags_of(db: Database, ids: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    sql = "SELECT note, tag FROM tags WHERE note IN (SELECT value FROM json_each(?)) ORDER BY note, tag"
    for note, tag in db.rows(sql, (json.dumps(list(ids)),)):
        found.setdefault(note, []).append(tag)
    return found
