"""`kb init`, `kb serve`, `kb stop`, `kb logs`: a vault begins, its sidecar lives and ends."""

import os
import shutil
import signal
import sys
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import ohmykb
from ohmykb import config as settings
from ohmykb import wiring
from ohmykb.cli.client import Client, RemoteError
from ohmykb.cli.session import Session
from ohmykb.cli.terminal import put_json, say
from ohmykb.errors import ConflictError, KbError
from ohmykb.vault.lock import writer_lock
from ohmykb.wiring import Serving

TEMPLATE: Final = "vault-template"
ENDING_S: Final = 15.0
POLL_S: Final = 0.05


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
            f"A vault with {found['notes']} notes is in {found['vault']}.\nNext: kb serve --vault {root}\n"
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

    def announce(port: int) -> None:
        put_json({"port": port, "pid": os.getpid(), "vault": str(vault.root)})
        if sys.stderr.isatty():
            say(f"Serving {vault.root} on 127.0.0.1:{port}. Ctrl-C ends it.")

    how = Serving(
        port=args.port, watch=not args.no_watch, vectors=not args.no_vectors, until_stdin_ends=args.exit_on_stdin_eof
    )
    wiring.serve(vault, how, announce)
    return 0


def stop(session: Session) -> int:
    """Returns when it has ended. None running is no failure."""
    found = wiring.running(session.vault)
    if found is not None:
        try:
            Client(found).post("/stop", {"pid": found.pid})
        except RemoteError:
            os.kill(found.pid, signal.SIGTERM)  # of another version
        _await_end(session, found.pid)
    answer = {"stopped": found.pid if found else None}
    session.show(
        answer, lambda told, _: f"Stopped process {told['stopped']}.\n" if told["stopped"] else "No sidecar runs.\n"
    )
    return 0


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
