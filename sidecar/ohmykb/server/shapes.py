"""The shapes of answers and bodies, as JSON Schema: for openapi.json, and to check bodies with."""

from typing import Any, Final, get_args

from ohmykb.config import FineEncoder, QuickEncoder, WriteMode
from ohmykb.search.score import FIELDS
from ohmykb.server.params import FOLDER, INSIDE, VISIBLE

Shape = dict[str, Any]

TEXT: Final[Shape] = {"type": "string"}
WHOLE: Final[Shape] = {"type": "integer"}
COUNT: Final[Shape] = {"type": "integer", "minimum": 0}
NUMBER: Final[Shape] = {"type": "number"}
SHARE: Final[Shape] = {"type": "number", "minimum": 0, "maximum": 1}
FLAG: Final[Shape] = {"type": "boolean"}


def obj(**properties: Shape) -> Shape:
    """All of these must be there; more may be."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def some(shape: Shape, *optional: str) -> Shape:
    return {**shape, "required": [name for name in shape["required"] if name not in optional]}


def many(shape: Shape) -> Shape:
    return {"type": "array", "items": shape}


def maybe(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


def one_of(*choices: str) -> Shape:
    return {"type": "string", "enum": list(choices)}


def fields(shape: Shape, *names: str) -> dict[str, Shape]:
    return dict.fromkeys(names, shape)


ERROR: Final = obj(error=obj(code=TEXT, message=TEXT, fix=TEXT))
HELLO: Final = obj(version=TEXT, api=WHOLE, vault=TEXT, pid=WHOLE, capabilities=many(TEXT))
LINK: Final = obj(
    source=TEXT, target=maybe(TEXT), raw=TEXT, linkpath=TEXT,
    kind=one_of("wikilink", "embed", "markdown", "property"),
    subpath=maybe(TEXT), display=TEXT, line=maybe(WHOLE),
)  # fmt: skip
PROBLEM: Final = obj(path=TEXT, line=maybe(WHOLE), code=TEXT, message=TEXT)
PROBLEMS: Final = obj(problems=many(PROBLEM))
WORK: Final = obj(
    state=one_of("starting", "indexing", "ready", "paused", "failed", "stopped"),
    done=COUNT, total=COUNT, message=TEXT, held=COUNT,
)  # fmt: skip
WRITE: Final = obj(mode=one_of(*get_args(WriteMode)), device=maybe(TEXT), this_device=TEXT)
STATUS: Final = obj(
    **fields(COUNT, "on_disk", "indexed", "pending", "unencoded", "problems"),
    sidecar=obj(running=FLAG, port=maybe(WHOLE)),
    model=obj(id=maybe(TEXT), dim=maybe(WHOLE)),
    write=WRITE, work=WORK, watching=FLAG, remarks=many(TEXT),
)  # fmt: skip
HIT: Final = obj(
    path=TEXT, title=TEXT, score=SHARE, confidence=one_of("high", "medium", "low"),
    why=many(one_of(*FIELDS, "semantic")), heading=maybe(TEXT), line=WHOLE, snippet=TEXT, cite=TEXT,
)  # fmt: skip
PROBE: Final = some(
    obj(
        query=TEXT, mode=one_of("token", "semantic", "hybrid"), verdict=one_of("read", "glance", "skip"),
        took_ms=NUMBER, results=many(HIT), degraded=TEXT,
    ),
    "degraded",
)  # fmt: skip
RELATED_NOTE: Final = obj(
    path=TEXT, title=maybe(TEXT), score=SHARE, shared=many(TEXT), reasons=many(one_of("neighbors", "meaning")),
    nearness=maybe(NUMBER),
)  # fmt: skip
DISMISSED: Final = obj(note=TEXT, other=TEXT)
RELATED: Final = some(obj(note=TEXT, related=many(RELATED_NOTE), degraded=TEXT), "degraded")
NEIGHBOR: Final = obj(path=TEXT, title=TEXT, hops=one_of(), via=maybe(TEXT), relation=TEXT)
NEIGHBOR["properties"]["hops"] = {"type": "integer", "enum": [1, 2]}
QUERY: Final = some(obj(note=TEXT, neighbors=many(NEIGHBOR), related=many(RELATED_NOTE), degraded=TEXT), "degraded")
NOTE: Final = obj(
    path=TEXT, title=TEXT, tags=many(TEXT), links=many(LINK), backlinks=many(LINK), problems=many(PROBLEM)
)
ORPHANS: Final = some(
    obj(**fields(many(TEXT), "orphans", "isolated", "machine_linked"), notes=COUNT, orphan_rate=SHARE, degraded=TEXT),
    "degraded",
)
SUGGESTION: Final = obj(path=TEXT, score=SHARE, rule=TEXT)
UNRESOLVED: Final = some(
    obj(unresolved=many(obj(source=TEXT, raw=TEXT, line=maybe(WHOLE), suggestions=many(SUGGESTION))), degraded=TEXT),
    "degraded",
)
GRAPH_NOTE: Final = obj(
    path=TEXT, title=TEXT, aliases=many(TEXT), tags=many(TEXT), type=maybe(TEXT), domain=maybe(TEXT),
    backlinks=COUNT,
)  # fmt: skip
GRAPH: Final = some(obj(notes=many(GRAPH_NOTE), links=many(LINK), problems=many(PROBLEM), degraded=TEXT), "degraded")
TASK_STARTED: Final = obj(task=TEXT)
RESULT: Final = obj(
    **fields(
        COUNT, "notes", "links", "resolved", "unresolved", "embeds", "tags", "chunks", "vectors", "problems",
        "changed", "removed", "duration_ms",
    )
)  # fmt: skip
TASK: Final = some(
    obj(
        task=TEXT, state=one_of("running", "paused", "done", "failed"), done=COUNT, total=COUNT, message=TEXT,
        result=RESULT,
    ),
    "result",
)  # fmt: skip
CHANGES: Final = obj(revision=COUNT, paths=many(TEXT), removed=many(TEXT), reset=FLAG, due=COUNT)
PAUSED: Final = obj(paused=FLAG)
STOPPING: Final = obj(stopping=FLAG)
DOCUMENT: Final = obj(openapi=TEXT, info={"type": "object"}, paths={"type": "object"})

# --- bodies: nothing but what is named

_ONE_OF = r"\[(?:[!^](?:\]|\\[^/\n]|[^\]\\/\n])|(?:\]|\\[^/\n]|[^\]\\/\n!^]))(?:\\[^/\n]|[^\]\\/\n])*\]"
_SIGN = rf"(?:\\[^/\n]|{_ONE_OF}|[^\\\[/\n])"
_GLOB = rf"^!?/?(?:[^\\\[/\n!]|\\[^/\n]|{_ONE_OF}|{_SIGN}{_SIGN}+)(?:/{_SIGN}+)*/?$"
GLOBS: Final = many({**TEXT, "pattern": _GLOB, "description": 'a glob such as "archive/" or "*.excalidraw.md"'})
_FOLDER: Final = {**TEXT, "pattern": FOLDER, "description": "a folder of the vault, or a list of them"}
FOLDERS: Final[Shape] = {"anyOf": [_FOLDER, many(_FOLDER), {"type": "null"}]}


def closed(**properties: Shape) -> Shape:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def number(low: float, high: float, kind: str = "number") -> Shape:
    return {"type": kind, "minimum": low, "maximum": high}


SETTINGS: Final = obj(
    index=obj(exclude=many(TEXT), search_only=many(TEXT), max_file_mb=NUMBER, settle_s=NUMBER, debounce_ms=WHOLE),
    vault=obj(follow_symlinks=FLAG),
    roles=obj(**fields(many(TEXT), "raw", "wiki", "memory", "outputs", "system")),
    write=obj(mode=one_of(*get_args(WriteMode)), device=maybe(TEXT), git=FLAG),
    agent=obj(exclude=many(TEXT)),
    suggest=obj(exclude=many(TEXT)),
    search=obj(
        encoder=one_of(*get_args(QuickEncoder)), fine=one_of(*get_args(FineEncoder)),
        sentence_transformers=obj(model=TEXT),
    ),
)  # fmt: skip
SETTINGS_PATCH: Final = closed(
    index=closed(
        exclude=maybe(GLOBS), search_only=maybe(GLOBS), max_file_mb=maybe(number(0.001, 1000)),
        settle_s=maybe(number(0, 3600)), debounce_ms=maybe(number(0, 10_000, "integer")),
    ),
    vault=closed(follow_symlinks=maybe(FLAG)),
    roles=closed(**fields(FOLDERS, "raw", "wiki", "memory", "outputs", "system")),
    write=closed(
        mode=maybe(one_of(*get_args(WriteMode))),
        device=maybe({**TEXT, "pattern": VISIBLE, "description": "the id of a device"}),
        git=maybe(FLAG),
    ),
    agent=closed(exclude=maybe(GLOBS)),
    suggest=closed(exclude=maybe(GLOBS)),
    search=closed(
        encoder=maybe(one_of(*get_args(QuickEncoder))), fine=maybe(one_of(*get_args(FineEncoder))),
        sentence_transformers=maybe({**closed(model={**TEXT, "pattern": VISIBLE}), "required": ["model"]}),
    ),
)  # fmt: skip
INDEX_BODY: Final = closed(rebuild=FLAG)
DISMISS_BODY: Final = {**closed(note=TEXT, other=TEXT), "required": ["note", "other"]}
STOP_BODY: Final = {**closed(pid=WHOLE), "required": ["pid"]}

# --- what changes notes

HASH: Final = maybe(TEXT)
CANDIDATE: Final = obj(path=TEXT, score=SHARE, rule=TEXT)
MEND: Final = obj(
    source=TEXT, line=maybe(WHOLE), raw=TEXT, replacement=TEXT, target=maybe(TEXT), rule=TEXT, confidence=SHARE,
    certain=FLAG, applied=FLAG, reasons=many(TEXT), candidates=many(CANDIDATE),
)  # fmt: skip
REFUSED: Final = many(obj(path=TEXT, message=TEXT))
PLAN: Final = obj(
    plan=TEXT, plans=many(MEND), applied=COUNT, queued=COUNT, op=maybe(TEXT),
    dead=many(obj(source=TEXT, line=maybe(WHOLE), raw=TEXT)), refused=REFUSED,
)  # fmt: skip
TOUCHED: Final = obj(path=TEXT, before=HASH, after=HASH)
UNDOES: Final[Shape] = {"anyOf": [TEXT, many(TEXT), {"type": "null"}]}
OPERATION: Final = obj(
    id=TEXT, kind=TEXT, at=TEXT, device=TEXT, hand=one_of("sidecar", "plugin"), decider=TEXT, reasons=many(TEXT),
    state=one_of("prepared", "committed", "dropped", "conflict"), undoes=UNDOES, files=many(TOUCHED),
)  # fmt: skip
OPERATIONS: Final = obj(
    operations=many(OPERATION), problems=many(obj(op=TEXT, message=TEXT)), size_bytes=COUNT
)  # fmt: skip
EDIT: Final = obj(start=COUNT, end=COUNT, text=TEXT)
TO_WRITE: Final = obj(
    op=TEXT, files=many(obj(path=TEXT, before=HASH, after=HASH, edits=maybe(many(EDIT))))
)  # fmt: skip
UNDONE: Final[Shape] = {"anyOf": [{**OPERATION, "required": [*OPERATION["required"], "op"]}, TO_WRITE]}
ITEM: Final = obj(
    id=TEXT, kind=TEXT, summary=TEXT, diff=TEXT, confidence=SHARE, reasons=many(TEXT), rule=maybe(TEXT),
    source=TEXT, line=maybe(WHOLE), target=maybe(TEXT), candidates=many(CANDIDATE),
)  # fmt: skip
REVIEW: Final = obj(items=many(ITEM), total=COUNT)
DECIDED: Final[Shape] = {
    "anyOf": [obj(verb=TEXT, done=COUNT, op=maybe(TEXT), refused=REFUSED), PLAN],
}
RENAMED: Final = {"type": "object", "properties": {"from": TEXT, "to": TEXT}, "required": ["from", "to"]}

REPAIR_BODY: Final = closed(note={**TEXT, "pattern": INSIDE}, apply=FLAG)
_PLACES: Final = many({**number(0, 1_000_000, "integer"), "description": "places in the plan's list, from 0"})
CHOSEN_BODY: Final = closed(mends=_PLACES, target={**TEXT, "pattern": INSIDE})
REJECT_BODY: Final = {**closed(mends=_PLACES, keep=FLAG), "required": ["mends"]}
REJECTED: Final = obj(rejected=COUNT)
UNDO_BODY: Final = closed(prepare=FLAG)
UNDO_MANY_BODY: Final = closed(ops=many(TEXT), since={**TEXT, "format": "date-time"}, prepare=FLAG)
DECIDE_BODY: Final = closed(target={**TEXT, "pattern": INSIDE}, days=number(1, 3650, "integer"))
DECIDE_MANY_BODY: Final = {
    **closed(
        verb=one_of("accept", "reject", "retarget", "keep-new", "snooze", "plan"), ids=many(TEXT), rule=TEXT,
        target={**TEXT, "pattern": INSIDE}, days=number(1, 3650, "integer"),
    ),
    "required": ["verb"],
}  # fmt: skip
RENAME_BODY: Final[Shape] = {
    "type": "object", "properties": {"from": {**TEXT, "pattern": INSIDE}, "to": {**TEXT, "pattern": INSIDE}},
    "required": ["from", "to"], "additionalProperties": False,
}  # fmt: skip
RECOVERED: Final = obj(
    found=many(
        obj(
            where=one_of("note", "history", "conflict-copy", "trash", "versions", "git"), path=TEXT, at=maybe(TEXT),
            op=maybe(TEXT), line=WHOLE, snippet=TEXT, hash=TEXT,
        )
    ),
    cut=maybe(TEXT), restored=maybe(TEXT), op=maybe(TEXT),
)  # fmt: skip
COPIES: Final = obj(
    copies=many(
        obj(
            copy=TEXT, original=TEXT, state=one_of("identical", "contained", "mergeable", "conflicting", "unknown"),
            message=TEXT, ancestor=maybe(TEXT), diff=TEXT, certain=FLAG,
            conflicts=many(obj(line=WHOLE, ours=TEXT, theirs=TEXT)),
        )
    ),
    op=maybe(TEXT),
)  # fmt: skip
RECOVER_BODY: Final = {
    **closed(text={**TEXT, "pattern": f"{VISIBLE}{VISIBLE}"}, restore=number(1, 1000, "integer")), "required": ["text"],
}  # fmt: skip
CONFLICTS_BODY: Final = closed(copy={**TEXT, "pattern": INSIDE}, apply=FLAG)

# --- maps

_KINDS: Final = ("note", "clusters", "orphans", "probe", "folder", "tag", "update")
_YES: Final[Shape] = {"type": "boolean", "enum": [True]}
CANVAS_BODY: Final[Shape] = {
    **closed(
        note={**TEXT, "pattern": INSIDE}, clusters=_YES, orphans=_YES, probe={**TEXT, "pattern": VISIBLE},
        folder={**TEXT, "pattern": FOLDER}, tag={**TEXT, "pattern": VISIBLE}, update=_YES,
        hops={"type": "integer", "enum": [1, 2]}, present=TEXT,
        file={**TEXT, "pattern": INSIDE, "description": "a .canvas file of the vault"}, prepare=FLAG,
    ),
    "oneOf": [{"required": [kind]} for kind in _KINDS],
}  # fmt: skip
CANVAS: Final = some(obj(
    of={"type": "object"}, title=TEXT, name=TEXT, **fields(COUNT, "cards", "edges", "kept", "added", "hidden"),
    groups=many(obj(name=TEXT, cards=COUNT)), changed=FLAG, file=maybe(TEXT), op=maybe(TEXT), canvas=maybe(TEXT),
    to_write=maybe(TO_WRITE),
), "to_write")  # fmt: skip
