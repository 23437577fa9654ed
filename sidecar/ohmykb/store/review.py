"""The review queue: proposals that wait for a person, and what was decided about them."""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Literal, NamedTuple, overload

from ohmykb.store.connection import Database, transaction

State = Literal["open", "accepted", "rejected", "snoozed"]
Payload = dict[str, Any]

_COLUMNS = "id, kind, key, at, summary, payload, confidence, reasons, state, until, op"
_PATHS = frozenset({"source", "target", "path", "note"})
"""Keys of a payload whose values are paths, at any depth."""
ANYWHERE = ""
"""Instead of a source: in every note."""


class Item(NamedTuple):
    id: str
    """8 hex digits, the same for as long as it waits."""
    kind: str
    key: str
    """Names the proposal over time; paths and other parts with NUL between them."""
    at: float
    """When it was first put, in seconds since the epoch."""
    summary: str
    payload: Payload
    confidence: float
    reasons: tuple[str, ...]
    state: State
    until: float | None
    """Of a snoozed one: when it comes back."""
    op: str | None
    """Of an accepted one: the operation that carried it out."""


class Told(NamedTuple):
    """A proposal, as it is put."""

    key: str
    summary: str
    payload: Payload
    confidence: float
    reasons: Sequence[str]


class Review:
    """The queue behind a connection of its own: any thread may ask."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()

    def put(self, kind: str, at: float, told: Told) -> str | None:
        """Adds a proposal, or brings the one of this key up to date; its id. `at` in seconds since the epoch.

        None where it was accepted or rejected before: that does not come back.
        """
        key = told.key
        rest = told.summary, _json(told.payload), told.confidence, _json(list(told.reasons))
        with self._lock, transaction(self._db):
            row = self._db.row("SELECT id, state FROM review WHERE kind = ? AND key = ?", (kind, key))
            if row is not None:
                if row[1] not in ("open", "snoozed"):
                    return None
                self._db.execute(
                    "UPDATE review SET summary = ?, payload = ?, confidence = ?, reasons = ? WHERE id = ?",
                    (*rest, row[0]),
                )
                return str(row[0])
            name = self._free()
            self._db.execute(
                f"INSERT INTO review ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', NULL, NULL)",
                (name, kind, key, at, *rest),
            )
            return name

    def get(self, name: str) -> Item | None:
        with self._lock:
            row = self._db.row(f"SELECT {_COLUMNS} FROM review WHERE id = ?", (name,))
        return None if row is None else _item(row)

    def open(self, now: float, kind: str | None = None, limit: int | None = None) -> list[Item]:
        """What waits at `now` (seconds since the epoch), the surest first, then the oldest."""
        slept = "state = 'snoozed' AND until <= ?"
        with self._lock:
            if self._db.row(f"SELECT 1 FROM review WHERE {slept} LIMIT 1", (now,)) is not None:
                self._db.execute(f"UPDATE review SET state = 'open', until = NULL WHERE {slept}", (now,))
            rows = self._db.rows(
                f"SELECT {_COLUMNS} FROM review WHERE state = 'open' AND (?1 IS NULL OR kind = ?1)"
                " ORDER BY confidence DESC, at, key LIMIT ?2",
                (kind, -1 if limit is None else limit),
            )
        return [_item(row) for row in rows]

    def settle(self, name: str, state: Literal["accepted", "rejected"], op: str | None = None) -> None:
        """A person decided."""
        with self._lock:
            self._db.execute("UPDATE review SET state = ?, op = ?, until = NULL WHERE id = ?", (state, op, name))

    def settle_keys(
        self, kind: str, keys: Iterable[str], state: Literal["accepted", "rejected"], op: str | None = None
    ) -> None:
        """The same for whatever waits under these keys."""
        with self._lock, transaction(self._db):
            self._db.executemany(
                "UPDATE review SET state = ?, op = ?, until = NULL"
                " WHERE kind = ? AND key = ? AND state IN ('open', 'snoozed')",
                ((state, op, kind, key) for key in keys),
            )

    def applied(self, kind: str, told: Iterable[Told], at: float, op: str) -> None:
        """These were carried out by the operation `op`, whether they waited or not."""
        rows = [(one.key, one.summary, _json(one.payload), one.confidence, _json(list(one.reasons))) for one in told]
        with self._lock, transaction(self._db):
            for key, *rest in rows:
                name = self._db.value("SELECT max(id) FROM review WHERE kind = ? AND key = ?", (kind, key))
                self._db.execute(
                    f"INSERT OR REPLACE INTO review ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'accepted', NULL, ?)",
                    (name or self._free(), kind, key, at, *rest, op),
                )

    def take_back(self, ops: Iterable[str]) -> None:
        """These operations were undone: what they carried out is not done again unasked."""
        with self._lock, transaction(self._db):
            self._db.executemany(
                "UPDATE review SET state = 'rejected' WHERE state = 'accepted' AND op = ?", ((op,) for op in ops)
            )

    def rejected(self, kind: str, *, undone: bool) -> set[str]:
        """Keys of what a person rejected; or of what was carried out and undone."""
        with self._lock:
            return {row[0] for row in self._db.rows(
                "SELECT key FROM review WHERE kind = ? AND state = 'rejected' AND (op IS NOT NULL) = ?", (kind, undone)
            )}  # fmt: skip

    def _free(self) -> str:
        name = secrets.token_hex(4)
        while self._db.row("SELECT 1 FROM review WHERE id = ?", (name,)) is not None:
            name = secrets.token_hex(4)
        return name

    def refuse(self, kind: str, keys: Iterable[str]) -> None:
        """A person does not want what is known under these keys, whatever became of it before."""
        with self._lock, transaction(self._db):
            self._db.executemany(
                "UPDATE review SET state = 'rejected', op = NULL, until = NULL WHERE kind = ? AND key = ?",
                ((kind, key) for key in keys),
            )

    def snooze(self, name: str, until: float) -> None:
        """Out of sight until then (seconds since the epoch)."""
        with self._lock:
            self._db.execute(
                "UPDATE review SET state = 'snoozed', until = ? WHERE id = ? AND state IN ('open', 'snoozed')",
                (until, name),
            )

    def withdraw(self, kind: str, keys: Iterable[str]) -> None:
        """Takes out what does not apply any more; should it apply again, it may be put again."""
        with self._lock, transaction(self._db):
            self._db.executemany(
                "DELETE FROM review WHERE kind = ? AND key = ? AND state IN ('open', 'snoozed')",
                ((kind, key) for key in keys),
            )

    def counts(self, now: float) -> dict[State, int]:
        """How many items there are in each state; a snoozed one that is due counts as open."""
        found: dict[State, int] = {"open": 0, "accepted": 0, "rejected": 0, "snoozed": 0}
        with self._lock:
            rows = self._db.rows(
                "SELECT iif(state = 'snoozed' AND until <= ?, 'open', state) AS s, count(*) FROM review GROUP BY s",
                (now,),
            )
        return found | dict(rows)

    # --- links that are meant as they are

    def leave(self, source: str | None, linkpath: str) -> None:
        """A link to a note not written yet is meant, in this note or (None) anywhere: no proposals for it."""
        with self._lock:
            self._db.execute("INSERT OR IGNORE INTO left_alone VALUES (?, ?)", (source or ANYWHERE, linkpath))

    @overload
    def left(self) -> set[tuple[str, str]]: ...
    @overload
    def left(self, source: str) -> set[str]: ...

    def left(self, source: str | None = None) -> set[tuple[str, str]] | set[str]:
        """Link paths that are meant as they stand in a note; without a note all of them as (source, link path),
        where the source ANYWHERE stands for every note."""
        with self._lock:
            if source is None:
                return set(self._db.rows("SELECT source, linkpath FROM left_alone"))
            rows = self._db.rows("SELECT linkpath FROM left_alone WHERE source IN (?, ?)", (source, ANYWHERE))
            return {row[0] for row in rows}

    def close(self) -> None:
        self._db.close()


def follow(db: Database, moved: Mapping[str, str]) -> None:
    """Files moved (old path → new path): proposals and decisions about them go with them.

    A part of a key that is an old path becomes the new one, and so do the paths in a payload. The caller
    holds the transaction.
    """
    changed = []
    for name, key, payload in db.rows("SELECT id, key, payload FROM review"):
        now = "\0".join(moved.get(part, part) for part in key.split("\0"))
        content = _json(_moved(json.loads(payload), moved))
        if (now, content) != (key, payload):
            changed.append((now, content, name))
    # First out of the way of one another: names may be swapped.
    db.executemany(
        "UPDATE review SET key = ?, payload = ? WHERE id = ?", [("/" + k, p, name) for k, p, name in changed]
    )
    db.executemany("UPDATE OR REPLACE review SET key = ? WHERE id = ?", [(key, name) for key, _, name in changed])


def _moved(value: Any, moved: Mapping[str, str], *, path: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _moved(inner, moved, path=key in _PATHS) for key, inner in value.items()}
    if isinstance(value, list):
        return [_moved(inner, moved) for inner in value]
    return moved.get(value, value) if path and isinstance(value, str) else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _item(row: Sequence[Any]) -> Item:
    name, kind, key, at, summary, payload, confidence, reasons, state, until, op = row
    return Item(
        name, kind, key, at, summary, json.loads(payload), confidence, tuple(json.loads(reasons)), state, until, op
    )
