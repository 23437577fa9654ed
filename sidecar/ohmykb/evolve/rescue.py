"""Lost text brought back, and conflict copies made one with their note: as answers, and as operations."""

from datetime import UTC, datetime
from typing import Any, Final

from ohmykb.errors import ConflictError, NotFoundError
from ohmykb.evolve import copies
from ohmykb.evolve.mending import Mending
from ohmykb.store.connection import Database
from ohmykb.vault import lost

PERSON: Final = "person"

Json = dict[str, Any]


def recover(mending: Mending, text: str, restore: int | None = None) -> Json:
    """Where `text` once stood; with `restore` the version of that number (from 1) is brought back as an operation
    of its own, over nothing. Raises NotFoundError, UsageError."""
    search = lost.search(mending.root, text)
    answer: Json = {
        "found": [
            {
                "where": one.where, "path": one.path, "at": one.at, "op": one.op, "line": one.line,
                "snippet": one.snippet, "hash": one.hash,
            }
            for one in search.found
        ],
        "cut": search.cut, "restored": None, "op": None,
    }  # fmt: skip
    if restore is not None:
        if not 1 <= restore <= len(search.found):
            raise NotFoundError(f"There is no number {restore} among what was found.", "Look again without --restore")
        today = datetime.fromtimestamp(mending.clock.wall(), UTC).astimezone().strftime("%Y-%m-%d")
        change = lost.restore_change(mending.root, search.found[restore - 1], today)
        op = mending.door.apply([change], kind="restore", decider=PERSON, reasons=["recover"])
        mending.written(op)
        answer |= {"restored": change.path, "op": op.id}
    return answer


def conflicts(mending: Mending, db: Database, name: str | None = None, *, apply: bool = False) -> Json:
    """Every conflict copy with what could be made of it; with `apply` the one named is made one with its note.

    Raises NotFoundError, ConflictError where that is not certain.
    """
    found = [one for one in copies.find(db) if name is None or name in (one.path, one.path.removesuffix(".md"))]
    if name is not None and not found:
        raise NotFoundError(f"There is no conflict copy {name!r}.", "See them with: kb conflicts")
    proposals = [copies.propose(mending.root, mending.door.history, one) for one in found]
    answer: Json = {"copies": [copies.to_json(one) for one in proposals], "op": None}
    if apply and proposals:
        one = proposals[0]
        if not one.changes:
            raise ConflictError(f"{one.copy.path}: {copies.SAID[one.state]}.", "Nothing was changed")
        op = mending.door.apply(one.changes, kind="merge", decider=PERSON, reasons=[one.state])
        mending.written(op)
        answer["op"] = op.id
    return answer
