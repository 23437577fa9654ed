"""The guard alone; over the wire it is tried in e2e/test_http.py."""

from typing import Any

import pytest

from ohmykb.server.faults import Refusal
from ohmykb.server.guard import BODY_LIMIT, Guard

GOOD = {"HTTP_HOST": "127.0.0.1:5", "HTTP_AUTHORIZATION": "Bearer abc", "CONTENT_LENGTH": "0"}


def status(**headers: Any) -> int:
    guard = Guard(lambda _environ, _start: [], 5, "abc")
    try:
        guard.check(lambda name, default=None: {**GOOD, **headers}.get(name, default))
    except Refusal as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({}, 200), ({"HTTP_ORIGIN": "app://obsidian.md"}, 200), ({"CONTENT_LENGTH": str(BODY_LIMIT)}, 200),
        ({"CONTENT_LENGTH": ""}, 200), ({"HTTP_HOST": None}, 421), ({"HTTP_HOST": "127.0.0.1:05"}, 421),
        ({"HTTP_ORIGIN": ""}, 403), ({"HTTP_AUTHORIZATION": None}, 401), ({"HTTP_AUTHORIZATION": "abc"}, 401),
        ({"HTTP_AUTHORIZATION": "Bearer \u4e2d"}, 401), ({"CONTENT_LENGTH": str(BODY_LIMIT + 1)}, 413),
        ({"CONTENT_LENGTH": "9" * 5000}, 413), ({"CONTENT_LENGTH": "-1"}, 400), ({"CONTENT_LENGTH": "\u0663"}, 400),
    ],
)  # fmt: skip
def test_checks(headers: dict[str, str | None], wanted: int) -> None:
    assert status(**headers) == wanted
