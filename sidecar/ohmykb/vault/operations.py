"""What was done to the vault, one record an operation: `.history/<op-id>/op.json` (contract: Operations)."""

import json
import re
import secrets
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, get_args

from ohmykb.clock import Clock, iso
from ohmykb.errors import KbError
from ohmykb.note import NotePath

HISTORY: Final = ".history"
RECORD: Final = "op.json"
ARCHIVE: Final = "before"
KEPT: Final = "kept"
"""Versions that somebody saved at the very moment of a write, where nothing else holds them."""

Hand = Literal["sidecar", "plugin"]
"""Who writes the files: we, or Obsidian through the plugin."""
State = Literal["prepared", "committed", "dropped", "conflict"]

_ID: Final = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{4}-[0-9a-f]{4}")
_LATEST_MS: Final = 253_370_764_800_000
"""The year 9999: ids go on from the last one, and must be able to."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class RecordError(KbError):
    """A record that cannot be read: half synced, or edited by hand."""

    code = "history"


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
    made: tuple[str, ...] = ()
    """Folders that were made for it, the outer ones first."""

    @property
    def final(self) -> bool:
        return self.state != "prepared"

    def ended(self, state: State) -> "Operation":
        return replace(self, state=state)


def new_id(clock: Clock, device: str, after_ms: int) -> tuple[str, str, int]:
    """(id, at, milliseconds since the epoch), later than `after_ms`: ids are in the order of time."""
    now = max(int(clock.wall() * 1000), after_ms + 1)
    stamp = datetime.fromtimestamp(now // 1000, UTC).strftime("%Y%m%dT%H%M%S") + f"{now % 1000:03d}Z"
    return f"{stamp}-{device[:4]}-{secrets.token_hex(2)}", iso(now / 1000), now


def milliseconds(op_id: str) -> int:
    """Since the epoch, as the id says."""
    year, month, day = int(op_id[:4]), int(op_id[4:6]), int(op_id[6:8])  # strptime takes ten times as long
    began = datetime(year, month, day, int(op_id[9:11]), int(op_id[11:13]), int(op_id[13:15]), tzinfo=UTC)
    return int(began.timestamp()) * 1000 + int(op_id[15:18])


def is_id(name: str) -> bool:
    if _ID.fullmatch(name) is None:
        return False
    try:
        return milliseconds(name) < _LATEST_MS
    except ValueError:  # no day of the calendar
        return False


def to_json(op: Operation) -> dict[str, Any]:
    """As `op.json` holds it, and as answers do."""
    return {
        "id": op.id, "device": op.device, "kind": op.kind, "at": op.at, "hand": op.hand, "decider": op.decider,
        "reasons": list(op.reasons), "state": op.state,
        "undoes": op.undoes[0] if len(op.undoes) == 1 else list(op.undoes) or None,
        "files": [{"path": one.path, "before": one.before, "after": one.after} for one in op.files],
        "made": list(op.made),
    }  # fmt: skip


def dump(op: Operation) -> bytes:
    return (json.dumps(to_json(op), ensure_ascii=False, indent=1) + "\n").encode()


def from_json(data: bytes, name: str) -> Operation:
    """Raises RecordError for anything that is not a whole record of the operation `name`."""
    try:
        said = json.loads(data)
        undoes = said.get("undoes") or ()
        op = Operation(
            said["id"], _text(said["device"]), _text(said["kind"]), _text(said["at"]), said["hand"],
            _text(said["decider"]), tuple(map(_text, said["reasons"])), said["state"],
            tuple(_touched(one) for one in said["files"]),
            (undoes,) if isinstance(undoes, str) else tuple(map(_text, undoes)),
            tuple(map(_inside, said.get("made", ()))),
        )  # fmt: skip
        datetime.fromisoformat(op.at)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError(f"{HISTORY}/{name}/{RECORD} is not whole: half synced, or changed by hand.") from error
    if op.id != name or op.hand not in get_args(Hand) or op.state not in get_args(State):
        raise RecordError(f"{HISTORY}/{name}/{RECORD} is not a record of this operation.")
    return op


def _touched(one: Any) -> Touched:
    for key in ("before", "after"):
        if one[key] is not None and not _HASH.fullmatch(one[key]):
            raise ValueError(key)
    return Touched(NotePath(_inside(one["path"])), one["before"], one["after"])


def _inside(value: Any) -> str:
    """A path of the vault, as a vault that comes from elsewhere may say it: none that leads out."""
    path = _text(value)
    parts = path.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path or (sys.platform == "win32" and ":" in path):
        raise ValueError(path)
    path.encode()
    return path


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
