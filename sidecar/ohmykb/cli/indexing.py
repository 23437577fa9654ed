"""`kb index` and `kb verify`: the index is brought in step with the disk, or proved to be."""

import time
from typing import Final

from ohmykb import config as settings
from ohmykb import wiring
from ohmykb.cli.client import Client
from ohmykb.cli.session import Session
from ohmykb.cli.terminal import Json, Progress, say
from ohmykb.errors import KbError, UsageError
from ohmykb.index.encode import Filler, drop_others
from ohmykb.index.reconcile import Index, Outcome
from ohmykb.index.verify import Difference, verify
from ohmykb.search import graph, present
from ohmykb.store.connection import DamagedError, snapshot
from ohmykb.vault.rules import Rules
from ohmykb.wiring import Vault

POLL_S: Final = 0.1
SLOWEST_POLL_S: Final = 0.5
AGAIN_S: Final = 1.0
TRIES: Final = 5
SETTLED_S: Final = 15.0
"""How long `kb verify` waits for a sidecar that is at work."""


class IndexingError(KbError):
    code = "indexing"


class PausedError(KbError):
    code = "paused"


def index(session: Session) -> int:
    args = session.args
    if args.pause or args.resume:
        return _pause(session, on=args.pause)
    start = time.perf_counter()
    if session.sidecar is not None:
        progress = Progress()
        try:
            answer = _hand_over(session.sidecar, progress, rebuild=args.rebuild)
        finally:
            progress.end()
    else:
        outcome, counts = session.build(rebuild=args.rebuild, with_vectors=not args.no_vectors)
        answer = {**counts, "changed": len(outcome.changed), "removed": len(outcome.removed)}
    answer["duration_ms"] = round((time.perf_counter() - start) * 1000)
    session.show(answer, present.index)
    return 0


def build(vault: Vault, progress: Progress, *, rebuild: bool, with_vectors: bool) -> tuple[Outcome, Json]:
    """Alone. What is missing all at once is believed after a second look, a settle time later."""
    try:
        return _build(vault, progress, rebuild=rebuild, with_vectors=with_vectors)
    except DamagedError as error:
        if error.path != str(vault.index_file):
            raise
        progress.end()
        say(f"{error.message} It is made anew.")
        return _build(vault, progress, rebuild=True, with_vectors=with_vectors)


def _build(vault: Vault, progress: Progress, *, rebuild: bool, with_vectors: bool) -> tuple[Outcome, Json]:
    with wiring.writing(vault, rebuild=rebuild) as index:
        outcome = index.reconcile(progress)
        if outcome.held:
            settle = index.config.index.settle_s
            progress.end()
            say(
                f"{len(outcome.held)} files are missing all at once (an unmounted drive? a sync under way?). "
                f"Looking again in {settle:g} s before anything is dropped."
            )
            time.sleep(settle)
            _add(outcome, index.reconcile(progress, agreed=outcome.held))
        for _ in range(TRIES):
            if not outcome.retry:
                break
            time.sleep(AGAIN_S)
            again, outcome.retry = sorted(outcome.retry), set()
            _add(outcome, index.refresh(again))
        progress.end()
        if outcome.held:
            say(f"{len(outcome.held)} files are missing, others than before; run kb index again later.")
        if with_vectors:
            _encode(index, progress)
        with snapshot(index.db):
            return outcome, graph.counts(index.db)


def _encode(index: Index, progress: Progress) -> None:
    """Makes the vectors that are missing; without them words still find."""
    wanted, faults = wiring.encoders(index.config)
    for encoder in wanted:
        try:
            Filler(
                encoder,
                lambda job: job(index.db),
                progress=lambda done, total: progress(done, total, "encoding"),
                excluded=lambda: index.config.agent.exclude,
            ).fill(index.db)
        except KbError as error:
            faults.append(f"{error.message} {error.fix}".strip())
        finally:
            progress.end()
    for fault in faults:
        say(f"No vectors for now: {fault}")
    if not faults:
        drop_others(index.db, [encoder.id for encoder in wanted])


def _add(outcome: Outcome, more: Outcome) -> None:
    outcome.changed |= more.changed
    outcome.removed |= more.removed
    outcome.held = more.held
    outcome.retry = more.retry


def _hand_over(sidecar: Client, progress: Progress, *, rebuild: bool) -> Json:
    task = sidecar.post("/index", {"rebuild": rebuild})["task"]
    told = ""
    pause = POLL_S
    while True:
        now = sidecar.get(f"/tasks/{task}")
        if now["state"] == "done":
            return dict(now["result"])
        if now["state"] == "failed":
            raise IndexingError(now["message"], "Look at: kb logs")
        if now["state"] == "paused":
            raise PausedError("Indexing is paused.", "Go on with: kb index --resume")
        if now["total"]:
            progress(now["done"], now["total"], now["message"])
        elif "missing" in now["message"] and now["message"] != told:
            told = now["message"]
            say(told)
        time.sleep(pause)
        pause = min(pause * 1.5, SLOWEST_POLL_S)


def _pause(session: Session, *, on: bool) -> int:
    if session.sidecar is None:
        raise UsageError("No sidecar runs that could be paused.", "Start one: kb serve")
    answer = session.sidecar.post("/index/pause" if on else "/index/resume")
    session.show(answer, lambda found, _: "paused\n" if found["paused"] else "going on\n")
    return 0


def verify_index(session: Session) -> int:
    found = _verify(session)
    if found and session.sidecar is not None:
        found = _verify(session)  # it was at work meanwhile
    answer = {"equal": not found, "differences": [{"path": one.path, "what": one.what} for one in found]}
    session.show(answer, present.verify)
    return 1 if found else 0


def _verify(session: Session) -> list[Difference]:
    if session.sidecar is not None:
        _await_rest(session.sidecar)
    root = session.vault.root
    config = settings.load(root)
    with session.index() as db:
        return verify(root, db, config, Rules.of(root, config))


def _await_rest(sidecar: Client) -> None:
    """Until the sidecar has looked at all it heard of: verifying must not help it, only not disturb."""
    until = time.monotonic() + SETTLED_S
    while time.monotonic() < until:
        status = sidecar.get("/status")
        if status["pending"] == 0 and status["work"]["state"] in ("ready", "paused", "failed"):
            return
        time.sleep(POLL_S)
