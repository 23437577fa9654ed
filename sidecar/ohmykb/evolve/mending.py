"""From plans to operations: what is certain goes through the door, the rest is put to review."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, Final

from ohmykb.clock import Clock
from ohmykb.config import Config
from ohmykb.errors import ConflictError, KbError, NotFoundError
from ohmykb.evolve.changes import changes
from ohmykb.evolve.plan import Mend, Plan
from ohmykb.evolve.relink.plan import MENTION, Planner
from ohmykb.evolve.repair import plan_repairs
from ohmykb.note import NotePath
from ohmykb.search.suggest import Names
from ohmykb.store import graph
from ohmykb.store.connection import Database
from ohmykb.store.review import Item, Review, Told
from ohmykb.vault.door import Door
from ohmykb.vault.operations import Change, Operation
from ohmykb.vault.place import locate
from ohmykb.vault.replace import digest, read_bytes

REPAIR: Final = "repair"
RELINK: Final = "relink"
PERSON: Final = "person"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a plan."""

    op: Operation | None = None
    applied: frozenset[Mend] = frozenset()
    queued: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    """(path, why) of notes that may not be written."""


class Mending:
    """Serves both the sidecar and a command alone; `see` brings the index in step with the paths written."""

    def __init__(
        self, root: Path, door: Door, review: Review, state: Database, config: Callable[[], Config],
        see: Callable[[Sequence[str]], object], clock: Clock,
    ) -> None:  # fmt: skip
        self.root = root
        self.door = door
        self.review = review
        self.state = state
        self.config = config
        self.see = see
        self.clock = clock
        self._names: Names | None = None
        self._lock = Lock()

    def plan(self, db: Database, *, note: str | None = None, sources: Iterable[str] | None = None) -> Plan:
        with self._lock:  # names are read once, and follow the index from then on
            if self._names is None:
                self._names = Names(db)
            else:
                self._names.catch_up(db)
            plan = plan_repairs(
                db, self.state, self.root, self.config(), note=note, sources=sources, names=self._names,
                now=self.clock.wall(),
            )  # fmt: skip
        unwanted = self.review.rejected(REPAIR, undone=False)
        return replace(plan, mends=tuple(map(partial(_unless, unwanted), plan.mends))) if unwanted else plan

    def plan_links(self, db: Database, notes: Iterable[str] | None = None) -> Plan:
        """Links to be made to these notes (paths), or to all orphans, where others speak of them."""
        targets = list(notes) if notes is not None else graph.orphans(db)[0]
        left = self.review.left()
        planner = Planner(db, self.root, self.config(), lambda path, link: bool({(path, link), ("", link)} & left))
        plan = planner.plan(targets)
        unwanted = self.review.rejected(RELINK, undone=False)
        return replace(plan, mends=tuple(mend for mend in plan.mends if mend.key not in unwanted))

    def apply(self, plan: Plan, *, decider: str) -> Done:
        """Applies the certain ones in one operation, and queues what could be said of the others.

        Raises ConflictError, with nothing changed, when a note was edited meanwhile.
        """
        certain = [mend for mend in plan.mends if mend.certain]
        op, applied, refused = self.write(certain, decider=decider)
        queued = self.queue(mend for mend in plan.mends if mend not in applied)
        return Done(op, applied, queued, refused)

    def write(
        self, mends: Sequence[Mend], *, decider: str
    ) -> tuple[Operation | None, frozenset[Mend], tuple[tuple[str, str], ...]]:
        allowed: list[Mend] = []
        refused: list[tuple[str, str]] = []
        todo = []
        for source, group in groupby(sorted(mends, key=lambda one: one.source), key=lambda one: one.source):
            own = list(group)
            try:
                locate(self.root, source)
                todo += changes(own, self.root, self.config())
            except ConflictError:
                raise
            except KbError as error:
                refused.append((source, error.message))
            else:
                allowed += own
        if not todo:
            return None, frozenset(), tuple(refused)
        kind = kind_of(allowed)
        op = self.door.apply(todo, kind=kind, decider=decider, reasons=sorted({mend.rule for mend in allowed}))
        self.written(op, allowed)
        return op, frozenset(allowed), tuple(refused)

    def written(self, op: Operation, mends: Iterable[Mend] = ()) -> None:
        """What waits for a decision about these links is decided, what was undone is not wanted; the index follows."""
        self.review.take_back(op.undoes)
        mends = list(mends)
        if mends:
            self.review.applied(kind_of(mends), map(_told, mends), self.clock.wall(), op.id)
        self.see([touched.path for touched in op.files])

    def queue(self, mends: Iterable[Mend]) -> int:
        """Puts proposals to review, those that were not rejected before; returns how many wait of them."""
        count = 0
        for mend in mends:
            if mend.target is None or mend.replacement == mend.raw:
                continue
            count += self.review.put(kind_of([mend]), self.clock.wall(), _told(mend)) is not None
        return count

    def reject(self, mends: Iterable[Mend]) -> None:
        """A person does not want these: they do not come back."""
        for mend in mends:
            kind = kind_of([mend])
            self.review.put(kind, self.clock.wall(), _told(mend))
            self.review.refuse(kind, [mend.key])

    def rewrite(
        self, path: str, make: Callable[[str], str], *, kind: str, reasons: Sequence[str]
    ) -> Operation | None:  # fmt: skip
        """A whole file as a person asked for it: `make` gets its text (empty where it is not there yet) and gives the
        new one. None where they are the same. Raises ConflictError, UsageError, RefusedError."""
        change = self.rewriting(path, make)
        if change is None:
            return None
        op = self.door.apply([change], kind=kind, decider=PERSON, reasons=list(reasons))
        self.written(op)
        return op

    def rewriting(self, path: str, make: Callable[[str], str]) -> Change | None:
        """The same, not done yet: for another hand to carry out."""
        before = read_bytes(locate(self.root, path))
        try:
            text = "" if before is None else before.decode()
        except UnicodeDecodeError as error:
            raise ConflictError(f"{path} is not UTF-8.", "Save it as UTF-8 first; nothing was changed") from error
        after = make(text).encode()
        return None if after == before else Change(NotePath(path), None if before is None else digest(before), after)

    # --- the queue, item by item

    def proposed(self, db: Database, items: Sequence[Item], target: str | None = None) -> list[Mend]:
        """What accepting these items would do to the notes as they are now. Raises NotFoundError."""
        wanted = {(one.payload["source"], one.payload["linkpath"], one.payload["subpath"]): one for one in items}
        found: list[Mend] = []
        met = set()
        for mend in self.plan_for(db, items):
            place = (mend.source, mend.linkpath, mend.subpath)
            item = wanted.get(place)
            if item is None:
                continue
            met.add(place)
            aim = target or item.payload["target"]
            found.append(mend if mend.target == aim else self.aimed(db, mend, aim))
        for place, item in wanted.items():
            if place not in met:
                raise NotFoundError(
                    f"{item.payload['raw']} does not stand in {place[0]} any more.", "Look again: kb review"
                )
        return found

    def plan_for(self, db: Database, items: Sequence[Item]) -> list[Mend]:
        """What could be done now where these items stand."""
        mends: list[Mend] = []
        if sources := sorted({one.payload["source"] for one in items if one.kind == REPAIR}):
            mends += self.plan(db, sources=sources).mends
        if targets := sorted({one.payload["target"] for one in items if one.kind == RELINK}):
            mends += self.plan_links(db, targets).mends
        return mends

    def aimed(self, db: Database, mend: Mend, target: str) -> Mend:
        """The same link, led to another note. Raises UsageError where its style cannot name it."""
        from ohmykb.evolve.repair import retargeted

        return retargeted(db, self.root, self.config(), mend, NotePath(target))


def kind_of(mends: Sequence[Mend]) -> str:
    """Links are mended, or made."""
    return RELINK if mends and mends[0].rule == MENTION else REPAIR


def _unless(unwanted: set[str], mend: Mend) -> Mend:
    if not mend.certain or mend.key not in unwanted:
        return mend
    return replace(mend, certain=False, reasons=("You rejected this.",))


def _told(mend: Mend) -> Told:
    return Told(mend.key, _summary(mend), _payload(mend), mend.confidence, mend.reasons)


def row(mend: Mend, *, applied: bool) -> Json:
    """A mend in the shape of the contract."""
    return {
        "source": mend.source, "line": mend.line, "raw": mend.raw, "replacement": mend.replacement,
        "target": mend.target, "rule": mend.rule, "confidence": round(mend.confidence, 3), "certain": mend.certain,
        "applied": applied, "reasons": list(mend.reasons),
        "candidates": [{"path": one.path, "score": one.score, "rule": one.rule} for one in mend.candidates],
    }  # fmt: skip


def answer(plan: Plan, done: Done) -> Json:
    return {
        "plans": [row(mend, applied=mend in done.applied) for mend in plan.mends],
        "applied": len(done.applied),
        "queued": done.queued,
        "op": done.op.id if done.op is not None else None,
        "dead": [{"source": one.source, "line": one.line, "raw": one.raw} for one in plan.dead],
        "refused": [{"path": path, "message": message} for path, message in done.refused],
    }


def _summary(mend: Mend) -> str:
    return f"{mend.source}: {mend.raw} → {mend.replacement}"


def _payload(mend: Mend) -> Json:
    return {
        "source": mend.source, "line": mend.line, "raw": mend.raw, "linkpath": mend.linkpath,
        "subpath": mend.subpath, "target": mend.target, "rule": mend.rule, "replacement": mend.replacement,
        "candidates": [{"path": one.path, "score": one.score, "rule": one.rule} for one in mend.candidates],
    }  # fmt: skip
