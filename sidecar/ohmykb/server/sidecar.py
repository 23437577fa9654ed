"""The parts of a running sidecar, put together, started and stopped in the right order."""

import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from typing import Final, TypeVar

from ohmykb.clock import SystemClock
from ohmykb.config import Config
from ohmykb.errors import ConflictError, KbError
from ohmykb.evolve.caretaker import Caretaker
from ohmykb.evolve.mending import Mending
from ohmykb.index.filling import FillingThread
from ohmykb.index.reconcile import Index, Outcome
from ohmykb.index.worker import Worker
from ohmykb.models.encoder import Encoder, EncoderMissingError
from ohmykb.search.probe import Prober
from ohmykb.server.app import make_app
from ohmykb.server.changes import Changes
from ohmykb.server.front import Front
from ohmykb.server.guard import Guard
from ohmykb.server.service import Service, Standing
from ohmykb.store import bulk, files
from ohmykb.store.connection import Database, DatabaseError, Readers
from ohmykb.store.state import Decisions
from ohmykb.vault.rules import Rules
from ohmykb.vault.watch import SETTINGS_FILES, Watcher, WatchError

log = logging.getLogger(__name__)

T = TypeVar("T")

OPEN_S: Final = 2.0
"""How long the first answer waits for the index to be opened."""
VECTORS_FIRST_S: Final = 0.5
"""How long the first look at the vault waits for the vectors to be loaded: side by side both take far longer."""
SWITCH_S: Final = 0.001
"""How long a busy thread keeps Python to itself (5 ms by default): an answer must not wait behind the indexing."""
LOCK_TRIES_S: Final = 0.5


class Sidecar:
    """`open_index` takes the writer's lock; while another process has it, it raises ConflictError."""

    def __init__(
        self,
        root: Path,
        front: Front,
        readers: Readers,
        open_index: Callable[[], Index],
        load: Callable[[], tuple[Config, Rules]],
        encoders: Callable[[Config], tuple[list[Encoder], list[str]]],
        decisions: Decisions,
        make_mending: Callable[[Callable[[], Config], Callable[[Sequence[str]], object]], Mending],
        drop_index: Callable[[], None],
        run_job: Callable[[Callable[[], bool]], None],
        remarks: Sequence[str] = (),
    ) -> None:
        self._root = root
        self._front = front
        self._readers = readers
        self._open_index = open_index
        self._load = load
        config, rules = load()
        self._standing = Standing(config, rules, lasting=tuple(remarks))
        self._drop_index = drop_index
        readers.on_damage = lambda: self._worker.lose()
        self._changes = Changes()
        self._prober = Prober(readers.get)
        self._filling = FillingThread(
            readers.get,
            lambda: self._use(*encoders(self._standing.config)),
            self._write,
            self._prober.meaning.refresh,
            lambda: self._standing.config.agent.exclude,
            readers.give_back,
            self._whole,
        )
        self._opened, self._stopped = Event(), Event()
        self.failure: KbError | None = None
        """Why the index could not be opened: then there is nothing to serve."""
        self._watcher = Watcher(root, self._on_dirty, self._on_overflow)
        self._worker = Worker(
            self._open,
            SystemClock(),
            debounce_s=config.index.debounce_ms / 1000,
            settle_s=config.index.settle_s,
            on_change=self._on_change,
            on_settings=self._on_settings,
            watching=True,
            remake=self._open_anew,
        )
        mending = make_mending(lambda: self._standing.config, self._worker.see)
        self._caretaker = Caretaker(mending, readers.get, readers.give_back, SystemClock(), run_job)
        self._caretaker.on_ready = self._changes.wake
        self._changes.due = lambda: self._caretaker.waiting
        self.service = Service(
            root,
            front.port,
            readers,
            self._prober,
            self._worker,
            self._filling,
            self._standing,
            decisions,
            self._changes,
            self.stop,
            mending,
            self._caretaker,
        )

    def start(self, token: str, *, watch: bool, stack: ExitStack) -> None:
        """Returns when requests can come; `stack` takes it all apart again. Raises what opening raised."""
        sys.setswitchinterval(SWITCH_S)
        if watch:
            try:
                self._watcher.start()
            except WatchError as error:
                self._unwatched(error)
        stack.callback(self._readers.leave)
        stack.callback(self._watcher.stop)
        self._worker.start()
        self._caretaker.start()
        stack.callback(self._filling.join)
        stack.callback(self._caretaker.stop)
        stack.callback(self._worker.stop)  # and with it what the filling and the caretaker wait for
        stack.callback(self._filling.ask_stop)
        stack.callback(self._stopped.set)
        stack.callback(self._readers.close)
        self._opened.wait(OPEN_S)
        if self.failure is not None:
            raise self.failure
        self._filling.start()
        # On a thread that ends, and its reading connection with it.
        Thread(target=self._warm, name="warming", daemon=True).start()
        self._front.open(Guard(make_app(self.service), self._front.port, token))

    def _warm(self) -> None:
        try:
            self._prober.warm()
            if self._filling.shown.wait(OPEN_S):
                self._prober.warm_meaning()
        except (DatabaseError, EncoderMissingError):
            log.info("nothing to warm up yet")
        finally:
            self._readers.give_back()

    def stop(self) -> None:
        """From any thread; `Front.run` then returns."""
        self._changes.close()
        self._front.stop()

    def _open(self) -> Index:
        """On the worker's thread."""
        try:
            index = self._wait_and_open()
        except KbError as error:
            self.failure = error
            self._front.stop()
            raise
        else:
            self._changes.begin(files.revision(index.db))
            self._prober.standing.refresh(index.db)
        finally:
            self._opened.set()
        self._filling.shown.wait(VECTORS_FIRST_S)
        return index

    def _open_anew(self) -> Index:
        """On the worker's thread, which closed the old one."""
        self._readers.renew()
        try:
            self._drop_index()
        except OSError as error:
            raise KbError(f"The index cannot be deleted: {error.strerror}.", "Close what has it open") from error
        index = self._open_index()
        revision = files.go_on_from(index.db, self._changes.revision)
        self._readers.renew()
        self._prober.reset()
        self._prober.meaning.arms = ()
        self._changes.begin(revision)
        self._filling.nudge()
        return index

    def _wait_and_open(self) -> Index:
        while True:
            try:
                index = self._open_index()
            except ConflictError as error:
                self._standing.lock = error
                self._opened.set()
                if self._stopped.wait(LOCK_TRIES_S):
                    raise
            else:
                self._standing.lock = None
                return index

    def _on_dirty(self, paths: tuple[str, ...]) -> None:
        if SETTINGS_FILES.isdisjoint(paths):
            self._worker.hint(paths)
        else:
            self._worker.ask_whole()

    def _on_overflow(self) -> None:
        if self._watcher.trouble is not None:
            self._unwatched(self._watcher.trouble)
        log.info("the watcher lost track; looking at everything")
        self._worker.ask_whole()

    def _unwatched(self, error: WatchError) -> None:
        log.warning("%s", error)
        self._standing.watch = error
        self._worker.watching(on=False)

    def _write(self, job: Callable[[Database], T]) -> T:
        return self._worker.do(job)

    def _use(self, encoders: list[Encoder], remarks: list[str]) -> Sequence[Encoder]:
        self._standing.encoders = remarks
        self._prober.meaning.use(encoders, whole=len(encoders) == len(self._standing.config.search.wanted))
        return encoders

    def _whole(self) -> bool:
        """Whether every encoder that the settings ask for is there: not with --no-vectors, nor without its extra."""
        return self._filling.count == len(self._standing.config.search.wanted)

    def _on_change(self, index: Index, outcome: Outcome) -> None:
        self._filling.nudge()
        self._changes.add(files.revision(index.db), outcome.changed, outcome.removed)
        self.service.tasks.record(outcome)
        self._caretaker.nudge(outcome.changed | outcome.displaced)
        self._prober.standing.refresh(index.db)
        log.info("%d changed, %d removed", len(outcome.changed), len(outcome.removed))

    def _on_settings(self, index: Index) -> None:
        standing = self._standing
        self._caretaker.nudge_all()
        try:
            config, rules = self._load()
        except KbError as error:
            log.warning("settings refused: %s", error)
            standing.fault = error
        else:
            standing.fault = None
            anew = config.search != standing.config.search or config.local != standing.config.local or standing.rebuild
            standing.config = index.config = config
            standing.rules = index.rules = rules
            self._worker.tune(debounce_s=config.index.debounce_ms / 1000, settle_s=config.index.settle_s)
            if anew:
                self._filling.nudge(settings=True)
            log.info("settings read")
        if standing.rebuild:
            standing.rebuild = False
            log.info("rebuilding")
            bulk.empty(index.db)
            self._prober.reset()
            self._changes.begin(files.revision(index.db))
