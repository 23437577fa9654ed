"""Which changes take operations back: exact bytes, and never over later edits."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from ohmykb.errors import ConflictError, NotFoundError, UsageError
from ohmykb.note import NotePath
from ohmykb.vault.operations import Change, Operation, Touched

_SPAN: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def moment(text: str, now: float) -> float:
    """Seconds since the epoch of `2026-12-01`, `2026-12-01T08:30[Z]`, or `30m`, `2h`, `3d` before now.

    A time without a zone is this machine's. Raises UsageError.
    """
    span = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if span:
        return max(now - int(span[1]) * _SPAN[span[2]], 0.0)
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{text!r} is no time.", "Say 2026-12-01, 2026-12-01T08:30, 30m, 2h or 3d") from error


def chosen(operations: Sequence[Operation], ids: Sequence[str], since: float | None) -> list[Operation]:
    """The operations meant, oldest first. Raises NotFoundError, UsageError."""
    if since is not None:
        found = [op for op in operations if op.state in ("committed", "conflict") and _at(op) >= since]
        if not found:
            raise NotFoundError("Nothing was done since then.", "See what was with: kb history")
        return found
    by_id = {op.id: op for op in operations}
    for name in ids:
        if name not in by_id:
            raise NotFoundError(f"There is no operation {name!r}.", "See them with: kb history")
        if by_id[name].state not in ("committed", "conflict"):
            raise UsageError(f"Operation {name} changed nothing: {by_id[name].state}.", "There is nothing to undo")
    gone = undone(operations)
    found = [op for op in operations if op.id in set(ids) - gone]
    if not found:
        raise UsageError("All of it is undone already.", "See: kb history. Undo the undo to do it again")
    return found


def undone(operations: Sequence[Operation]) -> set[str]:
    """Ids of what was taken back, and not done again since."""
    gone: set[str] = set()
    for op in reversed(operations):
        if op.state == "committed" and op.id not in gone:
            gone.update(op.undoes)
    return gone


Follow = Callable[[str, str], str]
"""(path, since when as ISO) → where that file is now, if it was moved."""


def changes(
    chosen: Sequence[Operation],
    current: Callable[[str], str | None],
    archived: Callable[[str, str], bytes],
    follow: Follow,
) -> list[Change]:
    """For every file, where it is now, the bytes from before the earliest of them.

    The hashes must form a chain from what the disk holds now: a later edit, or an operation that is not
    among the chosen, breaks it. Raises ConflictError, with the name of the file.
    """
    paths: dict[str, list[tuple[Operation, Touched]]] = {}
    for op in reversed(chosen):
        for one in op.files:
            paths.setdefault(follow(one.path, op.at), []).append((op, one))
    found = []
    for path, steps in paths.items():
        now = here = current(path)
        source: tuple[str, str] | None = None
        for op, (own, before, after) in steps:
            if here == after:
                here, source = before, (op.id, own)
            elif here != before:
                raise ConflictError(
                    f"{path} was changed after operation {op.id}: nothing is undone, so that no edit is lost.",
                    "Undo the later operations too, or copy back what you need: kb recover",
                )
        if here != now:
            data = archived(*source) if here is not None and source is not None else None
            found.append(Change(NotePath(path), now, data))
    if not found:
        raise UsageError("All of it is undone already.", "See: kb history")
    return found


def _at(op: Operation) -> float:
    return datetime.fromisoformat(op.at).timestamp()
