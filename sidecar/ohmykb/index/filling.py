"""The encoder's thread: fills in vectors behind the text, for as long as the sidecar runs.

It reads and encodes by itself and has the index worker store, so that there is one writer. What goes
wrong here (a missing extra, an endpoint that is down) is said in `state`; words go on finding.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Thread

from ohmykb.errors import KbError
from ohmykb.index.encode import Filler, Writer, drop_others
from ohmykb.index.worker import be_modest
from ohmykb.models.encoder import Encoder
from ohmykb.store import vectors
from ohmykb.store.connection import Database

log = logging.getLogger(__name__)

AGAIN_S = 30.0
"""After a fault, how long until it is tried again."""

Written = dict[int, list[int]]
"""Set → slots with new vectors."""


@dataclass(frozen=True, slots=True)
class Filling:
    """How far the vectors are."""

    encoder: str | None = None
    done: int = 0
    total: int = 0
    fault: str | None = None


class FillingThread:
    """`after` is called on this thread when vectors or notes changed, to bring what is in memory in step."""

    def __init__(
        self,
        connect: Callable[[], Database],
        encoders: Callable[[], Sequence[Encoder]],
        write: Writer,
        after: Callable[[Database, Written], None],
    ) -> None:
        self._connect = connect
        self._open_encoders = encoders
        self._write = write
        self._after = after
        self._encoders: Sequence[Encoder] | None = None
        self._fillers: dict[str, Filler] = {}
        self._changed = Condition()
        self._todo = True
        self._stop = False
        self.state = Filling()
        self._thread = Thread(target=self._run, name="encoder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the batch under way."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def nudge(self, *, settings: bool = False) -> None:
        """The index changed; with `settings`, which encoders are wanted, too."""
        with self._changed:
            self._todo = True
            if settings:
                self._encoders = None
            self._changed.notify_all()

    def _run(self) -> None:
        be_modest()
        try:
            db = self._connect()
            vectors.load_extension(db)
        except KbError as error:
            self._fail(error)
            return
        while self._wait():
            try:
                self._fill(db)
            except KbError as error:
                self._fail(error)

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
        fault = None
        for encoder in self._encoders:
            filler = self._fillers.get(encoder.id)
            if filler is None:
                filler = Filler(encoder, self._write, self._going, self._progress)
                self._fillers[encoder.id] = filler
                self._after(db, {})  # what is there already serves meanwhile
            self.state = Filling(encoder.id)
            try:
                written = filler.fill(db)
            except KbError as error:
                fault = error
                written = []
            one = next((one for one in vectors.sets(db) if one.encoder == encoder.id), None)
            self._after(db, {one.id: written} if one is not None else {})
        if fault is not None:
            self._fail(fault)
            return
        if self._going():
            self._write(lambda w: drop_others(w, [encoder.id for encoder in self._encoders or ()]))
        self.state = Filling(self._encoders[0].id if self._encoders else None)

    def _going(self) -> bool:
        return not self._stop

    def _progress(self, done: int, total: int) -> None:
        self.state = Filling(self.state.encoder, done, total)

    def _fail(self, error: KbError) -> None:
        log.warning("no vectors for now: %s", error.message)
        self.state = Filling(self.state.encoder, fault=f"{error.message} {error.fix}".strip())
