"""A real server on loopback that speaks `/v1/embeddings`, well or badly, as each test asks."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Answer = tuple[int, dict[str, str], bytes]
Dialect = Callable[[list[str]], Answer]


def vector(text: str, dim: int = 8) -> list[float]:
    """Not of unit length, the same for the same text."""
    seed = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    return [float(x) for x in np.random.default_rng(seed).normal(size=dim).astype(np.float32) * 3]


def rows(texts: list[str], dim: int = 8) -> list[dict[str, Any]]:
    return [{"object": "embedding", "index": n, "embedding": vector(text, dim)} for n, text in enumerate(texts)]


def said(value: Any, status: int = 200, **headers: str) -> Answer:
    return status, {"Content-Type": "application/json"} | headers, json.dumps(value).encode()


def reference(texts: list[str]) -> Answer:
    return said({"object": "list", "data": rows(texts), "model": "m", "usage": {"prompt_tokens": 1}})


def shuffled(texts: list[str]) -> Answer:
    return said({"data": rows(texts)[::-1]})


def unnumbered(texts: list[str]) -> Answer:
    return said({"data": [{"embedding": row["embedding"]} for row in rows(texts)]})


def packed(texts: list[str]) -> Answer:
    return said(
        {
            "data": [
                row | {"embedding": base64.b64encode(np.asarray(row["embedding"], "<f4").tobytes()).decode()}
                for row in rows(texts)
            ]
        }
    )


def of_length(dim: int) -> Dialect:
    return lambda texts: said({"data": rows(texts, dim)})


def failing(status: int, value: Any = None, **headers: str) -> Dialect:
    told = {"error": {"message": "no"}} if value is None else value
    return lambda _: said(told, status, **headers)


def raw(body: bytes, status: int = 200, kind: str = "text/html") -> Dialect:
    return lambda _: (status, {"Content-Type": kind}, body)


def at_most(characters: int) -> Dialect:
    """As llama.cpp and vLLM do: one text too long fails the whole batch."""

    def answer(texts: list[str]) -> Answer:
        if max(map(len, texts)) > characters:
            return said({"error": {"message": "input exceeds the maximum context length", "code": 400}}, 400)
        return reference(texts)

    return answer


@dataclass
class Endpoint:
    url: str
    dialect: Dialect = reference
    script: list[Dialect] = field(default_factory=list)
    """Answers given first, one a question."""
    questions: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def hang(self, texts: list[str]) -> Answer:
        """Says nothing until the test is over."""
        self.released.wait(30)
        return reference(texts)


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            there.questions.append(question)
            there.headers.append(dict(self.headers.items()))
            there.paths.append(self.path)
            dialect = there.script.pop(0) if there.script else there.dialect
            status, headers, body = dialect(question["input"])
            try:
                if status == 0:  # hangs up without a word
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the other side did not wait

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    there = Endpoint(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield there
    finally:
        there.released.set()
        server.shutdown()
        server.server_close()
