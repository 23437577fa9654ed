"""The HTTP edge: requests are read, the service is asked, every failure becomes a sentence.

One of the four places that catch everything: what nobody foresaw becomes a 500 and a log entry, which
tells the place but nothing of what was asked.
"""

import json
import logging
import re
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from ohmykb.errors import KbError, UsageError
from ohmykb.search.layout import Style, style
from ohmykb.server.faults import Refusal, body_of, dump, refusal_of
from ohmykb.server.openapi import PREFIX, document
from ohmykb.server.params import check, read_query
from ohmykb.server.routes import ROUTES, Route
from ohmykb.server.service import Service, not_ready
from ohmykb.store.connection import DamagedError

log = logging.getLogger(__name__)


def make_app(service: Service) -> Flask:
    """Without the guard: nothing here checks who asks."""
    app = Flask("ohmykb", static_folder=None)
    app.url_map.merge_slashes = False
    for route in ROUTES:
        _add(app, route.method, route.path, _view(service, route))
    described = dump(document(service.port))
    _add(app, "GET", "/openapi.json", lambda: (_asked({}, ()), _json(described))[1])
    app.register_error_handler(Exception, _failed)
    return app


def _add(app: Flask, method: str, path: str, view: Callable[..., Response]) -> None:
    app.add_url_rule(PREFIX + path, f"{method} {path}", view, methods=[method], provide_automatic_options=False)


def _view(service: Service, route: Route) -> Callable[..., Response]:
    def view(**parts: str) -> Response:
        asked = _asked(parts, route.params)
        if route.body is not None:
            asked = {**check(_body(needed=route.needs_body), route.body), **parts}
        try:
            answer = route.answer(service, asked)
        except DamagedError as error:
            raise not_ready() from error  # the worker was told, and makes it anew
        finally:
            service.readers.give_back()
        if route.text is not None and (look := _style(request.headers.get("Accept", ""))) is not None:
            return Response(route.text(answer, look), content_type="text/plain; charset=utf-8")
        return _json(dump(answer))

    return view


def _asked(parts: dict[str, str], params: Any) -> dict[str, Any]:
    return {**read_query(request.query_string.decode("latin-1"), params), **parts}


def _body(*, needed: bool) -> Any:
    data = request.get_data(cache=False)
    if not data:
        if needed:
            raise UsageError("The body is missing.", "Send one JSON object")
        return {}
    if request.mimetype != "application/json":
        raise Refusal(415, "usage", "The body should be JSON.", "Send Content-Type: application/json")
    try:
        body = json.loads(data.decode("utf-8"), parse_constant=_no_number)
        json.dumps(body, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:  # also bytes that are no UTF-8, and halves of characters
        raise UsageError("The body is not JSON in UTF-8.", "Send one JSON object") from error
    return body


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _style(accept: str) -> Style | None:
    """`text/plain; width=80; color=1`."""
    if "text/plain" not in accept:
        return None
    width = re.search(r"width=([0-9]{1,4})\b", accept)
    return style(int(width[1]) if width else 0, colour="color=1" in accept)


def _json(body: bytes) -> Response:
    return Response(body, content_type="application/json")


def _failed(error: Exception) -> Response:
    if isinstance(error, Refusal):
        refusal = error
    elif isinstance(error, KbError):
        refusal = refusal_of(error)
    elif isinstance(error, HTTPException):
        refusal = _of_werkzeug(error)
    else:
        _record(error)
        refusal = Refusal(500, "server", "Something went wrong in the sidecar.", "The log says where: kb logs")
    return Response(body_of(refusal), refusal.status, content_type="application/json", headers=dict(refusal.headers))


def _of_werkzeug(error: HTTPException) -> Refusal:
    status = error.code or 500
    if status == 404:
        return Refusal(404, "not-found", "There is no such route.", "See GET /api/v1/openapi.json")
    if status == 405:
        allowed = ", ".join(sorted(getattr(error, "valid_methods", None) or ()))
        return Refusal(405, "usage", "This method does not fit the route.", f"Use {allowed}", Allow=allowed)
    return Refusal(status, "usage", f"The request cannot be answered: {error.name}.", "See openapi.json")


def _record(error: Exception) -> None:
    """Where it happened, not what was asked: neither the query nor the message goes into the log."""
    places = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        places.append(f"{code.co_filename}:{step.tb_lineno} {code.co_name}")
        step = step.tb_next
    log.error("%s %s failed: %s\n  %s", request.method, request.path, type(error).__name__, "\n  ".join(places))
