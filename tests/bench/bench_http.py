"""`python tests/bench/bench_http.py [N]`: probes over HTTP at N notes, save to found, and the sidecar at rest."""

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from vaults import home, sample, synthetic

ROUNDS = 20
COMMON = ["知识", "管理", "记忆", "graph", "index", "note"]
REST_S = 30
KB = [sys.executable, "-c", "import sys; from ohmykb.cli.entry import main; sys.exit(main())"]


class Line:
    """One kept-alive connection."""

    def __init__(self, discovery: dict[str, Any]) -> None:
        self._headers = {"Authorization": f"Bearer {discovery['token']}"}
        self._line = http.client.HTTPConnection("127.0.0.1", discovery["port"])

    def get(self, path: str) -> Any:
        self._line.request("GET", f"/api/v1{path}", headers=self._headers)
        return json.loads(self._line.getresponse().read())

    def probe(self, question: str) -> Any:
        return self.get(f"/probe?mode=token&q={quote(question)}")


def show(what: str, took: list[float]) -> None:
    took = sorted(took)
    print(f"{what}: p50 {statistics.median(took):.2f} ms, p95 {took[int(len(took) * 0.95)]:.2f} ms, max {took[-1]:.2f}")


def timed(line: Line, questions: list[str]) -> list[float]:
    took = []
    for question in questions:
        start = time.perf_counter()
        line.probe(question)
        took.append((time.perf_counter() - start) * 1000)
    return took


def saves(line: Line, root: Path, debounce_ms: float) -> list[float]:
    """Milliseconds from a save to the first probe that finds it, the debounce taken off."""
    took = []
    note = root / "Bench save.md"
    revision = line.get("/changes")["revision"]
    for number in range(ROUNDS):
        word = f"zyx{number:04d}q"
        start = time.perf_counter()
        note.write_text(f"# Bench\n\n{word}\n", "utf-8")
        while not line.probe(word)["results"]:
            revision = line.get(f"/changes?since={revision}&wait=5")["revision"]
        took.append((time.perf_counter() - start) * 1000 - debounce_ms)
    note.unlink()
    return took


def at_rest(pid: int) -> None:
    def cpu() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before, start = cpu(), time.perf_counter()
    time.sleep(REST_S)
    share = (cpu() - before) / (time.perf_counter() - start)
    status = dict(row.split(":", 1) for row in Path(f"/proc/{pid}/status").read_text().splitlines())
    resident, ours = (int(status[key].split()[0]) // 1024 for key in ("VmRSS", "RssAnon"))
    print(f"at rest: CPU {share:.2%}, resident {resident} MB, of that not file-backed {ours} MB")


def main() -> None:
    home()
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    root = synthetic(notes)
    os.environ["OHMYKB_VAULT"] = str(root)
    subprocess.run([*KB, "index"], check=True)
    sidecar = subprocess.Popen([*KB, "serve"], stdout=subprocess.PIPE)
    assert sidecar.stdout is not None
    said = json.loads(sidecar.stdout.readline())
    places = Path(os.environ["OHMYKB_HOME"], "state").glob("*/sidecar.json")
    found = [json.loads(path.read_text("utf-8")) for path in places]
    line = Line(next(one for one in found if one["pid"] == said["pid"]))
    try:
        while line.get("/status")["work"]["state"] != "ready":
            time.sleep(0.2)
        titles = [row["title"] for row in line.get("/graph")["notes"]]
        total = len(titles)
        print(f"{total} notes")
        timed(line, COMMON)
        show("probe, a title", timed(line, sample(titles, 400)))
        for word in COMMON:
            show(f"probe, {word}", timed(line, [word] * ROUNDS))
        mixed = sample(titles, 200) + [f"{a} {b}" for a in COMMON for b in COMMON] * 3 + COMMON * 10
        show("probe, mixed", timed(line, mixed))
        show("status", [(_time(line, "/status")) for _ in range(ROUNDS)])
        if sys.platform == "linux":
            at_rest(said["pid"])
        show("save to found, beyond the debounce", saves(line, root, 200))
    finally:
        sidecar.terminate()
        sidecar.wait()


def _time(line: Line, path: str) -> float:
    start = time.perf_counter()
    line.get(path)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
