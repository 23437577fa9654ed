"""Where a symbolic link may take a walk.

Judged by the link alone, never by what the walk saw before, so that looking at one path and walking the
whole vault agree.
"""

import os
import stat

from ohmykb.note import Problem
from ohmykb.vault import troubles

Chain = tuple[str, ...]
"""The real folders of the links followed on the way to a place; empty inside the vault proper."""

# Folders outside that link to each other could be entered in ever new orders; no real way is this long.
_MAX_LINKS = 8


def judge_link(here: str, root: str, chain: Chain, *, follow: bool) -> Chain | os.stat_result | Problem:
    """Of the link `here`, met on the way `chain`, in the vault at the real path `root`: the chain with which
    to walk the folder it leads to, the stat of the file it leads to, or the Problem that keeps us from it.
    """
    try:
        found = os.stat(here)  # noqa: PTH116 - strings all the way
    except FileNotFoundError:
        return troubles.SYMLINK_BROKEN
    except OSError:
        return troubles.SYMLINK_ROUND
    real = os.path.realpath(here)
    if _within(real, root):
        parent = os.path.realpath(os.path.dirname(here))  # noqa: PTH120
        return troubles.symlink_inside(real[len(root) :].lstrip("/\\"), loop=_within(parent, real))
    if not follow:
        return troubles.SYMLINK_OUT
    if stat.S_ISREG(found.st_mode):
        return found
    if not stat.S_ISDIR(found.st_mode):
        return troubles.NOT_A_FILE
    if len(chain) >= _MAX_LINKS or any(_within(passed, real) for passed in (root, *chain)):
        return troubles.symlink_loop(real)
    return (*chain, real)


def _within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it."""
    return path == folder or path.startswith(folder.rstrip("/\\") + os.sep)
