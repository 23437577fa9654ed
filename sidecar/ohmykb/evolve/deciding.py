"""The review queue: what waits for a person, and what becomes of it when they decide."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from ohmykb.errors import KbError, NotFoundError, UsageError
from ohmykb.evolve.diffs import unified
from ohmykb.evolve.mending import Done, Mending, kind_of
from ohmykb.evolve.plan import Mend, Plan
from ohmykb.markdown.edits import apply_edits
from ohmykb.search.find import find_note
from ohmykb.store.connection import Database
from ohmykb.store.review import Item
from ohmykb.vault.read import read

SNOOZED_DAYS: Final = 7
DAY_S: Final = 86_400
PERSON: Final = "person"

Verb = Literal["accept", "reject", "retarget", "keep-new", "snooze"]
VERBS: Final = ("accept", "reject", "retarget", "keep-new", "snooze")

Json = dict[str, Any]


def listing(mending: Mending, db: Database, *, kind: str | None, rule: str | None, n: int) -> Json:
    """Open items, the surest first, each with what accepting it would do now. What no longer applies is withdrawn."""
    items = _chosen(mending, kind=kind, rule=rule)
    shown: list[Json] = []
    gone: list[Item] = []
    for start in range(0, len(items), n):
        page = items[start : start + n - len(shown)]
        mends = _still(mending, db, page)
        for item in page:
            mend = mends.get(item.id)
            if mend is None:
                gone.append(item)
            else:
                shown.append(_shown(mending, item, mend))
        if len(shown) >= n:
            break
    for item in gone:
        mending.review.withdraw(item.kind, [item.key])
    return {"items": shown, "total": len(items) - len(gone)}


def plan(mending: Mending, db: Database, ids: Sequence[str], target: str | None) -> Plan:
    """What accepting these items would change, for another hand to carry out."""
    aim = find_note(db, target)[1] if target and target.strip() else None
    return Plan(tuple(mending.proposed(db, _items(mending, ids), aim)))


def decide(
    mending: Mending, db: Database, verb: str, ids: Sequence[str], *,
    rule: str | None = None, target: str | None = None, days: int | None = None,
) -> Json:  # fmt: skip
    """One verb for some items, or for all of a rule. Raises NotFoundError, UsageError, ConflictError."""
    items = _items(mending, ids) if ids else _chosen(mending, rule=rule)
    if not ids and rule is None:
        raise NotFoundError("Neither items are named nor a rule.", "See them with: kb review")
    done = Done()
    match verb:
        case "accept" | "retarget":
            if verb == "retarget" and not target:
                raise NotFoundError("No note is named to lead the link to.", "kb review retarget ID --to NOTE")
            if target is not None and not target.strip():
                raise NotFoundError("There is no note without a name.", "Name one")
            aim = find_note(db, target)[1] if target else None
            mends = mending.proposed(db, items, aim)
            if len({kind_of([mend]) for mend in mends}) > 1:
                raise UsageError("Links are mended and made one after the other.", "Accept them apart")
            op, applied, refused = mending.write(mends, decider=PERSON)
            done = Done(op, applied, 0, refused)
            if op is not None:
                written = {(one.source, one.linkpath, one.subpath) for one in applied}
                for item in items:
                    if _place(item) in written:
                        mending.review.settle(item.id, "accepted", op.id)
        case "reject":
            for item in items:
                mending.review.settle(item.id, "rejected")
        case "keep-new":
            for item in items:
                mending.review.leave(item.payload["source"], item.payload["linkpath"])
                mending.review.settle(item.id, "rejected")
        case "snooze":
            until = mending.clock.wall() + (days or SNOOZED_DAYS) * DAY_S
            for item in items:
                mending.review.snooze(item.id, until)
        case _:
            raise UsageError(f"There is no verb {verb!r}.", f"Known: {', '.join(VERBS)}")
    return {
        "verb": verb,
        "done": len(items) if verb not in ("accept", "retarget") else len(done.applied),
        "op": done.op.id if done.op is not None else None,
        "refused": [{"path": path, "message": message} for path, message in done.refused],
    }


def _items(mending: Mending, ids: Sequence[str]) -> list[Item]:
    found = []
    for name in dict.fromkeys(ids):
        item = mending.review.get(name)
        if item is None or item.state not in ("open", "snoozed"):
            raise NotFoundError(f"Nothing waits under {name!r}.", "See what does with: kb review")
        found.append(item)
    return found


def _chosen(mending: Mending, *, kind: str | None = None, rule: str | None = None) -> list[Item]:
    found = mending.review.open(mending.clock.wall(), kind=kind)
    return [item for item in found if rule is None or item.payload.get("rule") == rule]


def _place(item: Item) -> tuple[str, str, str | None]:
    return item.payload["source"], item.payload["linkpath"], item.payload["subpath"]


def _still(mending: Mending, db: Database, items: Sequence[Item]) -> dict[str, Mend]:
    """Id → what the item would do now, for those that still apply."""
    found = {}
    by_place: dict[tuple[str, str, str | None], Mend] = {
        (mend.source, mend.linkpath, mend.subpath): mend for mend in mending.plan_for(db, items)
    }
    for item in items:
        mend = by_place.get(_place(item))
        if mend is None:
            continue
        if mend.target != item.payload["target"]:
            try:
                mend = mending.aimed(db, mend, item.payload["target"])
            except KbError:
                continue  # the note it proposes is gone, or its name cannot be written
        found[item.id] = mend
    return found


def _shown(mending: Mending, item: Item, mend: Mend) -> Json:
    try:
        before = read(mending.root, mend.source, mending.config()).text
        diff = unified(mend.source, before, apply_edits(before, mend.edits))
    except (KbError, ValueError):
        diff = ""  # it changes at this moment; the next listing shows it
    return {
        "id": item.id, "kind": item.kind, "summary": item.summary, "diff": diff,
        "confidence": item.confidence, "reasons": list(item.reasons), "rule": item.payload.get("rule"),
        "source": item.payload["source"], "line": mend.line, "target": item.payload["target"],
        "candidates": item.payload["candidates"],
    }  # fmt: skip
