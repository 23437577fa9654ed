"""What was done to the vault, one record an operation: `.history/<op-id>/op.json` (contract: Operations)."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ohmykb.note import NotePath

HISTORY: Final = ".history"
RECORD: Final = "op.json"
ARCHIVE: Final = "before"

Hand = Literal["sidecar", "plugin"]
"""Who writes the files: we, or Obsidian through the plugin."""
State = Literal["prepared", "committed", "dropped", "conflict"]


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is to become."""

    path: NotePath
    before: str | None
    """sha256 hex of the bytes that were seen; None: it was not there."""
    after: bytes | None
    """None: it is to go."""


class Touched(NamedTuple):
    """One file of an operation: sha256 hex of its bytes; None where there is no file."""

    path: NotePath
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    device: str
    kind: str
    """repair, relink, upsert, canvas, restore, undo, …"""
    at: str
    """UTC ISO-8601."""
    hand: Hand
    decider: str
    """Who decided: `person`, or the name of a rule."""
    reasons: tuple[str, ...]
    state: State
    files: tuple[Touched, ...]
    undoes: tuple[str, ...] = ()
