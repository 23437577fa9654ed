"""What changed lately, for those who wait for it: revisions with their paths, in bounded memory."""

from collections import deque
from collections.abc import Callable, Iterable
from threading import Condition
from typing import Any, Final, NamedTuple

WAITERS: Final = 6
"""Long polls held at once: fewer than the server has threads, so that others are answered meanwhile."""
REMEMBERED: Final = 20_000
"""Paths kept, over all revisions."""
LONGEST_WAIT_S: Final = 25


class Change(NamedTuple):
    revision: int
    changed: tuple[str, ...]
    removed: tuple[str, ...]


class Changes:
    def __init__(self, waiters: int = WAITERS, remembered: int = REMEMBERED) -> None:
        self._new = Condition()
        self._changes: deque[Change] = deque()
        self._kept = 0
        self._most = remembered
        self._since = self._revision = 0
        self._free = waiters
        self._closed = False
        self.due: Callable[[], int] = lambda: 0
        """How much waits for whoever holds the pen."""

    def wake(self) -> None:
        """There is something to write."""
        with self._new:
            self._new.notify_all()

    def begin(self, revision: int) -> None:
        """What came before `revision` is not known."""
        with self._new:
            self._since = self._revision = revision
            self._changes.clear()
            self._kept = 0
            self._new.notify_all()

    @property
    def revision(self) -> int:
        return self._revision

    def add(self, revision: int, changed: Iterable[str], removed: Iterable[str]) -> None:
        change = Change(revision, tuple(sorted(changed)), tuple(sorted(removed)))
        with self._new:
            self._revision = revision
            self._changes.append(change)
            self._kept += len(change.changed) + len(change.removed)
            while self._changes and self._kept > self._most:
                old = self._changes.popleft()
                self._kept -= len(old.changed) + len(old.removed)
                self._since = old.revision
            self._new.notify_all()

    def since(self, revision: int | None, wait_s: float = 0, *, pen: bool = False) -> dict[str, Any]:
        """`{"revision","paths","removed","reset"}`; waits until there is something newer than `revision`,
        or with `pen` until something is to be written.

        `paths` are new, changed and removed ones, `removed` those of them that are gone. `reset`: what
        happened since is not all remembered, so look at everything. None asks for the revision alone.
        With too many waiting already the answer comes at once.
        """
        with self._new:
            waits = revision == self._revision and not (pen and self.due())
            if waits and wait_s > 0 and self._free > 0:
                self._free -= 1
                try:
                    self._new.wait_for(
                        lambda: self._closed or self._revision != revision or (pen and self.due() > 0), wait_s
                    )
                finally:
                    self._free += 1
            if revision is None:
                return _answer(self._revision, [], reset=False)
            reset = not self._since <= revision <= self._revision
            new = [] if reset else [change for change in self._changes if change.revision > revision]
            return _answer(self._revision, new, reset=reset)

    def close(self) -> None:
        """Lets everybody go."""
        with self._new:
            self._closed = True
            self._new.notify_all()


def _answer(revision: int, changes: Iterable[Change], *, reset: bool) -> dict[str, Any]:
    state: dict[str, bool] = {}
    for change in changes:
        state.update(dict.fromkeys(change.changed, False))
        state.update(dict.fromkeys(change.removed, True))
    removed = sorted(path for path, gone in state.items() if gone)
    return {"revision": revision, "paths": sorted(state), "removed": removed, "reset": reset}
