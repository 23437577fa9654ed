"""Whole-vault listings: everything the graph holds, in a stable order."""

from typing import Any

from ohmykb.note import Scope
from ohmykb.store import vectors
from ohmykb.store.connection import Database
from ohmykb.store.links import all_backlinks
from ohmykb.store.notes import LINK_KINDS

_GRAPH = int(Scope.GRAPH)
_SEARCH = int(Scope.SEARCH)


def notes(db: Database) -> list[dict[str, Any]]:
    """Every note of the graph: path, title, aliases, tags, type, domain, backlinks."""
    backlinks = all_backlinks(db)
    aliases: dict[int, list[str]] = {}
    for note, alias in db.rows("SELECT note, alias FROM aliases ORDER BY rowid"):
        aliases.setdefault(note, []).append(alias)
    tags: dict[int, list[str]] = {}
    for note, tag in db.rows("SELECT note, tag FROM tags ORDER BY tag"):
        tags.setdefault(note, []).append(tag)
    rows = db.rows(
        "SELECT f.id, f.path, n.title, n.type, n.domain FROM files f JOIN notes n ON n.id = f.id"
        f" WHERE f.kind = 0 AND f.scope = {_GRAPH} ORDER BY f.path"
    )
    return [
        {
            "path": path, "title": title, "aliases": aliases.get(note, []), "tags": tags.get(note, []),
            "type": kind, "domain": domain, "backlinks": backlinks.get(note, 0),
        }
        for note, path, title, kind, domain in rows
    ]  # fmt: skip


_LINK = (
    "SELECT s.path, t.path, l.raw, l.linkpath, l.kind, l.subpath, l.display, l.line FROM links l"
    " JOIN files s ON s.id = l.source LEFT JOIN files t ON t.id = l.target"
)


def links(db: Database) -> list[dict[str, Any]]:
    """Every link of the graph, canvases' included, one row an occurrence."""
    return [_link(row) for row in db.rows(f"{_LINK} WHERE s.scope = {_GRAPH} ORDER BY s.path, l.id")]


def links_of(db: Database, note: int) -> list[dict[str, Any]]:
    """The links that stand in one note."""
    return [_link(row) for row in db.rows(f"{_LINK} WHERE l.source = ? ORDER BY l.id", (note,))]


def links_to(db: Database, note: int) -> list[dict[str, Any]]:
    """The links of the graph that lead to one note, its own left out."""
    return [
        _link(row)
        for row in db.rows(
            f"{_LINK} WHERE l.target = ? AND l.source <> l.target AND s.scope = {_GRAPH} ORDER BY s.path, l.id",
            (note,),
        )
    ]


def unresolved(db: Database) -> list[tuple[str, str, str, int | None]]:
    """(source, raw, linkpath, line) of every link of the graph that leads nowhere."""
    return db.rows(
        "SELECT f.path, l.raw, l.linkpath, l.line FROM links l JOIN files f ON f.id = l.source"
        f" WHERE l.target IS NULL AND f.scope = {_GRAPH} ORDER BY f.path, l.id"
    )


def problems(db: Database, path: str | None = None) -> list[dict[str, Any]]:
    """Everything found wrong, links to missing headings and blocks included."""
    where, values = ("", ()) if path is None else (" WHERE path = ?", (path,))
    rows = db.rows(
        "SELECT path, line, code, message FROM (SELECT path, line, code, message FROM problems"
        " UNION ALL SELECT f.path, l.line, 'subpath-missing', 'The link ' || l.raw || ' leads to '"
        " || t.path || ', which has no ' || iif(l.subpath LIKE '^%', 'block ', 'heading ') || l.subpath || '.'"
        " FROM links l JOIN files f ON f.id = l.source JOIN files t ON t.id = l.target"
        f" WHERE l.subpath_found = 0 AND f.scope = {_GRAPH}){where} ORDER BY path, line, code, message",
        values,
    )
    return [{"path": p, "line": line, "code": code, "message": message} for p, line, code, message in rows]


def counts(db: Database) -> dict[str, int]:
    """The numbers of the index: `links` = all occurrences in the graph = resolved + unresolved."""
    one = vectors.shown(db)
    links, resolved, embeds = db.row(
        "SELECT count(*), count(l.target), coalesce(sum(l.kind = 1), 0) FROM links l"
        f" JOIN files f ON f.id = l.source WHERE f.scope = {_GRAPH}"
    )
    on_disk, indexed = db.row(
        f"SELECT count(*), coalesce(sum(hash IS NOT NULL), 0) FROM files WHERE kind = 0 AND scope <= {_SEARCH}"
    )
    return {
        "notes": db.value(f"SELECT count(*) FROM files WHERE kind = 0 AND scope <= {_SEARCH} AND hash IS NOT NULL"),
        "links": links,
        "resolved": resolved,
        "unresolved": links - resolved,
        "embeds": embeds,
        "tags": db.value(
            f"SELECT count(DISTINCT tag) FROM tags t JOIN files f ON f.id = t.note WHERE f.scope = {_GRAPH}"
        ),
        "chunks": db.value("SELECT count(*) FROM chunks"),
        "vectors": vectors.count(db, one.id) if one else 0,
        "unencoded": vectors.unencoded(db, one.id if one else 0),
        "problems": len(problems(db)),
        "on_disk": on_disk,
        "indexed": indexed,
        "pending": on_disk - indexed,
    }


def _link(row: tuple[Any, ...]) -> dict[str, Any]:
    source, target, raw, linkpath, kind, subpath, display, line = row
    return {
        "source": source, "target": target, "raw": raw, "linkpath": linkpath, "kind": LINK_KINDS[kind],
        "subpath": subpath, "display": display, "line": line,
    }  # fmt: skip
