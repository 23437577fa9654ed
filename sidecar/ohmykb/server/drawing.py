"""Maps over HTTP: drawn for the caller to write, or written as an operation where a file is named."""

from typing import Any

from ohmykb.canvas.answer import answer, check_name
from ohmykb.canvas.ask import Asked, Sources, asked_of, remembered
from ohmykb.canvas.json_canvas import BadCanvasError
from ohmykb.errors import UsageError
from ohmykb.search.related import Ties
from ohmykb.server.service import Service
from ohmykb.store.connection import snapshot
from ohmykb.vault.globs import Globs
from ohmykb.vault.place import locate

Json = dict[str, Any]


def canvas(service: Service, asked: Json) -> Json:
    """`present` is the file as it stands, for a map that is drawn again; `update` takes what it shows from there.
    With `file` the sidecar writes, in one operation; with `prepare` as well, the plugin does."""
    file = _file(service, asked["file"]) if asked.get("file") else None
    made: Json = {}

    def draw(present: str) -> str:
        wanted = remembered(present) if asked.get("update") else asked_of(asked)
        told, text = _drawn(service, wanted, present)
        made.update(told)
        return text

    if file is None:
        text = draw(asked.get("present") or "")
        return {**made, "canvas": text}
    if asked.get("prepare"):
        to_write = service.writing.prepare_file(file, draw, kind="canvas", reasons=["map"])
        return {**made, "file": file, "canvas": None, "to_write": to_write}
    op = service.writing.mending.rewrite(file, draw, kind="canvas", reasons=["map"])
    return {**made, "file": file, "op": op.id if op is not None else None, "canvas": None}


def _file(service: Service, name: str) -> str:
    """A place for a map. Raises BadCanvasError."""
    try:
        locate(service.root, check_name(name))
    except UsageError as error:
        raise BadCanvasError(error.message, error.fix) from error
    return name


def _drawn(service: Service, asked: Asked, present: str) -> tuple[Json, str]:
    def probe(query: str, n: int) -> list[str]:
        return [hit.path for hit in service.prober.probe(query, n=n).results]

    barred = Globs(service.standing.config.suggest.exclude).match
    with snapshot(service.db()) as db:
        sources = Sources(db, lambda: service.prober.meaning.arms, probe, Ties(barred=barred))
        told, drawing = answer(sources, asked, present)
    return told, drawing.text
