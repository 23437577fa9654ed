"""Parts of the graph worth a map: around a note, clusters, orphans with what they may be tied to, a folder, a tag,
the answers to a question."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ohmykb.errors import NotFoundError
from ohmykb.search.find import find_note
from ohmykb.search.meaning import Arm
from ohmykb.search.related import NO_TIES, Ties, related
from ohmykb.store import graph as rows
from ohmykb.store import maps
from ohmykb.store.connection import Database
from ohmykb.store.maps import Drawn, Link

SMALLEST: Final = 3
"""Notes of a cluster that is worth a group."""
CLUSTERS: Final = 8
ROUNDS: Final = 20
PROPOSED: Final = 2
"""Notes that an orphan may be tied to."""


@dataclass(frozen=True, slots=True)
class Region:
    notes: tuple[Drawn, ...]
    """The most telling first."""
    links: tuple[Link, ...]
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """(what joins them, their ids)."""
    proposed: tuple[tuple[int, int], ...] = field(default=())
    """Ties that are no links yet."""
    hidden: tuple[Drawn, ...] = field(default=())
    """Those that did not find room."""
    centre: int | None = None


def around(db: Database, name: str, hops: int, most: int) -> Region:
    """Notes one or two links away, the nearest and most linked first. Raises NotFoundError, AmbiguousError."""
    note, _ = find_note(db, name)
    near = [one.id for one in rows.one_hop(db, note)]
    ids = dict.fromkeys([note, *near])
    if hops == 2:
        ids |= dict.fromkeys(far.id for far in rows.two_hops(db, note, most * 4))
    return _region(db, [note], [one for one in ids if one != note], most, centre=note, near=set(near))


def folder(db: Database, name: str, most: int) -> Region:
    """Raises NotFoundError."""
    return _some(db, maps.in_folder(db, name), most, f"There is no note in the folder {name!r}.")


def tag(db: Database, name: str, most: int) -> Region:
    """Raises NotFoundError."""
    return _some(db, maps.tagged(db, name.lower().lstrip("#")), most, f"There is no note with the tag {name!r}.")


def found(db: Database, paths: Sequence[str], most: int) -> Region:
    """Answers of a probe, in their order, and what is between them."""
    ids = [find_note(db, path)[0] for path in paths if path.endswith(".md")]
    return _region(db, ids, [], most)


def lone(db: Database, most: int, arms: Sequence[Arm], ties: Ties = NO_TIES) -> Region:
    """Orphans, each with the notes it may belong to. Raises NotFoundError where there are none."""
    paths = rows.orphans(db)[0]
    if not paths:
        raise NotFoundError("No note is an orphan.", "Draw another map, of --clusters for one")
    proposed: list[tuple[int, int]] = []
    ids: dict[int, None] = {}
    for path in paths:
        note = find_note(db, path)[0]
        near = related(db, path, n=PROPOSED, arms=arms, ties=ties)["related"]
        others = [find_note(db, one["path"])[0] for one in near]
        if len(ids) + 1 + len(others) > most:
            break
        ids |= dict.fromkeys([note, *others])
        proposed += [(other, note) for other in others]
    told = _region(db, list(ids), [], most)
    left = [find_note(db, path)[0] for path in paths if find_note(db, path)[0] not in ids]
    hidden = tuple(maps.notes(db, left).values())
    return Region(told.notes, told.links, told.groups, tuple(proposed), hidden)


def clusters(db: Database, most: int) -> Region:
    """The largest clusters of the vault, by the links among its notes, each named by what joins it."""
    ids = maps.all_notes(db)
    links = maps.ties(db, ids)
    label = _propagated(ids, links)
    sizes = Counter(label.values())
    names = [name for name, size in sizes.most_common() if size >= SMALLEST][:CLUSTERS]
    if not names:
        raise NotFoundError("No notes hang together here yet.", "Draw another map, of a folder for one")
    known = maps.notes(db, ids)
    each = max(SMALLEST, most // len(names))
    groups = []
    shown: list[int] = []
    left: list[int] = []
    inside: Counter[int] = Counter()
    for link in links:
        if label.get(link.source) == label.get(link.target):
            inside[link.source] += 1
            inside[link.target] += 1
    for name in names:
        own = sorted((n for n in label if label[n] == name and n in known), key=lambda n: (-inside[n], known[n].path))
        groups.append((_joined_by(db, known, own), tuple(own[:each])))
        shown += own[:each]
        left += own[each:]
    told = _region(db, shown, [], most)
    left.sort(key=lambda n: (-inside[n], known[n].path))
    return Region(told.notes, told.links, tuple(groups), (), tuple(known[n] for n in left))


def _propagated(ids: Sequence[int], links: Sequence[Link]) -> dict[int, int]:
    """A label a note: the one that most of its neighbours have, until nothing changes (Raghavan et al. 2007)."""
    near: dict[int, Counter[int]] = {}
    for link in links:
        near.setdefault(link.source, Counter())[link.target] += 1
        near.setdefault(link.target, Counter())[link.source] += 1
    label = {note: note for note in ids if note in near}
    # A hub is nobody's neighbour more than others: what it links counts by its share.
    weight = {note: 1 / sum(others.values()) ** 0.5 for note, others in near.items()}
    order = sorted(label, key=lambda note: (len(near[note]), note))
    for _ in range(ROUNDS):
        changed = False
        for note in order:
            votes: dict[int, float] = {}
            for other, count in near[note].items():
                votes[label[other]] = votes.get(label[other], 0.0) + count * weight[other]
            best = max(votes, key=lambda one: (votes[one], one == label[note], -one))
            if best != label[note]:
                label[note] = best
                changed = True
        if not changed:
            break
    return label


def _joined_by(db: Database, known: dict[int, Drawn], own: Sequence[int]) -> str:
    """A tag, else a folder, that most of them share and few others have; else the note most of them link to."""
    wanted = len(own) * 0.6
    tags = Counter(tag for tags in maps.tags_of(db, own).values() for tag in tags)
    for tag, count in tags.most_common(3):
        if count >= wanted:
            return f"#{tag}"
    folders = Counter(known[note].path.rpartition("/")[0] for note in own)
    name, count = folders.most_common(1)[0]
    if name and count >= wanted:
        return name
    return known[own[0]].title


def _some(db: Database, ids: Sequence[int], most: int, none: str) -> Region:
    if not ids:
        raise NotFoundError(none, "See the notes with: kb graph --json")
    return _region(db, [], ids, most)


def _region(
    db: Database, first: Sequence[int], others: Sequence[int], most: int, *, centre: int | None = None,
    near: set[int] | None = None,
) -> Region:  # fmt: skip
    known = maps.notes(db, [*first, *others])
    order = [note for note in dict.fromkeys(first) if note in known]
    rest = [note for note in dict.fromkeys(others) if note in known and note not in set(order)]
    rest.sort(key=lambda note: (note not in (near or ()), -known[note].links, known[note].path))
    order += rest
    shown = order[:most]
    links = tuple(maps.ties(db, shown))
    groups = () if centre is not None else _by_folder(known, shown)
    return Region(tuple(known[n] for n in shown), links, groups, (), tuple(known[n] for n in order[most:]), centre)


def _by_folder(known: dict[int, Drawn], shown: Sequence[int]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Folders with several of the notes, where there are several such folders."""
    folders: dict[str, list[int]] = {}
    for note in shown:
        folders.setdefault(known[note].path.rpartition("/")[0], []).append(note)
    groups = [(name, tuple(ids)) for name, ids in sorted(folders.items()) if name and len(ids) >= SMALLEST]
    return tuple(groups) if 2 <= len(groups) <= CLUSTERS else ()
