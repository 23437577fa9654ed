"""The one shape of every error, and which HTTP status a failure is: known here and nowhere else."""

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from ohmykb.errors import KbError

if TYPE_CHECKING:
    from collections.abc import Mapping

STATUSES: Final = {
    "usage": 400,
    "not-found": 404,
    "ambiguous": 404,
    "conflict": 409,
    "config": 409,
    "bad-canvas": 409,
    "not-ready": 503,
    "busy": 503,
    "database": 503,
    "database-newer": 503,
    "database-damaged": 503,
    "database-unwritable": 503,
    "disk-full": 503,
    "no-vault": 503,
}
"""By the code of a KbError; any other is a 500."""


class Refusal(Exception):  # noqa: N818 - an answer, not a failure of ours
    """A request that is answered with a status of its own."""

    def __init__(self, status: int, code: str, message: str, fix: str = "", **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.fix = status, code, message, fix
        self.headers: Mapping[str, str] = {name.replace("_", "-"): value for name, value in headers.items()}


def refusal_of(error: KbError) -> Refusal:
    return Refusal(STATUSES.get(error.code, 500), error.code, error.message, error.fix)


def body_of(refusal: Refusal) -> bytes:
    """`{"error":{"code","message","fix"}}`."""
    error = {"code": refusal.code, "message": refusal.message, "fix": refusal.fix}
    return dump({"error": error})


def dump(answer: Any) -> bytes:
    """JSON as it is sent, and as the command line prints it: one line."""
    return (json.dumps(answer, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def status_line(status: int) -> str:
    return f"{status} {HTTPStatus(status).phrase}"
