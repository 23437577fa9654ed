"""Links kept true when the files they may mean come, go or change their headings."""

import json
from collections.abc import Iterable
from itertools import groupby

from ohmykb.index.resolve import Resolver, subpath_found
from ohmykb.store import files, links
from ohmykb.store.connection import Database


def resolve_again(db: Database, names: Iterable[str]) -> None:
    """Resolves every link that looks for one of these names (`files.name_key`)."""
    resolver = Resolver(lambda key: files.named(db, key))
    for name in names:
        changed = []
        for link in links.by_name(db, name):
            target = resolver.resolve(link.linkpath, link.source_path, link.source)
            if target != link.target:
                changed.append((target, link.id))
        links.set_targets(db, changed)


def check_subpaths(db: Database) -> None:
    """Looks up the heading or block of every resolved link where that is not done yet."""
    for target, group in groupby(links.unchecked_subpaths(db), key=lambda row: row[2]):
        headings, blocks = links.headings_and_blocks(db, target)
        texts = [row[1] for row in json.loads(headings)]
        ids = json.loads(blocks)
        links.set_subpaths(db, [(int(subpath_found(sub, texts, ids)), link) for link, sub, _ in group])
