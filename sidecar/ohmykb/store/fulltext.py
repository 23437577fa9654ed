"""Rows of the full-text index: which notes hold a word, how rare it is, and the texts themselves."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ohmykb.store.connection import Database
from ohmykb.store.notes import Words

NAMES = "{name alias tag}"
SOUND = "{sound}"

_TOKEN = re.compile("[0-9a-z\x80-\U0010ffff]+")
# What words of scripts with spaces begin with (markdown/words.py has the others).
_SPACED = (
    (0x30, 0x39), (0x61, 0x7A), (0x80, 0xDFF), (0x10A0, 0x10FF), (0x1200, 0x177F), (0x1800, 0x2E7F),
    (0xA4D0, 0xA95F), (0xA980, 0xABFF), (0xFB00, 0xFFFF),
)  # fmt: skip
_SPACED_SQL = " OR ".join(f"unicode(term) BETWEEN {low} AND {high}" for low, high in _SPACED)
_SHORTEST, _LONGEST = 2, 1000
"""Characters of the words that are found by a part of them."""


class Where(NamedTuple):
    """Which notes may be found."""

    folder: str | None = None
    """Vault-relative, no `/` at the end."""
    tag: str | None = None
    """As stored (NFC, lower case); the tag itself or one below it."""
    since: str | None = None
    """ISO day; notes about that day or later, or changed since."""


class Found(NamedTuple):
    """What is compared with the question, as written."""

    id: int
    path: str
    title: str
    aliases: str
    """One a line, like the next two."""
    tags: str
    headings: str
    """JSON."""
    properties: str
    """JSON."""
    text: str
    linked: int
    """Other files that link here."""


def postings(db: Database, match: str, where: Where) -> NDArray[np.int32]:
    """int32[k]: ids of all notes that match an FTS5 expression, ascending.

    One string out of SQLite, cut by numpy: a third of 100,000 notes in 3 ms, a row at a time in 13.
    """
    sql, values = _filter(where)
    found = db.value(f"SELECT group_concat(rowid) FROM words WHERE words MATCH ?{sql}", (match, *values))
    return np.fromstring(found, dtype=np.int32, sep=",") if found else np.empty(0, dtype=np.int32)


def highest(db: Database) -> int:
    """The highest id in use."""
    return int(db.value("SELECT coalesce(max(id), 0) FROM files"))


def matching(db: Database, match: str, where: Where, limit: int) -> list[int]:
    """Ids of notes that match an FTS5 expression, at most `limit`, in order of id."""
    sql, values = _filter(where)
    rows = db.rows(f"SELECT rowid FROM words WHERE words MATCH ?{sql} LIMIT ?", (match, *values, limit))
    return [row[0] for row in rows]


def containing(db: Database, part: str, where: Where, limit: int) -> list[int]:
    """Ids of notes whose text holds `part` to the letter: a scan, for what no word covers."""
    sql, values = _filter(where, "note")
    rows = db.rows(f"SELECT note FROM texts WHERE instr(text, ?) > 0{sql} LIMIT ?", (part, *values, limit))
    return [row[0] for row in rows]


def spread(db: Database, term: str) -> int:
    """In how many notes a term occurs."""
    row = db.row("SELECT doc FROM vocabulary WHERE term = ?", (term,))
    return int(row[0]) if row else 0


def size(db: Database) -> int:
    """Notes and canvases in the index."""
    return int(db.value("SELECT count(*) FROM notes"))


def holds(db: Database, note: int) -> bool:
    """Whether a note is in the index, and not left out."""
    return db.row("SELECT 1 FROM notes WHERE id = ?", (note,)) is not None


def fetch(db: Database, ids: Iterable[int]) -> list[Found]:
    """What scoring needs of each note, in the order of `ids`."""
    rows = db.rows(
        "SELECT f.id, f.path, n.title,"
        " coalesce((SELECT group_concat(alias, char(10)) FROM aliases WHERE note = f.id), ''),"
        " coalesce((SELECT group_concat(tag, char(10)) FROM tags WHERE note = f.id), ''),"
        " n.headings, n.properties, t.text,"
        " (SELECT count(DISTINCT source) FROM links WHERE target = f.id AND source <> f.id)"
        " FROM json_each(?) j CROSS JOIN files f ON f.id = j.value CROSS JOIN notes n ON n.id = f.id"
        " CROSS JOIN texts t ON t.note = f.id",
        (json.dumps(list(ids)),),
    )
    return [Found(*row) for row in rows]


def named_exactly(db: Database, key: str) -> list[int]:
    """Notes whose name, alias or tag is `key` (`files.path_key`)."""
    rows = db.rows(
        "SELECT id FROM files WHERE name_key = ? AND kind < 2 UNION SELECT note FROM aliases WHERE key = ?"
        " UNION SELECT note FROM tags WHERE tag = ? LIMIT 200",
        (key, key, key),
    )
    return [row[0] for row in rows]


def allowed(db: Database, ids: Iterable[int], where: Where) -> list[int]:
    """Those of `ids` that `where` lets through."""
    sql, values = _filter(where, "id")
    keep = db.execute
    return [n for n in ids if keep(f"SELECT 1 FROM notes WHERE id = ?{sql}", (n, *values)).fetchone()]


def learn_terms(db: Database, words: Iterable[Words]) -> None:
    """Remembers the words of notes, those of scripts with spaces, so that parts of them are found."""
    met: set[str] = set()
    for note in words:
        for field in note[:-1]:
            met.update(_TOKEN.findall(field))
    kept = sorted(term for term in met if _SHORTEST <= len(term) <= _LONGEST and _is_spaced(ord(term[0])))
    db.executemany("INSERT OR IGNORE INTO terms (term) VALUES (?)", ((term,) for term in kept))


def learn_all_terms(db: Database) -> None:
    """The same for everything in the index."""
    db.execute(
        "INSERT OR IGNORE INTO terms (term) SELECT term FROM vocabulary"
        f" WHERE ({_SPACED_SQL}) AND length(term) BETWEEN {_SHORTEST} AND {_LONGEST}"
    )


def _is_spaced(code: int) -> bool:
    return any(low <= code <= high for low, high in _SPACED)


def terms_after(db: Database, last: int) -> list[tuple[int, str]]:
    """(id, term) of the terms learnt after `last`."""
    return db.rows("SELECT id, term FROM terms WHERE id > ? ORDER BY id", (last,))


def _filter(where: Where, column: str = "rowid") -> tuple[str, list[str]]:
    sql, values = "", []
    if where.folder is not None:
        forms = sorted({where.folder, *(normalize(form, where.folder) for form in ("NFC", "NFD"))})
        under = " OR ".join(["path >= ? AND path < ?"] * len(forms))
        sql += f" AND {column} IN (SELECT id FROM files WHERE {under})"
        values += [folder + end for folder in forms for end in ("/", "0")]
    if where.tag is not None:
        sql += f" AND {column} IN (SELECT note FROM tags WHERE tag = ? OR (tag >= ? AND tag < ?))"
        values += [where.tag, where.tag + "/", where.tag + "0"]
    if where.since is not None:
        sql += (
            f" AND {column} IN (SELECT n.id FROM notes n JOIN files f ON f.id = n.id"
            " WHERE coalesce(n.date, strftime('%Y-%m-%d', f.mtime_ns / 1000000000, 'unixepoch')) >= ?)"
        )
        values.append(where.since)
    return sql, values


def slice_of(db: Database, note: int, start: int, end: int) -> str:
    """The code points from `start` to `end` of a note's text."""
    text = db.value("SELECT text FROM texts WHERE note = ?", (note,))
    return "" if text is None else str(text)[start:end]


def passages(db: Database, notes: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """note → (start, end) of its chunks, in order."""
    found: dict[int, list[tuple[int, int]]] = {}
    for note, start, end in db.rows(
        'SELECT c.note, c.start, c."end" FROM json_each(?) j CROSS JOIN chunks c ON c.note = j.value ORDER BY c.id',
        (json.dumps(list(notes)),),
    ):
        found.setdefault(note, []).append((start, end))
    return found


def place_of(db: Database, note: int, chunk: int) -> int | None:
    """Where a chunk begins in its note's text; None where the note has no such chunk any more."""
    found: int | None = db.value("SELECT start FROM chunks WHERE id = ? AND note = ?", (chunk, note))
    return found
