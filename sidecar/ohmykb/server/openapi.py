"""The description of the API: made from the routes, so that it cannot say anything else."""

import re
from http import HTTPStatus
from typing import Any

import ohmykb
from ohmykb.server import shapes
from ohmykb.server.routes import ROUTES, Route

PREFIX = "/api/v1"
EVERYWHERE = {
    400: "The request is malformed, or leads outside the vault",
    401: "The token is missing or wrong",
    403: "The origin is not Obsidian",
    405: "The method does not fit the route",
    413: "The body is larger than 4 MiB",
    421: "The Host is not 127.0.0.1 and our port",
    500: "A fault of ours; the log has it",
}


def document(port: int) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        path = re.sub(r"<(\w+)>", r"{\1}", route.path)
        paths.setdefault(PREFIX + path, {})[route.method.lower()] = _operation(route)
    paths[PREFIX + "/openapi.json"] = {"get": _plain("This description", "openapi", shapes.DOCUMENT)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Oh My KB sidecar",
            "version": ohmykb.__version__,
            "description": "Answers for one vault, on this machine only. Host, Origin and token are checked "
            "before anything else.",
        },
        "servers": [{"url": f"http://127.0.0.1:{port}"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": shapes.ERROR},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    name = route.method.lower() + re.sub(r"\W+", "_", route.path).rstrip("_")
    found = _plain(route.about, name, route.shape, *route.also)
    if route.text is not None:
        found["responses"]["200"]["content"]["text/plain"] = {"schema": {"type": "string"}}
    parameters = [
        {"name": param.name, "in": "query", "required": param.required, "description": param.about,
         "schema": param.schema()}
        for param in route.params
    ]  # fmt: skip
    parameters += [
        {"name": part, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for part in re.findall(r"<(\w+)>", route.path)
    ]
    if parameters:
        found["parameters"] = parameters
    if route.body is not None:
        found["requestBody"] = {
            "required": route.needs_body,
            "content": {"application/json": {"schema": route.body}},
        }
    return found


def _plain(about: str, name: str, shape: dict[str, Any], *also: int) -> dict[str, Any]:
    responses: dict[str, Any] = {
        "200": {"description": "The answer", "content": {"application/json": {"schema": shape}}}
    }
    for status in sorted({*EVERYWHERE, *also}):
        responses[str(status)] = {
            "description": EVERYWHERE.get(status, HTTPStatus(status).phrase),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
    return {"summary": about, "operationId": name, "responses": responses}
