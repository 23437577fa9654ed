"""Builds the objects of one vault: the only place that reads the settings and puts rooms together."""

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ohmykb
from ohmykb import config as settings
from ohmykb import places
from ohmykb.clock import SystemClock
from ohmykb.errors import ConflictError, KbError, NoVaultError
from ohmykb.evolve.mending import Mending
from ohmykb.evolve.refusals import judge_by
from ohmykb.index.reconcile import Index
from ohmykb.jobs import runner
from ohmykb.search.meaning import Meaning
from ohmykb.server import discovery
from ohmykb.server.discovery import API as API  # for cli, which may not ask server itself
from ohmykb.server.discovery import Discovery as Discovery
from ohmykb.store import bulk, files, state, vectors
from ohmykb.store.connection import DamagedError, Database, DatabaseError, Readers, open_reader, open_writer
from ohmykb.store.damage import UnwritableError
from ohmykb.store.review import Review
from ohmykb.store.schema import INDEX_MIGRATIONS
from ohmykb.store.state import Decisions
from ohmykb.vault.commit import commit
from ohmykb.vault.door import Door
from ohmykb.vault.history import History
from ohmykb.vault.lock import writer_lock
from ohmykb.vault.operations import Operation
from ohmykb.vault.rules import Rules

if TYPE_CHECKING:
    from ohmykb.models.encoder import Encoder
    from ohmykb.server.front import Front

log = logging.getLogger(__name__)

LOCK_WAIT_S = 3.0
"""How long a sidecar waits for another that is just ending, and a command that writes for another command."""
LOCK_TRIES_S = 0.2
M_ARENA_MAX = -8
"""glibc's malloc.h."""


class BusyError(KbError):
    """Another process holds what is needed."""

    code = "busy"


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault and where its things lie on this device."""

    root: Path
    key: str

    @property
    def index_file(self) -> Path:
        return Path(places.home("cache"), self.key, "index.db")

    @property
    def state_folder(self) -> Path:
        return Path(places.home("state"), self.key)

    @property
    def state_file(self) -> Path:
        return self.state_folder / "state.db"

    @property
    def discovery_file(self) -> Path:
        return Path(places.discovery_file(self.key))

    @property
    def log_file(self) -> Path:
        return self.state_folder / "sidecar.log"

    @property
    def writer_lock(self) -> Path:
        return self.state_folder / "writer.lock"

    @property
    def sidecar_lock(self) -> Path:
        return self.state_folder / "sidecar.lock"


def find_vault(explicit: str | None, start: str) -> Vault:
    """The vault meant here. Raises NoVaultError."""
    found = places.find_vault(explicit, start)
    if found is None:
        raise NoVaultError("There is no vault here.", "Name one: kb --vault DIR …, or set OHMYKB_VAULT")
    root = Path(found)
    if not root.is_dir():
        raise NoVaultError(f"{found} is not a folder.", "Name the folder of your vault: kb --vault DIR …")
    root = Path(places.real(found))
    return Vault(root, places.vault_key(found))


def open_index(vault: Vault) -> Index:
    """The writing side. The caller holds the writer's lock."""
    config = settings.load(vault.root)
    rules = Rules.of(vault.root, config)
    try:
        db = open_writer(vault.index_file, INDEX_MIGRATIONS)
    except DamagedError:
        drop_index(vault)
        db = open_writer(vault.index_file, INDEX_MIGRATIONS)
    vectors.load_extension(db)
    bulk.make_indexes(db)
    files.settle_recipe(db)
    history = state.open_state(vault.state_file)
    return Index(vault.root, db, history, config, rules, SystemClock())


@contextmanager
def writing(vault: Vault, *, rebuild: bool = False, patient: bool = False) -> Iterator[Index]:
    """The writing side for one command, alone. Raises BusyError while another process writes, `patient` or at once."""
    with ExitStack() as stack:
        _make_private(vault.state_folder)
        until = time.monotonic() + (LOCK_WAIT_S if patient else 0.0)
        while True:
            try:
                stack.enter_context(writer_lock(vault.writer_lock))
            except ConflictError as error:
                if time.monotonic() >= until:
                    raise BusyError(error.message, error.fix) from error
                time.sleep(LOCK_TRIES_S)
            else:
                break
        if rebuild:
            drop_index(vault)
        index = open_index(vault)
        stack.callback(index.close)
        yield index


def drop_index(vault: Vault) -> None:
    """Deletes the index: it is derived, and made anew."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{vault.index_file}{suffix}").unlink(missing_ok=True)


def encoders(config: settings.Config) -> tuple[list["Encoder"], list[str]]:
    """The quick encoder and the fine one, as the settings ask, and what cannot be had, in words."""
    from ohmykb.models.catalog import open_encoder

    found: list[Encoder] = []
    faults: list[str] = []
    for name in config.search.wanted:
        try:
            encoder = open_encoder(name, config, Path(places.home("cache")))
            found += [encoder] if encoder is not None and encoder.id else []
        except KbError as error:
            log.warning("%s %s", error.message, error.fix)
            faults.append(f"{error.message} {error.fix}".strip())
    return found, faults


def reopen(vault: Vault, encoder_id: str) -> "Encoder":
    """The encoder of a set of vectors that is there already. Raises EncoderMissingError."""
    from ohmykb.models.catalog import reopen_encoder

    return reopen_encoder(encoder_id, settings.load(vault.root), Path(places.home("cache")))


def meaning(vault: Vault, db: Database) -> Meaning:
    """The vector arms of the index as it is, for one question without a sidecar."""
    wanted, faults = encoders(settings.load(vault.root))
    made = Meaning(wanted, whole=not faults)
    made.reopen = partial(reopen, vault)
    made.behind = " ".join(faults) or None
    try:
        vectors.load_extension(db)
    except DatabaseError as error:
        made.behind = f"{error.message} Answered by words alone."
    else:
        made.refresh(db)
    return made


def open_decisions(vault: Vault) -> Decisions:
    """What a person decided about this vault, on this device."""
    return Decisions(state.open_state(vault.state_file))


def readers(vault: Vault) -> Readers:
    return Readers(vault.index_file, len(INDEX_MIGRATIONS))


def reading(vault: Vault) -> Database:
    """One reading connection. Raises DatabaseError when there is no index as this version knows it."""
    return open_reader(vault.index_file, len(INDEX_MIGRATIONS))


def announced(vault: Vault) -> Discovery | None:
    """What the discovery file says, whether somebody answers there or not."""
    return discovery.read(vault.discovery_file)


def running(vault: Vault) -> Discovery | None:
    """The sidecar that answers for this vault, whatever its version."""
    found = discovery.read(vault.discovery_file)
    return found if found is not None and discovery.answers(found) else None


def history(vault: Vault) -> History:
    """What was done to the vault."""
    return History(vault.root)


def former_names(vault: Vault, found: History, note: str) -> list[str]:
    """What archived versions of a note may be named by: its path, and those it had at the time."""
    with closing(state.open_state(vault.state_file)) as db:
        return sorted({note} | {
            one.path for op in found.operations() for one in op.files
            if one.path != note and state.follow_renames(db, one.path, op.at) == note
        })  # fmt: skip


def make_mending(
    vault: Vault, stack: ExitStack, config: Callable[[], settings.Config], see: Callable[[Sequence[str]], object]
) -> Mending:  # fmt: skip
    """What changes notes; `stack` closes it. An operation that a crash left open is ended first.

    Each part that threads share locks a connection of its own.
    """
    decisions = stack.enter_context(closing(open_decisions(vault)))
    review = stack.enter_context(closing(Review(state.open_state(vault.state_file))))
    plans = stack.enter_context(closing(state.open_state(vault.state_file)))
    clock = SystemClock()
    device = settings.device_id()

    def told(op: Operation) -> None:
        write = config().write
        if write.git and write.device == device:
            why_not = commit(vault.root, op)
            if why_not is not None:
                log.warning("operation %s: %s", op.id, why_not)

    door = Door(vault.root, device, clock, judge_by(config), follow=decisions.follow, told=told)
    for op in door.settle():
        log.warning("operation %s was cut off: %s", op.id, op.state)
    return Mending(vault.root, door, review, plans, config, see, clock)


@contextmanager
def mending(vault: Vault, index: Index) -> Iterator[Mending]:
    """For a command that writes alone: the index follows every write at once."""
    with ExitStack() as stack:
        yield make_mending(vault, stack, lambda: index.config, index.refresh)


@dataclass(frozen=True, slots=True)
class Serving:
    port: int = 0
    watch: bool = True
    vectors: bool = True
    until_stdin_ends: bool = False


def serve(vault: Vault, how: Serving, announce: Callable[[int], None]) -> None:
    """Answers for the vault until told to stop; `announce` gets the port, once it answers.

    Raises BusyError when another sidecar does so already, KbError when the index cannot be opened.
    """
    from ohmykb.server.log import log_to
    from ohmykb.server.sidecar import Sidecar

    _few_arenas()
    with ExitStack() as stack:
        _make_private(vault.state_folder)
        _hold_sidecar_lock(vault, stack)
        vault.discovery_file.unlink(missing_ok=True)  # of one that was killed
        handler = log_to(vault.log_file)
        stack.callback(handler.close)
        stack.callback(logging.getLogger().removeHandler, handler)
        front = _listen(how.port)
        stack.callback(front.close)
        held = stack.enter_context(ExitStack())

        locked = threading.Event()

        def open_locked() -> Index:
            if not locked.is_set():
                held.enter_context(writer_lock(vault.writer_lock))
                locked.set()
            return open_index(vault)

        def load() -> tuple[settings.Config, Rules]:
            config = settings.load(vault.root)
            return config, Rules.of(vault.root, config)

        decisions = open_decisions(vault)
        stack.callback(decisions.close)
        wanted = encoders if how.vectors else lambda _: ([], [])
        sidecar = Sidecar(
            vault.root, front, readers(vault), open_locked, load, wanted, decisions,
            partial(make_mending, vault, stack), lambda: drop_index(vault), runner.run,
            state.set_aside(vault.state_file),
        )  # fmt: skip
        if how.vectors:
            sidecar.service.prober.meaning.reopen = partial(reopen, vault)
        token = discovery.new_token()
        sidecar.start(token, watch=how.watch, stack=stack)
        _on_signals(sidecar.stop)
        if how.until_stdin_ends:
            threading.Thread(target=_await_stdin, args=(sidecar.stop,), daemon=True).start()
        here = discovery.Discovery(front.port, os.getpid(), token, API, ohmykb.__version__, str(vault.root))
        stack.callback(discovery.remove, vault.discovery_file, os.getpid())
        discovery.write(vault.discovery_file, here)  # the socket listens: who reads it will be answered
        announce(front.port)
        log.info("version %s answers on port %d, process %d", here.version, here.port, here.pid)
        front.run()
        log.info("ending")
        if sidecar.failure is not None:
            raise sidecar.failure


def _few_arenas() -> None:
    """glibc gives each thread an arena of its own, and what one probe freed helps no other: 50 MB at rest."""
    if sys.platform == "linux":
        tune = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if tune is not None:
            tune(M_ARENA_MAX, 2)


def unwritable(folder: Path) -> UnwritableError | None:
    """Why nothing can be written there, if so. The folder is made where it is not there yet."""
    try:
        _make_private(folder)
    except UnwritableError as error:
        return error
    return None


def _make_private(folder: Path) -> None:
    """The token, the log and the names of notes are nobody else's business."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
        probe = folder / f".writable.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UnwritableError(str(folder), error.strerror or str(error)) from error


def _listen(port: int) -> "Front":
    from ohmykb.server.front import Front

    try:
        return Front(port)
    except OSError as error:
        raise BusyError(
            f"Port {port} cannot be used: {error.strerror}.", "Leave --port out; any free one is found"
        ) from error


def _hold_sidecar_lock(vault: Vault, stack: ExitStack) -> None:
    until = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            stack.enter_context(writer_lock(vault.sidecar_lock, "serves this vault"))
        except ConflictError as error:
            found = discovery.read(vault.discovery_file)
            if found is not None and discovery.answers(found):
                raise BusyError(
                    f"A sidecar serves this vault already: process {found.pid} on port {found.port}.",
                    "Use it, or end it with: kb stop",
                ) from error
            if time.monotonic() > until:
                raise BusyError(
                    "Another process serves this vault, but does not answer.",
                    "Wait a moment and try again; kb doctor says more",
                ) from error
            time.sleep(LOCK_TRIES_S)
        else:
            return


def _on_signals(stop: Callable[[], None]) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda _number, _frame: stop())


def _await_stdin(stop: Callable[[], None]) -> None:
    """The other end closes it when it ends, however it ends."""
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    stop()
