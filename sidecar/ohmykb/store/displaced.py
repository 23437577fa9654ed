"""Links that meant a note which they do not lead to any more: what no rebuild of the index could know.

Written to the state database before the index commits; read, and cleared of what no longer holds, when
repairs are planned.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeVar

from ohmykb.note import LinkKind
from ohmykb.store.connection import Database, snapshot, transaction
from ohmykb.store.notes import LINK_KINDS

KEPT_S = 90 * 86_400.0
"""What nobody mended in three months is history."""
ABSENT_S = 3600.0
"""A source that does not hold the link may be half written; after an hour it is not."""

How = Literal["target", "source", "other"]
"""What moved: the note meant, the one that holds the link, or a third that took the name."""

_EMPTY = sha256(b"").digest()
"""The bytes of an empty note are no evidence."""


class Displaced(NamedTuple):
    source: str
    raw: str
    linkpath: str
    subpath: str | None
    kind: LinkKind
    target: str
    """What the link meant, by the path it has now."""
    at: float
    how: How


class Lost(NamedTuple):
    source: str
    raw: str
    linkpath: str
    subpath: str | None
    kind: LinkKind
    target: str
    """The path that the gone file had."""
    hash: bytes | None
    """sha256 of its bytes, where they were known."""
    at: float
    fell_to: str | None = None
    """What the link led to from then on, if anything."""
    found: str | None = None
    """The one file that has those bytes now, or had them when it appeared."""


Remembered = TypeVar("Remembered", Displaced, Lost)


class Held(NamedTuple):
    """A link of the index, with the file that it leads to or led to just now."""

    id: int
    source: str
    raw: str
    linkpath: str
    subpath: str | None
    kind: LinkKind
    target: str
    hash: bytes | None


def held(db: Database, pairs: Sequence[tuple[int, int]]) -> list[Held]:
    """Links of the index: (link id, id of the file it means)."""
    rows = db.rows(
        "SELECT l.id, s.path, l.raw, l.linkpath, l.subpath, l.kind, t.path, t.hash"
        " FROM json_each(?) j CROSS JOIN links l ON l.id = j.value ->> 0"
        " CROSS JOIN files s ON s.id = l.source CROSS JOIN files t ON t.id = j.value ->> 1",
        (json.dumps(pairs),),
    )
    return [_held(row) for row in rows]


def leading_to(db: Database, targets: Sequence[int]) -> list[Held]:
    """Every link of the index to these files from others than these."""
    rows = db.rows(
        "SELECT l.id, s.path, l.raw, l.linkpath, l.subpath, l.kind, t.path, t.hash"
        " FROM json_each(?1) j CROSS JOIN links l ON l.target = j.value"
        " CROSS JOIN files s ON s.id = l.source CROSS JOIN files t ON t.id = j.value"
        " WHERE l.source NOT IN (SELECT value FROM json_each(?1))",
        (json.dumps(targets),),
    )
    return [_held(row) for row in rows]


def leading_from(db: Database, sources: Sequence[int]) -> list[Held]:
    """Every link of these files that leads somewhere."""
    rows = db.rows(
        "SELECT l.id, s.path, l.raw, l.linkpath, l.subpath, l.kind, t.path, t.hash"
        " FROM json_each(?1) j CROSS JOIN links l ON l.source = j.value"
        " CROSS JOIN files s ON s.id = l.source CROSS JOIN files t ON t.id = l.target",
        (json.dumps(sources),),
    )
    return [_held(row) for row in rows]


def _held(row: Sequence[Any]) -> Held:
    kind: Any = LINK_KINDS[row[5]]
    return Held(row[0], row[1], row[2], row[3], row[4], kind, row[6], row[7])


def led_to(db: Database, links: Sequence[int]) -> dict[int, str]:
    """Link id → path of the file it leads to now, for those that lead anywhere."""
    return dict(
        db.rows(
            "SELECT l.id, t.path FROM json_each(?) j CROSS JOIN links l ON l.id = j.value"
            " CROSS JOIN files t ON t.id = l.target",
            (json.dumps(links),),
        )
    )


# --- remembering


def remember_displaced(state: Database, rows: Iterable[Displaced]) -> None:
    """What a link meant first stays what it means. The caller holds the transaction."""
    state.executemany("INSERT OR IGNORE INTO displaced VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def remember_lost(state: Database, gone: Mapping[str, bytes | None], rows: Iterable[Lost], at: float) -> None:
    """`gone`: path → sha256 of files that are no more. The caller holds the transaction."""
    state.execute("CREATE TEMP TABLE IF NOT EXISTS gone (path TEXT PRIMARY KEY, hash BLOB) WITHOUT ROWID")
    state.execute("DELETE FROM temp.gone")
    state.executemany("INSERT INTO temp.gone VALUES (?, ?)", gone.items())
    state.execute("UPDATE lost SET found = NULL WHERE found IN (SELECT path FROM temp.gone)")
    state.execute(
        "INSERT OR REPLACE INTO lost SELECT d.source, d.raw, d.linkpath, d.subpath, d.kind, d.target, g.hash, ?,"
        " NULL, NULL FROM displaced d JOIN temp.gone g ON g.path = d.target",
        (at,),
    )
    state.execute("DELETE FROM displaced WHERE target IN (SELECT path FROM temp.gone)")
    state.executemany("INSERT OR REPLACE INTO lost VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def remember_returned(state: Database, moved: Mapping[str, str], since: float, at: float) -> set[str]:
    """Targets lost since then that are there again under other names (old path → new path), surely the same files;
    the sources of the links concerned. The caller holds the transaction."""
    state.execute("CREATE TEMP TABLE IF NOT EXISTS back (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID")
    state.execute("DELETE FROM temp.back")
    state.executemany("INSERT INTO temp.back VALUES (?, ?)", moved.items())
    rows = state.rows(
        "SELECT l.rowid, l.source, l.raw, l.linkpath, l.subpath, l.kind, b.new, ?, 'target'"
        " FROM lost l JOIN temp.back b ON b.old = l.target WHERE l.at >= ?",
        (at, since),
    )
    remember_displaced(state, [Displaced(*row[1:]) for row in rows])
    state.executemany("DELETE FROM lost WHERE rowid = ?", ((row[0],) for row in rows))
    return {row[1] for row in rows}


def remember_found(state: Database, db: Database) -> set[str]:
    """A file that alone has the bytes of a lost target is what it became; the sources of the links concerned."""
    asked = state.rows("SELECT DISTINCT hash FROM lost WHERE hash IS NOT NULL AND found IS NULL")
    found = _with_bytes(db, [row[0] for row in asked])
    if not found:
        return set()
    sources: set[str] = set()
    with transaction(state):
        for digest, path in found.items():
            where = "hash = ? AND found IS NULL"
            sources.update(row[0] for row in state.rows(f"SELECT source FROM lost WHERE {where}", (digest,)))
            state.execute(f"UPDATE lost SET found = ? WHERE {where}", (path, digest))
    return sources


def _with_bytes(db: Database, hashes: Iterable[bytes]) -> dict[bytes, str]:
    """Hash → the path of the only file that has it, copies that a sync tool set aside apart."""
    wanted = [digest.hex() for digest in hashes if digest not in (b"", _EMPTY)]
    if not wanted:
        return {}
    return dict(
        db.rows(
            "SELECT hash, min(path) FROM files WHERE hash IN (SELECT unhex(value) FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM problems p WHERE p.path = files.path AND p.code = 'conflict-copy')"
            " GROUP BY hash HAVING count(*) = 1",
            (json.dumps(wanted),),
        )
    )


def has_subpaths_into(state: Database, path: str) -> bool:
    """Whether a displaced link means a heading or block of this note."""
    row = state.row("SELECT 1 FROM displaced WHERE target = ? AND subpath IS NOT NULL LIMIT 1", (path,))
    return row is not None


# --- when repairs are planned


def displaced(state: Database, db: Database, now: float, sources: Iterable[str] | None = None) -> list[Displaced]:
    """Links that still stand where they stood, do not lead where they meant, and could: what they meant is there.

    `db` is the index, `now` seconds since the epoch, `sources` the only notes to look at. What holds no
    longer is forgotten.
    """
    rows = [Displaced(*row) for row in _rows(state, "displaced", sources)]
    standing = _standing(state, db, now, rows, "displaced", lambda one, leads: leads == one.target)
    there = "SELECT 1 FROM files WHERE path = ?"
    return [one for one in standing if db.row(there, (one.target,)) is not None]


def lost(state: Database, db: Database, now: float, sources: Iterable[str] | None = None) -> list[Lost]:
    """Links that still stand, whose target is gone; `found` says where its bytes are now, if in one place.

    A link that fell to another note of the same name is told only where `found` says that it should not have.
    """
    rows = [Lost(*row) for row in _rows(state, "lost", sources)]
    places = _with_bytes(db, {one.hash for one in rows if one.hash is not None and one.found is None})
    rows = [one._replace(found=one.found or places.get(one.hash or b"")) for one in rows]

    def over(one: Lost, leads: str | None) -> bool:
        return leads is not None and (leads == one.found or leads != one.fell_to)

    standing = _standing(state, db, now, rows, "lost", over)
    return [one for one in standing if one.fell_to is None or one.found is not None]


def _rows(state: Database, table: str, sources: Iterable[str] | None) -> list[Any]:
    if sources is None:
        return state.rows(f"SELECT * FROM {table} ORDER BY source, rowid")
    found = []
    for source in sorted(set(sources)):
        found += state.rows(f"SELECT * FROM {table} WHERE source = ? ORDER BY rowid", (source,))
    return found


def _standing(
    state: Database, db: Database, now: float, rows: Iterable[Remembered], table: str,
    over: Callable[[Remembered, str | None], bool],
) -> list[Remembered]:  # fmt: skip
    """Those whose links stand as they are in the index and are not mended; what is `over` or old is deleted."""
    standing: list[Remembered] = []
    done: list[Remembered] = []
    with snapshot(db):
        for source, group in groupby(rows, key=lambda one: one.source):
            links = _links_of(db, source)
            for one in group:
                place = one.raw, one.linkpath, one.subpath
                absent = links is not None and place not in links
                if now - one.at > KEPT_S or (absent and now - one.at > ABSENT_S):
                    done.append(one)
                elif links is None or absent:
                    continue
                elif over(one, links[place]):
                    done.append(one)
                else:
                    standing.append(one)
    if done:
        with transaction(state):
            state.executemany(
                f"DELETE FROM {table} WHERE source = ? AND raw = ? AND linkpath = ? AND subpath IS ? AND at = ?",
                ((one.source, one.raw, one.linkpath, one.subpath, one.at) for one in done),
            )
    return standing


def _links_of(db: Database, source: str) -> dict[tuple[str, str, str | None], str | None] | None:
    """(raw, linkpath, subpath) → path where it leads; None where the index has not read the source."""
    file = db.row("SELECT id, hash FROM files WHERE path = ?", (source,))
    if file is None or not file[1]:
        return None
    rows = db.rows(
        "SELECT l.raw, l.linkpath, l.subpath, t.path FROM links l LEFT JOIN files t ON t.id = l.target"
        " WHERE l.source = ?",
        (file[0],),
    )
    return {(raw, linkpath, subpath): leads for raw, linkpath, subpath, leads in rows}
