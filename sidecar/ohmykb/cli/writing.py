"""Commands that change notes, or take a change back: through the sidecar if one runs, else alone."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from ohmykb import wiring
from ohmykb.cli import shown
from ohmykb.cli.session import Session
from ohmykb.cli.terminal import Json
from ohmykb.clock import iso
from ohmykb.errors import KbError, UsageError
from ohmykb.evolve import deciding, mending, reports, rescue
from ohmykb.evolve.mending import Done, Mending
from ohmykb.search.find import find_note
from ohmykb.store.connection import Database
from ohmykb.vault.undo import moment

PERSON: Final = "person"


def repair(session: Session) -> int:
    args = session.args
    name = session.note(" ".join(args.words)) if args.words else None
    if session.sidecar is not None:
        body: Json = {"apply": args.apply}
        answer = session.sidecar.post("/repair", body | ({"note": name} if name else {}))
    else:
        answer = _alone(session, lambda tools, db: _repair(tools, db, name, apply=args.apply))
    session.show(answer, shown.repair)
    return 0


def _repair(tools: Mending, db: Database, name: str | None, *, apply: bool) -> Json:
    plan = tools.plan(db, note=find_note(db, name)[1] if name else None)
    return mending.answer(plan, tools.apply(plan, decider=PERSON) if apply else Done())


def relink(session: Session) -> int:
    args = session.args
    name = session.note(" ".join(args.words)) if args.words else None
    if session.sidecar is not None:
        answer = session.sidecar.post("/relink", ({"note": name} if name else {}) | {"apply": args.apply})
    else:
        answer = _alone(session, lambda tools, db: _relink(tools, db, name, apply=args.apply))
    session.show(answer, shown.relink)
    return 0


def _relink(tools: Mending, db: Database, name: str | None, *, apply: bool) -> Json:
    plan = tools.plan_links(db, [find_note(db, name)[1]] if name else None)
    return mending.answer(plan, tools.apply(plan, decider=PERSON) if apply else Done())


def history(session: Session) -> int:
    args = session.args
    note = session.note(" ".join(args.words)) if args.words else None
    answer = reports.history(wiring.history(session.vault), note, None)
    session.show(answer, shown.history)
    return 0


def undo(session: Session) -> int:
    args = session.args
    if bool(args.ops) == bool(args.since):
        raise UsageError("Name operations, or a time with --since.", "See them with: kb history")
    if session.sidecar is not None:
        since = iso(moment(args.since, time.time())) if args.since else None
        body = {"since": since} if since else {"ops": args.ops}
        answer = session.sidecar.post("/operations/undo", body)
    else:
        answer = _alone(session, lambda tools, _: _undone(tools, args.ops, args.since))
    session.show(answer, shown.undone)
    return 0


def _undone(tools: Mending, ops: Sequence[str], since: str | None) -> Json:
    op = tools.door.undo(ops, moment(since, tools.clock.wall()) if since else None)
    tools.written(op)
    return reports.undone(op)


def review(session: Session) -> int:
    args = session.args
    if args.verb is None:
        if session.sidecar is not None:
            answer = session.sidecar.get("/review", n=args.n, rule=args.rule)
        else:
            answer = _alone(
                session, lambda tools, db: deciding.listing(tools, db, kind=None, rule=args.rule, n=args.n or 50)
            )
        session.show(answer, shown.review)
        return 0
    body = {"verb": args.verb, "ids": args.ids, "rule": args.rule, "target": args.to, "days": args.days}
    if session.sidecar is not None:
        answer = session.sidecar.post("/review", {key: value for key, value in body.items() if value})
    else:
        answer = _alone(
            session,
            lambda tools, db: deciding.decide(
                tools, db, args.verb, args.ids, rule=args.rule, target=args.to, days=args.days
            ),
        )
    session.show(answer, shown.decided)
    return 0


def recover(session: Session) -> int:
    args = session.args
    text = " ".join(args.words)
    if session.sidecar is not None:
        body: Json = {"text": text} | ({"restore": args.restore} if args.restore else {})
        answer = session.sidecar.post("/recover", body)
    else:
        answer = _alone(session, lambda tools, _: rescue.recover(tools, text, args.restore))
    session.show(answer, shown.recovered)
    return 0


def conflicts(session: Session) -> int:
    args = session.args
    name = session.note(" ".join(args.words)) if args.words else None
    if args.apply and name is None:
        raise UsageError("Name the copy that is to go into its note.", "See them with: kb conflicts")
    if session.sidecar is not None:
        answer = session.sidecar.post("/conflicts", {"copy": name, "apply": args.apply} if name else {})
    else:
        answer = _alone(session, lambda tools, db: rescue.conflicts(tools, db, name, apply=args.apply))
    session.show(answer, shown.copies)
    return 0


def purge(session: Session) -> int:
    """Asks first; `--yes` answers."""
    args = session.args
    note = session.note(" ".join(args.words))
    found = wiring.history(session.vault)
    names = wiring.former_names(session.vault, found, note)
    count = sum(len(found.versions(name)) for name in names)
    if not count:
        raise KbError(f"There is no archived version of {note}.", "See what is there: kb history")
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("This removes archived versions for good, so it asks.", "Say yes with: --yes")
        sys.stderr.write(f"Remove {count} archived versions of {note} for good? What they hold is lost then. [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise KbError("Nothing was removed.", "")
    session.show({"note": note, "removed": sum(found.purge(name) for name in names)}, shown.purged)
    return 0


def _alone(session: Session, work: Callable[[Mending, Database], Json]) -> Json:
    """With the index brought up to date, this process the only one that writes it."""
    with wiring.writing(session.vault, patient=True) as index, wiring.mending(session.vault, index) as tools:
        index.reconcile()
        return work(tools, index.db)
