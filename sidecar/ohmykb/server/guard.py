"""What every request must pass before anything else looks at it, in the order of the contract.

Host keeps out pages that were led here by DNS, Origin those of the browser, the token everybody who
cannot read our files.
"""

from collections.abc import Callable, Iterable
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from ohmykb.server.faults import Refusal, body_of, status_line

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

BODY_LIMIT: Final = 4 << 20
"""Bytes; 4 MiB."""
ORIGIN: Final = "app://obsidian.md"


class Guard:
    """WSGI middleware; `port` is the one we listen on."""

    def __init__(self, app: "WSGIApplication", port: int, token: str) -> None:
        self._app = app
        self._host = f"127.0.0.1:{port}"
        self._bearer = f"Bearer {token}".encode()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        try:
            self.check(environ.get)
        except Refusal as refusal:
            return answer(refusal, environ, start_response)
        return self._app(environ, start_response)

    def check(self, header: "Callable[[str, str | None], str | None]") -> None:
        """Raises Refusal. `header` gives WSGI variables."""
        if header("HTTP_HOST", None) != self._host:
            raise Refusal(421, "host", "This address is not served here.", f"Ask http://{self._host}")
        if header("HTTP_ORIGIN", None) not in (None, ORIGIN):
            raise Refusal(403, "origin", "Web pages may not ask here.", "Ask from Obsidian or the command line")
        bearer = (header("HTTP_AUTHORIZATION", None) or "").encode("latin-1", "replace")
        if not compare_digest(bearer, self._bearer):
            raise Refusal(
                401, "token", "The token is missing or not the one of this run.",
                "Read it from the discovery file, sidecar.json", WWW_Authenticate="Bearer",
            )  # fmt: skip
        length = header("CONTENT_LENGTH", None) or "0"
        if not (length.isascii() and length.isdigit()):
            raise Refusal(400, "usage", "The Content-Length is not a number.", "Send the size of the body")
        if len(length) > 18 or int(length) > BODY_LIMIT:
            raise Refusal(413, "too-large", "The body is larger than 4 MiB.", "Send it in parts")


def answer(refusal: Refusal, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    body = body_of(refusal)
    headers = [
        ("Content-Type", "application/json"), ("Content-Length", str(len(body))), *refusal.headers.items()
    ]  # fmt: skip
    start_response(status_line(refusal.status), headers)
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]
