"""Where in the vault a file may be written at all."""

import os
import sys
from pathlib import Path
from typing import Final

from ohmykb.errors import UsageError

_FORBIDDEN: Final = ':*?"<>|'
"""In names, on Windows; a colon leads to another stream or another drive."""


def locate(root: Path, path: str) -> Path:
    """The file meant. Raises UsageError for what is hidden, or leads out of the vault."""
    parts = path.split("/")
    if not path or "\\" in path or any(part in ("", ".", "..") or part[0] == "." for part in parts) or _no_name(path):
        raise UsageError(f"{path!r} is not a place for a note in the vault.", "Give a path from the vault's top")
    file = root / path
    real, real_root = Path(os.path.realpath(file.parent)), os.path.realpath(root)
    if not real.is_relative_to(real_root):
        raise UsageError(f"{path} leads out of the vault: nothing is written there.", "Put the note inside the vault")
    if any(part[0] == "." for part in real.relative_to(real_root).parts):
        raise UsageError(f"{path} leads into a hidden folder: nothing is written there.", "Put the note beside it")
    if file.is_symlink():
        raise UsageError(f"{path} is a link to another file: nothing is written through it.", "Change the file itself")
    return file


def _no_name(path: str) -> bool:
    """What no file can be called here."""
    if "\0" in path or (sys.platform == "win32" and any(char in path for char in _FORBIDDEN)):
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False
