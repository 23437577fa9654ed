"""Questions to the graph, answered in the shapes of the contract."""

from typing import Any

from ohmykb.errors import UsageError
from ohmykb.search.find import find_note as find_note
from ohmykb.search.related import NO_TIES, Ties, related
from ohmykb.search.suggest import Names
from ohmykb.store import graph as rows
from ohmykb.store import listing
from ohmykb.store.connection import Database

Answer = dict[str, Any]

MOST = 500
ALIKE_SHARE = 5
"""One in so many neighbours is kept for notes that share a tag, type or domain, where there are any."""


def query(db: Database, name: str, *, hops: int = 1, n: int = 50, ties: Ties = NO_TIES) -> Answer:
    """Neighbours of a note, each with its relation, and notes related through shared neighbours."""
    if hops not in (1, 2):
        raise UsageError(f"hops is 1 or 2, not {hops}.", "Use --hops 1 or --hops 2")
    n = min(max(n, 1), MOST)
    note, path = find_note(db, name)
    near = rows.one_hop(db, note)
    near.sort(key=lambda one: (one.path, one.relation))
    alike = rows.alike(db, note, n)
    linked = {one.id for one in near}
    alike = [one for one in alike if one.id not in linked]
    room = max(n - len(near), 0)
    kept = min(len(alike), n // ALIKE_SHARE)
    far = rows.two_hops(db, note, max(room - kept, 0)) if hops == 2 else []
    neighbors = [*near[:n], *far, *alike[: max(room - len(far), 0)]]
    return {
        "note": path,
        "neighbors": [
            {"path": x.path, "title": x.title, "hops": x.hops, "via": x.via, "relation": x.relation} for x in neighbors
        ],
        "related": related(db, path, n=min(n, 10), ties=ties)["related"],
    }


def orphans(db: Database) -> Answer:
    """Notes that no other note links to, and of them those without links either way."""
    lone, isolated, notes = rows.orphans(db)
    return {
        "orphans": lone,
        "isolated": isolated,
        "machine_linked": [],
        "notes": notes,
        "orphan_rate": round(len(lone) / notes, 4) if notes else 0.0,
    }


def unresolved(db: Database) -> Answer:
    """Every link that leads nowhere, with what it may have meant."""
    found = listing.unresolved(db)
    names = Names(db) if found else None
    if names is not None:
        names.prepare(linkpath for _, _, linkpath, _ in found)
    return {
        "unresolved": [
            {
                "source": source,
                "raw": raw,
                "line": line,
                "suggestions": [
                    {"path": one.path, "score": one.score, "rule": one.rule}
                    for one in (names.suggest(linkpath, source) if names is not None else ())
                ],
            }
            for source, raw, linkpath, line in found
        ]
    }


def graph(db: Database) -> Answer:
    """The whole graph, sorted and stable."""
    return {"notes": listing.notes(db), "links": listing.links(db), "problems": listing.problems(db)}


def note(db: Database, name: str) -> Answer:
    """One note: what it says of itself, its links both ways, its problems."""
    number, path = find_note(db, name)
    about = rows.about(db, number)
    return {
        "path": path,
        **about,
        "links": listing.links_of(db, number),
        "backlinks": listing.links_to(db, number),
        "problems": listing.problems(db, path),
    }


def problems(db: Database) -> Answer:
    """Everything found wrong in the vault."""
    return {"problems": listing.problems(db)}


def counts(db: Database) -> Answer:
    """The numbers of the index."""
    return dict(listing.counts(db))
