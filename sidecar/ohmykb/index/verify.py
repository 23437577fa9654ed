"""Proof that the index equals the disk: everything is read and parsed afresh and laid beside it."""

import json
from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

from ohmykb.config import Config
from ohmykb.index.draft import draft_canvas, draft_note, draft_unreadable
from ohmykb.index.resolve import Resolver, subpath_found
from ohmykb.note import Scope
from ohmykb.store import content, files, fulltext, vectors
from ohmykb.store.connection import Database, snapshot
from ohmykb.store.files import CANVAS, NOTE, OTHER
from ohmykb.store.notes import NoteRow
from ohmykb.vault.read import Unreadable, VanishedError, read
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import Entry, Walk, walk

SAMPLED = 4
"""Words of a note that are looked for in it, the rarest there are: all of them are counted besides."""


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
    if (fault := content.integrity(db)) is not None:
        yield Difference("", fault)
        return
    known = files.manifest(db)
    on_disk: dict[str, Entry] = {entry.path: entry for entry in seen.entries}
    hidden = tuple(seen.unreadable)
    unseen = {path for path in known.keys() - on_disk.keys() if path.startswith(hidden)} if hidden else set()
    for path in sorted(known.keys() - on_disk.keys() - unseen):
        yield Difference(path, "in the index, not on the disk")
    for path in sorted(on_disk.keys() - known.keys()):
        yield Difference(path, "on the disk, not in the index")
    for key, _, path, _ in files.all_named(db):
        if key != files.name_key(path):
            yield Difference(path, f"links would find it by the name {key!r}")
    groups: dict[str, list[tuple[int, str, int]]] = {}
    both = []
    for path in sorted(known.keys() & on_disk.keys()):
        file, entry = known[path][1], on_disk[path]
        groups.setdefault(files.name_key(path), []).append((file, path, entry.kind))
        if (entry.kind, entry.scope) != known[path][2:4]:
            yield Difference(path, f"kind and scope {known[path][2:4]}, on the disk {(entry.kind, entry.scope)}")
        if entry.kind != OTHER:
            both.append((file, entry))
    vocabulary = dict(content.vocabulary(db))
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
        fresh = _fresh(root, file, entry, config, resolver)
        if fresh is None:
            yield Difference(entry.path, "changing or vanished while it was looked at")
            continue
        row, digest = fresh
        yield from _note_differences(db, row, digest)
        words = Counter(content.terms(row.words))
        expected.update(words)
        rarest = nsmallest(SAMPLED, words, key=lambda word: (vocabulary.get(word, 0), word))
        if not content.holds(db, file, rarest):
            yield Difference(entry.path, f"its words {_short(rarest)} are not found in it")
        if entry.kind == NOTE:
            found_in[file] = ([heading.text for heading in row.headings], list(row.blocks))
        for number, (link, target) in enumerate(zip(row.links, row.targets, strict=True)):
            if link.subpath is not None and target is not None and target not in unread:
                subpaths.append((entry.path, number, link.subpath, target, file))
    yield from _subpath_differences(db, subpaths, found_in)
    yield from _word_differences(db, vocabulary, expected)
    for path in content.with_problems(db):
        if path not in known or known[path][3] > Scope.SEARCH:
            yield Difference(path, "a problem is kept of what is not in the index")


def _fresh(root: Path, file: int, entry: Entry, config: Config, resolver: Resolver) -> tuple[NoteRow, bytes] | None:
    """The note as it is now, and its hash."""
    try:
        text = read(root, entry.path, config)
    except VanishedError:
        return None
    except Unreadable as error:
        return None if error.changing else (draft_unreadable(file, entry.path, [error.problem]), files.UNREADABLE)
    draft = draft_canvas if entry.kind == CANVAS else draft_note
    row = draft(file, entry.path, text.text, text.problems)
    targets = [resolver.resolve(link.linkpath, entry.path, file) for link in row.links]
    return row._replace(targets=targets), bytes.fromhex(text.sha256)


def _note_differences(db: Database, row: NoteRow, digest: bytes) -> Iterator[Difference]:
    recorded = files.hashes(db, [row.id])[row.id]
    if recorded is None:
        yield Difference(row.path, "its text is not in the index yet")
        return
    stored = content.note(db, row.id)
    if stored is None:
        yield Difference(row.path, "recorded as read, and not in the index")
        return
    if recorded != digest:
        yield Difference(row.path, f"hash: the index has {recorded.hex() or 'none'}, the disk {digest.hex() or 'none'}")
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


def _word_differences(db: Database, stored: dict[str, int], expected: Counter[str]) -> Iterator[Difference]:
    for term in sorted(expected.keys() | stored.keys()):
        if expected.get(term, 0) != stored.get(term, 0):
            yield Difference(
                "", f"word {term!r}: {stored.get(term, 0)} in the index, {expected.get(term, 0)} on the disk"
            )
    yield from (Difference("", fault) for fault in vectors.faults(db))
    if fulltext.size(db) != content.documents(db):
        yield Difference("", f"{content.documents(db)} texts can be searched, {fulltext.size(db)} notes are known")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else text[:200] + "…"
