"""`kb init`, `kb serve`, `kb stop`, `kb logs`: a vault begins, its sidecar lives and ends."""

import os
import shlex
import shutil
import signal
import sys
import threading
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import ohmykb
from ohmykb import config as settings
from ohmykb import wiring
from ohmykb.cli.client import Client, RemoteError
from ohmykb.cli.session import Session
from ohmykb.cli.terminal import Progress, put_json, tell
from ohmykb.errors import ConflictError, KbError
from ohmykb.vault.lock import writer_lock
from ohmykb.wiring import Serving, Vault

TEMPLATE: Final = "vault-template"
ENDING_S: Final = 15.0
POLL_S: Final = 0.05
FIRST_ASK_S: Final = 0.1
ASK_S: Final = 0.3
SLOW_DOWN: Final = 10


class NotEmptyError(KbError):
    code = "not-empty"


class StillRunningError(KbError):
    code = "still-running"


def init(session: Session) -> int:
    """A copy of the template, with this device as the writer."""
    root = Path(session.args.dir)
    try:
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise NotEmptyError(f"{root} is there already, and not empty.", "Name a new folder")
        _copy_template(root)
        settings.patch_settings(root, {"write": {"mode": "auto", "device": settings.device_id()}})
    except OSError as error:
        raise KbError(f"{root} cannot be made: {error.strerror}.", "Name a folder you may write to") from error
    notes = sum(1 for path in root.rglob("*.md") if not path.relative_to(root).parts[0].startswith("."))
    answer = {"vault": str(root.resolve()), "notes": notes}
    session.show(
        answer,
        lambda found, _: (
            f"A vault with {found['notes']} notes is in {found['vault']}.\n"
            "Its write mode is auto, and this device is its writer: what is certain is mended by itself, and can be\n"
            'undone. To be asked first, set mode = "suggest" in .kb/config.toml.\n'
            f"Next: kb serve --vault {shlex.quote(str(root))}\n"
        ),
    )
    return 0


def _copy_template(root: Path) -> None:
    packaged = files("ohmykb") / TEMPLATE
    beside = Path(ohmykb.__file__).parents[2] / TEMPLATE  # a working copy, installed editable
    with as_file(packaged) as path:
        source = path if path.is_dir() else beside
        if not source.is_dir():
            raise KbError("This installation lacks the template of a vault.", "Install Oh My KB again")
        shutil.copytree(source, root, dirs_exist_ok=True)


def serve(session: Session) -> int:
    args = session.args
    vault = session.vault
    ended = threading.Event()

    def announce(port: int) -> None:
        put_json({"port": port, "pid": os.getpid(), "vault": str(vault.root)})
        if sys.stderr.isatty():
            tell(f"Serving {vault.root} on 127.0.0.1:{port}. Ctrl-C ends it.")
            threading.Thread(target=_follow, args=(vault, ended), daemon=True).start()

    how = Serving(
        port=args.port, watch=not args.no_watch, vectors=not args.no_vectors, until_stdin_ends=args.exit_on_stdin_eof
    )
    try:
        wiring.serve(vault, how, announce)
    finally:
        ended.set()
    if sys.stderr.isatty():
        tell("ended")
    return 0


def _follow(vault: Vault, ended: threading.Event) -> None:
    """Shows on the terminal how the first look goes on, and that it is done."""
    progress = Progress()
    pause = FIRST_ASK_S
    while not ended.wait(pause):
        start = time.monotonic()
        try:
            found = wiring.announced(vault)
            status = Client(found).get("/status") if found is not None else None
        except KbError:
            continue
        if ended.is_set() or status is None:
            continue
        work = status["work"]
        if work["state"] in ("ready", "failed"):
            progress.end()
            told = f"ready: {status['indexed']:,} notes" if work["state"] == "ready" else f"failed: {work['message']}"
            tell(told)
            return
        progress(work["done"], work["total"], work["message"] or "looking")
        pause = max(ASK_S, SLOW_DOWN * (time.monotonic() - start))  # asking takes time from the building


def stop(session: Session) -> int:
    """Returns when it has ended. None running is no failure."""
    found = wiring.running(session.vault)
    if found is not None:
        try:
            Client(found).post("/stop", {"pid": found.pid})
        except RemoteError:
            os.kill(found.pid, signal.SIGTERM)  # of another version
        _await_end(session, found.pid)
    elif is_held(session.vault):
        left = wiring.announced(session.vault)
        who = f"Process {left.pid}" if left is not None else "Another process"
        raise StillRunningError(
            f"{who} serves this vault and does not answer.", f"End it: kill {left.pid if left else 'PID'}"
        )
    answer = {"stopped": found.pid if found else None}
    session.show(
        answer, lambda told, _: f"Stopped process {told['stopped']}.\n" if told["stopped"] else "No sidecar runs.\n"
    )
    return 0


def is_held(vault: Vault) -> bool:
    """Whether a sidecar lives, answering or not."""
    if not vault.sidecar_lock.exists():
        return False
    try:
        with writer_lock(vault.sidecar_lock):
            return False
    except ConflictError:
        return True


def _await_end(session: Session, pid: int) -> None:
    until = time.monotonic() + ENDING_S
    while True:
        try:
            with writer_lock(session.vault.sidecar_lock):
                return
        except ConflictError as error:
            if time.monotonic() > until:
                raise StillRunningError(
                    f"Process {pid} was asked to end and has not yet.", f"Wait, or end it: kill {pid}"
                ) from error
        time.sleep(POLL_S)


def logs(session: Session) -> int:
    """The newest lines, the older file included where the log has just turned over."""
    log = session.vault.log_file
    lines: list[str] = []
    for path in (log.with_name(log.name + ".1"), log):
        if path.is_file():
            lines += path.read_text("utf-8", "replace").splitlines()
    lines = lines[-session.args.n :]
    session.show(
        {"file": str(log), "lines": lines},
        lambda told, _: "".join(f"{line}\n" for line in told["lines"]) or f"{told['file']} is empty.\n",
    )
    return 0
