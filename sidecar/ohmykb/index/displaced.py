"""Which links files that moved or went took along: noticed while the index still knows what they meant."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ohmykb.index.diff import Diff, Returned
from ohmykb.index.relate import Shift
from ohmykb.index.resolve import Resolver
from ohmykb.store import displaced, files, links, state
from ohmykb.store.connection import Database
from ohmykb.store.displaced import Displaced, Held, How, Lost
from ohmykb.store.files import Known
from ohmykb.vault.conflicts import conflict_copy


class Losing(NamedTuple):
    gone: dict[str, bytes | None]
    """Path → sha256 of files that are about to be taken out of the index."""
    links: list[Held]
    own: list[Held]
    """Their own links to others."""


def about_to_be_lost(db: Database, gone: Mapping[str, Known]) -> Losing:
    """The links to files that are about to be taken out of the index."""
    if not gone:
        return Losing({}, [], [])
    ids = [row[1] for row in gone.values()]
    hashes = files.hashes(db, ids)
    return Losing(
        {path: hashes.get(row[1]) for path, row in gone.items()},
        displaced.leading_to(db, ids),
        displaced.leading_from(db, ids),
    )


def lost(db: Database, losing: Losing, at: float) -> list[Lost]:
    """The same, once they are out and every link leads where it leads now."""
    falls = displaced.led_to(db, [one.id for one in losing.links]) if losing.links else {}
    return [
        Lost(one.source, one.raw, one.linkpath, one.subpath, one.kind, one.target, one.hash, at, falls.get(one.id))
        for one in losing.links
    ]


def displaced_by(db: Database, diff: Diff, shifts: Sequence[Shift], resolver: Resolver, at: float) -> list[Displaced]:
    """Links that do not lead any more where they led, since files moved.

    `shifts` are those of the names concerned. What a merely new file takes over was given to it, in the app
    as well. A sync tool that sets a note aside as a conflict copy moves nobody's links.
    """
    aside = {file for file, old, entry in diff.moved if set_aside(old, entry.path)}
    moved = {file for file, _, _ in diff.moved} - aside
    if not moved:
        return []
    found: dict[int, tuple[int, How]] = {}
    for shift in shifts:
        how = _how(shift, moved)
        if how is not None and shift.was not in aside:
            found[shift.link] = shift.was, how
    for link in links.by_source(db, sorted(moved)):
        # Its rows are as they were read in the old folder.
        if link.id in found or link.target is None or link.target in aside:
            continue
        if resolver.resolve(link.linkpath, link.source_path, link.source) != link.target:
            found[link.id] = link.target, "source"
    held = displaced.held(db, [(link, was) for link, (was, _) in found.items()])
    return [
        Displaced(one.source, one.raw, one.linkpath, one.subpath, one.kind, one.target, at, found[one.id][1])
        for one in held
    ]


def brought_back(state_db: Database, returned: Sequence[Returned], at: float) -> list[Displaced]:
    """Where the links of files led that left and came back elsewhere; what they led to may have moved as well.

    Those that lead there still are told from the others when repairs are planned.
    """
    found = []
    for since, some in groupby(sorted(returned, key=lambda one: one.since), key=lambda one: one.since):
        links_of = [(one.new, link) for one in some for link in one.links]
        now = state.follow_all(state_db, {link.target for _, link in links_of}, since)
        found += [
            Displaced(new, link.raw, link.linkpath, link.subpath, link.kind, now[link.target], at, "source")
            for new, link in links_of
        ]
    return found


def _how(shift: Shift, moved: set[int]) -> How | None:
    if shift.was in moved:
        return "target"
    if shift.source in moved:
        return "source"
    return "other" if shift.now in moved else None


def set_aside(old: str, new: str) -> bool:
    """Whether a sync tool moved this out of the way, as a conflict copy: nobody renamed it."""
    name = old.rsplit("/", 1)[-1]
    return conflict_copy(new.rsplit("/", 1)[-1], lambda other: other == name) is not None
