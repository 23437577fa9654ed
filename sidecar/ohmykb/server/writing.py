"""What the routes that change notes ask: plans, the two hands that carry them out, history and review."""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, NamedTuple

from ohmykb.errors import NotFoundError
from ohmykb.evolve import deciding, mending, reports, rescue
from ohmykb.evolve.caretaker import Caretaker
from ohmykb.evolve.changes import changes
from ohmykb.evolve.mending import Done, Mending
from ohmykb.evolve.plan import Mend, Plan
from ohmykb.search.find import find_note
from ohmykb.server.changes import Changes
from ohmykb.store.connection import Database, snapshot
from ohmykb.vault.operations import Change, Operation
from ohmykb.vault.undo import moment

REMEMBERED: Final = 100
PERSON: Final = "person"
POLICY: Final = "policy"

Json = dict[str, Any]


class Made(NamedTuple):
    plan: Plan
    decider: str


@dataclass(slots=True)
class Prepared:
    """A plan that the plugin carries out."""

    mends: tuple[Mend, ...]


@dataclass(slots=True)
class Writing:
    mending: Mending
    caretaker: Caretaker
    ready: Callable[[], Database]
    """The index as it is. Raises NotReadyError."""
    _plans: OrderedDict[str, Made] = field(default_factory=OrderedDict)
    _prepared: dict[str, Prepared] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    # --- plans

    def repair(self, asked: Json) -> Json:
        """Plans the repair of one note's links, or of all; with `apply` as the command."""
        with snapshot(self.ready()) as db:
            note = find_note(db, asked["note"])[1] if asked.get("note") else None
            plan = self.mending.plan(db, note=note)
        done = self.mending.apply(plan, decider=PERSON) if asked.get("apply") else Done()
        return {"plan": self._remember(plan), **mending.answer(plan, done)}

    def relink(self, asked: Json) -> Json:
        """Plans links to one note, or to all orphans, where others speak of them; with `apply` as the command."""
        with snapshot(self.ready()) as db:
            notes = [find_note(db, asked["note"])[1]] if asked.get("note") else None
            plan = self.mending.plan_links(db, notes)
        done = self.mending.apply(plan, decider=PERSON) if asked.get("apply") else Done()
        return {"plan": self._remember(plan), **mending.answer(plan, done)}

    def due(self) -> Json:
        """What the caretaker would write now, were the pen not lent."""
        plan = self.caretaker.take()
        return {"plan": self._remember(plan, POLICY), **mending.answer(plan, Done())}

    def changes(self, changes: Changes, asked: Json) -> Json:
        pen = asked.get("pen") == "yes"
        if pen:
            self.caretaker.lend()
        return {**changes.since(asked["since"], asked["wait"], pen=pen), "due": self.caretaker.waiting}

    def apply_plan(self, asked: Json) -> Json:
        """Without `mends` what is certain, and the rest is queued; else those alone, as a person chose them."""
        made = self._made(asked["plan"])
        if "mends" in asked:
            op, applied, refused = self.mending.write(self._chosen(made.plan, asked), decider=PERSON)
            done = Done(op, applied, 0, refused)
        else:
            done = self.mending.apply(made.plan, decider=made.decider)
        return {"plan": asked["plan"], **mending.answer(made.plan, done)}

    def prepare_plan(self, asked: Json) -> Json:
        """Archives what the plan's certain changes concern, or those chosen, and says what the plugin is to write."""
        made = self._made(asked["plan"])
        wanted = self._chosen(made.plan, asked) if "mends" in asked else [one for one in made.plan.mends if one.certain]
        found = changes(wanted, self.mending.root, self.mending.config())
        if not found:
            raise NotFoundError("The plan changes nothing for certain.", "Decide what it proposes: POST /review")
        op = self.mending.door.prepare(
            found, kind=mending.kind_of(wanted), decider=made.decider, reasons=sorted({mend.rule for mend in wanted})
        )
        with self._lock:
            self._prepared[op.id] = Prepared(tuple(wanted))
        return self._to_write(op, found)

    def reject_plan(self, asked: Json) -> Json:
        plan = self._made(asked["plan"]).plan
        mends = [_nth(plan, place) for place in asked["mends"]]
        if asked.get("keep"):
            for mend in mends:
                self.mending.review.leave(mend.source, mend.linkpath)
        self.mending.reject(mends)
        return {"rejected": len(mends)}

    def _chosen(self, plan: Plan, asked: Json) -> list[Mend]:
        """What a person chose of a plan; `target` leads the links to another note than proposed."""
        mends = [_nth(plan, place) for place in asked["mends"]]
        if not asked.get("target"):
            return mends
        with snapshot(self.ready()) as db:
            aim = find_note(db, asked["target"])[1]
            return [mend if mend.target == aim else self.mending.aimed(db, mend, aim) for mend in mends]

    def commit(self, asked: Json) -> Json:
        op = self.mending.door.commit(asked["op"])
        with self._lock:
            prepared = self._prepared.pop(op.id, Prepared(()))
        self.mending.written(op, prepared.mends)
        return reports.operation(op)

    def abandon(self, asked: Json) -> Json:
        op = self.mending.door.abandon(asked["op"])
        with self._lock:
            self._prepared.pop(op.id, None)
        return reports.operation(op)

    def prepare_file(
        self, path: str, make: Callable[[str], str], *, kind: str, reasons: Sequence[str]
    ) -> Json | None:  # fmt: skip
        """A whole file for the plugin to write; None where nothing is to be changed."""
        change = self.mending.rewriting(path, make)
        if change is None:
            return None
        op = self.mending.door.prepare([change], kind=kind, decider=PERSON, reasons=list(reasons))
        return self._to_write(op, [change])

    def _to_write(self, op: Operation, found: Sequence[Change]) -> Json:
        return {"op": op.id, "files": [reports.to_write(change, self.mending.door.history, op.id) for change in found]}

    def _remember(self, plan: Plan, decider: str = PERSON) -> str:
        name = secrets.token_hex(8)
        with self._lock:
            self._plans[name] = Made(plan, decider)
            while len(self._plans) > REMEMBERED:
                self._plans.popitem(last=False)
        return name

    def _made(self, name: str) -> Made:
        with self._lock:
            made = self._plans.get(name)
        if made is None:
            raise NotFoundError(f"There is no plan {name!r}.", "Plans are forgotten in time: make it again")
        return made

    # --- history

    def operations(self, asked: Json) -> Json:
        return reports.history(self.mending.door.history, asked.get("note"), asked.get("n"))

    def undo(self, asked: Json, op: str | None = None) -> Json:
        """One operation (`op`), several (`ops`) or all since a time; `prepare` leaves the writing to the plugin."""
        ops = [op] if op is not None else asked.get("ops") or []
        if bool(ops) == bool(asked.get("since")):
            raise NotFoundError("Neither operations are named, nor a time, or both.", "Send ops, or since")
        since = asked.get("since")
        found, undone = self.mending.door.undoing(ops, moment(since, self.mending.clock.wall()) if since else None)
        if asked.get("prepare"):
            prepared = self.mending.door.prepare(found, kind="undo", decider=PERSON, undoes=undone)
            return self._to_write(prepared, found)
        done = self.mending.door.apply(found, kind="undo", decider=PERSON, undoes=undone)
        self.mending.written(done)
        return reports.undone(done)

    # --- review

    def review(self, asked: Json) -> Json:
        with snapshot(self.ready()) as db:
            return deciding.listing(self.mending, db, kind=asked["kind"], rule=asked["rule"], n=asked["n"])

    def decide(self, asked: Json, item: str | None = None, verb: str | None = None) -> Json:
        """accept, reject, retarget, keep-new, snooze; `plan` makes a plan of it, for the plugin to prepare."""
        ids = [item] if item is not None else asked.get("ids") or []
        verb = verb or asked["verb"]
        with snapshot(self.ready()) as db:
            if verb == "plan":
                plan = deciding.plan(self.mending, db, ids, asked.get("target"))
                return {"plan": self._remember(plan), **mending.answer(plan, Done())}
            return deciding.decide(
                self.mending, db, verb, ids, rule=asked.get("rule"), target=asked.get("target"), days=asked.get("days")
            )

    # --- what was lost

    def recover(self, asked: Json) -> Json:
        return rescue.recover(self.mending, asked["text"], asked.get("restore"))

    def conflicts(self, asked: Json) -> Json:
        with snapshot(self.ready()) as db:
            return rescue.conflicts(self.mending, db, asked.get("copy"), apply=bool(asked.get("apply")))

    def renamed(self, asked: Json) -> Json:
        """Obsidian renamed a note, and rewrites the links to it: nothing of ours is to be done."""
        self.caretaker.hold(asked["to"])
        return {"from": asked["from"], "to": asked["to"]}


def _nth(plan: Plan, place: int) -> Mend:
    try:
        return plan.mends[place]
    except IndexError as error:
        raise NotFoundError(f"The plan has no proposal {place}.", "Count from 0 in its list") from error
