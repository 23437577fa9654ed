"""Which map is asked for, and the map of what the index says now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from ohmykb.canvas.cards import MOST, Map
from ohmykb.canvas.json_canvas import BadCanvasError, read_canvas
from ohmykb.canvas.sketch import sketch
from ohmykb.errors import NotFoundError, UsageError
from ohmykb.search import regions
from ohmykb.search.find import find_note
from ohmykb.search.meaning import Arm
from ohmykb.search.related import NO_TIES, Ties
from ohmykb.store.connection import Database

Kind = Literal["note", "clusters", "orphans", "probe", "folder", "tag"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ROOM: Final = MOST - 3
"""Cards for notes; the legend, "+N more" and one to spare are cards as well."""
ANSWERS: Final = 30


@dataclass(frozen=True, slots=True)
class Asked:
    kind: Kind
    value: str = ""
    hops: Literal[1, 2] = 1


@dataclass(frozen=True, slots=True)
class Sources:
    """What maps are made from, besides the index."""

    db: Database
    arms: Callable[[], Sequence[Arm]] = lambda: ()
    probe: Callable[[str, int], Sequence[str]] = lambda _query, _n: ()
    """Paths that answer a question."""
    ties: Ties = field(default=NO_TIES)


def asked_of(given: Mapping[str, Any]) -> Asked:
    """From the keys of a request or command: exactly one of the kinds. Raises UsageError."""
    kinds = [kind for kind in KINDS if given.get(kind)]
    if len(kinds) != 1:
        raise UsageError(
            "Name one thing to draw.", "A note, --clusters, --orphans, --probe QUERY, --folder F or --tag T"
        )
    kind = kinds[0]
    hops = given.get("hops") or 1
    if hops not in (1, 2):
        raise UsageError(f"hops is 1 or 2, not {hops}.", "Use 1 or 2")
    value = given[kind]
    return Asked(kind, value.strip().strip("/") if isinstance(value, str) else "", 2 if hops == 2 else 1)


def remembered(present: str) -> Asked:
    """What a map that we drew shows. Raises BadCanvasError for a canvas that is none."""
    of = read_canvas(present).memory.get("of")
    if not isinstance(of, dict) or of.get("kind") not in KINDS:
        raise BadCanvasError("This canvas is no map of ours.", "Say what to draw on it: kb canvas NOTE -o FILE")
    value, hops = of.get("value"), of.get("hops")
    return Asked(of["kind"], value if isinstance(value, str) else "", 2 if hops == 2 else 1)


def map_of(sources: Sources, asked: Asked) -> Map:
    """Raises NotFoundError where there is nothing to draw, AmbiguousError."""
    db, value = sources.db, asked.value
    title = value
    match asked.kind:
        case "note":
            _, value = find_note(db, value)
            title = value.rpartition("/")[2].removesuffix(".md")
            region = regions.around(db, value, asked.hops, ROOM)
        case "clusters":
            title, region = "Clusters", regions.clusters(db, ROOM)
        case "orphans":
            title, region = "Orphans", regions.lone(db, ROOM, sources.arms(), sources.ties)
        case "probe":
            region = regions.found(db, sources.probe(value, ANSWERS), ROOM)
        case "folder":
            region = regions.folder(db, value, ROOM)
        case "tag":
            region = regions.tag(db, value, ROOM)
    if not region.notes:
        raise NotFoundError("There is nothing to draw.", "Ask for something else")
    of: dict[str, object] = {"kind": asked.kind}
    if value:
        of["value"] = value
    if asked.kind == "note":
        of["hops"] = asked.hops
    return sketch(region, of, title)


_ILLEGAL: Final = str.maketrans(dict.fromkeys('\\/:*?"<>|#^[]', " "))


def file_name(drawn: Map) -> str:
    """A name that is legal on every system."""
    name = " ".join(f"{drawn.title} map".translate(_ILLEGAL).split())[:80].strip(" .")
    return f"{name or 'Map'}.canvas"
