"""Who may write what (contract: Who may write). Cheap questions, each refusal a sentence."""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ohmykb.errors import KbError

QUIET_S: Final = 10.0
"""A note is left alone for so long after its last change."""
_AT_WORK: Final = (
    "index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer",
    "BISECT_START",
)  # fmt: skip
_MARKERS: Final = tuple(
    re.compile(rb"(?:^|[\r\n]|\xef\xbb\xbf)" + mark * 7 + rb"(?:[ \r\n]|$)") for mark in (b"<", b">")
)


class RefusedError(KbError):
    """What must not be written, by whoever's wish."""

    code = "refused"


def may_apply_unasked(mode: str, device: str | None, this_device: str) -> bool:
    return mode == "auto" and device is not None and device == this_device


def git_at_work(root: Path) -> bool:
    """Whether git is in the middle of something in the repository the vault lies in."""
    folder = _git_folder(root)
    # `os.path.exists` is quiet where another user's repository may not be looked into.
    return folder is not None and any(os.path.exists(folder / name) for name in _AT_WORK)  # noqa: PTH110


def _git_folder(root: Path) -> Path | None:
    for above in (root, *root.parents):
        found = above / ".git"
        if os.path.isdir(found):  # noqa: PTH112
            return found
        if os.path.isfile(found):  # noqa: PTH113 - a worktree, or a submodule
            try:
                said = found.read_text("utf-8", "replace").strip()
            except OSError:
                return None
            return above / said.removeprefix("gitdir:").strip()
    return None


def has_conflict_markers(data: bytes) -> bool:
    return all(mark.search(data) for mark in _MARKERS)


def busy(root: Path, paths: Sequence[str], now: float) -> dict[str, str]:
    """Which of these notes must not be written unasked at this moment, and why. `now` in seconds since the epoch."""
    folders = {path.rpartition("/")[0] for path in paths}
    at_work = {folder for folder in folders if git_at_work(root / folder)}  # a folder may be a repository of its own
    found = {}
    for path in paths:
        if path.rpartition("/")[0] in at_work:
            found[path] = "git is at work in the vault"
            continue
        try:
            seen = os.stat(root / path)  # noqa: PTH116
            if not stat.S_ISREG(seen.st_mode):
                found[path] = "it is no plain file"
            elif seen.st_nlink > 1:  # replaced, the other name would keep the old text
                found[path] = "it has a second name (a hard link)"
            elif abs(now - seen.st_mtime) < QUIET_S:  # clocks of disks far away go ahead
                found[path] = "it was changed a moment ago"
            elif has_conflict_markers((root / path).read_bytes()):
                found[path] = "it holds conflict markers"
        except FileNotFoundError:
            continue  # it is to be made
        except OSError as error:
            found[path] = f"it cannot be read: {error.strerror}"
    return found


def is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)
