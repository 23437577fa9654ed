"""Notes that belong with a note and are not linked with it: through shared neighbours, or near in meaning."""

from collections.abc import Callable, Collection, Sequence
from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from ohmykb.search.find import find_note
from ohmykb.search.meaning import Arm
from ohmykb.store import graph as rows
from ohmykb.store.connection import Database

ABOVE = 1.0
"""Standard deviations above what is usual in this vault, from which two notes are near in meaning."""
NEAR_ENOUGH = 0.25
"""Cosine of centred vectors below which they are not, however unusual."""
FEW = 30
"""Chunks of the vault below which nothing can be called usual."""
OWN = 8
"""Chunks of the note that are compared."""
SOME = 40
"""Notes that each of them brings."""


class Ties(NamedTuple):
    """What a person decided about suggestions."""

    dismissed: Collection[str] = ()
    """Paths that were said not to belong with this note."""
    barred: Callable[[str], bool] = lambda _path: False
    """Whether a note must not be suggested, though it has suggestions of its own."""


NO_TIES = Ties()


def related(db: Database, name: str, *, n: int = 10, arms: Sequence[Arm] = (), ties: Ties = NO_TIES) -> dict[str, Any]:
    """At most `n` notes, each with its reasons: `neighbors` (with those shared) and `meaning` (with the cosine).

    `score` ∈ [0, 1]: one minus the chance that both reasons are wrong, taking each for independent.
    """
    note, path = find_note(db, name)
    linked = rows.links_between(db, note)
    through, shared = _through_neighbors(db, note, linked)
    near = _near(arms[0], note) if arms else {}
    scores = {
        far: 1 - (1 - through.get(far, 0.0)) * (1 - near.get(far, 0.0))
        for far in through.keys() | near.keys()
        if far != note and far not in linked
    }
    best = sorted(scores, key=lambda far: (-scores[far], far))
    there = rows.titles(db, best[: 2 * n + rows.HUB])  # some may be attachments, canvases or notes left out
    kept = [
        far for far in best if far in there and there[far][0] not in ties.dismissed and not ties.barred(there[far][0])
    ][:n]
    names = rows.titles(db, sorted({between for far in kept for between in shared.get(far, ())}))
    return {"note": path, "related": [_row(far, there, names, scores, shared, near) for far in kept]}


def _row(
    far: int,
    there: dict[int, tuple[str, str]],
    names: dict[int, tuple[str, str]],
    scores: dict[int, float],
    shared: dict[int, list[int]],
    near: dict[int, float],
) -> dict[str, Any]:
    reasons = (["neighbors"] if far in shared else []) + (["meaning"] if far in near else [])
    return {
        "path": there[far][0],
        "title": there[far][1],
        "score": round(scores[far], 4),
        "shared": sorted(names[between][0] for between in shared.get(far, ()) if between in names),
        "reasons": reasons,
        "nearness": round(near[far], 4) if far in near else None,
    }


def _through_neighbors(db: Database, note: int, linked: set[int]) -> tuple[dict[int, float], dict[int, list[int]]]:
    """Adamic–Adar: each shared neighbour counts 1 / ln(2 + its own neighbours), so that a hub joins little.

    Given as 1 - exp(-sum): one hub in common is little, several rare neighbours are nearly certain.
    """
    weights: dict[int, float] = {}
    shared: dict[int, list[int]] = {}
    for between in sorted(rows.titles(db, sorted(linked))):
        around = rows.links_between(db, between)
        if len(around) > rows.HUB:
            continue
        weight = 1 / log(2 + len(around))
        for far in around:
            if far != note and far not in linked:
                weights[far] = weights.get(far, 0.0) + weight
                shared.setdefault(far, []).append(between)
    return {far: 1 - exp(-weight) for far, weight in weights.items()}, shared


def _near(arm: Arm, note: int) -> dict[int, float]:
    """Note → cosine, for the notes near in meaning: the mean of names and of the likest chunks."""
    names, chunks = arm.names.own(note), arm.chunks.own(note)[:OWN]
    if not len(names):
        return {}
    name = names[0]
    asked = list(chunks) or [name]
    found: set[int] = {int(other) for other in arm.names.nearest(name, SOME).notes}
    for one in asked:
        found.update(int(other) for other in arm.chunks.nearest(one, SOME).notes)
    found.discard(note)
    others = np.array(sorted(found), dtype=np.int64)
    by_name, _ = arm.names.of_notes(name, others)
    by_chunk = np.max([arm.chunks.of_notes(one, others)[0] for one in asked], axis=0)
    by_chunk = np.where(by_chunk < -0.99, by_name, by_chunk)
    cosines = (by_name + by_chunk) / 2
    above = (arm.names.above_usual(name, by_name) + arm.chunks.above_usual(asked[0], by_chunk)) / 2
    told = len(arm.chunks.usual) >= FEW  # else nobody knows what is usual
    kept = ((above >= ABOVE) | (not told)) & (cosines >= NEAR_ENOUGH)
    return {int(other): float(cosine) for other, cosine in zip(others[kept], cosines[kept], strict=True)}
