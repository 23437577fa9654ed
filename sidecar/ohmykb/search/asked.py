"""What a person or a program asked for, checked: filters of a probe."""

import re
from datetime import date
from typing import Any

from ohmykb.errors import UsageError
from ohmykb.note import Scope
from ohmykb.store import files
from ohmykb.store.connection import Database
from ohmykb.store.files import path_key
from ohmykb.store.fulltext import Where

_SEGMENT = r"(?:[^/\\.\x00-\x1f][^/\\\x00-\x1f]*)"
FOLDER = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")
"""A folder of the vault; hidden ones are not indexed."""


def where_of(folder: str | None = None, tag: str | None = None, since: str | None = None) -> Where:
    """Raises UsageError for a folder outside the vault, an empty tag, or a date that is none."""
    if folder is not None:
        cleaned = folder.removeprefix("./").rstrip("/")
        if not FOLDER.fullmatch(cleaned):
            raise UsageError(f"{folder!r} is not a folder in the vault.", "Give it from the vault's top, with /")
        folder = cleaned
    if tag is not None:
        tag = path_key(tag.removeprefix("#").strip("/"))
        if not tag:
            raise UsageError("The tag is empty.", "Name one, with or without #")
    if since is not None:
        try:
            since = date.fromisoformat(since[:10]).isoformat()
        except ValueError as error:
            raise UsageError(f"{since!r} is not a date.", "Write it as 2025-12-31") from error
    return Where(folder, tag, since)


def pending(db: Database) -> int:
    """Notes that were seen and whose text is not in the index yet."""
    return int(
        db.value("SELECT count(*) FROM files WHERE kind = 0 AND scope <= ? AND hash IS NULL", (int(Scope.SEARCH),))
    )


def absent(db: Database, where: Where) -> str | None:
    """Why nothing at all can be found: an empty vault, a folder or a tag that is not there."""
    if not db.value("SELECT EXISTS (SELECT 1 FROM notes)"):
        return "there are no notes in the vault yet"
    if where.folder is not None and not files.under(db, where.folder):
        return f"there is no folder {where.folder} in the vault"
    if where.tag is not None and not db.value(
        "SELECT EXISTS (SELECT 1 FROM tags WHERE tag = ?1 OR substr(tag, 1, length(?1) + 1) = ?1 || '/')", (where.tag,)
    ):
        return f"there is no tag #{where.tag} in the vault"
    return None


def lacking(answer: dict[str, Any], *reasons: str | None) -> dict[str, Any]:
    """The answer, with what it may lack added to `degraded`."""
    said = [one for one in (*reasons, answer.get("degraded")) if one]
    return {**answer, "degraded": "; ".join(said)} if said else answer
