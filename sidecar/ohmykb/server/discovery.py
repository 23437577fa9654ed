"""The discovery file: how the command line, the plugin and agents find a running sidecar."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

API: Final = 1
"""Version of the HTTP API; a client of another one must not guess."""
ANSWER_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Discovery:
    port: int
    pid: int
    token: str
    api: int
    version: str
    vault: str
    """Last: the quick command line looks for the others by name, and a path may hold anything."""


def new_token() -> str:
    """256 bits; one a run."""
    return secrets.token_hex(32)


def write(path: Path, found: Discovery) -> None:
    """Whole or not at all; readable for nobody else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(found)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read(path: Path) -> Discovery | None:
    """None when there is none, or it cannot be used."""
    try:
        found = json.loads(path.read_bytes())
        return Discovery(
            int(found["port"]), int(found["pid"]), str(found["token"]), int(found["api"]),
            str(found["version"]), str(found["vault"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove(path: Path, pid: int) -> None:
    """Only while it is ours."""
    found = read(path)
    if found is not None and found.pid == pid:
        path.unlink(missing_ok=True)


def answers(found: Discovery, timeout: float = ANSWER_S) -> bool:
    """Whether a sidecar answers there to this token; a file left behind by a kill leads nowhere."""
    from http.client import HTTPConnection, HTTPException  # late: it takes 30 ms to import

    connection = HTTPConnection("127.0.0.1", found.port, timeout=timeout)
    try:
        connection.request("GET", "/api/v1/hello", headers={"Authorization": f"Bearer {found.token}"})
        answer = connection.getresponse()
        return answer.status == 200 and json.loads(answer.read()).get("pid") == found.pid
    except (OSError, HTTPException, ValueError, AttributeError):
        return False
    finally:
        connection.close()
