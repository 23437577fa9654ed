"""Commands that only read: the sidecar answers if one runs, else the index itself."""

from collections.abc import Callable
from contextlib import closing

from ohmykb import config as settings
from ohmykb import wiring
from ohmykb.cli.session import Session
from ohmykb.cli.terminal import Json
from ohmykb.index.survey import survey
from ohmykb.search import graph, present
from ohmykb.search import related as about
from ohmykb.search.asked import absent, lacking, where_of
from ohmykb.search.find import find_note
from ohmykb.search.present import Style, probe_json
from ohmykb.search.probe import Mode, Prober
from ohmykb.search.related import Ties
from ohmykb.store import vectors
from ohmykb.store.connection import Database, DatabaseError, NewerDatabaseError
from ohmykb.vault.globs import Globs
from ohmykb.vault.rules import Rules


def probe(session: Session) -> int:
    args = session.args
    where = where_of(args.folder, args.tag, args.since)
    question = " ".join(args.words)
    if session.sidecar is not None:
        answer = session.sidecar.get(
            "/probe", q=question, mode=args.mode, n=args.n, in_=where.folder, tag=args.tag, since=where.since
        )
    else:
        with session.index() as db:
            mode: Mode = args.mode or "hybrid"
            meaning = None if mode == "token" else wiring.meaning(session.vault, db)
            found = Prober(lambda: db, meaning).probe(question, mode=mode, n=args.n or 5, where=where)
            answer = lacking(probe_json(found), session.lacking, None if found.results else absent(db, where))
    session.show(answer, present.probe)
    return 0


def query(session: Session) -> int:
    args = session.args
    name = session.note(" ".join(args.words))
    return _answer(
        session, present.query,
        lambda db: graph.query(db, name, hops=args.hops or 1, n=args.n or 50),
        "/query", note=name, hops=args.hops, n=args.n,
    )  # fmt: skip


def related(session: Session) -> int:
    args = session.args
    name = session.note(" ".join(args.words))

    def local(db: Database) -> Json:
        with closing(wiring.open_decisions(session.vault)) as decisions:
            path = find_note(db, name)[1]
            barred = Globs(settings.load(session.vault.root).suggest.exclude).match
            ties = Ties(decisions.dismissed(path), barred)
        return about.related(db, path, n=args.n or 10, arms=wiring.meaning(session.vault, db).arms, ties=ties)

    return _answer(session, present.related, local, "/related", note=name, n=args.n)


def dismiss(session: Session) -> int:
    """Between two notes, both ways round."""
    args = session.args
    note, other = session.note(args.note), session.note(args.other)
    if session.sidecar is not None:
        answer = session.sidecar.post("/related/dismiss", {"note": note, "other": other})
    else:
        with session.index() as db, closing(wiring.open_decisions(session.vault)) as decisions:
            answer = {"note": find_note(db, note)[1], "other": find_note(db, other)[1]}
            decisions.dismiss(answer["note"], answer["other"])
    session.show(answer, lambda said, _: f"{said['note']} and {said['other']} are not suggested for each other again\n")
    return 0


def orphans(session: Session) -> int:
    return _answer(session, present.orphans, graph.orphans, "/orphans")


def unresolved(session: Session) -> int:
    return _answer(session, present.unresolved, graph.unresolved, "/unresolved")


def whole_graph(session: Session) -> int:
    return _answer(session, present.graph, graph.graph, "/graph")


def problems(session: Session) -> int:
    def local(db: Database) -> Json:
        config = settings.load(session.vault.root)
        remarks = (*config.warnings, *Rules.of(session.vault.root, config).warnings)
        about = [
            {"path": settings.VAULT_FILE, "line": None, "code": "settings", "message": remark} for remark in remarks
        ]
        return {"problems": about + graph.problems(db)["problems"]}

    return _answer(session, present.problems, local, "/problems")


def _answer(
    session: Session,
    text: Callable[[Json, Style], str],
    local: Callable[[Database], Json],
    route: str,
    **asked: str | int | None,
) -> int:
    if session.sidecar is not None:
        answer = session.sidecar.get(route, **asked)
    else:
        with session.index() as db:
            answer = lacking(local(db), session.lacking)
    session.show(answer, text)
    return 0


def status(session: Session) -> int:
    """Without a sidecar the disk is walked and laid beside the index; nothing is made or changed."""
    answer = session.sidecar.get("/status") if session.sidecar is not None else _status_alone(session)
    session.show(answer, present.status)
    return 0


def _status_alone(session: Session) -> Json:
    root = session.vault.root
    config = settings.load(root)
    rules = Rules.of(root, config)
    remarks = [*config.warnings, *rules.warnings]
    db: Database | None = None
    try:
        db = wiring.reading(session.vault)
    except NewerDatabaseError:
        raise
    except DatabaseError as error:
        remarks.append(f"{error.message} {error.fix}.")
    seen = survey(root, db, config, rules)
    counts = graph.counts(db) if db is not None else {"problems": 0, "unencoded": 0}
    one = vectors.shown(db) if db is not None else None
    return {
        "on_disk": seen.on_disk,
        "indexed": seen.indexed,
        "pending": seen.pending,
        "unencoded": counts["unencoded"] if config.search.encoder != "none" or config.search.fine else 0,
        "problems": counts["problems"],
        "sidecar": {"running": False, "port": None},
        "model": {"id": one.encoder if one else None, "dim": one.dim if one else None},
        "write": {
            "mode": config.write.mode, "device": config.write.device, "this_device": settings.device_id()
        },
        "remarks": remarks,
    }  # fmt: skip
