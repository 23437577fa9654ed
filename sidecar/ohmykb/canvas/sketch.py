"""A region of the graph as a map: which cards, which ties between them with what label, which groups."""

import re

from ohmykb.canvas.cards import Card, Group, Map, Tie
from ohmykb.search.regions import Region
from ohmykb.store.maps import Drawn

_ITEM = re.compile(r"\.\d+$")
"""Of a list in the properties, which item."""


def sketch(region: Region, of: dict[str, object], title: str) -> Map:
    """`of`: what was asked, so that the map can be drawn again."""
    path = {note.id: note.path for note in region.notes}
    labels: dict[tuple[int, int], list[str]] = {}
    for link in region.links:
        labels.setdefault((link.source, link.target), [])
        if link.key:
            labels[link.source, link.target].append(_ITEM.sub("", link.key))
    ties: list[Tie] = []
    for (source, target), own in labels.items():
        back = labels.get((target, source))
        if back is not None and target < source:
            continue  # told with the other direction
        label = ", ".join(dict.fromkeys(own + (back or [])))
        ties.append(Tie(path[source], path[target], label, both=back is not None))
    ties += [Tie(path[a], path[b], proposed=True) for a, b in region.proposed if a in path and b in path]
    groups = tuple(Group(name, tuple(path[note] for note in ids if note in path)) for name, ids in region.groups)
    centre = path.get(region.centre) if region.centre is not None else None
    hidden = tuple(note.path for note in region.hidden)
    return Map(of, title, tuple(map(_card, region.notes)), tuple(ties), groups, centre, hidden)


def _card(note: Drawn) -> Card:
    return Card(note.path, note.title, note.type or (note.path.partition("/")[0] if "/" in note.path else ""))
