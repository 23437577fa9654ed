"""A `.canvas` file -> the links it makes and the text it shows. As in the app, file cards and the
links in text cards both count (oracle: `Frontmatter code.canvas`)."""

import json
from typing import NamedTuple

from ohmykb.markdown.scan import scan
from ohmykb.note import Link, Problem


class CanvasScan(NamedTuple):
    links: list[Link]
    text: str
    """Text cards, group and edge labels, one paragraph each."""
    problems: list[Problem]


def scan_canvas(text: str) -> CanvasScan:
    """Reads a canvas; an empty file is an empty canvas."""
    if not text.strip("\ufeff \t\r\n"):
        return CanvasScan([], "", [])
    try:
        canvas = json.loads(text.removeprefix("\ufeff"))
        if "\\u" in text:  # an escape may be half of a character, which nothing can store
            canvas = json.loads(json.dumps(canvas, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f" at line {line}" if line else ""
        return CanvasScan(
            [], "", [Problem(line, "bad-canvas", f"The canvas is not valid JSON{where}; nothing was read.")]
        )
    if not isinstance(canvas, dict):
        return CanvasScan([], "", [Problem(1, "bad-canvas", "The canvas holds no cards: its JSON is not an object.")])
    links: list[Link] = []
    words: list[str] = []
    for node in _dicts(canvas.get("nodes")):
        kind = node.get("type")
        path = node.get("file")
        if kind == "file" and isinstance(path, str) and path:
            sub = node.get("subpath")
            sub = sub.removeprefix("#") if isinstance(sub, str) else ""
            shown = " > ".join([path, *(part for part in sub.split("#") if part)])
            links.append(Link("embed", path, path, sub or None, shown, None, -1))
        words_here = node.get("text") if kind == "text" else node.get("label")
        if isinstance(words_here, str) and words_here.strip():
            words.append(words_here)
            if kind == "text":
                links += [
                    link._replace(line=None, start=-1) for link in scan(words_here).links if link.kind != "property"
                ]
    for edge in _dicts(canvas.get("edges")):
        name = edge.get("label")
        if isinstance(name, str) and name.strip():
            words.append(name)
    return CanvasScan(links, "\n\n".join(words), [])


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
