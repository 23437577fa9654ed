"""What a person or a program asked for, checked: filters of a probe."""

import re
from datetime import date

from ohmykb.errors import UsageError
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
