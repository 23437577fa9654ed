"""Looks after links while nobody does: a saved note's own and those to it are planned at once, and
what is certain is applied where that is allowed, once the note has been left alone.

No model takes part, and what it writes leads to no more writing: the links it mended are whole.
"""

import logging
from collections.abc import Callable, Iterable
from threading import Condition, Thread
from typing import Final

from ohmykb.clock import Clock
from ohmykb.errors import ConflictError
from ohmykb.evolve.mending import REPAIR, Mending
from ohmykb.evolve.plan import Mend, Plan
from ohmykb.store.connection import Database
from ohmykb.vault import consent
from ohmykb.vault.synced import is_synced

log = logging.getLogger(__name__)

YOUNG_S: Final = 600.0
"""A link younger than this may still be being written; and a rename that came by sync may be followed by
the links that the other device rewrote."""
WORTH: Final = 0.75
"""Suggestions that are put to review unasked; a person who asks gets them all."""
RETRY_S: Final = 15.0
MOST_TRIES: Final = 8
"""The pause before the next try doubles so often: to an hour."""
LATER_S: Final = 20.0
"""After a look at the whole vault, how long until its links are looked at too."""
PEN_S: Final = 60.0
"""How long Obsidian counts as writing itself after its plugin asked for news, which it does without pause."""
WHOLE: Final = ""
"""In place of a path: every note."""
FOLLOWED: Final = frozenset({"renamed", "heading", "block"})
"""Rules about links that stood before what they lead to was renamed: only the target is new."""


class Caretaker:
    """`run` takes turns until one says that no other is to come (`jobs`)."""

    def __init__(
        self, mending: Mending, reader: Callable[[], Database], give_back: Callable[[], None], clock: Clock,
        run: Callable[[Callable[[], bool]], None],
    ) -> None:  # fmt: skip
        self._mending = mending
        self._reader = reader
        self._give_back = give_back
        self._device = mending.door.device
        self._clock = clock
        self._changed = Condition()
        self._due: dict[str, float] = {}
        """Notes to look at, and when."""
        self._seen: dict[str, float] = {}
        """When a proposal was met first, by its key."""
        self._held: dict[str, float] = {}
        """Renamed notes whose links Obsidian rewrites, and until when that is waited for."""
        self._tries: dict[str, int] = {}
        """How often a note was in the way."""
        self._lent_until = 0.0
        self._ready: tuple[Mend, ...] = ()
        self.on_ready: Callable[[], None] = lambda: None
        """Told when something waits to be written by Obsidian."""
        self._stop = False
        self._thread = Thread(target=run, args=(self._turn,), name="caretaker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def nudge(self, paths: Iterable[str]) -> None:
        """These notes changed, or what their links lead to."""
        now = self._clock.monotonic()
        with self._changed:
            self._due.update((path, now) for path in paths if path.endswith((".md", ".canvas")))
            self._changed.notify_all()

    def nudge_all(self) -> None:
        """The whole vault, once what is at hand is done."""
        with self._changed:
            self._due[WHOLE] = self._clock.monotonic() + LATER_S
            self._changed.notify_all()

    def hold(self, path: str) -> None:
        """Obsidian itself renamed this note, and rewrites the links to it."""
        with self._changed:
            self._held[path] = self._clock.monotonic() + YOUNG_S

    def lend(self) -> None:
        """Obsidian has the vault open: what is due is written by its plugin, through Obsidian's own editor."""
        with self._changed:
            self._lent_until = self._clock.monotonic() + PEN_S

    @property
    def waiting(self) -> int:
        """How many links wait to be written by Obsidian."""
        return len(self._ready)

    def take(self) -> Plan:
        """What waits to be written by Obsidian; should it not write, it is due again in a while."""
        with self._changed:
            ready, self._ready = self._ready, ()
        return Plan(ready)

    def _turn(self) -> bool:
        sources = self._wait()
        if sources is None:
            return False
        try:
            self._look(sources)
        except BaseException:
            self._again({source: self._clock.monotonic() + RETRY_S for source in sources})
            raise
        finally:
            self._give_back()
        return True

    def _wait(self) -> set[str] | None:
        with self._changed:
            while not self._stop:
                now = self._clock.monotonic()
                found = {source for source, due in self._due.items() if due <= now}
                if found:
                    for source in found:
                        del self._due[source]
                    return found
                self._changed.wait(min(self._due.values()) - now if self._due else None)
        return None

    def _again(self, when: dict[str, float]) -> None:
        with self._changed:
            for source, due in when.items():
                self._due[source] = min(due, self._due.get(source, due))

    def _look(self, sources: set[str]) -> None:
        config = self._mending.config()
        if config.write.mode == "off":
            return
        whole = WHOLE in sources
        plan = self._mending.plan(self._reader(), sources=None if whole else sorted(sources))
        allowed = consent.may_apply_unasked(config.write.mode, config.write.device, self._device)
        synced = allowed and is_synced(self._mending.root, self._device)
        todo: list[Mend] = []
        asked: list[Mend] = []
        later: dict[str, float] = {}
        undone = self._mending.review.rejected(REPAIR, undone=True)
        for mend in plan.mends:
            if mend.key in undone:
                continue  # whoever took it back may do it again
            if not (mend.certain and allowed):
                asked += [mend] if mend.certain or (mend.confidence >= WORTH and not whole) else []
            elif (due := self._due_at(mend, synced=synced)) <= self._clock.monotonic():
                todo.append(mend)
            else:
                later[mend.source] = min(due, later.get(mend.source, due))
        self._mending.queue(asked)
        todo, busy = self._quiet(todo)
        later.update(busy)
        if self._clock.monotonic() < self._lent_until:
            with self._changed:
                before = () if whole else (mend for mend in self._ready if mend.source not in sources)
                self._ready = (*before, *todo)
            later.update({mend.source: self._clock.monotonic() + RETRY_S for mend in todo})
            todo = []
            self.on_ready()
        else:
            self._ready = ()  # whoever held the pen did not write
        for source in self._write(todo):
            self._tries[source] = self._tries.get(source, 0) + 1
            later[source] = self._clock.monotonic() + RETRY_S * 2 ** min(self._tries[source], MOST_TRIES)
        self._again(later)

    def _write(self, todo: list[Mend]) -> list[str]:
        """In one operation; where a note is in the way, note by note, so that it does not keep the others.

        Returns the notes to try again.
        """
        try:
            self._written(todo)
        except ConflictError as error:
            log.info("links wait: %s", error)
        else:
            return []
        sources = sorted({mend.source for mend in todo})
        if len(sources) == 1:
            return [str(source) for source in sources]
        return [left for source in sources for left in self._write([one for one in todo if one.source == source])]

    def _written(self, todo: list[Mend]) -> None:
        op, _, refused = self._mending.write(todo, decider="policy")
        for path, why in refused:
            log.info("%s is left as it is: %s", path, why)
        if op is not None:
            log.info("%d links mended, operation %s", len(todo), op.id)
            for one in op.files:
                self._tries.pop(one.path, None)

    def _due_at(self, mend: Mend, *, synced: bool) -> float:
        """When a certain mend may be applied: never a link younger than ten minutes."""
        now = self._clock.monotonic()
        first = self._seen.setdefault(mend.key, now)
        followed = mend.rule in FOLLOWED
        held = self._held.get(mend.target or "", 0.0) if followed else 0.0
        if followed:
            return max(first + YOUNG_S if synced else first, held)
        quiet_s = self._clock.wall() - self._changed_at(mend.source)
        return now if quiet_s >= YOUNG_S else max(first + YOUNG_S, now + YOUNG_S - quiet_s)

    def _changed_at(self, path: str) -> float:
        try:
            return (self._mending.root / path).stat().st_mtime
        except OSError:
            return self._clock.wall()

    def _quiet(self, mends: list[Mend]) -> tuple[list[Mend], dict[str, float]]:
        """Those whose note may be written now, and when to look at the others again."""
        reasons = consent.busy(self._mending.root, sorted({mend.source for mend in mends}), self._clock.wall())
        later = dict.fromkeys(reasons, self._clock.monotonic() + consent.QUIET_S)
        return [mend for mend in mends if mend.source not in reasons], later
