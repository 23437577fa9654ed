"""A map drawn for the first time, or again over what a person made of it.

Drawn again, whatever stands in the file stays as it is: places, sizes, colours, texts, cards and edges of others. Only
what is new is added, beside what it belongs to. What a person took away stays away: the file remembers what was drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ohmykb.canvas import legend
from ohmykb.canvas.beside import beside
from ohmykb.canvas.cards import HEIGHT, MOST, WIDTH, Map, Tie
from ohmykb.canvas.json_canvas import OURS, Box, Canvas, Json, box_of, name_of, read_canvas, write_canvas
from ohmykb.canvas.layout import GAP, Place, Size, lay_out

VERSION: Final = 1
MARGIN: Final = 40
TOLD: Final = 8
"""Notes that the card "+N more" names."""
GONE: Final = "✕ not linked here any more"
GONE_HEIGHT: Final = 50


@dataclass(frozen=True, slots=True)
class Drawing:
    text: str
    """The file."""
    cards: int
    """Notes and texts, not groups."""
    edges: int
    kept: int
    """Cards that were there before."""
    added: int
    hidden: int
    """Notes that did not find room."""


def draw(wanted: Map, present: str = "") -> Drawing:
    """Byte for byte the same for the same map and file. Raises BadCanvasError for a file that is no canvas."""
    canvas = read_canvas(present)
    if not canvas.nodes and not canvas.memory:
        made = _first(wanted, canvas)
        return _told(made, write_canvas(made), kept=0, hidden=len(wanted.hidden))
    before = len(_cards(canvas.nodes))
    changed = _again(wanted, canvas)
    text = write_canvas(canvas) if changed else present
    return _told(canvas, text, kept=before, hidden=len(wanted.hidden))


def _told(canvas: Canvas, text: str, *, kept: int, hidden: int) -> Drawing:
    cards = len(_cards(canvas.nodes))
    return Drawing(text, cards, len(canvas.edges), kept, cards - kept, hidden)


def _cards(nodes: Iterable[Json]) -> list[Json]:
    return [node for node in nodes if node.get("type") != "group"]


# --- the first time


def _first(wanted: Map, canvas: Canvas) -> Canvas:
    cards = wanted.cards[:MOST]
    place = {card.path: number for number, card in enumerate(cards)}
    edges = [(place[tie.source], place[tie.target]) for tie in wanted.ties if {tie.source, tie.target} <= place.keys()]
    groups = [[place[path] for path in group.paths if path in place] for group in wanted.groups]
    at = lay_out([Size(WIDTH, HEIGHT)] * len(cards), edges, groups)
    colours = legend.choose(cards, centre=wanted.centre is not None)
    for group, members in zip(wanted.groups, groups, strict=True):
        if members:
            canvas.nodes.append(_group(group.name, [at[number] for number in members]))
    for card, spot in zip(cards, at, strict=True):
        canvas.nodes.append(_file(card.path, spot, _colour(wanted, card.path, card.kind, colours)))
    _extras(wanted, canvas, colours)
    boxes = _boxes(canvas)
    canvas.edges += [_edge(tie, boxes) for tie in wanted.ties if {tie.source, tie.target} <= place.keys()]
    _remember(wanted, canvas, canvas.nodes, canvas.edges)
    return canvas


def _extras(wanted: Map, canvas: Canvas, colours: dict[str, str]) -> None:
    """The legend above the map, and what did not find room below it."""
    boxes = [box for node in canvas.nodes if (box := box_of(node)) is not None]
    left = min((x for x, _, _, _ in boxes), default=0)
    top = min((y for _, y, _, _ in boxes), default=0)
    text = legend.write(colours, wanted.title if wanted.centre is not None else None)
    if colours:
        height = 40 + 30 * (text.count("\n") + 1)
        canvas.nodes.append(_text(name_of("legend"), text, left, top - height - GAP, 260, height))
    if wanted.hidden:
        bottom = max((y + h for _, y, _, h in boxes), default=0)
        canvas.nodes.append(
            _text(name_of("more"), _more(wanted), left, bottom + GAP, WIDTH, 60 + 26 * min(len(wanted.hidden), TOLD))
        )


def _more(wanted: Map) -> str:
    told = [f"- [[{path.removesuffix('.md')}]]" for path in wanted.hidden[:TOLD]]
    rest = len(wanted.hidden) - len(told)
    return "\n".join([f"**+{len(wanted.hidden)} more**", *told, *([f"- … {rest}"] if rest else [])])


def _colour(wanted: Map, path: str, kind: str, colours: dict[str, str]) -> str | None:
    return legend.CENTRE if path == wanted.centre else colours.get(kind)


def _file(path: str, spot: Place, colour: str | None) -> Json:
    node: Json = {
        "id": name_of("card", path), "type": "file", "file": path, "x": spot.x, "y": spot.y, "width": WIDTH,
        "height": HEIGHT,
    }  # fmt: skip
    return {**node, "color": colour} if colour else node


def _text(name: str, text: str, x: int, y: int, width: int, height: int) -> Json:
    return {"id": name, "type": "text", "text": text, "x": x, "y": y, "width": width, "height": height}


def _group(name: str, spots: list[Place]) -> Json:
    left, top = min(spot.x for spot in spots) - MARGIN, min(spot.y for spot in spots) - MARGIN
    right, bottom = max(spot.x for spot in spots) + WIDTH + MARGIN, max(spot.y for spot in spots) + HEIGHT + MARGIN
    return {
        "id": name_of("group", name, str(left), str(top)), "type": "group", "label": name, "x": left, "y": top,
        "width": right - left, "height": bottom - top,
    }  # fmt: skip


def _edge(tie: Tie, boxes: dict[str, tuple[str, Box]]) -> Json:
    (source, a), (target, b) = boxes[tie.source], boxes[tie.target]
    sides = _sides(a, b)
    edge: Json = {
        "id": name_of("edge", tie.source, tie.target), "fromNode": source, "fromSide": sides[0], "toNode": target,
        "toSide": sides[1],
    }  # fmt: skip
    if tie.both:
        edge["fromEnd"] = "arrow"
    if tie.proposed:
        edge |= {"toEnd": "none", "color": "3", "label": "?"}
    if tie.label:
        edge["label"] = tie.label
    return edge


def _sides(a: Box, b: Box) -> tuple[str, str]:
    """Where an edge leaves and comes in, by where the cards lie."""
    dx = (b[0] + b[2] / 2) - (a[0] + a[2] / 2)
    dy = (b[1] + b[3] / 2) - (a[1] + a[3] / 2)
    if abs(dx) * (a[3] + b[3]) >= abs(dy) * (a[2] + b[2]):
        return ("right", "left") if dx >= 0 else ("left", "right")
    return ("bottom", "top") if dy >= 0 else ("top", "bottom")


def _boxes(canvas: Canvas) -> dict[str, tuple[str, Box]]:
    """Path → (id, box) of the card that shows it, whoever drew it."""
    found: dict[str, tuple[str, Box]] = {}
    for node in canvas.nodes:
        path, name, box = node.get("file"), node.get("id"), box_of(node)
        if node.get("type") == "file" and isinstance(path, str) and isinstance(name, str) and box is not None:
            found.setdefault(path, (name, box))
    return found


def _remember(wanted: Map, canvas: Canvas, nodes: Iterable[Json], edges: Iterable[Json]) -> None:
    """Ids of all that was ever drawn here."""
    old = canvas.memory
    cards = dict.fromkeys([*_list(old, "cards"), *(str(node["id"]) for node in nodes)])
    lines = dict.fromkeys([*_list(old, "edges"), *(str(edge["id"]) for edge in edges)])
    canvas.more[OURS] = {**old, "version": VERSION, "of": wanted.of, "cards": list(cards), "edges": list(lines)}


def _list(memory: Json, key: str) -> list[str]:
    found = memory.get(key)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


# --- again


def _again(wanted: Map, canvas: Canvas) -> bool:
    """Adds what is new; whether anything was to be done."""
    drawn = {*_list(canvas.memory, "cards")}
    lines = {*_list(canvas.memory, "edges")}
    shown = _boxes(canvas)
    colours = _colours(canvas) or legend.choose(wanted.cards, centre=wanted.centre is not None)
    fresh: list[Json] = []
    for card in wanted.cards:
        if card.path in shown or name_of("card", card.path) in drawn:
            continue  # there, or taken away by somebody
        if len(_cards(canvas.nodes)) >= MOST:
            break
        anchors = [shown[other][1] for other in _beside(wanted, card.path) if other in shown]
        taken = [box for node in _cards(canvas.nodes) if (box := box_of(node)) is not None]
        x, y = beside(anchors, taken, WIDTH, HEIGHT)
        node = _file(card.path, Place(x, y), _colour(wanted, card.path, card.kind, colours))
        canvas.nodes.append(node)
        fresh.append(node)
        shown[card.path] = str(node["id"]), (x, y, WIDTH, HEIGHT)
    there = {(edge.get("fromNode"), edge.get("toNode")) for edge in canvas.edges}
    added: list[Json] = []
    for tie in wanted.ties:
        if tie.source not in shown or tie.target not in shown or name_of("edge", tie.source, tie.target) in lines:
            continue
        edge = _edge(tie, shown)
        if (edge["fromNode"], edge["toNode"]) in there or (edge["toNode"], edge["fromNode"]) in there:
            continue
        canvas.edges.append(edge)
        added.append(edge)
    marks = _mark_gone(wanted, canvas, drawn)
    told = _tell_more(wanted, canvas)
    foreign = not canvas.memory
    if not (fresh or added or marks or told or foreign):
        return False
    _remember(wanted, canvas, [*fresh, *marks], added)
    return True


def _beside(wanted: Map, path: str) -> list[str]:
    """What a card belongs to: those it is tied to, else its group."""
    tied = [tie.target if tie.source == path else tie.source for tie in wanted.ties if path in (tie.source, tie.target)]
    return tied or [other for group in wanted.groups if path in group.paths for other in group.paths if other != path]


def _colours(canvas: Canvas) -> dict[str, str]:
    for node in canvas.nodes:
        if node.get("id") == name_of("legend") and isinstance(node.get("text"), str):
            return legend.read(node["text"])
    return {}


def _mark_gone(wanted: Map, canvas: Canvas, drawn: set[str]) -> list[Json]:
    """A label over each card of ours that would not be drawn now; taken off those that would again."""
    here = {card.path for card in wanted.cards} | set(wanted.hidden)
    marks: list[Json] = []
    for node in list(canvas.nodes):
        path, box = node.get("file"), box_of(node)
        if node.get("type") != "file" or not isinstance(path, str) or box is None or node.get("id") not in drawn:
            continue
        name = name_of("gone", str(node["id"]))
        mark = next((one for one in canvas.nodes if one.get("id") == name), None)
        if path in here:
            if mark is not None and mark.get("text") == GONE:
                canvas.nodes.remove(mark)
                memory = canvas.memory
                memory["cards"] = [one for one in _list(memory, "cards") if one != name]
                marks.append(node)
        elif mark is None and name not in drawn:
            made = _text(name, GONE, box[0], box[1] - GONE_HEIGHT, min(box[2], 260), GONE_HEIGHT)
            canvas.nodes.append(made)
            marks.append(made)
    return marks


def _tell_more(wanted: Map, canvas: Canvas) -> bool:
    """Brings the card "+N more" up to date, unless somebody wrote in it or took it away."""
    memory = canvas.memory
    text = _more(wanted) if wanted.hidden else ""
    for node in canvas.nodes:
        if node.get("id") == name_of("more"):
            if node.get("text") == text or (memory.get("more") or node.get("text")) != node.get("text"):
                return False
            node["text"] = text or "**+0 more**"
            memory["more"] = node["text"]
            return True
    return False
