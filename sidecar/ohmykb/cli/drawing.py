"""`kb canvas`: maps, to a file of the vault or to standard output."""

import sys
from typing import Any

from ohmykb import config as settings
from ohmykb import wiring
from ohmykb.canvas.answer import answer, check_name
from ohmykb.canvas.ask import Sources, asked_of, remembered
from ohmykb.cli.session import Session
from ohmykb.errors import UsageError
from ohmykb.search.layout import PLAIN, Style
from ohmykb.search.probe import Prober
from ohmykb.search.related import Ties
from ohmykb.store.connection import Database
from ohmykb.vault.globs import Globs

Json = dict[str, Any]


def canvas(session: Session) -> int:
    args = session.args
    file = check_name(args.update or args.output) if args.update or args.output else None
    given: Json = {
        "note": session.note(" ".join(args.words)) if args.words else None, "clusters": args.clusters,
        "orphans": args.orphans, "probe": args.probe, "folder": args.folder, "tag": args.tag,
    }  # fmt: skip
    wanted = {key: value for key, value in given.items() if value}
    if args.update:
        if wanted or args.output:
            raise UsageError("--update draws a map again as it was asked for.", "Leave the rest out")
        wanted = {"update": True}
    else:
        asked_of(wanted)
        wanted |= {"hops": args.hops} if args.hops else {}
    if session.sidecar is not None:
        said = session.sidecar.post("/canvas", wanted | ({"file": file} if file else {}))
    else:
        said = _alone(session, wanted, file)
    if file is None:
        sys.stdout.write(said["canvas"] + "\n")
        return 0
    said.pop("canvas", None)
    session.show(said, _told)
    return 0


def _alone(session: Session, wanted: Json, file: str | None) -> Json:
    made: Json = {}

    def draw(db: Database, present: str) -> str:
        asked = remembered(present) if wanted.get("update") else asked_of(wanted)
        told, drawing = answer(_sources(session, db), asked, present)
        made.update(told)
        return drawing.text

    if file is None:
        with session.index() as db:
            text = draw(db, "")
        return {**made, "canvas": text}
    with wiring.writing(session.vault, patient=True) as index, wiring.mending(session.vault, index) as tools:
        index.reconcile()
        op = tools.rewrite(file, lambda present: draw(index.db, present), kind="canvas", reasons=["map"])
    return {**made, "file": file, "op": op.id if op is not None else None}


def _sources(session: Session, db: Database) -> Sources:
    def probe(query: str, n: int) -> list[str]:
        found = Prober(lambda: db, wiring.meaning(session.vault, db)).probe(query, n=n)
        return [hit.path for hit in found.results]

    barred = Globs(settings.load(session.vault.root).suggest.exclude).match
    return Sources(db, lambda: wiring.meaning(session.vault, db).arms, probe, Ties(barred=barred))


def _told(answer: Json, _look: Style = PLAIN) -> str:
    if answer["op"] is None:
        return f"{answer['file']} is as it should be; nothing was changed.\n"
    lines = [f"{answer['file']}: {answer['cards']} cards, {answer['edges']} edges"]
    if answer["kept"]:
        lines.append(f"{answer['kept']} were there and stay as they are, {answer['added']} are new.")
    if answer["hidden"]:
        lines.append(f"{answer['hidden']} more notes did not find room; the map says which.")
    return "\n".join([*lines, f"Undo with: kb undo {answer['op']}"]) + "\n"
