"""Links kept true when the files they may mean come, go or change their headings."""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from ohmykb.index.resolve import Resolver, subpath_found
from ohmykb.store import links
from ohmykb.store.connection import Database


class Shift(NamedTuple):
    """A link that leads elsewhere than before."""

    link: int
    source: int
    was: int
    now: int | None


def resolve_again(db: Database, names: Iterable[str], resolver: Resolver) -> list[Shift]:
    """Resolves every link that looks for one of these names (`files.name_key`).

    Returns those that led to a file which is still there, and do not lead to it any more.
    """
    shifts: list[Shift] = []
    for name in names:
        changed = []
        for link in links.by_name(db, name):
            target = resolver.resolve(link.linkpath, link.source_path, link.source)
            if target != link.target:
                changed.append((target, link.id))
                if link.target is not None:
                    shifts.append(Shift(link.id, link.source, link.target, target))
        links.set_targets(db, changed)
    return shifts


def check_subpaths(db: Database) -> None:
    """Looks up the heading or block of every resolved link where that is not done yet."""
    for target, group in groupby(links.unchecked_subpaths(db), key=lambda row: row[2]):
        headings, blocks = links.headings_and_blocks(db, target)
        texts = [row[1] for row in json.loads(headings)]
        ids = json.loads(blocks)
        links.set_subpaths(db, [(int(subpath_found(sub, texts, ids)), link) for link, sub, _ in group])
