"""Canvas files as the app writes them (JSON Canvas 1.0): read without losing a key, written one card a line."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from ohmykb.errors import KbError

OURS: Final = "kb"
"""The key of the file in which a map remembers what it drew. The format allows keys of one's own."""

Json = dict[str, Any]


class BadCanvasError(KbError):
    """The file is no canvas."""

    code = "bad-canvas"


@dataclass(slots=True)
class Canvas:
    nodes: list[Json] = field(default_factory=list)
    edges: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)
    """All other keys, as they stand."""

    @property
    def memory(self) -> Json:
        """What the map remembers; empty where we did not draw it."""
        found = self.more.get(OURS)
        return found if isinstance(found, dict) else {}


def read_canvas(text: str) -> Canvas:
    """Raises BadCanvasError. An empty text is an empty canvas."""
    if not text.strip("\ufeff \t\r\n"):
        return Canvas()
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise BadCanvasError("The canvas is not valid JSON.", "Mend it in Obsidian, or draw to another file") from error
    if not isinstance(found, dict):
        raise BadCanvasError("The canvas is no JSON object.", "Draw to another file")
    nodes, edges = found.pop("nodes", []), found.pop("edges", [])
    if not (_are_objects(nodes) and _are_objects(edges)):
        raise BadCanvasError("The cards of the canvas cannot be read.", "Draw to another file")
    return Canvas(nodes, edges, found)


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def write_canvas(canvas: Canvas) -> str:
    """As the app does: tabs, a card a line, so that git and sync see small changes."""
    parts = [f'\t"nodes":[{_rows(canvas.nodes)}]', f'\t"edges":[{_rows(canvas.edges)}]']
    parts += [f"\t{_dump(key)}:{_dump(value)}" for key, value in canvas.more.items()]
    return "{\n" + ",\n".join(parts) + "\n}"


def _rows(rows: list[Json]) -> str:
    return "" if not rows else "\n" + ",\n".join(f"\t\t{_dump(row)}" for row in rows) + "\n\t"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def name_of(*parts: str) -> str:
    """The id of what we draw: the same each time for the same thing."""
    return sha256("\0".join(parts).encode(errors="replace"), usedforsecurity=False).hexdigest()[:16]


Box = tuple[int, int, int, int]
"""x, y, width, height."""


def box_of(node: Json) -> Box | None:
    """None where the card has no place that can be understood."""
    values = [node.get(key) for key in ("x", "y", "width", "height")]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return None
    x, y, width, height = (int(value) for value in values if value is not None)
    return x, y, width, height
