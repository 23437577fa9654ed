"""The real thing: `kb` as a process, on a vault of its own, with its files in a folder of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

KB = [sys.executable, "-c", "import sys; from ohmykb.cli.entry import main; sys.exit(main())"]
"""The console script, whether one is installed or not."""
NOTES = {
    "Funding rate.md": "---\naliases: [资金费率]\ntags: [crypto]\ntype: concept\n---\n"
    "# Funding rate\n\nSee [[Perpetuals]] and [[Nowhere]].\n",
    "Perpetuals.md": "# Perpetuals\n\nA swap without an end. [[Funding rate#Missing]] #crypto/swaps\n",
    "folder/Lonely 孤独.md": "Nobody links here. 期现套利 is mentioned once.\n",
    "folder/Perpetual.md": "---\nrelated: '[[Funding rate]]'\n---\nAlmost the same name.\n",
    "bad.md": "---\na: [\n---\nBroken properties. ![[Funding rate]]\n",
}
PATIENCE_S = 60


def make_vault(root: Path) -> Path:
    for name, text in NOTES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (root / ".obsidian").mkdir()
    return root


@dataclass
class Kb:
    """The command line on one vault."""

    vault: Path
    home: Path
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "OHMYKB_HOME": str(self.home), "OHMYKB_VAULT": str(self.vault)}

    def run(self, *args: str, code: int = 0, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [*KB, *args],
            env={**self.env, **(env or {})}, capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stdout + done.stderr
        return done

    def json(self, *args: str, code: int = 0) -> Any:
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def serve(self, *args: str, stdin: int = subprocess.DEVNULL, **env: str) -> "Sidecar":
        process = subprocess.Popen(
            [*KB, "serve", *args],
            env={**self.env, **env}, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else b""
        return Sidecar(process, json.loads(line), self.discovery)

    @property
    def discovery(self) -> Path:
        found = list((self.home / "state").glob("*/sidecar.json"))
        return found[0] if found else self.home / "none"


@dataclass
class Sidecar:
    process: "subprocess.Popen[bytes]"
    said: dict[str, Any]
    discovery: Path

    def __post_init__(self) -> None:
        self.port = int(self.said["port"])
        self.token = str(json.loads(self.discovery.read_text("utf-8"))["token"])

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, Any]:
        """(status, answer); text where text was asked for."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S + 20)
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, f"/api/v1{path}", data, sent)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8")
        connection.close()
        if answer.headers["Content-Type"].startswith("text/plain"):
            return answer.status, text
        return answer.status, json.loads(text)

    def get(self, path: str) -> Any:
        status, answer = self.ask(path)
        assert status == 200, answer
        return answer

    def raw(self, data: bytes) -> tuple[int, dict[str, str], bytes]:
        """Sends bytes as they are; (status, headers, body) of the one answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as line:
            line.sendall(data)
            received = b""
            while part := line.recv(65536):
                received += part
                head, end, body = received.partition(b"\r\n\r\n")
                if end and int(_headers(head).get("content-length", "-1")) == len(body):
                    break
        head, _, body = received.partition(b"\r\n\r\n")
        return int(head.split()[1]), _headers(head), body

    def settled(self) -> None:
        """Until the first look at the vault is done."""
        task = self.ask("/index", "POST")[1]["task"]
        self.finished(task)

    def encoded(self) -> Any:
        """Until every text has its vector, and the vectors serve; the status then."""
        return self.until(lambda now: now["unencoded"] == 0 and now["model"]["id"] and not now["pending"])

    def until(self, true: Callable[[Any], Any]) -> Any:
        """The first status of which that is true."""
        for _ in range(PATIENCE_S * 50):
            status = self.get("/status")
            if true(status):
                return status
            select_a_moment()
        raise AssertionError(status)

    def probe(self, question: str, mode: str = "hybrid") -> Any:
        return self.get(f"/probe?mode={mode}&q={quote(question)}")

    def finished(self, task: str) -> Any:
        for _ in range(PATIENCE_S * 50):
            found = self.get(f"/tasks/{task}")
            if found["state"] in ("done", "failed"):
                assert found["state"] == "done", found
                return found["result"]
            self.process.poll()
            select_a_moment()
        raise AssertionError("the task does not end")

    def revision_after(self, revision: int) -> Any:
        """The next change, by long poll."""
        for _ in range(PATIENCE_S):
            found = self.get(f"/changes?since={revision}&wait=5")
            if found["revision"] != revision:
                return found
        raise AssertionError("nothing changed")

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def select_a_moment() -> None:
    """Gives the other process its turn: polling is what a client of tasks does."""
    import select

    select.select([], [], [], 0.02)


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


def end_all(kb: Kb) -> None:
    for process in kb.processes:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
