"""Harm from outside: connections that never ask, impatient signals, files that vanish, break or cannot be written."""

import json
import os
import shutil
import signal
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sidecar_process import Kb, select_a_moment

WITHIN_S = 30


def until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + WITHIN_S
    while not true():
        assert time.monotonic() < ends
        select_a_moment()


def index_file(kb: Kb) -> Path:
    return next((kb.home / "cache").glob("*/index.db"))


def spoil(path: Path, start: int = 4096) -> None:
    """Every page but the first, in place."""
    with path.open("r+b") as file:
        size = path.stat().st_size
        file.seek(start)
        file.write(b"\xff" * (size - start))


def whole(kb: Kb) -> bool:
    return bool(kb.json("verify")["equal"]) and kb.json("probe", "资金费率")["results"][0]["path"] == "Funding rate.md"


def test_connections_that_never_ask_leave_room(kb: Kb) -> None:
    sidecar = kb.serve()
    lines = [socket.create_connection(("127.0.0.1", sidecar.port)) for _ in range(150)]
    for line in lines:
        line.sendall(b"GET / HT")
    assert sidecar.get("/hello")["pid"] == sidecar.process.pid
    for line in lines:
        line.close()


def test_one_that_never_ends_its_headers_is_closed(kb: Kb) -> None:
    sidecar = kb.serve()
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=WITHIN_S) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert line.recv(10) == b""
    assert sidecar.get("/hello")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_impatience_is_no_crash(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        sidecar.process.send_signal(number)
        select_a_moment()
    # The last signal may come when the interpreter has put its own handlers back.
    assert sidecar.process.wait(WITHIN_S) in (0, -signal.SIGTERM, -signal.SIGINT)
    assert sidecar.process.stderr is not None
    assert sidecar.process.stderr.read() == b""
    assert not (kb.home / "state" / "crash.log").exists()


def test_no_character_zero_in_a_path(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    for path in ("/notes?path=a%00b", "/query?note=%00", "/related?note=.%00"):
        status, answer = sidecar.ask(path)
        assert (status, answer["error"]["code"]) == (400, "usage")


@pytest.mark.skipif(os.name != "posix", reason="an open file stays")
def test_a_deleted_index_is_made_again(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    revision = sidecar.get("/changes")["revision"]
    for args in (("index",), ("index", "--rebuild")):
        file = index_file(kb)
        for suffix in ("", "-wal", "-shm"):
            Path(f"{file}{suffix}").unlink()
        assert kb.json(*args)["indexed"] == 5
        assert file.exists()
        assert whole(kb)
    (kb.vault / "New.md").write_text("quokka")
    until(lambda: kb.json("probe", "quokka")["results"] != [])
    assert sidecar.get("/changes")["revision"] > revision


@pytest.mark.skipif(os.name != "posix", reason="an open file stays")
def test_a_damaged_index_heals_under_a_sidecar(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    for suffix in ("-wal",):
        os.truncate(f"{index_file(kb)}{suffix}", 0)
    spoil(index_file(kb))

    def healed() -> bool:
        for path in ("/status", "/probe?q=%E8%B5%84%E9%87%91%E8%B4%B9%E7%8E%87&mode=token", "/graph"):
            status, answer = sidecar.ask(path)
            assert status in (200, 503), answer
        return status == 200 and sidecar.get("/status")["indexed"] == 5

    until(healed)
    sidecar.settled()
    assert whole(kb)
    assert kb.json("index", "--rebuild")["indexed"] == 5


@pytest.mark.skipif(os.name != "posix", reason="an open file stays")
def test_an_index_cut_short_does_not_end_the_sidecar(kb: Kb) -> None:
    for number in range(300):
        (kb.vault / f"Note {number}.md").write_text(f"[[Note {number + 1}]] text " * 50, "utf-8")
    sidecar = kb.serve()
    sidecar.settled()
    os.truncate(index_file(kb), 4096)
    for path in ("/probe?q=text&mode=token", "/graph", "/orphans"):
        assert sidecar.ask(path)[0] in (200, 503)
    assert kb.json("index", "--rebuild")["indexed"] == 305
    assert sidecar.process.poll() is None


def test_a_damaged_index_without_a_sidecar(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    spoil(index_file(kb))
    done = kb.run("graph", "--json", code=1)
    assert json.loads(done.stdout)["error"]["fix"] == "Run: kb index --rebuild"
    checks = kb.json("doctor", code=1)["checks"]
    assert [one["state"] for one in checks if one["check"] == "index"] == ["fail"]
    assert kb.json("index", "--no-vectors")["indexed"] == 5
    assert whole(kb)


@pytest.mark.parametrize("kind", ["cache", "state"])
def test_a_place_that_cannot_be_written_is_said(kb: Kb, kind: str) -> None:
    kb.home.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(kb.home / kind, ignore_errors=True)
    (kb.home / kind).write_text("a file")
    for command in (("serve",), ("index",)):
        error = json.loads(kb.run(*command, "--json", code=1).stdout)["error"]
        assert "cannot be written to" in error["message"]
        assert "OHMYKB_HOME" in error["fix"]
    checks = kb.json("doctor", code=1)["checks"]
    assert any(one["state"] == "fail" and "cannot be written to" in one["message"] for one in checks), checks


def test_a_damaged_memory_is_set_aside(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    file = next((kb.home / "state").glob("*/state.db"))
    file.write_bytes(b"not a database" * 500)
    sidecar = kb.serve()
    sidecar.settled()
    aside = [path for path in file.parent.iterdir() if path.name.startswith("state.db.damaged-")]
    assert len(aside) == 1
    assert aside[0].read_bytes().startswith(b"not a database")
    assert any(str(aside[0]) in remark for remark in sidecar.get("/status")["remarks"])
    checks = kb.json("doctor")["checks"]
    assert any(one["state"] == "warn" and aside[0].name in one["message"] for one in checks)


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_what_we_keep_is_private(kb: Kb) -> None:
    kb.serve().settled()
    for kind in ("cache", "state"):
        for folder in (kb.home / kind).iterdir():
            if not (folder / "index.db").exists() and not (folder / "state.db").exists():
                continue
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            for file in folder.glob("*.db*"):
                assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


@pytest.mark.skipif(os.name != "posix", reason="SIGSTOP")
def test_one_that_does_not_answer_is_running(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.process.send_signal(signal.SIGSTOP)
    error = json.loads(kb.run("stop", "--json", code=1).stdout)["error"]
    assert str(sidecar.said["pid"]) in error["message"]
    checks = kb.json("doctor", code=1)["checks"]
    assert not any("killed" in one["message"] or one["message"] == "not running" for one in checks)
    sidecar.process.send_signal(signal.SIGCONT)
