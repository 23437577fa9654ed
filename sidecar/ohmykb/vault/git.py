"""Questions to git about a note's past. Git is asked, never told: nothing here locks or writes."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

TIMEOUT_S: Final = 10.0
MOST: Final = 200
"""Commits that are looked at."""
_QUIET: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


class Commit(NamedTuple):
    id: str
    at: str
    """ISO-8601 with its zone."""
    path: str
    """Vault-relative, as it was then."""


def holding(root: Path, text: str) -> Iterator[Commit]:
    """Commits that added or took away `text`, with the notes where, newest first; nothing where git is not used."""
    yield from _log(root, "-S", text)


def of_note(root: Path, path: str) -> Iterator[Commit]:
    """Commits that changed a note, newest first."""
    yield from (one for one in _log(root, "--", path) if one.path == path)


def content(root: Path, commit: str, path: str) -> bytes | None:
    """The bytes of a note in a commit; None where it is not in it."""
    return _run(root, "show", f"{commit}:./{path}")


def _log(root: Path, *what: str) -> Iterator[Commit]:
    how = ("--all", f"-{MOST}", "--no-renames", "--relative", "--name-only", "-z", "--format=%x01%H %aI")
    said = _run(root, "log", *how, *what)
    commit = at = ""
    for part in (said or b"").decode(errors="replace").split("\0"):
        line = part.strip("\n")
        while "\x01" in line:
            before, _, line = line.partition("\x01")
            if before.strip():
                yield Commit(commit, at, before.strip("\n"))
            head, _, line = line.partition("\n")
            commit, _, at = head.strip().partition(" ")
            line = line.strip("\n")
        if line and line.lower().endswith((".md", ".canvas")):
            yield Commit(commit, at, line)


def _run(root: Path, *args: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "-c", "core.quotepath=off", "-c", "log.showSignature=false", *args],
            env={**os.environ, **_QUIET}, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return done.stdout if done.returncode == 0 else None
