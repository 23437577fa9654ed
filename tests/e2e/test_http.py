"""What reaches the sidecar over the wire, byte by byte: the guard, its order, and the shape of errors."""

import json
import socket
import time

import pytest
from sidecar_process import Sidecar

LIMIT = 4 << 20


def request(
    sidecar: Sidecar, line: str = "GET /api/v1/hello HTTP/1.1", body: bytes = b"", **headers: str | None
) -> bytes:
    sent: dict[str, str | None] = {
        "Host": f"127.0.0.1:{sidecar.port}", "Authorization": f"Bearer {sidecar.token}", **{
            name.replace("_", "-"): value for name, value in headers.items()
        },
    }  # fmt: skip
    lines = [line, *(f"{name}: {value}" for name, value in sent.items() if value is not None)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def check_error(answer: tuple[int, dict[str, str], bytes], status: int) -> dict[str, str]:
    found, headers, body = answer
    assert found == status, answer
    assert headers["content-type"] == "application/json"
    assert not [name for name in headers if name.startswith("access-control")]
    error = json.loads(body)["error"]
    assert set(error) == {"code", "message", "fix"}
    assert error["message"].endswith(".")
    return dict(error)


def test_a_good_request_is_answered(sidecar: Sidecar) -> None:
    status, headers, body = sidecar.raw(request(sidecar))
    assert status == 200
    assert json.loads(body)["api"] == 1
    assert not [name for name in headers if name.startswith("access-control")]
    assert sidecar.raw(request(sidecar, Origin="app://obsidian.md"))[0] == 200


WRONG = {
    "Host": "localhost:1", "Origin": "https://example.org", "Authorization": "Bearer wrong",
    "Content-Length": str(LIMIT + 1),
}  # fmt: skip
STATUSES = (421, 403, 401, 413)


@pytest.mark.parametrize("first", range(4))
def test_the_checks_come_in_order(sidecar: Sidecar, first: int) -> None:
    """With all checks from `first` on failing, the first of them speaks; before routing, too."""
    wrong = dict(list(WRONG.items())[first:])
    for path in ("/api/v1/hello", "/nowhere"):
        check_error(sidecar.raw(request(sidecar, f"POST {path} HTTP/1.1", **wrong)), STATUSES[first])


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "127.0.0.1", "127.0.0.1:1", "evil.example", "[::1]:{port}", "127.0.0.1:{port}, a"]
)
def test_only_our_host(sidecar: Sidecar, host: str) -> None:
    check_error(sidecar.raw(request(sidecar, Host=host.format(port=sidecar.port))), 421)


def test_a_missing_host(sidecar: Sidecar) -> None:
    check_error(sidecar.raw(request(sidecar, Host=None)), 421)


@pytest.mark.parametrize("origin", ["null", "app://obsidian.md.evil", "http://127.0.0.1", "", "App://obsidian.md"])
def test_no_other_origin(sidecar: Sidecar, origin: str) -> None:
    check_error(sidecar.raw(request(sidecar, Origin=origin)), 403)


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Basic {token}", "bearer {token}", "Bearer {token}x", "Bearer ü"]
)
def test_no_other_token(sidecar: Sidecar, authorization: str | None) -> None:
    given = authorization.format(token=sidecar.token) if authorization else authorization
    answer = sidecar.raw(request(sidecar, Authorization=given))
    check_error(answer, 401)
    assert answer[1]["www-authenticate"] == "Bearer"


def test_a_large_body_is_refused_at_once_and_the_answer_arrives(sidecar: Sidecar) -> None:
    head = request(sidecar, "POST /api/v1/index HTTP/1.1", Content_Length=str(LIMIT + 1))
    check_error(sidecar.raw(head), 413)  # before any of it was sent
    check_error(sidecar.raw(head + b"x" * (LIMIT + 1)), 413)  # and to one that sends all of it first
    check_error(sidecar.raw(request(sidecar, "POST / HTTP/1.1", Content_Length="9" * 40)), 413)
    assert sidecar.get("/hello")["api"] == 1


def test_a_large_chunked_body_is_refused(sidecar: Sidecar) -> None:
    chunk = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
    head = request(sidecar, "POST /api/v1/index HTTP/1.1", Transfer_Encoding="chunked")
    check_error(sidecar.raw(head + chunk * 6 + b"0\r\n\r\n"), 413)
    check_error(sidecar.raw(head + chunk * 4 + b"1\r\nx\r\n0\r\n\r\n"), 413)
    status, _, _ = sidecar.raw(head + chunk * 4 + b"0\r\n\r\n")
    assert status == 415  # exactly 4 MiB are taken, and found to be no JSON


@pytest.mark.parametrize("length", ["-1", "ten", "1.5", "+3", "0x10", ""])
def test_a_bad_content_length(sidecar: Sidecar, length: str) -> None:
    line = "POST /api/v1/index HTTP/1.1"
    if length:
        check_error(sidecar.raw(request(sidecar, line, Content_Length=length)), 400)
    check_error(sidecar.raw(request(sidecar, line, Content_Length=length or "x", Host="evil")), 421)


@pytest.mark.parametrize(
    "data",
    [b"NONSENSE\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost x\r\n\r\n", b"GET / HTTP/1.1\r\nbad header\r\n\r\n"],
)
def test_what_is_no_http_is_told_so(sidecar: Sidecar, data: bytes) -> None:
    check_error(sidecar.raw(data), 400)


def test_an_unknown_transfer_encoding_and_endless_headers(sidecar: Sidecar) -> None:
    check_error(sidecar.raw(request(sidecar, "POST / HTTP/1.1", Transfer_Encoding="gzip")), 501)
    check_error(sidecar.raw(request(sidecar, X_Long="x" * 300_000)), 431)


def test_unknown_routes_and_methods(sidecar: Sidecar) -> None:
    for path in ("/", "/api/v1", "/api/v1/nope", "/api/v2/hello", "/api/v1/hello/"):
        check_error(sidecar.raw(request(sidecar, f"GET {path} HTTP/1.1")), 404)
    for method, path in (("POST", "hello"), ("DELETE", "settings"), ("OPTIONS", "probe"), ("GET", "stop")):
        answer = sidecar.raw(request(sidecar, f"{method} /api/v1/{path} HTTP/1.1"))
        check_error(answer, 405)
        assert answer[1]["allow"]


@pytest.mark.parametrize(
    "path",
    [
        "/probe", "/probe?q=", "/probe?q=%20", "/probe?q=%FF", "/probe?q=a&q=b", "/probe?q=a&x=1",
        "/probe?q=a&n=0", "/probe?q=a&n=201", "/probe?q=a&n=1.0", "/probe?q=a&n=%2B1", "/probe?q=a&mode=best",
        "/probe?q=a&in=../x", "/probe?q=a&in=/etc", "/probe?q=a&in=C:%5Cx", "/probe?q=a&tag=%23",
        "/probe?q=a&since=yesterday", "/probe?q=a&since=2025-02-30",
        "/query?note=../x", "/query?note=/etc/passwd", "/query?note=a/../../b", "/query?note=a%5C..%5Cb",
        "/query?note=a&hops=3", "/notes", "/notes?path=..%2Fx", "/notes?path=%2E%2E", "/related?note=..",
        "/changes?since=-1", "/changes?wait=26", "/hello?x=1", "/status?verbose", "/openapi.json?x=",
    ],
)  # fmt: skip
def test_malformed_parameters_are_told(sidecar: Sidecar, path: str) -> None:
    check_error(sidecar.raw(request(sidecar, f"GET /api/v1{path} HTTP/1.1")), 400)


def test_a_note_that_is_not_there(sidecar: Sidecar) -> None:
    for path in ("/query?note=nobody", "/related?note=nobody", "/notes?path=no/body.md", "/tasks/nothing"):
        check_error(sidecar.raw(request(sidecar, f"GET /api/v1{path} HTTP/1.1")), 404)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400), (b"[]", "application/json", 400), (b"\xff", "application/json", 400),
        (b'{"rebuild":1}', "application/json", 400), (b'{"x":true}', "application/json", 400),
        (b'{"rebuild":NaN}', "application/json", 400), (b"[" * 100_000, "application/json", 400),
        (b'{"rebuild":false}', "text/plain", 415), (b'{"rebuild":false}', "application/json; charset=utf-8", 200),
    ],
)  # fmt: skip
def test_bodies(sidecar: Sidecar, body: bytes, kind: str, status: int) -> None:
    data = request(sidecar, "POST /api/v1/index HTTP/1.1", body, Content_Type=kind, Content_Length=str(len(body)))
    answer = sidecar.raw(data)
    if status == 200:
        assert answer[0] == 200
    else:
        check_error(answer, status)


def test_a_connection_serves_many_requests(sidecar: Sidecar) -> None:
    data = request(sidecar)
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as line:
        for _ in range(3):
            line.sendall(data)
            received = b""
            while b"capabilities" not in received:
                received += line.recv(65536)
            assert received.startswith(b"HTTP/1.1 200")


def test_head_has_no_body(sidecar: Sidecar) -> None:
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as line:
        line.sendall(request(sidecar, "HEAD /nope HTTP/1.1", Authorization="Bearer no", Connection="close"))
        received = b""
        while part := line.recv(65536):
            received += part
    assert received.startswith(b"HTTP/1.1 401")
    assert received.endswith(b"\r\n\r\n")


def test_long_polls_leave_room_for_others(sidecar: Sidecar) -> None:
    """More waiters than threads: the first six wait, the rest is answered at once, and so are others."""
    revision = sidecar.get("/changes")["revision"]
    waiting = [socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) for _ in range(16)]
    for line in waiting:
        line.sendall(request(sidecar, f"GET /api/v1/changes?since={revision}&wait=2 HTTP/1.1"))
    start = time.monotonic()
    assert sidecar.get("/hello")["api"] == 1
    assert time.monotonic() - start < 1.5
    at_once = 0
    for line in waiting:
        answer = line.recv(65536)
        assert b"200 OK" in answer
        at_once += time.monotonic() - start < 1.5
        line.close()
    assert at_once <= 10  # the first ones in the list are those that wait
