"""What the routes ask: one vault, its index and its worker, behind plain functions."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import ohmykb
from ohmykb import config as settings
from ohmykb.config import Config
from ohmykb.errors import ConflictError, KbError, NotFoundError, NotReadyError, UsageError
from ohmykb.evolve.caretaker import Caretaker
from ohmykb.evolve.mending import Mending
from ohmykb.index.filling import FillingThread
from ohmykb.index.survey import survey
from ohmykb.index.worker import Worker
from ohmykb.search import graph
from ohmykb.search.asked import absent, lacking, where_of
from ohmykb.search.find import find_note
from ohmykb.search.present import probe_json
from ohmykb.search.probe import Mode, Prober
from ohmykb.search.related import Ties, related
from ohmykb.server.changes import Changes
from ohmykb.server.discovery import API
from ohmykb.server.tasks import EMPTY, Tasks
from ohmykb.server.writing import Writing
from ohmykb.store import files, vectors
from ohmykb.store.connection import Database, DatabaseError, Readers, snapshot
from ohmykb.store.state import Decisions
from ohmykb.vault.globs import Globs
from ohmykb.vault.rules import Rules

CAPABILITIES: Final = ["index", "probe", "query", "settings", "changes", "repair", "operations", "review", "canvas"]

Json = dict[str, Any]


@dataclass(slots=True)
class Standing:
    """The settings in force, and what is wrong with those on the disk."""

    config: Config
    rules: Rules
    fault: KbError | None = None
    watch: KbError | None = None
    """Why nothing watches; then the vault is looked at now and then."""
    lock: KbError | None = None
    """Who keeps us from writing the index."""
    rebuild: bool = False
    encoders: list[str] = field(default_factory=list)
    """Which encoders cannot be had, and why."""

    lasting: tuple[str, ...] = ()
    """What was found at the start and stays true."""

    def remarks(self) -> list[str]:
        faults = [f"{e.message} {e.fix}".strip() for e in (self.fault, self.watch, self.lock) if e is not None]
        if self.fault is not None:
            faults[0] += " Until then the settings from before hold."
        return [*faults, *self.lasting, *self.encoders, *self.config.warnings, *self.rules.warnings]


@dataclass(slots=True)
class Service:
    root: Path
    port: int
    readers: Readers
    prober: Prober
    worker: Worker
    filling: FillingThread
    standing: Standing
    decisions: Decisions
    changes: Changes
    stop: Callable[[], None]
    mending: Mending
    caretaker: Caretaker
    tasks: Tasks = field(init=False)
    writing: Writing = field(init=False)
    _counted: tuple[int, Json] = (-1, {})
    """The numbers of the index at a revision."""

    def __post_init__(self) -> None:
        self.tasks = Tasks(self.worker, self.counts)
        self.writing = Writing(self.mending, self.caretaker, self.db)

    def db(self) -> Database:
        """Raises NotReadyError before there is an index."""
        try:
            return self.readers.get()
        except DatabaseError as error:
            if error.code not in ("database", "database-damaged"):
                raise
            raise not_ready() from error

    def hello(self) -> Json:
        return {
            "version": ohmykb.__version__, "api": API, "vault": str(self.root), "pid": os.getpid(),
            "capabilities": CAPABILITIES,
        }  # fmt: skip

    def counts(self) -> Json:
        with snapshot(self.db()) as db:
            revision = files.revision(db)
            known, counts = self._counted
            if known != revision:
                counts = graph.counts(db)
                self._counted = (revision, counts)
            return dict(counts)

    def status(self) -> Json:
        work = self.worker.work
        try:
            counts = self.counts()
        except (NotReadyError, DatabaseError):
            counts = {"on_disk": 0, "indexed": 0, "pending": 0, "problems": 0}
        waiting = self.worker.waiting
        if self.worker.whole_due or work.state in ("starting", "indexing", "failed"):
            try:
                seen = survey(self.root, self._db_or_none(), self.standing.config, self.standing.rules)
            except KbError:
                pass  # the vault cannot be listed at the moment: what is known stands
            else:
                counts |= {"on_disk": seen.on_disk, "indexed": seen.indexed, "pending": seen.pending}
                waiting = 0
        return {
            "on_disk": counts["on_disk"],
            "indexed": counts["indexed"],
            "pending": counts["pending"] + waiting,
            "unencoded": self._unencoded(),
            "problems": counts["problems"] + len(self.standing.remarks()),
            "sidecar": {"running": True, "port": self.port},
            "model": self._model(),
            "write": write_status(self.standing.config),
            "work": {
                "state": "paused" if self.worker.paused else work.state,
                "done": work.done, "total": work.total, "message": work.message, "held": work.held,
            },
            "watching": self.standing.watch is None,
            "remarks": self.standing.remarks(),
        }  # fmt: skip

    def _model(self) -> Json:
        arms = self.prober.meaning.arms
        return {"id": arms[0].encoder.id, "dim": arms[0].stored.dim} if arms else {"id": None, "dim": None}

    def _unencoded(self) -> int:
        """Texts that the first encoder may have and that have no vector of it; where none is wanted, none wait."""
        if not self.standing.config.search.wanted:
            return 0
        try:
            db = self.db()
        except NotReadyError:
            return 0
        first = self.filling.first
        if first is None:
            one = vectors.shown(db)
        else:
            one = next((one for one in vectors.sets(db) if one.encoder == first.id), None)
        remote = first is not None and first.remote
        hidden = vectors.secret(db, Globs(self.standing.config.agent.exclude).match) if remote else ()
        return vectors.unencoded(db, one.id if one is not None else 0, hidden)

    def _db_or_none(self) -> Database | None:
        try:
            return self.db()
        except NotReadyError:
            return None

    def problems(self) -> Json:
        with snapshot(self.db()) as db:
            found = graph.problems(db)["problems"]
        about = [
            {"path": settings.VAULT_FILE, "line": None, "code": "settings", "message": remark}
            for remark in self.standing.remarks()
        ]
        return {"problems": about + found}

    def probe(self, asked: Json) -> Json:
        where = where_of(asked["in"], asked["tag"], asked["since"])
        self.db()
        behind = self._behind()  # before the question: a look that ends meanwhile does not make it whole
        answer = self.prober.probe(asked["q"], mode=cast("Mode", asked["mode"]), n=asked["n"], where=where)
        if answer.mode != "token":
            behind = "; ".join(filter(None, (behind, *self._unencodable()))) or None
        missing = None
        if not answer.results:
            with snapshot(self.db()) as db:
                missing = absent(db, where)
        return lacking(probe_json(answer), behind, missing)

    def _behind(self) -> str | None:
        """What answers may lack: changes that the index has not taken in yet."""
        work = self.worker.work
        if work.state == "failed":
            return f"the index may be old: {work.message}"
        waiting = self.worker.waiting
        if self.worker.paused and (waiting or self.worker.whole_due or not self.worker.complete):
            changes = f"{waiting} changes wait" if waiting else "the vault is still to be looked at"
            return f"indexing is paused and {changes} (kb index --resume)"
        if work.empty:
            return EMPTY
        if work.held:
            return f"{work.held} files are missing; they count until a second look agrees"
        if work.total and work.state == "indexing" and (not self.worker.complete or self.worker.whole_due):
            return f"the index is being made: {work.done} of {work.total} files so far"
        if not self.worker.complete:
            return "the vault is being looked at: the latest changes may be missing"
        return None

    def _unencodable(self) -> list[str]:
        """What answers by meaning may lack: encoders that cannot be had, vectors that are not made yet."""
        state = self.filling.state
        found = [*self.standing.encoders, *([state.fault] if state.fault else [])]
        if state.done < state.total:
            found.append(f"vectors are being made: {state.done} of {state.total} texts so far")
        return found

    def _read(self, read: Callable[[Database], Json]) -> Json:
        """One answer of the graph, from one view of it."""
        behind = self._behind()
        with snapshot(self.db()) as db:
            return lacking(read(db), behind)

    def query(self, asked: Json) -> Json:
        note = named(asked["note"])
        return self._read(lambda db: graph.query(db, note, hops=asked["hops"], n=asked["n"], ties=self._ties(db, note)))

    def related(self, asked: Json) -> Json:
        note = named(asked["note"])
        arms = self.prober.meaning.arms
        return self._read(lambda db: related(db, note, n=asked["n"], arms=arms, ties=self._ties(db, note)))

    def dismiss(self, asked: Json) -> Json:
        """Says that two notes do not belong together."""
        with snapshot(self.db()) as db:
            note, other = (find_note(db, named(asked[key]))[1] for key in ("note", "other"))
        self.decisions.dismiss(note, other)
        return {"note": note, "other": other}

    def _ties(self, db: Database, name: str) -> Ties:
        path = find_note(db, named(name))[1]
        return Ties(self.decisions.dismissed(path), Globs(self.standing.config.suggest.exclude).match)

    def note(self, asked: Json) -> Json:
        with snapshot(self.db()) as db:
            return graph.note(db, named(asked["path"]))

    def orphans(self) -> Json:
        return self._read(graph.orphans)

    def unresolved(self) -> Json:
        return self._read(graph.unresolved)

    def graph(self) -> Json:
        return self._read(graph.graph)

    def index(self, body: Json) -> Json:
        if body.get("rebuild"):
            self.standing.rebuild = True
        return {"task": self.tasks.look()}

    def pause(self, *, on: bool) -> Json:
        self.worker.pause(on=on)
        return {"paused": on}

    def settings(self) -> Json:
        return settings.settings_dict(self.standing.config)

    def patch_settings(self, patch: Json) -> Json:
        found = settings.patch_settings(self.root, patch)
        self.worker.ask_whole()
        return settings.settings_dict(found)

    def end(self, body: Json) -> Json:
        if body["pid"] != os.getpid():
            raise ConflictError(f"This is process {os.getpid()}, not {body['pid']}.", "Ask GET /hello who is here")
        self.stop()
        return {"stopping": True}


def not_ready() -> NotReadyError:
    return NotReadyError("The index is not there yet; it is being made.", "Ask again in a moment")


def write_status(config: Config) -> Json:
    return {"mode": config.write.mode, "device": config.write.device, "this_device": settings.device_id()}


def named(note: str) -> str:
    if not note.strip():
        raise NotFoundError("There is no note without a name.", "Name one")
    return note


def require_object(body: object) -> Json:
    if not isinstance(body, dict):
        raise UsageError("The body should be a JSON object.", "Send {…}")
    return body
