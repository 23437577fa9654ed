"""The life of a sidecar: it starts, is found, follows the vault, is killed, comes back, and ends."""

import json
import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from sidecar_process import Kb

WITHIN_S = 10


def test_it_says_where_it_is_and_cleans_up(kb: Kb) -> None:
    sidecar = kb.serve()
    assert set(sidecar.said) == {"port", "pid", "vault"}
    assert sidecar.said["pid"] == sidecar.process.pid
    found = json.loads(kb.discovery.read_text("utf-8"))
    assert set(found) == {"port", "pid", "token", "vault", "api", "version"}
    assert found["port"] == sidecar.port
    assert len(found["token"]) == 64
    assert sidecar.get("/hello")["vault"] == found["vault"] == str(kb.vault.resolve())
    if os.name == "posix":
        assert stat.S_IMODE(kb.discovery.stat().st_mode) == 0o600
        assert stat.S_IMODE(kb.discovery.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE((kb.discovery.parent / "sidecar.log").stat().st_mode) == 0o600
    folder = kb.discovery.parent
    assert sidecar.end() == 0
    assert not (folder / "sidecar.json").exists()
    left = {path.name for path in (kb.home / "cache").rglob("*") if path.is_file()}
    assert left == {"index.db"}, "the write-ahead log is folded in"


def test_a_second_one_names_the_first(kb: Kb) -> None:
    first = kb.serve()
    second = kb.run("serve", "--json", code=1)
    assert str(first.port) in second.stderr
    assert str(first.said["pid"]) in second.stderr
    error = json.loads(second.stdout)["error"]
    assert error["code"] == "busy"
    assert first.get("/hello")["pid"] == first.said["pid"]


def test_after_a_kill_it_starts_again_unharmed(kb: Kb) -> None:
    first = kb.serve()
    first.settled()
    first.end(signal.SIGKILL)
    assert kb.discovery.exists(), "nobody was there to remove it"
    assert kb.json("status")["sidecar"] == {"running": False, "port": None}
    assert kb.json("probe", "资金费率")["results"][0]["path"] == "Funding rate.md"
    second = kb.serve()
    assert second.said["pid"] != first.said["pid"]
    second.settled()
    assert kb.json("verify") == {"equal": True, "differences": []}


def test_a_kill_while_building_leaves_nothing_wrong(kb: Kb) -> None:
    for number in range(800):
        (kb.vault / f"Note {number}.md").write_text(f"[[Note {number + 1}]] text " * 50, "utf-8")
    kb.serve().end(signal.SIGKILL)
    second = kb.serve()
    second.settled()
    assert kb.json("verify")["equal"]
    assert kb.json("status")["pending"] == 0


def test_it_ends_with_its_parent(kb: Kb) -> None:
    sidecar = kb.serve("--exit-on-stdin-eof", stdin=subprocess.PIPE)
    assert sidecar.get("/hello")
    assert sidecar.process.stdin is not None
    sidecar.process.stdin.close()
    assert sidecar.process.wait(WITHIN_S) == 0
    assert not kb.discovery.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_quietly(kb: Kb, number: int) -> None:
    sidecar = kb.serve()
    assert sidecar.end(number) == 0
    assert sidecar.process.stderr is not None
    assert sidecar.process.stderr.read() == b""


def test_a_signal_is_heard_whenever_it_comes(kb: Kb) -> None:
    """Also between the last look whether to stop and the wait for requests."""
    for _ in range(12):
        start = time.monotonic()
        assert kb.serve().end() == 0
        assert time.monotonic() - start < WITHIN_S


def test_stop(kb: Kb) -> None:
    sidecar = kb.serve()
    assert sidecar.ask("/stop", "POST", {"pid": 1})[0] == 409
    assert kb.json("stop") == {"stopped": sidecar.said["pid"]}
    assert sidecar.process.wait(WITHIN_S) == 0
    assert kb.json("stop") == {"stopped": None}
    assert kb.serve().get("/hello")


def test_ending_wakes_those_who_wait(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    revision = sidecar.get("/changes")["revision"]
    answers: list[object] = []
    waiting = threading.Thread(target=lambda: answers.append(sidecar.get(f"/changes?since={revision}&wait=25")))
    waiting.start()
    start = time.monotonic()
    while not answers and waiting.is_alive() and time.monotonic() - start < 0.3:
        waiting.join(0.05)
    assert sidecar.end() == 0
    waiting.join(WITHIN_S)
    assert time.monotonic() - start < WITHIN_S
    assert answers == [{"revision": revision, "paths": [], "removed": [], "reset": False, "due": 0}]


def test_what_is_saved_is_found(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    revision = sidecar.get("/changes")["revision"]
    (kb.vault / "New 新.md").write_text("zyzzyva 蜂鸟鹰蛾 [[Perpetuals]]", "utf-8")
    news = sidecar.revision_after(revision)
    assert news["paths"] == ["New 新.md"]
    for word in ("zyzzyva", "蜂鸟鹰蛾"):
        found = sidecar.ask("/probe?q=" + "".join(f"%{byte:02x}" for byte in word.encode()))[1]
        assert found["results"][0]["path"] == "New 新.md"
    (kb.vault / "New 新.md").rename(kb.vault / "folder/Renamed.md")
    news = sidecar.revision_after(news["revision"])
    assert news["paths"] == ["New 新.md", "folder/Renamed.md"]
    assert news["removed"] == ["New 新.md"]
    (kb.vault / "folder/Renamed.md").unlink()
    news = sidecar.revision_after(news["revision"])
    assert (news["paths"], news["removed"]) == (["folder/Renamed.md"], ["folder/Renamed.md"])
    everything = sidecar.get(f"/changes?since={revision}")
    assert everything["removed"] == ["New 新.md", "folder/Renamed.md"]
    assert sidecar.get("/changes?since=999999")["reset"]
    assert kb.json("verify")["equal"]


def test_settings_take_hold_and_bad_ones_do_not(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    assert sidecar.ask("/settings", "PATCH", {"index": {"exclude": ["folder/"]}})[1]["index"]["exclude"] == ["folder/"]
    sidecar.settled()
    assert sidecar.get("/status")["on_disk"] == 3
    assert (kb.vault / ".kb/config.toml").read_text("utf-8") == '[index]\nexclude = ["folder/"]\n'
    revision = sidecar.get("/changes")["revision"]
    (kb.vault / ".kb/config.toml").write_text("[index]\nexclude = []\n", "utf-8")
    assert "folder/Perpetual.md" in sidecar.revision_after(revision)["paths"]
    (kb.vault / ".kb/config.toml").write_text("[index]\nexclude = 3\n", "utf-8")
    sidecar.settled()
    status = sidecar.get("/status")
    assert status["on_disk"] == 5
    assert "index.exclude" in status["remarks"][0]
    assert sidecar.get("/problems")["problems"][0]["code"] == "settings"
    for patch in ({"index": {"exclude": "x"}}, {"nope": {}}, {"index": {"nope": 1}}, {"write": {"mode": "yes"}}):
        assert sidecar.ask("/settings", "PATCH", patch)[0] == 400, patch
    assert sidecar.ask("/settings", "PATCH", {"index": {"exclude": []}})[0] == 200
    sidecar.settled()
    assert sidecar.get("/status")["remarks"] == []
    (kb.vault / ".kb/config.toml").write_text("no toml", "utf-8")
    assert sidecar.ask("/settings", "PATCH", {"index": {"exclude": []}})[0] == 409, "not ours to mend"


def test_a_rebuild_under_its_eyes(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    revision = sidecar.get("/changes")["revision"]
    before = sidecar.get("/graph")
    answer = kb.json("index", "--rebuild")
    assert answer["changed"] == answer["notes"] == 5
    assert sidecar.get("/graph") == before
    assert sidecar.get(f"/changes?since={revision}")["reset"]
    assert kb.json("probe", "--mode", "token", "孤独")["results"][0]["path"] == "folder/Lonely 孤独.md"


def test_pausing(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    assert kb.json("index", "--pause") == {"paused": True}
    assert sidecar.get("/status")["work"]["state"] == "paused"
    (kb.vault / "While paused.md").write_text("x", "utf-8")
    kb.run("index", code=1)
    assert kb.json("status")["pending"] == 1
    assert kb.json("index", "--resume") == {"paused": False}
    assert kb.json("index")["notes"] == 6


def test_without_watching_it_looks_when_asked(kb: Kb) -> None:
    sidecar = kb.serve("--no-watch")
    sidecar.settled()
    (kb.vault / "Unseen.md").write_text("x", "utf-8")
    assert sidecar.finished(sidecar.ask("/index", "POST")[1]["task"])["changed"] == 1


def test_the_log_tells_nothing_of_notes_and_questions(kb: Kb) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    kb.run("probe", "secretquestion")
    sidecar.ask("/query?note=secretname")
    log = (kb.discovery.parent / "sidecar.log").read_text("utf-8")
    assert "answers on port" in log
    for secret in ("secretquestion", "secretname", "swap without", sidecar.token):
        assert secret not in log
    assert any("answers on port" in line for line in kb.json("logs")["lines"])


def test_while_another_process_writes(kb: Kb) -> None:
    """The sidecar answers, says what it waits for, and goes on by itself."""
    kb.run("index")
    lock = next((kb.home / "state").glob("*/writer.lock"))
    import filelock

    held = filelock.FileLock(lock)
    with held:
        assert "Another process" in kb.run("index", code=1).stderr
        sidecar = kb.serve()
        assert any("Another process" in remark for remark in sidecar.get("/status")["remarks"])
        assert sidecar.get("/probe?q=swap")["degraded"]
    sidecar.settled()
    assert sidecar.get("/status")["remarks"] == []


def test_a_port_that_is_taken(kb: Kb, tmp_path: Path) -> None:
    first = kb.serve()
    (tmp_path / "other/.obsidian").mkdir(parents=True)
    env = {"OHMYKB_VAULT": str(tmp_path / "other")}
    assert str(first.port) in kb.run("serve", "--port", str(first.port), code=1, env=env).stderr
