"""The quick way in: a question to a running sidecar costs little more than the interpreter's start.

Only what the interpreter has loaded anyway is imported, `_socket` and two small files of ours; `json`,
`socket` or `argparse` alone would take longer than all the rest. The sidecar formats the answer, here its
bytes are printed. Whatever is out of the ordinary goes the long way (main.py), which finds the words.

One of the four places that catch everything: what nobody foresaw becomes a sentence and an entry in
`<state>/crash.log`.
"""

import _socket
import os
import sys

from ohmykb import __version__
from ohmykb.places import discovery_file, find_vault, home, vault_key

OPTIONS = {
    "probe": {"--mode": "mode", "-n": "n", "--in": "in", "--tag": "tag", "--since": "since"},
    "query": {"--hops": "hops", "-n": "n"},
    "orphans": {},
    "unresolved": {},
    "status": {},
}
WORDS = {"probe": "q", "query": "note"}
TIMEOUT_S = 5.0
SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")


def main() -> int:
    """The console script `kb`; returns the exit code."""
    argv = sys.argv[1:]
    # Closed by whoever started us (`kb … >&-`): then nobody wants to hear it.
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    try:
        if not quick(argv):
            from ohmykb.cli.main import run

            return run(argv)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read has had enough; what is still buffered must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except UnwritableError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr.write(f"kb: The answer cannot be written: {error}. Send it somewhere else.\n")
        return 1
    except Exception as error:  # noqa: BLE001 - the edge
        return _crashed(error, argv)
    return 0


class UnwritableError(Exception):
    """stdout takes nothing: a full disk."""


def write(body: bytes) -> None:
    """On stdout, at once. Raises BrokenPipeError, UnwritableError."""
    if sys.platform == "win32" and sys.stdout.isatty():
        sys.stdout.write(body.decode())
        sys.stdout.flush()
        return
    try:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(error.strerror) from error


def quick(argv: "list[str]") -> bool:
    """Asks the running sidecar and prints its answer; False when that cannot be done from here."""
    read = _read(argv)
    if read is None:
        return False
    route, vault, as_json = read
    found = _find(vault)
    if found is None:
        return False
    accept = "application/json" if as_json else f"text/plain{_terminal()}"
    body = _ask(found[0], found[1], route, accept)
    if body is None:
        return False
    write(body)
    return True


def _read(argv: "list[str]") -> "tuple[str, str | None, bool] | None":
    """(route with parameters, --vault, --json); None for anything unusual."""
    command, vault, as_json = "", None, False
    words: list[str] = []
    asked: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        if word == "--json":
            as_json = True
        elif word == "--vault" or word[:1] == "-":
            name = word if word == "--vault" else OPTIONS.get(command, {}).get(word)
            value = next(rest, "-")
            if name is None or value[:1] == "-" or not value:
                return None
            if name == "--vault":
                vault = value
            elif name == "in":
                asked[name] = value.removeprefix("./").rstrip("/")
            else:
                asked[name] = value
        elif not command:
            if word not in OPTIONS:
                return None
            command = word
        else:
            words.append(word)
    if not command or bool(words) != (command in WORDS):
        return None
    if command == "query" and ("#" in (name := " ".join(words)) or "[" in name or os.path.isfile(name)):  # noqa: PTH113
        return None
    if words:
        asked[WORDS[command]] = " ".join(words)
    pairs = "&".join([f"{name}={_encode(value)}" for name, value in asked.items()])
    return f"/api/v1/{command}?{pairs}", vault, as_json


def _find(vault: "str | None") -> "tuple[int, str] | None":
    """(port, token) of the sidecar of this very version."""
    try:
        named = vault or os.environ.get("OHMYKB_VAULT")
        root = find_vault(vault, "" if named else os.getcwd())  # noqa: PTH109
    except OSError:
        return None
    if root is None:
        return None
    try:
        with open(discovery_file(vault_key(root)), encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    if _field(text, "version") != __version__:
        return None
    port, token = _field(text, "port"), _field(text, "token")
    return (int(port), token) if port.isdigit() and token.isalnum() else None


def _field(text: str, name: str) -> str:
    mark = f'"{name}": '
    start = text.find(mark)
    end = text.find(",", start)
    return text[start + len(mark) : end].strip('"') if start >= 0 else ""


def _ask(port: int, token: str, route: str, accept: str) -> "bytes | None":
    """The body of a 200 answer."""
    request = (
        f"GET {route} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        f"Accept: {accept}\r\nConnection: close\r\n\r\n"
    )
    line = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        line.settimeout(TIMEOUT_S)
        line.connect(("127.0.0.1", port))
        data = request.encode()
        while data:
            data = data[line.send(data) :]
        parts = []
        while part := line.recv(65536):
            parts.append(part)
    except OSError:
        return None
    finally:
        line.close()
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    size = head.partition(b"\r\nContent-Length: ")[2].partition(b"\r\n")[0]
    whole = size.isdigit() and int(size) == len(body)
    return body if whole and head.startswith(b"HTTP/1.1 200 ") and b"\r\nServer: oh-my-kb" in head else None


def _encode(text: str) -> str:
    data = text.encode("utf-8", "surrogateescape")
    return "".join([chr(byte) if byte in SAFE else f"%{byte:02X}" for byte in data])


def _terminal() -> str:
    """What the answer is to look like: parameters of `Accept`."""
    if not sys.stdout.isatty():
        return ""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.platform == "win32"
    try:
        width = os.get_terminal_size(1).columns
    except OSError:
        width = 0
    return f"; width={width or 80}; color={0 if plain else 1}"


def _crashed(error: Exception, argv: "list[str]") -> int:
    import json
    import traceback

    place = os.path.join(home("state"), "crash.log")  # noqa: PTH118
    fix = f"What happened is in {place}; please report it"
    try:
        os.makedirs(home("state"), mode=0o700, exist_ok=True)  # noqa: PTH103
        with open(place, "a", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123
            traceback.print_exception(error, file=file)
    except OSError:
        fix = f"It was a {type(error).__name__}; please report it"
    message = "Something went wrong that should not have."
    sys.stderr.write(f"kb: {message} {fix}.\n")
    if "--json" in argv:
        write(json.dumps({"error": {"code": "crash", "message": message, "fix": fix}}).encode() + b"\n")
    return 1
