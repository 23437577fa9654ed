"""Every route: what it takes, what it answers, and who answers. The app and openapi.json come from here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ohmykb.search import present
from ohmykb.search.present import Style
from ohmykb.search.probe import MOST
from ohmykb.server import shapes
from ohmykb.server.changes import LONGEST_WAIT_S
from ohmykb.server.params import FOLDER, INSIDE, VISIBLE, Param
from ohmykb.server.service import Service
from ohmykb.server.shapes import Shape

Asked = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    about: str
    answer: Callable[[Service, Asked], dict[str, Any]]
    """The second argument holds the parameters, those of the path too, or the body."""
    shape: Shape
    params: tuple[Param, ...] = ()
    body: Shape | None = None
    text: Callable[[dict[str, Any], Style], str] | None = None
    """The answer for people, with `Accept: text/plain`."""
    also: tuple[int, ...] = ()
    """Statuses besides 200 and those every route may answer."""

    @property
    def needs_body(self) -> bool:
        return self.body is not None and (
            self.method == "PATCH" or bool(self.body.get("required") or self.body.get("oneOf"))
        )


def _canvas(service: Service, asked: Asked) -> dict[str, Any]:
    from ohmykb.server import drawing  # 50 ms that a start need not wait for

    return drawing.canvas(service, asked)


NOTE = Param("note", "a note's path, or its name as in a link", required=True, pattern=INSIDE)
QUERY: Final = (
    Param("q", "the question, some text", required=True, pattern=VISIBLE),
    Param("mode", "how to search", default="hybrid", choices=("token", "semantic", "hybrid")),
    Param("n", "how many answers at most", "integer", default=5, low=1, high=MOST),
    Param("in", "a folder of the vault", pattern=FOLDER),
    Param("tag", "a tag, or the one above it", pattern="[^#/\\s\x1c-\x1f\x85\ufeff]"),
    Param("since", "a day, as 2025-12-31", format="date"),
)

ROUTES: Final = (
    Route("GET", "/hello", "Who is here", lambda s, _: s.hello(), shapes.HELLO),
    Route(
        "GET", "/status", "How far the index is", lambda s, _: s.status(), shapes.STATUS,
        text=present.status,
    ),
    Route(
        "GET", "/problems", "What is wrong, file by file", lambda s, _: s.problems(), shapes.PROBLEMS,
        text=present.problems, also=(503,),
    ),
    Route(
        "GET", "/probe", "The few notes that answer a question", Service.probe, shapes.PROBE,
        params=QUERY, text=present.probe, also=(503,),
    ),
    Route(
        "GET", "/query", "What a note is linked to", Service.query, shapes.QUERY,
        params=(
            NOTE,
            Param("hops", "how far", "integer", default=1, low=1, high=2),
            Param("n", "how many neighbours at most", "integer", default=50, low=1, high=500),
        ),
        text=present.query, also=(404, 503),
    ),
    Route(
        "GET", "/related", "Notes that belong with this one and are not linked with it", Service.related,
        shapes.RELATED,
        params=(NOTE, Param("n", "how many at most", "integer", default=10, low=1, high=500)),
        text=present.related, also=(404, 503),
    ),
    Route(
        "POST", "/related/dismiss", "Two notes do not belong together: neither is suggested for the other again",
        Service.dismiss, shapes.DISMISSED, body=shapes.DISMISS_BODY, also=(404, 415, 503),
    ),
    Route(
        "GET", "/notes", "Links, backlinks, tags and problems of one note", Service.note, shapes.NOTE,
        params=(Param("path", "a note's path, or its name", required=True, pattern=INSIDE),),
        also=(404, 503),
    ),
    Route(
        "GET", "/orphans", "Notes that no other note links to", lambda s, _: s.orphans(), shapes.ORPHANS,
        text=present.orphans, also=(503,),
    ),
    Route(
        "GET", "/unresolved", "Links that lead nowhere", lambda s, _: s.unresolved(), shapes.UNRESOLVED,
        text=present.unresolved, also=(503,),
    ),
    Route("GET", "/graph", "The whole graph", lambda s, _: s.graph(), shapes.GRAPH, also=(503,)),
    Route(
        "POST", "/index", "Look at the whole vault; a task", Service.index, shapes.TASK_STARTED,
        body=shapes.INDEX_BODY, also=(415,),
    ),
    Route(
        "POST", "/index/pause", "Hold indexing", lambda s, _: s.pause(on=True), shapes.PAUSED,
    ),
    Route(
        "POST", "/index/resume", "Go on indexing", lambda s, _: s.pause(on=False), shapes.PAUSED,
    ),
    Route(
        "GET", "/tasks/<task>", "How far a task is", lambda s, asked: s.tasks.get(asked["task"]), shapes.TASK,
        also=(404,),
    ),
    Route(
        "GET", "/changes", "Long poll: the revision and the paths that changed since",
        lambda s, asked: s.writing.changes(s.changes, asked), shapes.CHANGES,
        params=(
            Param("since", "the revision known already", "integer", high=10**12 - 1),
            Param("wait", "seconds to wait for news", "integer", default=0, high=LONGEST_WAIT_S),
            Param("pen", "yes: who asks writes what is due, for a minute; wait for that too", choices=("yes", "no")),
        ),
    ),
    Route(
        "POST", "/repair/due", "What may be written unasked now, for the plugin that holds the pen: a plan",
        lambda s, _: s.writing.due(), shapes.PLAN, also=(415,),
    ),
    Route(
        "POST", "/repair", "Plan how broken links are mended, of one note or all; with `apply` the certain ones are",
        lambda s, asked: s.writing.repair(asked), shapes.PLAN, body=shapes.REPAIR_BODY, also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/relink", "Plan links to a note, or to all orphans, where others speak of them",
        lambda s, asked: s.writing.relink(asked), shapes.PLAN, body=shapes.REPAIR_BODY, also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/plans/<plan>/apply", "The sidecar writes what is certain, and queues the rest",
        lambda s, asked: s.writing.apply_plan(asked), shapes.PLAN, body=shapes.CHOSEN_BODY,
        also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/plans/<plan>/prepare", "Archive what the plan concerns; says what the plugin is to write",
        lambda s, asked: s.writing.prepare_plan(asked), shapes.TO_WRITE, body=shapes.CHOSEN_BODY,
        also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/plans/<plan>/reject", "These proposals are not wanted; with `keep` the links are meant as they stand",
        lambda s, asked: s.writing.reject_plan(asked), shapes.REJECTED, body=shapes.REJECT_BODY, also=(404, 415),
    ),
    Route(
        "POST", "/operations/<op>/commit", "The plugin has written: checked against the disk",
        lambda s, asked: s.writing.commit(asked), shapes.OPERATION, also=(404, 409),
    ),
    Route(
        "POST", "/operations/<op>/abandon", "The plugin has not written, and will not",
        lambda s, asked: s.writing.abandon(asked), shapes.OPERATION, also=(404, 409),
    ),
    Route(
        "GET", "/operations", "What was done to the vault, oldest first",
        lambda s, asked: s.writing.operations(asked), shapes.OPERATIONS,
        params=(
            Param("note", "only what touched this note: its path", pattern=INSIDE),
            Param("n", "the latest so many", "integer", default=200, low=1, high=100_000),
        ),
    ),
    Route(
        "POST", "/operations/<op>/undo", "Take one operation back; with `prepare` the plugin writes",
        lambda s, asked: s.writing.undo(asked, asked["op"]), shapes.UNDONE, body=shapes.UNDO_BODY,
        also=(404, 409, 415),
    ),
    Route(
        "POST", "/operations/undo", "Take several back, or all since a time, in one operation",
        lambda s, asked: s.writing.undo(asked), shapes.UNDONE, body=shapes.UNDO_MANY_BODY, also=(404, 409, 415),
    ),
    Route(
        "GET", "/review", "What waits for a person, the surest first",
        lambda s, asked: s.writing.review(asked), shapes.REVIEW,
        params=(
            Param("kind", "only items of this kind", pattern=VISIBLE),
            Param("rule", "only items of this rule", pattern=VISIBLE),
            Param("n", "how many at most", "integer", default=50, low=1, high=1000),
        ),
        also=(503,),
    ),
    Route(
        "POST", "/review/<item>/<verb>", "Decide one: accept, reject, retarget, keep-new, snooze; `plan` makes a plan",
        lambda s, asked: s.writing.decide(asked, asked["item"], asked["verb"]), shapes.DECIDED,
        body=shapes.DECIDE_BODY, also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/review", "Decide several items, or all of a rule",
        lambda s, asked: s.writing.decide(asked), shapes.DECIDED, body=shapes.DECIDE_MANY_BODY,
        also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/recover", "Where a text once stood; with `restore` that version is brought back, over nothing",
        lambda s, asked: s.writing.recover(asked), shapes.RECOVERED, body=shapes.RECOVER_BODY, also=(404, 409, 415),
    ),
    Route(
        "POST", "/conflicts", "Conflict copies; with `apply` the one named is made one with its note",
        lambda s, asked: s.writing.conflicts(asked), shapes.COPIES, body=shapes.CONFLICTS_BODY,
        also=(404, 409, 415, 503),
    ),
    Route(
        "POST", "/renames", "Obsidian itself renamed a note, and rewrites the links to it",
        lambda s, asked: s.writing.renamed(asked), shapes.RENAMED, body=shapes.RENAME_BODY, also=(415,),
    ),
    Route(
        "POST", "/canvas", "A map of one thing, as a canvas: for the caller to write, or with `file` written",
        _canvas, shapes.CANVAS, body=shapes.CANVAS_BODY, also=(404, 409, 415, 503),
    ),
    Route("GET", "/settings", "The vault's settings", lambda s, _: s.settings(), shapes.SETTINGS),
    Route(
        "PATCH", "/settings", "Change some settings; null puts one back to its default",
        Service.patch_settings, shapes.SETTINGS, body=shapes.SETTINGS_PATCH, also=(409, 415),
    ),
    Route(
        "POST", "/stop", "End the sidecar; names its process, so that none is ended by mistake",
        Service.end, shapes.STOPPING, body=shapes.STOP_BODY, also=(409, 415),
    ),
)  # fmt: skip
