"""Conflict copies that sync tools leave beside a note: what to make of each, where that is certain."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ohmykb.errors import NotFoundError, UsageError
from ohmykb.evolve.diffs import unified
from ohmykb.evolve.three_way import Conflict, merge
from ohmykb.note import NotePath
from ohmykb.store.connection import Database
from ohmykb.vault import git
from ohmykb.vault.conflicts import conflict_copy
from ohmykb.vault.history import History
from ohmykb.vault.operations import Change
from ohmykb.vault.replace import digest

State = Literal["identical", "contained", "mergeable", "conflicting", "unknown"]

SAID: Final[dict[State, str]] = {
    "identical": "the copy says the same as the note; it can go",
    "contained": "every line of one is in the other, in order; nothing is lost when they become one",
    "mergeable": "both come of one version that is known, and changed other places",
    "conflicting": "both changed the same lines: decide which is right, in the note, then delete the copy",
    "unknown": "no version is known that both come of: compare them, then delete the copy",
}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Copy:
    path: NotePath
    original: NotePath


@dataclass(frozen=True, slots=True)
class Proposal:
    copy: Copy
    state: State
    changes: tuple[Change, ...]
    """One operation: the note becomes what both say, and the copy goes. Empty where nothing is certain."""
    diff: str
    """Of the note, to what it would become; where nothing is certain, to the copy."""
    ancestor: str | None = None
    """Where the version came from that both come of."""
    conflicts: tuple[Conflict, ...] = ()


def find(db: Database) -> list[Copy]:
    """Copies whose original is there."""
    paths = {row[0] for row in db.rows("SELECT path FROM files WHERE kind = 0")}
    found = []
    for path in sorted(paths):
        above, slash, name = path.rpartition("/")
        original = conflict_copy(name, lambda other, at=above + slash: at + other in paths)  # type: ignore[misc]
        if original is not None and above + slash + original in paths:
            found.append(Copy(NotePath(path), NotePath(above + slash + original)))
    return found


def propose(root: Path, history: History, copy: Copy) -> Proposal:
    """Raises NotFoundError, UsageError (a text that is not UTF-8)."""
    mine, theirs = _text(root, copy.original), _text(root, copy.path)
    if mine == theirs:
        return _proposal(copy, "identical", mine, mine, theirs)
    if _within(theirs, mine):
        return _proposal(copy, "contained", mine, mine, theirs)
    if _within(mine, theirs):
        return _proposal(copy, "contained", mine, theirs, theirs)
    best: Proposal | None = None
    for where, base in _ancestors(root, history, copy):
        merged = merge(base, mine, theirs)
        # A version newer than the copy is no ancestor of it: then the copy's old lines would take the note's place.
        if not merged.conflicts and _within(mine, merged.text):
            return _proposal(copy, "mergeable", mine, merged.text, theirs, ancestor=where)
        if best is None or len(merged.conflicts) < len(best.conflicts):
            diff = unified(copy.original, mine, theirs)
            best = Proposal(copy, "conflicting", (), diff, where, merged.conflicts)
    return best or Proposal(copy, "unknown", (), unified(copy.original, mine, theirs))


def _proposal(copy: Copy, state: State, mine: str, merged: str, theirs: str, ancestor: str | None = None) -> Proposal:
    changes = [Change(copy.path, digest(theirs.encode()), None)]
    if merged != mine:
        changes.insert(0, Change(copy.original, digest(mine.encode()), merged.encode()))
    return Proposal(copy, state, tuple(changes), unified(copy.original, mine, merged), ancestor)


def _ancestors(root: Path, history: History, copy: Copy) -> Iterator[tuple[str, str]]:
    """Versions from before, newest first; whether the copy comes of one is not known."""
    for version in reversed(history.versions(copy.original)):
        try:
            yield f"operation {version.op.id}", history.archived(version.op.id, copy.original).decode()
        except (NotFoundError, UnicodeDecodeError):
            continue
    for commit in git.of_note(root, copy.original):
        data = git.content(root, commit.id, copy.original)
        if data is not None:
            yield f"git commit {commit.id[:8]}", data.decode(errors="replace")


def _within(small: str, big: str) -> bool:
    """Whether all lines of one stand in the other, in order."""
    rest = iter(big.split("\n"))
    return all(line in rest for line in small.split("\n"))


def _text(root: Path, path: NotePath) -> str:
    try:
        return (root / path).read_bytes().decode()
    except OSError as error:
        raise NotFoundError(f"{path} is not there any more.", "Look again: kb conflicts") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8.", "Compare the two by hand") from error


def to_json(one: Proposal) -> Json:
    return {
        "copy": one.copy.path, "original": one.copy.original, "state": one.state, "message": SAID[one.state],
        "ancestor": one.ancestor, "diff": one.diff, "certain": bool(one.changes),
        "conflicts": [{"line": c.line, "ours": c.ours, "theirs": c.theirs} for c in one.conflicts],
    }  # fmt: skip
