"""Rows of notes: everything one note puts into the index goes in, and comes out, together."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ohmykb.note import Chunk, Heading, Link, Problem
from ohmykb.store.connection import Database
from ohmykb.store.files import name_key, path_key

LINK_KINDS = ("wikilink", "embed", "markdown", "property")
_KIND_NUMBER = {kind: number for number, kind in enumerate(LINK_KINDS)}
_json = json.JSONEncoder(ensure_ascii=False).encode  # made once: `json.dumps` makes one each time
PRIVATE, PROTECTED, MANAGED = 1, 2, 4
ORIGIN_WALK, ORIGIN_FILE = 0, 1


class Words(NamedTuple):
    """What a note is found by, each already segmented."""

    name: str
    alias: str
    tag: str
    heading: str
    property: str
    path: str
    body: str
    sound: str


class NoteRow(NamedTuple):
    """One note, ready to be stored."""

    id: int
    path: str
    title: str
    type: str | None
    domain: str | None
    date: str | None
    flags: int
    properties: str
    """JSON."""
    headings: Sequence[Heading]
    blocks: Sequence[str]
    aliases: Sequence[str]
    tags: Iterable[str]
    links: Sequence[Link]
    targets: Sequence[int | None]
    """File ids, one a link."""
    text: str
    chunks: Sequence[Chunk]
    hashes: Sequence[bytes]
    """One a chunk."""
    words: Words
    problems: Sequence[Problem]
    names_hash: bytes = b""
    """Of the names as they are encoded; empty for what is not encoded."""


def write(db: Database, notes: Sequence[NoteRow], *, fresh: bool) -> None:
    """Stores notes; `fresh` promises that none of them was stored before."""
    if not fresh:
        erase(db, [note.id for note in notes])
    many = db.executemany
    many(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (n.id, n.title, n.type, n.domain, n.date, n.flags, n.properties,
             _json([(h.level, h.text, h.line) for h in n.headings]) if n.headings else "[]",
             json.dumps(n.blocks) if n.blocks else "[]", n.names_hash)
            for n in notes
        ],
    )  # fmt: skip
    many("INSERT INTO aliases VALUES (?, ?, ?)", [(n.id, a, path_key(a)) for n in notes for a in n.aliases])
    many("INSERT INTO tags VALUES (?, ?)", [(tag, n.id) for n in notes for tag in n.tags])
    many(
        "INSERT INTO links (source, target, kind, raw, linkpath, subpath, display, line, start, key, name_key)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (n.id, target, _KIND_NUMBER[kind], raw, linkpath, subpath, display, line, start, key,
             name_key(linkpath))
            for n in notes
            for (kind, raw, linkpath, subpath, display, line, start, key), target
            in zip(n.links, n.targets, strict=True)
        ],
    )  # fmt: skip
    many("INSERT INTO texts VALUES (?, ?)", [(n.id, n.text) for n in notes])
    many(
        'INSERT INTO chunks (note, start, "end", line, heading, hash) VALUES (?, ?, ?, ?, ?, ?)',
        [(n.id, *chunk, digest) for n in notes for chunk, digest in zip(n.chunks, n.hashes, strict=True)],
    )
    many(
        "INSERT INTO words (rowid, name, alias, tag, heading, property, path, body, sound)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(n.id, *n.words) for n in notes],
    )
    many(
        f"INSERT INTO problems VALUES (?, ?, ?, ?, {ORIGIN_FILE})",
        [(n.path, *problem) for n in notes for problem in n.problems],
    )


def erase(db: Database, ids: Sequence[int]) -> None:
    """Takes what notes put into the index out again; their files stay known."""
    each = [(number,) for number in ids]
    db.executemany("DELETE FROM words WHERE rowid = ?", each)
    db.executemany(
        f"DELETE FROM problems WHERE origin = {ORIGIN_FILE} AND path = (SELECT path FROM files WHERE id = ?)",
        each,
    )
    db.executemany("DELETE FROM notes WHERE id = ?", each)


def text(db: Database, note: int) -> str:
    """The text of a note as it is in the index; empty where there is none."""
    return str(db.value("SELECT text FROM texts WHERE note = ?", (note,)) or "")


def put_problems(db: Database, origin: int, problems: Iterable[tuple[str, Problem]]) -> None:
    db.executemany(
        f"INSERT INTO problems VALUES (?, ?, ?, ?, {int(origin)})", ((p, *problem) for p, problem in problems)
    )


def clear_problems(db: Database, origin: int, path: str | None = None) -> None:
    where, values = ("", ()) if path is None else (" AND path = ?", (path,))
    db.execute(f"DELETE FROM problems WHERE origin = {int(origin)}{where}", values)


def walk_problems(db: Database, paths: Iterable[str]) -> dict[str, Problem]:
    """path → what the walk found wrong with it, for those of `paths` that have anything."""
    found = {}
    for path in paths:
        row = db.row(f"SELECT line, code, message FROM problems WHERE origin = {ORIGIN_WALK} AND path = ?", (path,))
        if row is not None:
            found[path] = Problem(*row)
    return found


def walk_problems_under(db: Database, folder: str) -> list[str]:
    """Paths of all that the walk found something wrong with, the folder itself and what is below it."""
    rows = db.rows(
        f"SELECT path FROM problems WHERE origin = {ORIGIN_WALK} AND (path = ? OR path >= ? AND path < ?)",
        (folder, folder + "/", folder + "0"),
    )
    return [row[0] for row in rows]


def clashing(db: Database, folder: str) -> list[str]:
    """Paths in this very folder whose name the walk found something wrong with."""
    prefix = folder + "/" if folder else ""
    rows = db.rows(f"SELECT path FROM problems WHERE origin = {ORIGIN_WALK} AND code GLOB 'name-*'")
    return [path for (path,) in rows if path.startswith(prefix) and "/" not in path[len(prefix) :]]
