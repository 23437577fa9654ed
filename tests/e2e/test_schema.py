"""openapi.json is true: whatever schemathesis makes of it, the sidecar answers as described."""

import subprocess
import sys
from pathlib import Path

from sidecar_process import Kb

STILL = "10"
"""Examples a route."""


def test_every_answer_is_as_described(kb: Kb, tmp_path: Path) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    url = f"http://127.0.0.1:{sidecar.port}/api/v1/openapi.json"
    done = subprocess.run(
        [Path(sys.executable).with_name("st"), "run", url, "-H", f"Authorization: Bearer {sidecar.token}",
         "-n", STILL, "--seed", "1", "--no-color", "--request-timeout", "40"],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert sidecar.process.poll() is None, "fuzzing ended the sidecar"
    log = (sidecar.discovery.parent / "sidecar.log").read_text("utf-8")
    assert "ERROR" not in log, log


def test_every_route_is_described(kb: Kb) -> None:
    paths = kb.serve().get("/openapi.json")["paths"]
    wanted = {
        "related/dismiss", "canvas", "relink", "repair", "repair/due",
        "plans/{plan}/reject", "plans/{plan}/apply", "plans/{plan}/prepare", "operations",
        "operations/{op}/commit", "operations/{op}/abandon", "operations/{op}/undo", "operations/undo",
        "review", "review/{item}/{verb}", "renames", "recover", "conflicts",
        "hello", "status", "problems", "probe", "query", "related", "notes", "orphans", "unresolved", "graph",
        "index", "index/pause", "index/resume", "tasks/{task}", "changes", "settings", "stop", "openapi.json",
    }  # fmt: skip
    assert {path.removeprefix("/api/v1/") for path in paths} == wanted
