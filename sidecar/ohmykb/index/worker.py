"""The index worker: one thread that keeps the index in step with the disk for as long as it runs.

Watcher hints are gathered for a debounce and looked at together. A whole reconcile runs at the start,
when the watcher lost events, after the machine slept, when settings changed, on demand and once in a
while; a sudden loss is believed only at a second look.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any, Literal, TypeVar

from ohmykb.clock import Clock
from ohmykb.errors import KbError
from ohmykb.index.modest import be_modest
from ohmykb.index.reconcile import Index, Outcome
from ohmykb.store import content
from ohmykb.store.connection import DamagedError, Database, SqlError

log = logging.getLogger(__name__)

T = TypeVar("T")

WATCHED_EVERY_S = 3600.0
"""A whole look, though the watcher sees everything."""
POLLED_EVERY_S = 30.0
"""A whole look, where nothing watches."""
LONGEST_DEBOUNCE = 5
"""Debounces a stream of events is waited out, at the most."""
SLEPT_S = 30.0
RETRY_S = 1.0

State = Literal["starting", "indexing", "ready", "paused", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Work:
    """What the worker does at the moment."""

    state: State
    done: int = 0
    total: int = 0
    message: str = ""
    looks: int = 0
    """Whole looks at the vault finished so far."""
    held: int = 0
    """Files that are missing, and not believed to be gone yet."""
    empty: bool = False
    """All are missing, and looking again has not changed it: an unmounted drive, however often one looks."""


class Worker:
    """`index` is used on this thread only, once it runs."""

    def __init__(
        self,
        index: Callable[[], Index],
        clock: Clock,
        *,
        debounce_s: float,
        settle_s: float,
        on_change: Callable[[Index, Outcome], None],
        on_settings: Callable[[Index], None],
        watching: bool,
        remake: Callable[[], Index] | None = None,
    ) -> None:
        """`remake` opens the index where its file is gone or damaged: what is left is deleted, for it is derived."""
        self._open = index
        self._remake = index if remake is None else remake
        self._lost = False
        self._remade_at = -1
        self._clock = clock
        self._debounce_s = debounce_s
        self._settle_s = settle_s
        self._on_change = on_change
        self._on_settings = on_settings
        self._every_s = WATCHED_EVERY_S if watching else POLLED_EVERY_S
        self._changed = Condition()
        self._hints: dict[str, None] = {}
        self._at_hand: list[str] = []
        self._whole = True
        self._looking = False
        self._jobs: deque[tuple[Callable[[Database], Any], Future[Any]]] = deque()
        self._written: deque[tuple[list[str], Future[Outcome]]] = deque()
        self._seeing = False
        self._stop = False
        self._paused = False
        self._held: dict[str, float] = {}
        self._empty = False
        """Missing files that are not believed to be gone yet, and since when."""
        self._due = clock.monotonic() + self._every_s
        self._first_hint = 0.0
        self._last_hint = 0.0
        self._work = Work("starting")
        self._thread = Thread(target=self._run, name="index worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the transaction under way; returns when the connection is closed."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def hint(self, paths: Iterable[str]) -> None:
        """These may have changed (folders end in `/`)."""
        now = self._clock.monotonic()
        with self._changed:
            if not self._hints:
                self._first_hint = now
            self._last_hint = now
            self._hints.update(dict.fromkeys(paths))
            self._changed.notify_all()

    def ask_whole(self) -> int:
        """A whole look, soon, with the settings as they are then; returns the count of looks after which it
        is done."""
        with self._changed:
            self._whole = True
            self._changed.notify_all()
            return self._work.looks + (2 if self._looking else 1)

    def do(self, job: Callable[[Database], T]) -> T:
        """Runs `job` on the writing connection, between transactions; returns or raises what it does."""
        future: Future[T] = Future()
        with self._changed:
            if self._stop:
                raise _closed()
            self._jobs.append((job, future))
            self._changed.notify_all()
        return future.result()

    def see(self, paths: Sequence[str]) -> Outcome:
        """Takes these into the index now, paused or not, and tells the listener; for what was just written.

        After the look under way, which is finished for it. Raises what the look at them raises.
        """
        future: Future[Outcome] = Future()
        with self._changed:
            if self._stop:
                raise _closed()
            self._written.append((list(paths), future))
            self._changed.notify_all()
        return future.result()

    def pause(self, *, on: bool) -> None:
        with self._changed:
            self._paused = on
            self._changed.notify_all()

    @property
    def work(self) -> Work:
        return self._work

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def waiting(self) -> int:
        """Notes and folders that may have changed and are not in the index yet."""
        with self._changed:
            return sum(hint.endswith(("/", ".md")) for hint in (*self._hints, *self._at_hand))

    @property
    def whole_due(self) -> bool:
        """Whether a whole look was asked for, or is under way."""
        return self._whole or self._looking

    def tune(self, *, debounce_s: float, settle_s: float) -> None:
        """The settings changed."""
        self._debounce_s, self._settle_s = debounce_s, settle_s

    def watching(self, *, on: bool) -> None:
        """Without a watcher the whole vault is looked at more often."""
        with self._changed:
            self._every_s = WATCHED_EVERY_S if on else POLLED_EVERY_S
            self._due = min(self._due, self._clock.monotonic() + self._every_s)
            self._changed.notify_all()

    def _run(self) -> None:
        be_modest()
        try:
            index = self._open()
        except KbError as error:
            log.error("the index cannot be opened: %s", error)
            self._refuse_jobs()
            self._work = Work("failed", message=f"{error.message} {error.fix}".strip())
            return
        self._index = index
        index.between_batches = self._yield_here
        try:
            while self._step():
                pass
        finally:
            self._refuse_jobs()
            self._index.close()
            self._work = Work("stopped", looks=self._work.looks)

    def lose(self) -> None:
        """The index is damaged: it is made anew at the next step, which is now."""
        with self._changed:
            self._lost = self._whole = True
            self._changed.notify_all()

    @property
    def complete(self) -> bool:
        """Whether the vault was looked at as a whole since the index was opened, or made anew."""
        return not self._lost and self._work.looks > max(self._remade_at, 0)

    def _heal(self) -> bool:
        """Makes a lost index anew; False where that cannot be done yet."""
        log.warning("the file of the index is gone or damaged; it is made anew")
        self._lost = True
        self._set(Work("indexing", message="the index is made anew", looks=self._work.looks))
        self._index.close()
        try:
            self._index = self._remake()
        except KbError as error:
            log.error("the index cannot be made anew: %s", error)
            with self._changed:
                self._looking = False
                self._due = self._clock.monotonic() + POLLED_EVERY_S
                for future in (*(f for _, f in self._jobs), *(f for _, f in self._written)):
                    future.set_exception(error)
                self._jobs.clear()
                self._written.clear()
            self._set(Work("failed", message=f"{error.message} {error.fix}".strip(), looks=self._work.looks))
            return False
        self._index.between_batches = self._yield_here
        self._held = {}
        self._lost, self._remade_at = False, self._work.looks
        return True

    def _is_lost(self, error: Exception) -> bool:
        """Whether an error comes of a damaged index. Twice in one look it is rather the disk: that can wait."""
        if isinstance(error, DamagedError):
            lost = error.path == self._index.db.filename
        else:
            lost = isinstance(error, SqlError) and content.integrity(self._index.db) is not None
        if lost:
            self._lost = True
            self._whole = self._remade_at != self._work.looks
        return lost

    def _step(self) -> bool:
        """Waits for something to do and does it; False when it is time to end."""
        todo = self._wait()
        if todo is not None and (self._lost or not self._index.is_there()):
            if not self._heal():
                return True
            with self._changed:
                self._looking, self._whole = True, False
            todo = [], True
        index = self._index
        while self._jobs and not self._paused:
            self._run_job(index)
        if todo is None:
            return False
        hints, whole = todo
        if not (hints or whole):
            return self._see_written(index)  # or only jobs were waiting
        try:
            if whole:
                self._on_settings(index)
            outcome = index.reconcile(self._progress, agreed=self._agreed()) if whole else index.refresh(hints)
            self._after(index, outcome, whole=whole)
        except _StoppedError:
            return False
        except Exception as error:
            # One of the four broad excepts: the worker lives on, says what happened and looks again.
            log.exception("indexing failed")
            message = error.message if isinstance(error, KbError) else f"Indexing failed: {error!r}"
            with self._changed:
                self._due = self._clock.monotonic() + POLLED_EVERY_S
                healing = self._is_lost(error) and self._whole
            self._set(Work("indexing" if healing else "failed", message=message, looks=self._work.looks))
        with self._changed:
            self._at_hand, self._looking = [], False
        return True

    def _run_job(self, index: Index) -> None:
        job, future = self._jobs.popleft()
        try:
            future.set_result(job(index.db))
        except Exception as error:  # noqa: BLE001 - it belongs to the caller, who waits for it
            future.set_exception(error)
            self._is_lost(error)

    def _see_written(self, index: Index) -> bool:
        """Looks at what was written; False when it is time to end."""
        while self._written:
            paths, future = self._written.popleft()
            self._seeing = True
            try:
                outcome = index.refresh(paths)
                self._after(index, outcome, whole=False)
                future.set_result(outcome)
            except _StoppedError:
                future.set_exception(_closed())
                return False
            except Exception as error:  # noqa: BLE001 - it belongs to the caller, who waits for it
                future.set_exception(error)
                if self._is_lost(error):
                    return True
            finally:
                self._seeing = False
        return True

    def _refuse_jobs(self) -> None:
        with self._changed:
            self._stop = True
            while self._written:
                self._written.popleft()[1].set_exception(_closed())
            while self._jobs:
                self._jobs.popleft()[1].set_exception(_closed())

    def _after(self, index: Index, outcome: Outcome, *, whole: bool) -> None:
        now = self._clock.monotonic()
        with self._changed:
            if self._empty and not whole:  # something is there again
                self._due = now
            known = {} if whole else self._held
            self._held = known | {path: self._held.get(path, now) for path in outcome.held}
            agreed = min(self._held.values(), default=now) + self._settle_s
            self._empty = whole and outcome.empty and agreed <= now
            if outcome.held and not self._empty:
                self._due = agreed
            elif whole:
                self._due = now + self._every_s
            if outcome.retry:
                self._hints.update(dict.fromkeys(outcome.retry))
                self._first_hint = self._last_hint = now + RETRY_S
        if outcome.touched():
            self._on_change(index, outcome)  # told before the work counts as done
        with self._changed:
            self._at_hand, self._looking = [], False
            self._work = Work("ready", looks=self._work.looks + whole, held=len(self._held), empty=self._empty)
            self._changed.notify_all()

    def _agreed(self) -> frozenset[str]:
        """What was missed a settle time ago already."""
        now = self._clock.monotonic()
        return frozenset(path for path, since in self._held.items() if since + self._settle_s <= now)

    def _wait(self) -> tuple[list[str], bool] | None:
        with self._changed:
            while True:
                now, wall = self._clock.monotonic(), self._clock.wall()
                if self._stop:
                    return None
                if self._jobs and not self._paused:
                    return [], False
                if not self._paused and (self._whole or now >= self._due):
                    self._whole = False
                    self._looking = True
                    self._hints.clear()
                    return [], True
                if self._written:
                    return [], False
                if not self._paused and self._hints and now >= self._ripe():
                    self._at_hand = list(self._hints)
                    self._hints.clear()
                    return self._at_hand, False
                until = self._due if not self._hints else min(self._due, self._ripe())
                self._changed.wait(None if self._paused else max(min(until - now, SLEPT_S), 0.001))
                if self._slept(now, wall) or not (self._lost or self._index.is_there()):
                    self._whole = True

    def _ripe(self) -> float:
        """When the hints at hand have waited long enough."""
        return min(self._last_hint + self._debounce_s, self._first_hint + LONGEST_DEBOUNCE * self._debounce_s)

    def _slept(self, now: float, wall: float) -> bool:
        """Whether the machine was asleep meanwhile: then the wall clock ran on alone."""
        return (self._clock.wall() - wall) - (self._clock.monotonic() - now) > SLEPT_S

    def _progress(self, done: int, total: int, message: str) -> None:
        self._set(Work("indexing", done, total, message, self._work.looks, len(self._held)))

    def _yield_here(self) -> None:
        """Between transactions: the place to stop or to pause."""
        with self._changed:
            while self._paused and not (self._stop or self._seeing or self._written):
                self._work = Work("paused", self._work.done, self._work.total, "", self._work.looks)
                self._changed.wait()
            if self._stop:
                raise _StoppedError

    def _set(self, work: Work) -> None:
        with self._changed:
            self._work = work
            self._changed.notify_all()


class _StoppedError(Exception):
    """Stop now; what is not stored yet stays pending."""


def _closed() -> KbError:
    return KbError("The index is being closed.", "Start the sidecar again")
