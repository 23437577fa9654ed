"""Talks to the running sidecar, the long way: with all its errors."""

import json
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import quote, urlencode

import ohmykb
from ohmykb import wiring
from ohmykb.cli.terminal import say
from ohmykb.errors import KbError
from ohmykb.wiring import Vault

TIMEOUT_S: Final = 60.0
"""The whole graph of a large vault takes a while."""


class RemoteError(KbError):
    """What the sidecar answered."""

    def __init__(self, code: str, message: str, fix: str) -> None:
        super().__init__(message, fix)
        self.code = code


class OtherVersionError(KbError):
    """A sidecar that this version does not understand."""

    code = "version"


class GoneError(KbError):
    """It was there and answers no more."""

    code = "gone"


class Client:
    def __init__(self, found: wiring.Discovery) -> None:
        self.found = found

    def get(self, path: str, **asked: Any) -> dict[str, Any]:
        given = {name.rstrip("_"): value for name, value in asked.items() if value is not None}
        pairs = urlencode(given, quote_via=quote, errors="surrogateescape")
        return self._ask("GET", f"{path}?{pairs}" if pairs else path)

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._ask("POST", path, body)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.found.token}"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        connection = HTTPConnection("127.0.0.1", self.found.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, f"/api/v1{path}", data, headers)
            answer = connection.getresponse()
            found = json.loads(answer.read())
        except (OSError, HTTPException, ValueError) as error:
            raise GoneError("The sidecar does not answer.", "Look at: kb logs. Then: kb stop, kb serve") from error
        finally:
            connection.close()
        if answer.status != 200:
            told = found["error"]
            raise RemoteError(told["code"], told["message"], told["fix"])
        return dict(found)


def find(vault: Vault) -> Client | None:
    """The sidecar of this vault, if one runs. Raises OtherVersionError when it speaks another language."""
    found = wiring.running(vault)
    if found is None:
        return None
    if found.api != wiring.API:
        raise OtherVersionError(
            f"The running sidecar is version {found.version} (API {found.api}), this command is version "
            f"{ohmykb.__version__} (API {wiring.API}).",
            "End it with: kb stop. Then start it again: kb serve",
        )
    if found.version != ohmykb.__version__:
        say(
            f"The running sidecar is version {found.version}, this command is {ohmykb.__version__}. "
            "Restart it: kb stop, then kb serve."
        )
    return Client(found)
