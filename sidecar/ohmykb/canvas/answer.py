"""A map in the shape of the contract."""

from typing import Any

from ohmykb.canvas.ask import Asked, Sources, file_name, map_of
from ohmykb.canvas.draw import Drawing, draw
from ohmykb.canvas.json_canvas import BadCanvasError

Json = dict[str, Any]


def answer(sources: Sources, asked: Asked, present: str = "") -> tuple[Json, Drawing]:
    """(what is told of it, the file). Raises what asking and drawing raise."""
    wanted = map_of(sources, asked)
    drawing = draw(wanted, present)
    told: Json = {
        "of": wanted.of, "title": wanted.title, "name": file_name(wanted),
        "cards": drawing.cards, "edges": drawing.edges, "kept": drawing.kept, "added": drawing.added,
        "hidden": drawing.hidden, "groups": [{"name": one.name, "cards": len(one.paths)} for one in wanted.groups],
        "changed": drawing.text != present, "file": None, "op": None,
    }  # fmt: skip
    return told, drawing


def check_name(file: str) -> str:
    """A file of the vault that can be a map. Raises BadCanvasError."""
    if not file.lower().endswith(".canvas"):
        raise BadCanvasError(f"{file} is no canvas file.", "Name one that ends in .canvas")
    return file
