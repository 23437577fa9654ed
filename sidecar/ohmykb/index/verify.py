"""Proof that the index equals the disk: everything is read and parsed afresh and laid beside it."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ohmykb.config import Config
from ohmykb.index.draft import draft_canvas, draft_note, draft_unreadable
from ohmykb.index.resolve import Resolver, subpath_found
from ohmykb.note import Scope
from ohmykb.store import content, files, fulltext
from ohmykb.store.connection import Database, snapshot
from ohmykb.store.files import CANVAS, NOTE, OTHER
from ohmykb.store.notes import NoteRow
from ohmykb.vault.read import Unreadable, VanishedError, read
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import Entry, Walk, walk


class Difference(NamedTuple):
    path: str
    what: str
    """A sentence: what the index says, what the disk says."""


def verify(root: Path, db: Database, config: Config, rules: Rules) -> list[Difference]:
    """All differences between the index and the vault as it lies on the disk now."""
    seen = walk(root, rules, config)
    with snapshot(db):
        return list(_differences(root, db, config, seen))


def _differences(root: Path, db: Database, config: Config, seen: Walk) -> Iterator[Difference]:
    known = files.manifest(db)
    on_disk: dict[str, Entry] = {entry.path: entry for entry in seen.entries}
    hidden = tuple(seen.unreadable)
    unseen = {path for path in known.keys() - on_disk.keys() if path.startswith(hidden)} if hidden else set()
    for path in sorted(known.keys() - on_disk.keys() - unseen):
        yield Difference(path, "in the index, not on the disk")
    for path in sorted(on_disk.keys() - known.keys()):
        yield Difference(path, "on the disk, not in the index")
    groups: dict[str, list[tuple[int, str, int]]] = {}
    both = []
    for path in sorted(known.keys() & on_disk.keys()):
        file, entry = known[path][1], on_disk[path]
        groups.setdefault(files.name_key(path), []).append((file, path, entry.kind))
        if (entry.kind, entry.scope) != known[path][2:4]:
            yield Difference(path, f"kind and scope {known[path][2:4]}, on the disk {(entry.kind, entry.scope)}")
        if entry.kind != OTHER:
            both.append((file, entry))
    expected: Counter[str] = Counter()
    unread = {known[path][1] for path in unseen}
    for path in unseen:  # in folders that cannot be read now: what is known of them stands
        file, kind = known[path][1:3]
        groups.setdefault(files.name_key(path), []).append((file, path, kind))
        if (stored := content.note(db, file)) is not None:
            draft = draft_canvas if kind == CANVAS else draft_note
            expected.update(content.terms(draft(file, path, stored.text, ()).words))
    resolver = Resolver(lambda key: groups.get(key, ()))
    found_in: dict[int, tuple[list[str], list[str]]] = {}
    subpaths: list[tuple[str, int, str, int, int | None]] = []
    for file, entry in both:
        if entry.scope > Scope.SEARCH:
            if content.note(db, file) is not None:
                yield Difference(entry.path, "left out of the index, and yet in it")
            continue
        row = _fresh(root, file, entry, config, resolver)
        if row is None:
            yield Difference(entry.path, "changing or vanished while it was looked at")
            continue
        yield from _note_differences(db, row, pending=bool(known[entry.path][8]))
        expected.update(content.terms(row.words))
        if entry.kind == NOTE:
            found_in[file] = ([heading.text for heading in row.headings], list(row.blocks))
        for number, (link, target) in enumerate(zip(row.links, row.targets, strict=True)):
            if link.subpath is not None and target is not None and target not in unread:
                subpaths.append((entry.path, number, link.subpath, target, file))
    yield from _subpath_differences(db, subpaths, found_in)
    yield from _word_differences(db, expected)


def _fresh(root: Path, file: int, entry: Entry, config: Config, resolver: Resolver) -> NoteRow | None:
    try:
        text = read(root, entry.path, config)
    except VanishedError:
        return None
    except Unreadable as error:
        return None if error.changing else draft_unreadable(file, entry.path, [error.problem])
    draft = draft_canvas if entry.kind == CANVAS else draft_note
    row = draft(file, entry.path, text.text, text.problems)
    targets = [resolver.resolve(link.linkpath, entry.path, file) for link in row.links]
    return row._replace(targets=targets)


def _note_differences(db: Database, row: NoteRow, *, pending: bool) -> Iterator[Difference]:
    if pending:
        yield Difference(row.path, "its text is not in the index yet")
        return
    stored = content.note(db, row.id)
    if stored is None:
        yield Difference(row.path, "recorded as read, and not in the index")
        return
    wanted = content.expected(row)
    for field, there, here in zip(content.Content._fields, stored, wanted, strict=True):
        if there != here:
            yield Difference(row.path, f"{field}: the index has {_short(there)}, the disk {_short(here)}")


def _subpath_differences(
    db: Database,
    subpaths: list[tuple[str, int, str, int, int | None]],
    found_in: dict[int, tuple[list[str], list[str]]],
) -> Iterator[Difference]:
    for path, number, subpath, target, source in subpaths:
        there = content.subpath_found(db, source or 0, number)
        here = int(subpath_found(subpath, *found_in[target])) if target in found_in else None
        if there != here and not content.is_empty(db, target):
            yield Difference(path, f"link {number + 1}, #{subpath}: found is {there}, should be {here}")


def _word_differences(db: Database, expected: Counter[str]) -> Iterator[Difference]:
    stored = dict(content.vocabulary(db))
    for term in sorted(expected.keys() | stored.keys()):
        if expected.get(term, 0) != stored.get(term, 0):
            yield Difference(
                "", f"word {term!r}: {stored.get(term, 0)} in the index, {expected.get(term, 0)} on the disk"
            )
    if (fault := content.integrity(db)) is not None:
        yield Difference("", fault)
    if fulltext.size(db) != content.documents(db):
        yield Difference("", f"{content.documents(db)} texts can be searched, {fulltext.size(db)} notes are known")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else text[:200] + "…"
