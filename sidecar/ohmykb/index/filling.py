"""The encoder's thread: fills in vectors behind the text, for as long as the sidecar runs.

It reads and encodes by itself and has the index worker store, so that there is one writer. What goes
wrong here (a missing extra, an endpoint that is down) is said in `state`; words go on finding.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Condition, Event, Thread

from ohmykb.errors import KbError
from ohmykb.index.encode import Filler, Writer, drop_others
from ohmykb.index.modest import be_modest
from ohmykb.models.encoder import Encoder
from ohmykb.store import files, vectors
from ohmykb.store.connection import Database, SqlError

log = logging.getLogger(__name__)

AGAIN_S = 30.0
"""After a fault, how long until it is tried again."""

SHOWN_FROM = 512
"""New vectors that are served before the rest is made; then twice as many, and so on."""
JOIN_S = 3.0
"""How long the end of a batch is waited for; an endpoint that hangs is left alone."""
FAULTS = (KbError, SqlError, OSError, RuntimeError, ValueError, MemoryError)
"""What the database, an encoder or its engine may raise: the thread lives on and tries again."""


@dataclass(frozen=True, slots=True)
class Filling:
    """How far the vectors are."""

    encoder: str | None = None
    done: int = 0
    total: int = 0
    fault: str | None = None


class FillingThread:
    """`after` is called on this thread when vectors or notes changed, to bring what is in memory in step;
    `release` gives the connection back after each round. While not `whole`, an encoder that is wanted cannot
    be had, and no vectors are forgotten."""

    def __init__(
        self,
        connect: Callable[[], Database],
        encoders: Callable[[], Sequence[Encoder]],
        write: Writer,
        after: Callable[[Database], None],
        excluded: Callable[[], Sequence[str]] = tuple,
        release: Callable[[], None] = lambda: None,
        whole: Callable[[], bool] = lambda: True,
    ) -> None:
        self._connect = connect
        self._open_encoders = encoders
        self._write = write
        self._after = after
        self._excluded = excluded
        self._release = release
        self._whole = whole
        self._encoders: Sequence[Encoder] | None = None
        self._fillers: dict[str, Filler] = {}
        self._changed = Condition()
        self._todo = True
        self._stop = False
        self._shown_at = SHOWN_FROM
        self.state = Filling()
        self.shown = Event()
        """Set once what was there at the start serves, or cannot."""
        self._thread = Thread(target=self._run, name="encoder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask_stop(self) -> None:
        """Ends after the batch under way."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()

    def join(self) -> None:
        """Returns when it has ended, or does not seem to: it writes nothing by itself, so nothing is lost."""
        if self._thread.is_alive():
            self._thread.join(JOIN_S)

    @property
    def first(self) -> Encoder | None:
        """The encoder that the numbers are told of; None before it is known, or where none is wanted."""
        return next(iter(self._encoders or ()), None)

    @property
    def count(self) -> int:
        """Encoders at work."""
        return len(self._encoders or ())

    def nudge(self, *, settings: bool = False) -> None:
        """The index changed; with `settings`, which encoders are wanted, too."""
        with self._changed:
            self._todo = True
            if settings:
                self._encoders = None
            self._changed.notify_all()

    def _run(self) -> None:
        while self._wait():
            try:
                db = self._connect()  # each time: the index may have been made anew
                vectors.load_extension(db)
                self._fill(db)
            except FAULTS as error:
                self._fail(error)
            finally:
                self.shown.set()
                self._release()  # else the log cannot be folded in at the end

    def _wait(self) -> bool:
        with self._changed:
            while not self._todo and not self._stop:
                if not self._changed.wait(AGAIN_S if self.state.fault else None):
                    break
            self._todo = False
            return not self._stop

    def _fill(self, db: Database) -> None:
        if self._encoders is None:
            self._encoders = self._open_encoders()
            self._fillers = {}
            shown = files.revision(db)
            self._after(db)  # what is there already serves meanwhile: somebody may wait for that
            self.shown.set()
            be_modest()
        else:
            shown = -1
        encoders = self._encoders
        fault = None
        for encoder in encoders:
            if encoder.id not in self._fillers:
                self._fillers[encoder.id] = Filler(
                    encoder, self._write, self._going, partial(self._progress, db), self._excluded
                )
            self.state = Filling(encoder.id, fault=self.state.fault)
            self._shown_at = SHOWN_FROM
            filled = 1
            try:
                filled = self._fillers[encoder.id].fill(db)
            except FAULTS as error:
                fault = error
            if filled or files.revision(db) != shown:
                self._after(db)
            if not self._going():
                break
        if fault is not None:
            self._fail(fault)
            return
        if self._going():
            if self._whole():
                self._write(lambda w: drop_others(w, [encoder.id for encoder in encoders]))
            self.state = Filling(encoders[0].id if encoders else None)

    def _going(self) -> bool:
        """Not when something changed meanwhile: then the quick encoder has its turn first."""
        return not self._stop and not self._todo

    def _progress(self, db: Database, done: int, total: int) -> None:
        self.state = Filling(self.state.encoder, done, total)
        if done >= self._shown_at:
            self._shown_at = 2 * done
            self._after(db)

    def _fail(self, error: Exception) -> None:
        if self._stop:
            return
        told = f"{error.message} {error.fix}".strip() if isinstance(error, KbError) else f"Encoding failed: {error!r}"
        log.warning("no vectors for now: %s", told)
        self.state = Filling(self.state.encoder, fault=told)
