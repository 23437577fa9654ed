"""The one writer of the index: makes it true to the disk, a part or the whole, in small transactions.

What is recorded as read is recorded in the transaction that stored it, so that a kill at any point
leaves files pending, never wrongly done.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from ohmykb.clock import Clock
from ohmykb.config import Config
from ohmykb.index import anchors, displaced
from ohmykb.index.clashes import clashes
from ohmykb.index.departed import Departed
from ohmykb.index.diff import Diff, Returned, compare
from ohmykb.index.draft import draft_canvas, draft_note, draft_unreadable
from ohmykb.index.pairing import pair_moves
from ohmykb.index.relate import check_subpaths, resolve_again
from ohmykb.index.resolve import Resolver
from ohmykb.note import NotePath, Problem, Scope, Stamp
from ohmykb.store import anchors as renamed
from ohmykb.store import bulk, files, fulltext, links, notes, state
from ohmykb.store import displaced as strays
from ohmykb.store.connection import Database, transaction
from ohmykb.store.files import CANVAS, NOTE, OTHER, UNREADABLE, Known
from ohmykb.vault.read import FileText, Unreadable, VanishedError, read
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import Entry, examine, kin, walk, walk_folder

BATCH_NOTES = 256
BATCH_SECONDS = 0.5
FRESH_NOTES, FRESH_SECONDS = 2048, 2.0
"""The same for the first build: the full-text index writes a segment a transaction, and merges them all."""
LOSS_SHARE = 0.1
LOSS_FLOOR = 4
"""A loss is sudden when it is more than a tenth of what is known, and more than a few files."""

Progress = Callable[[int, int, str], None]
"""done, total, what."""


def silent(done: int, total: int, what: str) -> None:
    """No progress wanted."""


@dataclass(slots=True)
class Outcome:
    """What one look at the disk changed in the index."""

    changed: set[str] = field(default_factory=set)
    """Paths new, changed or moved."""
    removed: set[str] = field(default_factory=set)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    held: frozenset[str] = frozenset()
    """Files that are missing, but too many at once to believe it before a second look."""
    empty: bool = False
    """Nothing is left in the vault: all that is known is held."""
    retry: set[str] = field(default_factory=set)
    """Files that were changing while they were read, or vanished before."""
    displaced: set[str] = field(default_factory=set)
    """Notes with links that lost what they meant, or whose lost target is there again elsewhere."""
    anchors: set[str] = field(default_factory=set)
    """Notes in which headings or block ids were renamed."""

    def touched(self) -> set[str]:
        return self.changed | self.removed

    def repairs_due(self) -> bool:
        """Whether links broke, or may be mended now."""
        return bool(self.displaced or self.anchors)


class Index:
    """Owns the writing connection. One thread at a time."""

    def __init__(self, root: Path, db: Database, history: Database, config: Config, rules: Rules, clock: Clock) -> None:
        self.root = root
        self.db = db
        self.config = config
        self.rules = rules
        self._history = history
        self._clock = clock
        self._departed = Departed()
        self.between_batches: Callable[[], None] = lambda: None
        """Called between transactions: where a pause or a stop takes hold."""
        self._file = Path(db.filename)
        self._inode = self._file.stat().st_ino

    def is_there(self) -> bool:
        """Whether the file is still the one that was opened: somebody may have deleted or replaced it."""
        try:
            return self._file.stat().st_ino == self._inode
        except OSError:
            return False

    def reconcile(self, progress: Progress = silent, *, agreed: frozenset[str] = frozenset()) -> Outcome:
        """Walks the whole vault and makes the index true to it.

        A sudden loss is `held` and not dropped, but for the files in `agreed`, which an earlier look
        already missed. A vault with nothing left in it is an unmounted drive, however often one looks.
        """
        progress(0, 0, "looking")
        files.settle_limit(self.db, self.config.limit)
        with _gc_paused():
            seen = walk(self.root, self.rules, self.config)
            known = files.manifest(self.db)
            diff = compare(seen.entries, known, seen.unreadable)
        self._pair_moves(diff)
        held = self._hold(diff, len(known), agreed if seen.entries else frozenset())
        outcome = Outcome(held=held, empty=bool(held) and not seen.entries)
        with transaction(self.db):
            notes.clear_problems(self.db, notes.ORIGIN_WALK)
            notes.put_problems(self.db, notes.ORIGIN_WALK, seen.problems.items())
        self._apply(diff, outcome, progress, fresh=not known)
        return outcome

    def refresh(self, hints: Sequence[str]) -> Outcome:
        """Looks at the named files and folders only (`hints` ending in `/` are folders)."""
        entries: dict[str, Entry] = {}
        known: dict[str, Known] = {}
        unreadable: list[str] = []
        asked: set[str] = set()
        found_problems: dict[str, Problem | None] = {}
        appeared = self._appeared(hints)
        for hint in (*hints, *sorted(kin(self.root, appeared) - set(hints))):
            folder = hint.rstrip("/")
            inside = [NotePath(folder), *files.under(self.db, folder)]
            if hint.endswith("/") or (self.root / folder).is_dir():
                seen = walk_folder(self.root, folder, self.rules, self.config)
                entries.update((entry.path, entry) for entry in seen.entries)
                unreadable.extend(seen.unreadable)
                found_problems.update(dict.fromkeys(notes.walk_problems_under(self.db, folder)))
                found_problems[folder] = examine(self.root, folder, self.rules)[1]
                found_problems.update(seen.problems.items())
            else:
                entry, problem = examine(self.root, hint, self.rules)
                if entry is not None:
                    entries[entry.path] = entry
                found_problems[hint] = problem
            asked.update(inside)
        for path in asked | entries.keys():  # the disk may spell an entry otherwise than asked for
            if (row := files.known(self.db, path)) is not None:
                known[path] = row
        self._other_ends(entries, known)
        diff = compare(entries.values(), known, unreadable)
        self._pair_moves(diff)
        held = self._hold(diff, files.count(self.db), frozenset())
        outcome = Outcome(held=held)
        self._put_problems(found_problems | clashes(self.root, self.db, self.rules, appeared))
        if not diff.empty() or diff.restamped:
            self._apply(diff, outcome, silent, fresh=False)
        return outcome

    def _other_ends(self, entries: dict[str, Entry], known: dict[str, Known]) -> None:
        """Adds where files that arrived came from: the other end of a move, told later, and what stands there now."""
        asked: set[int] = set()
        while True:
            arrived = {
                entry.stamp.inode for path, entry in entries.items()
                if path not in known or entry.stamp.inode != known[path][7]
            } - {0, *asked}  # fmt: skip
            asked |= arrived
            rows = [row for row in files.of_inodes(self.db, sorted(arrived)) if row[0] not in known]
            for row in rows:
                found = examine(self.root, row[0], self.rules)[0]
                if found is None or found.stamp.inode != row[7]:
                    known[row[0]] = row
                    entries.update({} if found is None else {row[0]: found})
            if not rows:
                return

    def _appeared(self, hints: Sequence[str]) -> list[str]:
        """Those that are new or gone, folders in any case: others may be judged by whether they are there."""
        return [
            hint.rstrip("/")
            for hint in hints
            if hint.endswith("/") or files.known(self.db, hint) is None or not (self.root / hint).exists()
        ]

    def _put_problems(self, found: dict[str, Problem | None]) -> None:
        """What the walk says of single paths now."""
        before = notes.walk_problems(self.db, found)
        now = {path: problem for path, problem in found.items() if problem is not None}
        if before == now:
            return
        with transaction(self.db):
            for path in found:
                notes.clear_problems(self.db, notes.ORIGIN_WALK, path)
            notes.put_problems(self.db, notes.ORIGIN_WALK, now.items())

    def close(self) -> None:
        self.db.close()
        self._history.close()

    def _pair_moves(self, diff: Diff) -> None:
        """A file gone here and new there is the same note, in this look or over two."""
        pair_moves(diff, lambda entry: self._text(entry.path), lambda ids: files.hashes(self.db, ids))
        for entry in diff.new:
            back = self._departed.back(entry.path, entry.stamp, lambda path=entry.path: self._text(path))  # type: ignore[misc]
            if back is not None and back.old != back.new:
                diff.returned.append(back)

    def _text(self, path: NotePath) -> FileText | None:
        try:
            return read(self.root, path, self.config)
        except (Unreadable, VanishedError):
            return None

    def _hold(self, diff: Diff, known: int, agreed: frozenset[str]) -> frozenset[str]:
        lost = diff.gone.keys() - agreed
        if len(lost) <= max(LOSS_FLOOR, known * LOSS_SHARE):
            return frozenset()
        for path in lost:
            del diff.gone[path]
        return frozenset(lost)

    def _apply(self, diff: Diff, outcome: Outcome, progress: Progress, *, fresh: bool) -> None:
        with bulk.mode(self.db) if fresh else _as_is(), _gc_paused():
            unread = self._file_rows(diff, outcome)
            resolver = self._resolver(fresh=fresh)
            total = len(unread)
            done = 0
            while done < total:
                self.between_batches()
                some = unread[done : done + (FRESH_NOTES if fresh else BATCH_NOTES)]
                done += self._batch(some, resolver, outcome, fresh=fresh)
                progress(done, total, "reading")
            if not diff.empty():
                progress(done, total, "linking")
        if not diff.empty():
            with transaction(self.db):
                check_subpaths(self.db)
        if diff.new and not fresh:
            outcome.displaced |= strays.remember_found(self._history, self.db)

    def _file_rows(self, diff: Diff, outcome: Outcome) -> list[tuple[int, Entry]]:
        """Known files brought in step in one transaction; returns those whose text is to be read."""
        unread = dict(diff.unread)
        names: set[str] = set()
        moved = [(old, entry.path) for _, old, entry in diff.moved]
        with transaction(self.db):
            losing = displaced.about_to_be_lost(self.db, diff.gone)
            self._departed.note(diff.gone, losing.gone, losing.own, self._clock)
            files.delete(self.db, [row[1] for row in diff.gone.values()])
            for path in diff.gone:
                notes.clear_problems(self.db, notes.ORIGIN_FILE, path)
            names.update(map(files.name_key, diff.gone))
            taken = {entry.path for _, _, entry in diff.moved}
            for file, old, _ in diff.moved:
                if old in taken:  # a name given on: free before it is taken
                    files.rename(self.db, file, f"/{file}")
            for file, old, entry in diff.moved:
                notes.clear_problems(self.db, notes.ORIGIN_FILE, old)
                files.rename(self.db, file, entry.path)
                names.update((files.name_key(old), files.name_key(entry.path)))
                files.set_scope(self.db, file, entry.scope)
                if _has_text(entry):
                    unread[file] = entry
                else:
                    self._leave_out(file)
            for file, entry in diff.rescoped:
                files.set_scope(self.db, file, entry.scope)
                if entry.scope > Scope.SEARCH and entry.kind != OTHER:
                    self._leave_out(file)
            ids = files.insert(self.db, ((e.path, e.kind, e.scope) for e in diff.new))
            names.update(files.name_key(entry.path) for entry in diff.new)
            unread.update((n, e) for n, e in zip(ids, diff.new, strict=True) if _has_text(e))
            files.set_stamps(self.db, [*diff.restamped, *_textless(diff, ids)])
            resolver = self._resolver(fresh=False)
            shifts = resolve_again(self.db, names, resolver) if names and not bulk.is_on(self.db) else []
            if moved or diff.gone or diff.returned:
                # Before the index commits: what is remembered in vain does no harm, what is forgotten is lost.
                stray = displaced.displaced_by(self.db, diff, shifts, resolver, self._clock.wall())
                self._remember(moved, diff.returned, losing, stray, outcome)
            if not diff.empty():
                files.advance(self.db)
        outcome.renamed.extend(moved)
        outcome.removed.update(diff.gone, (old for old, _ in moved))
        outcome.changed.update(e.path for e in diff.new)
        outcome.changed.update(new for _, new in moved)
        outcome.changed.update(e.path for _, e in diff.rescoped)
        return list(unread.items())

    def _remember(
        self,
        moved: Sequence[tuple[str, str]],
        returned: Sequence[Returned],
        losing: displaced.Losing,
        stray: list[strays.Displaced],
        outcome: Outcome,
    ) -> None:
        """What no rebuild of the index could know goes into the state database."""
        at = self._clock.wall()
        back = [one for one in returned if not displaced.set_aside(one.old, one.new)]
        renames = [pair for pair in moved if not displaced.set_aside(*pair)] + [(one.old, one.new) for one in back]
        if renames:
            state.record_renames(self._history, at, renames)
        stray = [*stray, *displaced.brought_back(self._history, back, at)]
        lost = displaced.lost(self.db, losing, at)
        with transaction(self._history):
            strays.remember_lost(self._history, losing.gone, lost, at)
            strays.remember_displaced(self._history, stray)
            if surely := [one for one in back if one.sure]:
                moved_back = {one.old: one.new for one in surely}
                since = min(one.since for one in surely)
                outcome.displaced |= strays.remember_returned(self._history, moved_back, since, at)
        outcome.displaced.update([one.source for one in stray], [one.source for one in lost])

    def _leave_out(self, file: int) -> None:
        """A file that stays a target of links, and nothing more."""
        notes.erase(self.db, [file])
        links.forget_subpaths(self.db, [file])
        files.set_pending(self.db, file)

    def _resolver(self, *, fresh: bool) -> Resolver:
        if not fresh:
            return Resolver(lambda key: files.named(self.db, key))
        groups: dict[str, list[tuple[int, str, int]]] = {}
        for key, file, path, kind in files.all_named(self.db):
            groups.setdefault(key, []).append((file, path, kind))
        return Resolver(lambda key: groups.get(key, ()))

    def _batch(self, todo: Sequence[tuple[int, Entry]], resolver: Resolver, outcome: Outcome, *, fresh: bool) -> int:
        """Reads, drafts and stores some files in one transaction; returns how many it came to."""
        start = perf_counter()
        rows: list[notes.NoteRow] = []
        stamps: list[tuple[Stamp, bytes, int]] = []
        done = 0
        stored = {} if fresh else files.hashes(self.db, [file for file, _ in todo])
        for file, entry in todo:
            if done and perf_counter() - start > (FRESH_SECONDS if fresh else BATCH_SECONDS):
                break
            done += 1
            try:
                text = read(self.root, entry.path, self.config)
            except VanishedError:
                outcome.retry.add(entry.path)
                continue
            except Unreadable as error:
                if error.changing:
                    outcome.retry.add(entry.path)
                    continue
                rows.append(draft_unreadable(file, entry.path, [error.problem]))
                stamps.append((entry.stamp, UNREADABLE, file))
                continue
            digest = bytes.fromhex(text.sha256)
            stamps.append((text.stamp, digest, file))
            if stored.get(file) == digest:
                continue
            draft = draft_note if entry.kind == NOTE else draft_canvas
            row = draft(file, entry.path, text.text, text.problems)
            targets = [resolver.resolve(link.linkpath, entry.path, file) for link in row.links]
            rows.append(row._replace(targets=targets))
        with transaction(self.db):
            if not fresh and (found := anchors.renamed_in(self.db, self._history, rows)):
                with transaction(self._history):
                    renamed.remember(self._history, found, self._clock.wall())
                outcome.anchors.update(one.note for one in found)
            notes.write(self.db, rows, fresh=fresh)
            if not fresh:
                links.forget_subpaths(self.db, [row.id for row in rows])
                fulltext.learn_terms(self.db, (row.words for row in rows))
            files.set_read(self.db, stamps)
            files.advance(self.db)
        outcome.changed.update(row.path for row in rows)
        return done


def _has_text(entry: Entry) -> bool:
    return entry.kind in (NOTE, CANVAS) and entry.scope <= Scope.SEARCH


def _textless(diff: Diff, ids: Sequence[int]) -> Iterator[tuple[Stamp, int]]:
    """Stamps and ids of moved and new files (`ids`) that nobody reads: a move is known by them."""
    for file, entry in (*((n, e) for n, _, e in diff.moved), *zip(ids, diff.new, strict=True)):
        if not _has_text(entry):
            yield entry.stamp, file


@contextmanager
def _as_is() -> Iterator[None]:
    yield


@contextmanager
def _gc_paused() -> Iterator[None]:
    # Rows by the ten thousand make the collector walk live objects again and again.
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
