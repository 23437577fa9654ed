"""Operations in the shapes of the contract."""

from typing import Any

from ohmykb.evolve.diffs import edits_between
from ohmykb.markdown.edits import Edit, in_utf16
from ohmykb.vault.history import History
from ohmykb.vault.operations import Change, Operation, to_json
from ohmykb.vault.replace import digest

Json = dict[str, Any]


def operation(op: Operation) -> Json:
    return to_json(op)


def history(found: History, note: str | None, n: int | None) -> Json:
    """Oldest first; the latest `n`."""
    operations = found.operations(note)
    return {
        "operations": [to_json(op) for op in (operations if n is None else operations[-n:])],
        "problems": [{"op": op, "message": message} for op, message in found.problems()],
        "size_bytes": found.size(),
    }


def undone(op: Operation) -> Json:
    return {"op": op.id, **operation(op)}


def to_write(change: Change, history: History, op: str) -> Json:
    """What the plugin is to write in one file; places in UTF-16 units of the decoded text before.

    `edits` is null where the file is to go.
    """
    before = "" if change.before is None else history.archived(op, change.path).decode()
    edits: list[Edit] | None = None
    if change.after is not None:
        edits = in_utf16(before, edits_between(before, change.after.decode()))
    return {
        "path": change.path,
        "before": change.before,
        "after": None if change.after is None else digest(change.after),
        "edits": None if edits is None else [{"start": one.start, "end": one.end, "text": one.text} for one in edits],
    }
