"""Recorded answers, `tests/contract/*.json`: what the sidecar says, and what the plugin's tests rely on.

`OHMYKB_RECORD=1 pytest tests/e2e/test_contract.py` records them anew. Without it, what the sidecar
answers must have the recorded keys and types; more keys are a change to look at, and to record.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sidecar_process import Kb, Sidecar, end_all, make_vault

FOLDER = Path(__file__).resolve().parents[1] / "contract"
VOLATILE: dict[str, Any] = {
    "pid": 4242, "port": 49152, "vault": "/home/me/vault", "version": "0.0.0", "took_ms": 1.5, "duration_ms": 12,
    "this_device": "00c0ffee", "task": "0123456789abcdef", "plan": "0123456789abcdef", "device": "00c0ffee",
    "op": "20261201T080000000Z-00c0-ffee", "at": "2026-12-01T08:00:00.000Z", "size_bytes": 4096,
}  # fmt: skip

ANSWERS: dict[str, tuple[str, str, Any, int]] = {
    "hello": ("GET", "/hello", None, 200),
    "status": ("GET", "/status", None, 200),
    "problems": ("GET", "/problems", None, 200),
    "probe": ("GET", "/probe?q=funding+rate&n=3", None, 200),
    "probe-token": ("GET", "/probe?q=%E5%AD%A4%E7%8B%AC&mode=token&in=folder", None, 200),
    "probe-nothing": ("GET", "/probe?q=zxqwv&mode=token", None, 200),
    "query": ("GET", "/query?note=Funding+rate&hops=2", None, 200),
    "related": ("GET", "/related?note=folder/Perpetual.md", None, 200),
    "note": ("GET", "/notes?path=Funding+rate.md", None, 200),
    "orphans": ("GET", "/orphans", None, 200),
    "unresolved": ("GET", "/unresolved", None, 200),
    "graph": ("GET", "/graph", None, 200),
    "changes": ("GET", "/changes?since=0", None, 200),
    "settings": ("GET", "/settings", None, 200),
    "canvas": ("POST", "/canvas", {"note": "Funding rate", "hops": 2}, 200),
    "index": ("POST", "/index", {}, 200),
    "error-not-found": ("GET", "/query?note=Nobody", None, 404),
    "error-parameter": ("GET", "/probe?q=a&n=0", None, 400),
    "error-route": ("GET", "/nowhere", None, 404),
    "error-method": ("DELETE", "/settings", None, 405),
    "error-body": ("PATCH", "/settings", {"index": {"exclude": 3}}, 400),
}


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    tmp = tmp_path_factory.mktemp("contract")
    found = Kb(make_vault(tmp / "vault"), tmp / "home")
    sidecar = found.serve()
    sidecar.settled()
    yield sidecar
    end_all(found)


def normal(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {
            name: VOLATILE[name] if name in VOLATILE and isinstance(value, str | int | float) else normal(value)
            for name, value in answer.items()
        }
    return [normal(one) for one in answer] if isinstance(answer, list) else answer


def shape(answer: Any) -> Any:
    """Keys and types; a list is what its items are, together."""
    if isinstance(answer, dict):
        return {name: shape(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return sorted({json.dumps(shape(one), sort_keys=True) for one in answer})
    return "number" if isinstance(answer, int | float) and not isinstance(answer, bool) else type(answer).__name__


def check(name: str, status: int, answer: Any) -> None:
    file = FOLDER / f"{name}.json"
    found = normal(answer)
    if os.environ.get("OHMYKB_RECORD"):
        text = json.dumps({"status": status, "body": found}, ensure_ascii=False, indent=2)
        file.write_text(text + "\n", "utf-8")
    recorded = json.loads(file.read_text("utf-8"))
    assert recorded["status"] == status
    assert shape(recorded["body"]) == shape(found)


@pytest.mark.parametrize("name", ANSWERS)
def test_it_still_answers_so(living: Sidecar, name: str) -> None:
    method, path, body, wanted = ANSWERS[name]
    status, answer = living.ask(path, method, body)
    assert status == wanted, answer
    check(name, status, answer)


def test_a_task_still_ends_so(living: Sidecar) -> None:
    task = living.ask("/index", "POST")[1]["task"]
    living.finished(task)
    check("task", 200, living.get(f"/tasks/{task}"))


def test_the_guard_still_refuses_so(living: Sidecar) -> None:
    status, answer = living.ask("/hello", Authorization="Bearer wrong")
    check("error-token", status, answer)


WRITING = (
    "repair", "relink", "prepare", "commit", "operations", "undo-prepare", "abandon", "undo", "reject", "due", "apply",
    "review", "review-plan", "decided", "renames", "recover", "conflicts", "canvas-prepare",
)  # fmt: skip


def test_what_changes_notes_still_answers_so(tmp_path: Path) -> None:
    kb = Kb(make_vault(tmp_path / "vault"), tmp_path / "home")
    (kb.vault / "s.md").write_text("[[Funding rates]] and [[ｐｅｒｐｅｔｕａｌｓ]]\n", "utf-8")
    (kb.vault / "Spoken.md").write_text("Here the Lonely 孤独 is spoken of.\n", "utf-8")
    (kb.vault / "s (conflict 2026-11-30).md").write_text("another\n", "utf-8")
    sidecar = kb.serve("--no-vectors")
    sidecar.settled()

    def post(name: str, path: str, body: Any = None) -> Any:
        status, answer = sidecar.ask(path, "POST", {} if body is None else body)
        assert status == 200, answer
        check(name, status, answer)
        return answer

    try:
        plan = post("repair", "/repair", {"note": "s.md"})
        place = next(n for n, mend in enumerate(plan["plans"]) if mend["certain"])
        made = post("prepare", f"/plans/{plan['plan']}/prepare", {"mends": [place]})
        (edit,) = made["files"][0]["edits"]
        text = (kb.vault / "s.md").read_text("utf-8")
        (kb.vault / "s.md").write_text(text[: edit["start"]] + edit["text"] + text[edit["end"] :], "utf-8")
        op = post("commit", f"/operations/{made['op']}/commit")
        check("operations", 200, sidecar.get("/operations"))
        undo = post("undo-prepare", "/operations/undo", {"ops": [op["id"]], "prepare": True})
        post("abandon", f"/operations/{undo['op']}/abandon")
        post("undo", f"/operations/{op['id']}/undo")
        post("relink", "/relink", {"note": "Lonely 孤独"})
        post("due", "/repair/due")
        sidecar.settled()
        plan = post("apply", "/repair", {"note": "s.md", "apply": True})
        listed = sidecar.get("/review")
        check("review", 200, listed)
        ids = [item["id"] for item in listed["items"]]
        post("review-plan", "/review", {"verb": "plan", "ids": ids})
        post("decided", "/review", {"verb": "snooze", "ids": ids})
        other = next(n for n, mend in enumerate(plan["plans"]) if not mend["certain"])
        post("reject", f"/plans/{plan['plan']}/reject", {"mends": [other], "keep": True})
        post("canvas-prepare", "/canvas", {"note": "s.md", "file": "maps/s.canvas", "prepare": True})
        post("renames", "/renames", {"from": "a.md", "to": "b.md"})
        post("recover", "/recover", {"text": "Perpetuals"})
        post("conflicts", "/conflicts")
    finally:
        end_all(kb)


def test_every_recording_is_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*ANSWERS, *WRITING, "task", "error-token"}
