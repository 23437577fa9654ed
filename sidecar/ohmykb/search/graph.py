"""Questions to the graph, answered in the shapes of the contract."""

from math import log
from typing import Any

from ohmykb.errors import AmbiguousError, NotFoundError, UsageError
from ohmykb.note import Scope
from ohmykb.search.suggest import Names
from ohmykb.store import files, fulltext, listing
from ohmykb.store import graph as rows
from ohmykb.store.connection import Database
from ohmykb.store.files import NOTE

Answer = dict[str, Any]

MOST = 500
ALIKE_SHARE = 5
"""One in so many neighbours is kept for notes that share a tag, type or domain, where there are any."""


def find_note(db: Database, name: str) -> tuple[int, str]:
    """(id, path) of the note meant: a path, or a name as in a link, its brackets and heading allowed.

    Raises NotFoundError, AmbiguousError, UsageError (a path that leads out of the vault).
    """
    if not name.strip() or name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
        raise UsageError(f"{name!r} is not a path in the vault.", "Give a path from the vault's top, or a name")
    name = name.encode(errors="replace").decode()  # a shell may hand over half characters
    if name.startswith("[[") and name.endswith("]]"):
        name = name[2:-2].split("|")[0].split("#")[0].strip()
    for spelled in (name, name + ".md"):
        row = files.by_path(db, spelled)
        if row is not None and row.kind == NOTE and row.scope <= Scope.SEARCH:
            return row.id, row.path
    key = files.path_key(name)
    key = key.removesuffix(".md")
    notes = [(n, p) for n, p, kind in files.named(db, files.name_key(name)) if kind == NOTE]
    found = [(n, p) for n, p in notes if fulltext.holds(db, n)]
    exact = [(n, p) for n, p in found if files.path_key(p)[:-3] == key]
    ending = [(n, p) for n, p in found if files.path_key(p)[:-3].endswith("/" + key)]
    for group in (exact, ending):
        if len(group) == 1:
            return group[0]
        if group:
            some = ", ".join(sorted(path for _, path in group)[:3])
            raise AmbiguousError(f"{name!r} may be {len(group)} notes: {some}.", "Give the whole path")
    likely = [one.path for one in Names(db).suggest(name)]
    meant = f"Did you mean {' or '.join(likely)}?" if likely else "Look for it: kb probe " + repr(name)
    raise NotFoundError(f"There is no note {name!r}.", meant)


def query(db: Database, name: str, *, hops: int = 1, n: int = 50) -> Answer:
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
        "related": related(db, path, n=min(n, 10))["related"],
    }


def related(db: Database, name: str, *, n: int = 10) -> Answer:
    """Notes not linked with this one that share neighbours with it.

    Adamic–Adar: each shared neighbour counts 1 / ln(1 + its own neighbours), so that a hub joins little.
    `score` is the share of the best that could be reached through all of this note's neighbours.
    """
    note, path = find_note(db, name)
    near = rows.links_between(db, note)
    names = rows.titles(db, sorted(near))
    weights: dict[int, float] = {}
    shared: dict[int, list[int]] = {}
    total = 0.0
    for between in sorted(names):
        around = rows.links_between(db, between)
        weight = 1 / log(2 + len(around))
        total += weight
        if len(around) > rows.HUB:
            continue
        for far in around:
            if far != note and far not in near:
                weights[far] = weights.get(far, 0.0) + weight
                shared.setdefault(far, []).append(between)
    best = sorted(weights, key=lambda one: (-weights[one], one))
    there = rows.titles(db, best[: 2 * n + rows.HUB])  # some may be attachments or notes left out
    kept = [far for far in best if far in there][:n]
    found = [
        {
            "path": there[far][0],
            "title": there[far][1],
            "score": round(weights[far] / total, 4),
            "shared": sorted(names[between][0] for between in shared[far]),
        }
        for far in kept
    ]
    return {"note": path, "related": found}


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
