"""Long work that was asked for: known by an id, told how far it is. The index worker does it."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import Any, Final

from ohmykb.errors import NotFoundError
from ohmykb.index.reconcile import Outcome
from ohmykb.index.worker import Work, Worker

REMEMBERED: Final = 100
EMPTY: Final = (
    "The vault is empty: an unmounted drive, most likely. Its notes stay in the index until some are there again; "
    "`kb index --rebuild` forgets them."
)


@dataclass(slots=True)
class _Task:
    looks: int
    """Whole looks after which it is done."""
    before: Work
    started: float
    changed: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    answer: dict[str, Any] | None = None
    """Final, once there."""


class Tasks:
    def __init__(self, worker: Worker, counts: Callable[[], dict[str, Any]]) -> None:
        self._worker = worker
        self._counts = counts
        self._tasks: OrderedDict[str, _Task] = OrderedDict()
        self._lock = Lock()

    def look(self) -> str:
        """Asks for a whole look at the vault; returns the id of the task."""
        task = secrets.token_hex(8)
        with self._lock:
            before = self._worker.work
            self._tasks[task] = _Task(self._worker.ask_whole(), before, perf_counter())
            while len(self._tasks) > REMEMBERED:
                self._tasks.popitem(last=False)
        return task

    def record(self, outcome: Outcome) -> None:
        """What a look changed; told to every task under way."""
        with self._lock:
            for task in self._tasks.values():
                if task.answer is None:
                    task.changed |= outcome.changed
                    task.removed |= outcome.removed

    def get(self, name: str) -> dict[str, Any]:
        """`{"task","state","done","total","message"}`, with `result` once done. Raises NotFoundError."""
        with self._lock:
            task = self._tasks.get(name)
        if task is None:
            raise NotFoundError(f"There is no task {name!r}.", "Tasks are forgotten when the sidecar ends")
        if task.answer is None:
            found = self._now(task)
            if found["state"] not in ("done", "failed"):
                return {"task": name, **found}
            task.answer = found
        return {"task": name, **task.answer}

    def _now(self, task: _Task) -> dict[str, Any]:
        work = self._worker.work
        if work.looks >= task.looks and not work.held:
            counts = self._counts()
            result = {
                **counts,
                "changed": len(task.changed),
                "removed": len(task.removed),
                "duration_ms": round((perf_counter() - task.started) * 1000),
            }
            total = counts["on_disk"]
            return {"state": "done", "done": total, "total": total, "message": "", "result": result}
        state = "running"
        message = work.message
        if work.state in ("failed", "stopped") and work is not task.before:
            state = "failed"
        elif work.empty:
            state, message = "failed", EMPTY
        elif self._worker.paused:
            state = "paused"
        elif work.held:
            message = f"{work.held} files are missing; looking again before anything is dropped"
        return {"state": state, "done": work.done, "total": work.total, "message": message}
