"""What the index holds of a note, read back whole: for proofs, not for answers."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ohmykb.store.connection import DamagedError, Database
from ohmykb.store.files import name_key
from ohmykb.store.notes import LINK_KINDS, ORIGIN_FILE, NoteRow, Words

_TOKEN = re.compile("[0-9a-z\x80-\U0010ffff]+")
"""As FTS5's ascii tokenizer cuts our segmented text."""
_TOKEN_BYTES = 32768
"""What FTS5 keeps of a token (FTS5_MAX_TOKEN_SIZE)."""


class Content(NamedTuple):
    about: tuple[object, ...]
    headings: list[object]
    blocks: list[object]
    aliases: list[str]
    tags: list[str]
    links: list[tuple[object, ...]]
    text: str
    chunks: list[tuple[object, ...]]
    problems: list[tuple[object, ...]]
    words: list[int]
    """Tokens in each column of the full-text index."""


def note(db: Database, file: int) -> Content | None:
    """What is stored of a note."""
    row = db.row(
        "SELECT title, type, domain, date, flags, properties, names_hash, headings, blocks FROM notes WHERE id = ?",
        (file,),
    )
    if row is None:
        return None
    text = db.row("SELECT text FROM texts WHERE note = ?", (file,))
    sizes = db.row("SELECT sz FROM words_docsize WHERE id = ?", (file,))
    return Content(
        row[:7], json.loads(row[7]), json.loads(row[8]),
        [r[0] for r in db.rows("SELECT alias FROM aliases WHERE note = ? ORDER BY rowid", (file,))],
        [r[0] for r in db.rows("SELECT tag FROM tags WHERE note = ? ORDER BY tag", (file,))],
        db.rows("SELECT kind, raw, linkpath, subpath, display, line, start, key, name_key, target FROM links"
            " WHERE source = ? ORDER BY id", (file,)),
        text[0] if text else "",
        db.rows('SELECT start, "end", line, heading, hash FROM chunks WHERE note = ? ORDER BY id', (file,)),
        db.rows(f"SELECT line, code, message FROM problems WHERE origin = {ORIGIN_FILE}"
            " AND path = (SELECT path FROM files WHERE id = ?) ORDER BY rowid", (file,)),
        _varints(sizes[0]) if sizes else [],
    )  # fmt: skip


def expected(row: NoteRow) -> Content:
    """What should be stored of a note drafted afresh."""
    return Content(
        (row.title, row.type, row.domain, row.date, row.flags, row.properties, row.names_hash),
        [[h.level, h.text, h.line] for h in row.headings], list(row.blocks),
        list(row.aliases), sorted(row.tags),
        [
            (LINK_KINDS.index(k.kind), k.raw, k.linkpath, k.subpath, k.display, k.line, k.start, k.key,
             name_key(k.linkpath), target)
            for k, target in zip(row.links, row.targets, strict=True)
        ],
        row.text,
        [(*part, digest) for part, digest in zip(row.chunks, row.hashes, strict=True)],
        [tuple(problem) for problem in row.problems],
        [len(_TOKEN.findall(column)) for column in row.words],
    )  # fmt: skip


def terms(words: Words) -> Iterator[str]:
    """Every token of a note, as often as it stands there."""
    for column in words:
        for token in _TOKEN.findall(column):
            yield token if len(token) * 4 <= _TOKEN_BYTES else _text(token.encode()[:_TOKEN_BYTES])


def vocabulary(db: Database) -> list[tuple[str, int]]:
    """(term, occurrences) of the full-text index."""
    return [(_text(term), count) for term, count in db.rows("SELECT CAST(term AS BLOB), cnt FROM vocabulary")]


def _text(term: bytes) -> str:
    return term.decode("utf-8", "replace")  # FTS5 cuts a long one anywhere


def holds(db: Database, note: int, words: Iterable[str]) -> bool:
    """Whether the full-text index has all of these words under this note."""
    match = " AND ".join(f'"{word}"' for word in words)
    return not match or db.row("SELECT 1 FROM words WHERE rowid = ? AND words MATCH ?", (note, match)) is not None


def with_problems(db: Database) -> list[str]:
    """Paths of all files in whose text something was found wrong."""
    return [row[0] for row in db.rows(f"SELECT DISTINCT path FROM problems WHERE origin = {ORIGIN_FILE}")]


def documents(db: Database) -> int:
    return int(db.value("SELECT count(*) FROM words_docsize"))


def integrity(db: Database) -> str | None:
    """What SQLite itself finds wrong, if anything."""
    try:
        found = db.value("PRAGMA quick_check(1)")
    except DamagedError as error:
        found = str(error)
    return None if found == "ok" else f"the database is damaged: {found}"


def subpath_found(db: Database, source: int, number: int) -> int | None:
    """The stored answer for the `number`th link of a note."""
    row = db.row("SELECT subpath_found FROM links WHERE source = ? ORDER BY id LIMIT 1 OFFSET ?", (source, number))
    return None if row is None else row[0]


def is_empty(db: Database, file: int) -> bool:
    """Whether the file could not be read, so that nothing is known of its headings."""
    row = db.row("SELECT length(hash) FROM files WHERE id = ?", (file,))
    return row is None or not row[0]


def _varints(data: bytes) -> list[int]:
    """SQLite variable-length integers, as FTS5 keeps column sizes."""
    numbers, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return numbers


def texts(db: Database) -> Iterator[str]:
    """The text of every note, one after the other."""
    for row in db.each("SELECT text FROM texts"):
        yield str(row[0])


def titles(db: Database, hidden: Collection[int] = ()) -> list[str]:
    """Of every note but the `hidden`."""
    return [row[1] for row in db.rows("SELECT id, title FROM notes ORDER BY id") if row[0] not in hidden]
