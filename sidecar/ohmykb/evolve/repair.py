"""The plan of repair: every link that does not lead where it should, with what could stand in its place.

Nothing here writes. Certain is only what is known by identity, or differs in nothing but form.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

from ohmykb.clock import SystemClock
from ohmykb.config import Config
from ohmykb.errors import NotFoundError, UsageError
from ohmykb.evolve.broken import Row, broken, without_anchor, written_so
from ohmykb.evolve.past import Past
from ohmykb.evolve.plan import Candidate, Mend, Plan
from ohmykb.evolve.sheet import Rewriting, Sheet, sheet_of
from ohmykb.evolve.spell import is_card, is_wiki, spell
from ohmykb.evolve.verdict import BY_IDENTITY, NONE, Verdict, judge
from ohmykb.index.resolve import Resolver, subpath_found
from ohmykb.markdown.edits import Edit
from ohmykb.markdown.rewrite import retarget, with_display
from ohmykb.note import NotePath
from ohmykb.search.suggest import Names
from ohmykb.store import broken_since, files, links
from ohmykb.store.anchors import current_anchor
from ohmykb.store.connection import Database
from ohmykb.vault.read import Unreadable, VanishedError, read

GRACE_S: Final = 7 * 86_400.0
"""A link that nothing can be proposed for counts as dead after so long: until then its note may still be written."""
ANCHOR_SCORE: Final = 0.97
CHOSEN: Final = "chosen"
"""The rule of a target that a person named."""


def plan_repairs(
    db: Database, state: Database, root: Path, config: Config, *, note: str | None = None,
    sources: Iterable[str] | None = None, names: Names | None = None, now: float | None = None,
) -> Plan:  # fmt: skip
    """For all notes, for some (`sources`), or for one: its own links, and those that once led to it.

    Links that were left as they are meant are left out. `now` in seconds since the epoch.
    """
    if note is not None:
        led_here = state.rows("SELECT DISTINCT source FROM displaced WHERE target = ?", (note,))
        sources = {note, *(source for (source,) in led_here)}
    chosen = None if sources is None else sorted(set(sources))
    now = SystemClock().wall() if now is None else now
    if chosen is None:
        broken_since.follow(state, db, now)
    past = Past(db, state, now, chosen, partial(_text, root, config))
    planner = _Planner(db, state, root, config, past, names, whole=chosen is None)
    mends: list[Mend] = []
    dead: list[Mend] = []
    for mend in planner.mends(chosen):
        if note is not None and note not in (mend.source, mend.target):
            continue
        since = None if mend.candidates else planner.past.broken_since(mend.source, mend.linkpath)
        (dead if since is not None and now - since > GRACE_S else mends).append(mend)
    return Plan(tuple(mends), tuple(dead))


def retargeted(db: Database, root: Path, config: Config, mend: Mend, target: NotePath) -> Mend:
    """The same link led to the note that a person named. Raises NotFoundError, UsageError where it cannot be."""
    row = next((one for one in written_so(db, mend.source, mend.raw) if one.link.line == mend.line), None)
    if row is None:
        raise NotFoundError(f"{mend.raw} does not stand in {mend.source} any more.", "Look again: kb repair")
    if files.by_path(db, target) is None:
        raise NotFoundError(f"There is no note {target}.", "Name one that is there, by its path")
    planner = _Planner(db, None, root, config, None, None, whole=False)
    verdict = Verdict(target, CHOSEN, BY_IDENTITY, mend.candidates, ("You chose it.",), certain=True)
    (made,) = planner.written(row.source, [(row, verdict, row.link.subpath)])
    if not made.edits:
        raise UsageError(f"{mend.raw} cannot lead to {target}: {' '.join(made.reasons)}", "Write the link by hand")
    return made


Judged = tuple[Row, Verdict, str | None]
"""A link, where it should lead, and to which heading or block."""


class _Planner:
    def __init__(
        self, db: Database, state: Database | None, root: Path, config: Config, past: Past | None, names: Names | None,
        *, whole: bool,
    ) -> None:  # fmt: skip
        self._db = db
        self._state = state
        self._root = root
        self._config = config
        self._past = past
        self._names = names
        self._ids: dict[str, int | None] = {}
        if whole:
            groups: dict[str, list[tuple[int, str, int]]] = {}
            for key, number, path, kind in files.all_named(db):
                groups.setdefault(key, []).append((number, path, kind))
                self._ids[path] = number
            self._resolver = Resolver(lambda key: groups.get(key, ()))
        else:
            self._resolver = Resolver(lambda key: files.named(db, key))

    @property
    def past(self) -> Past:
        assert self._past is not None  # noqa: S101 - only a single retargeted link goes without
        return self._past

    def mends(self, sources: Sequence[str] | None) -> list[Mend]:
        found = [*self._links(sources), *self._anchors(sources)]
        found.sort(key=lambda one: one[0].source)
        mends: list[Mend] = []
        for source, group in groupby(found, key=lambda one: one[0].source):
            mends += self.written(source, list(group))
        return mends

    # --- where links should lead

    def _links(self, sources: Sequence[str] | None) -> list[Judged]:
        rows = broken(self._db, sources)
        met = {row.mark for row in rows}
        for mark in (*self.past.displaced, *self.past.lost):
            if mark not in met:
                met.add(mark)
                rows += [row for row in written_so(self._db, mark[0], mark[1]) if row.mark == mark and row.target]
        judged: list[Judged] = []
        rows = [r for r in rows if r.link.linkpath and not self.past.is_left(r.source, r.link.linkpath)]
        if rows and self._names is None:
            self._names = Names(self._db)
        if self._names is not None:
            self._names.prepare(row.link.linkpath for row in rows)
        for row in rows:
            assert self._names is not None  # noqa: S101 - there are rows
            verdict = judge(row, self.past, self._names)
            if verdict is not None:
                judged.append((row, verdict, row.link.subpath))
        return judged

    def _anchors(self, sources: Sequence[str] | None) -> list[Judged]:
        """Links whose note is there, and whose heading or block was renamed."""
        judged: list[Judged] = []
        for row in without_anchor(self._db, sources):
            subpath = row.link.subpath
            if row.target is None or subpath is None or row.mark in self.past.displaced or self._state is None:
                continue
            now = current_anchor(self._state, row.target, subpath)
            number = self._id(row.target)
            if now is None or now == subpath or number is None or not self._has(number, now):
                continue
            rule = "block" if subpath.startswith("^") else "heading"
            told = f"In {row.target}, {subpath} was renamed to {now}."
            only = (Candidate(row.target, ANCHOR_SCORE, rule),)
            judged.append((row, Verdict(row.target, rule, ANCHOR_SCORE, only, (told,), certain=True), now))
        return judged

    def _has(self, number: int, subpath: str) -> bool:
        headings, blocks = links.headings_and_blocks(self._db, number)
        return subpath_found(subpath, [row[1] for row in json.loads(headings)], json.loads(blocks))

    # --- how they are written

    def written(self, source: str, judged: Sequence[Judged]) -> list[Mend]:
        """With edits against the bytes of now, proved together, else one by one."""
        aimed = any(verdict.target is not None for _, verdict, _ in judged)
        sheet = sheet_of(self._root, source, self._config) if aimed else ""
        mends: list[Mend] = []
        made: list[tuple[int, Rewriting]] = []
        for row, verdict, subpath in judged:
            mend = _unwritten(row, verdict)
            if verdict.target is not None:
                mend, rewriting = self._write(sheet, row, mend, verdict.target, subpath)
                if rewriting is not None:
                    made.append((len(mends), rewriting))
            mends.append(mend)
        if isinstance(sheet, Sheet) and made:
            together = sheet.proved([one for _, one in made], [e for at, _ in made for e in mends[at].edits])
            for at, rewriting in made if together is not None else ():
                why_not = sheet.proved([rewriting], mends[at].edits) if len(made) > 1 else together
                if why_not is not None:
                    mends[at] = _doubtful(mends[at], f"Written so, {why_not}.", edits=())
        return mends

    def _write(
        self, sheet: "Sheet | str", row: Row, mend: Mend, target: NotePath, subpath: str | None
    ) -> tuple[Mend, Rewriting | None]:  # fmt: skip
        number = self._id(target)
        if number is None:
            return _doubtful(mend, f"{target} is not there any more."), None
        linkpath = row.link.linkpath
        if mend.rule not in ("heading", "block"):
            spelled = spell(row.link, row.source, row.source_id, target, number, self._resolver)
            if spelled is None:
                return _doubtful(mend, "A link of this kind cannot name it."), None
            linkpath = spelled
        if isinstance(sheet, str):
            return _doubtful(mend, sheet), None
        link = sheet.find(row.link)
        if link is None:
            return _doubtful(mend, "The note has changed, and the link is not there any more."), None
        new_raw: str | None = linkpath
        if not is_card(link):
            new_raw = retarget(link, linkpath, subpath)
            if mend.rule == "alias" and is_wiki(link):
                new_raw = with_display(link, linkpath, link.display, "\\|" if sheet.in_table(link) else "|")
        if new_raw is None:
            return _doubtful(mend, "A link of this kind cannot name it."), None
        mend = replace(mend, replacement=new_raw, seen=sheet.sha256)
        if sheet.refusal or row.protected:
            return _doubtful(mend, sheet.refusal or "It is protected (kb_protect), so it is not written."), None
        rewriting = Rewriting(link, new_raw, (linkpath, subpath))
        edits = sheet.edits(rewriting)
        if edits is None:
            return _doubtful(mend, "Where the link stands is not certain."), None
        return replace(mend, edits=edits, written=rewriting.written), rewriting

    def _id(self, path: str) -> int | None:
        if path not in self._ids:
            self._ids[path] = self._db.value("SELECT max(id) FROM files WHERE path = ?", (path,))
        return self._ids[path]


def _unwritten(row: Row, verdict: Verdict) -> Mend:
    link = row.link
    return Mend(
        row.source, link.line, link.raw, link.linkpath, link.subpath, link.raw, verdict.target, verdict.rule,
        verdict.confidence, verdict.certain and verdict.rule != NONE, (), "", verdict.candidates, verdict.reasons,
    )  # fmt: skip


def _doubtful(mend: Mend, reason: str, edits: tuple[Edit, ...] | None = None) -> Mend:
    found = replace(mend, certain=False, reasons=(*mend.reasons, reason))
    return found if edits is None else replace(found, edits=edits, written=None)


def _text(root: Path, config: Config, path: str) -> str | None:
    try:
        return read(root, path, config).text
    except (Unreadable, VanishedError):
        return None
