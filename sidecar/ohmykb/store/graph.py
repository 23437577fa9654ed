"""Neighbours of a note, read from the links by hand-ordered joins.

`CROSS JOIN` fixes the order of the loops: left to itself the planner scans all links (seconds, not
microseconds, at 500,000 of them).
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from ohmykb.note import Scope
from ohmykb.store.connection import Database
from ohmykb.store.notes import LINK_KINDS

_GRAPH = int(Scope.GRAPH)
_NOTE = f"f.kind = 0 AND f.scope = {_GRAPH}"
COMMON_TAG = 200
"""A tag on more notes than this joins nothing worth naming."""
HUB = 200
"""Neighbours of one note that are followed further; beyond, a hub joins everything with everything."""


class Neighbor(NamedTuple):
    id: int
    path: str
    title: str
    hops: int
    via: str | None
    """The note between, for two hops; the shared tag, type or domain."""
    relation: str
    """link, backlink, embed, property:<key>, tag, type, domain."""


def one_hop(db: Database, note: int) -> list[Neighbor]:
    """Notes that this one links to, and that link to it, one row a relation."""
    out = db.rows(
        "SELECT DISTINCT f.id, f.path, n.title, l.kind, l.key FROM links l CROSS JOIN files f ON f.id = l.target"
        f" CROSS JOIN notes n ON n.id = f.id WHERE l.source = ? AND l.target <> l.source AND {_NOTE}",
        (note,),
    )
    found = [Neighbor(r[0], r[1], r[2], 1, None, _relation(r[3], r[4])) for r in out]
    back = db.rows(
        "SELECT DISTINCT f.id, f.path, n.title FROM links l CROSS JOIN files f ON f.id = l.source"
        f" CROSS JOIN notes n ON n.id = f.id WHERE l.target = ? AND l.target <> l.source AND {_NOTE}",
        (note,),
    )
    found += [Neighbor(r[0], r[1], r[2], 1, None, "backlink") for r in back]
    return found


def two_hops(db: Database, note: int, limit: int) -> list[Neighbor]:
    """Notes two links away, in any direction, those over most notes between first; `via` is one of them.

    What lies behind a hub (HUB links or more) is left out, unless it lies behind another note too.
    """
    near = links_between(db, note)
    ways: dict[int, list[tuple[int, str]]] = {}
    for between in sorted(titles(db, sorted(near)))[:HUB]:
        for far, relation in _around(db, between):
            if far != note and far not in near:
                ways.setdefault(far, []).append((between, relation))
    best = sorted(ways, key=lambda far: (-len(ways[far]), far))
    found: list[Neighbor] = []
    while best and len(found) < limit:
        some, best = best[: limit - len(found)], best[limit - len(found) :]
        names = titles(db, [*some, *{ways[far][0][0] for far in some}])
        for far in some:
            between, relation = ways[far][0]
            if far in names:
                found.append(Neighbor(far, *names[far], 2, names[between][0], relation))
    return found


def titles(db: Database, notes: Sequence[int]) -> dict[int, tuple[str, str]]:
    """id → (path, title), of those that are notes of the graph."""
    rows = db.rows(
        "SELECT f.id, f.path, n.title FROM json_each(?) j CROSS JOIN files f ON f.id = j.value"
        f" CROSS JOIN notes n ON n.id = f.id WHERE {_NOTE}",
        (json.dumps(list(notes)),),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def _around(db: Database, note: int) -> list[tuple[int, str]]:
    """(other end, relation as seen from here) of a note's links; nothing for a hub."""
    rows = db.rows(
        "SELECT target, 'link' FROM links WHERE source = ?1 AND target IS NOT NULL AND target <> ?1"
        " UNION SELECT source, 'backlink' FROM links WHERE target = ?1 AND source <> ?1 LIMIT ?2",
        (note, HUB),
    )
    return [] if len(rows) >= HUB else rows


def alike(db: Database, note: int, limit: int) -> list[Neighbor]:
    """Notes that share a tag, the type or the domain, by rarity of what is shared."""
    found: list[Neighbor] = []
    tags = db.rows(
        "SELECT t.tag, (SELECT count(*) FROM tags WHERE tag = t.tag) AS spread FROM tags t"
        " WHERE t.note = ? ORDER BY spread, t.tag",
        (note,),
    )
    for tag, spread in tags:
        if spread > COMMON_TAG or len(found) >= limit:
            break
        rows = db.rows(
            "SELECT f.id, f.path, n.title FROM tags t CROSS JOIN files f ON f.id = t.note"
            f" CROSS JOIN notes n ON n.id = f.id WHERE t.tag = ? AND t.note <> ? AND {_NOTE} ORDER BY f.path LIMIT ?",
            (tag, note, limit - len(found)),
        )
        found += [Neighbor(r[0], r[1], r[2], 1, tag, "tag") for r in rows]
    for column in ("domain", "type"):
        rows = db.rows(
            f"SELECT f.id, f.path, n.title, n.{column} FROM notes me CROSS JOIN notes n ON n.{column} = me.{column}"
            f" CROSS JOIN files f ON f.id = n.id WHERE me.id = ? AND n.id <> me.id AND {_NOTE} ORDER BY f.path LIMIT ?",
            (note, max(limit - len(found), 0)),
        )
        found += [Neighbor(r[0], r[1], r[2], 1, r[3], column) for r in rows]
    return found


def about(db: Database, note: int) -> dict[str, Any]:
    """title, aliases, tags, type, domain, date, properties and headings of one note."""
    title, kind, domain, date, properties, headings = db.row(
        "SELECT title, type, domain, date, properties, headings FROM notes WHERE id = ?", (note,)
    ) or (None, None, None, None, "{}", "[]")
    return {
        "title": title,
        "aliases": [r[0] for r in db.rows("SELECT alias FROM aliases WHERE note = ? ORDER BY rowid", (note,))],
        "tags": [r[0] for r in db.rows("SELECT tag FROM tags WHERE note = ? ORDER BY tag", (note,))],
        "type": kind,
        "domain": domain,
        "date": date,
        "properties": json.loads(properties),
        "headings": [{"level": r[0], "text": r[1], "line": r[2]} for r in json.loads(headings)],
    }


def links_between(db: Database, note: int) -> set[int]:
    """Notes linked with this one, either way."""
    rows = db.rows(
        "SELECT target FROM links WHERE source = ?1 AND target IS NOT NULL AND target <> ?1"
        " UNION SELECT source FROM links WHERE target = ?1 AND source <> ?1",
        (note,),
    )
    return {row[0] for row in rows}


def _relation(kind: int, key: str | None) -> str:
    name = LINK_KINDS[kind]
    if name == "property":
        return f"property:{(key or '').split('.')[0]}"
    return "embed" if name == "embed" else "link"


def orphans(db: Database) -> tuple[list[str], list[str], int]:
    """(paths no other note of the graph links to, paths with no links either way, notes in the graph)."""
    rows = db.rows(
        f"""
        SELECT me.path,
            NOT EXISTS (SELECT 1 FROM links l CROSS JOIN files f ON f.id = l.source
                        WHERE l.target = me.id AND l.source <> me.id AND {_NOTE}) AS orphan,
            EXISTS (SELECT 1 FROM links l CROSS JOIN files f ON f.id = l.target
                    WHERE l.source = me.id AND l.target <> me.id AND {_NOTE}) AS leads
        FROM files me WHERE me.kind = 0 AND me.scope = {_GRAPH} ORDER BY me.path
        """
    )
    lone = [row[0] for row in rows if row[1]]
    isolated = [row[0] for row in rows if row[1] and not row[2]]
    return lone, isolated, len(rows)
