"""`python tests/bench/bench_save.py [N] [SAVES]`: from a saved note to a token probe that finds it, real sidecar.

The debounce is the time the sidecar waits for more changes on purpose; what counts is the time beyond it.
"""

import http.client
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

from vaults import KEPT, home, sample, synthetic

from ohmykb import wiring
from ohmykb.config import Config


class Asker:
    """A kept-alive connection to the sidecar of a vault."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, route: str) -> dict[str, object]:
        self._connection.request("GET", f"/api/v1{route}", headers=self._headers)
        found: dict[str, object] = json.loads(self._connection.getresponse().read())
        return found


def main() -> None:
    home()
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    saves = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    root = KEPT / f"saved-{notes}"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(synthetic(notes), root)
    entry = "import sys; from ohmykb.cli.entry import main; sys.exit(main())"
    command = [sys.executable, "-c", entry, "serve", "--no-vectors", "--vault", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        found = wiring.announced(wiring.find_vault(str(root), "."))
        assert found is not None
        asker = Asker(started["port"], found.token)
        while asker.get("/status")["pending"]:
            time.sleep(0.2)
        took = [one_save(asker, path, number) for number, path in enumerate(some_notes(root, saves))]
        process.terminate()
    debounce = Config().index.debounce_ms
    beyond = sorted(ms - debounce for ms in took)
    print(
        f"{notes} notes: save to found, beyond the debounce of {debounce} ms: p50 {beyond[len(beyond) // 2]:.0f} ms, "
        f"p95 {beyond[int(len(beyond) * 0.95)]:.0f} ms, max {beyond[-1]:.0f} ms"
    )
    shutil.rmtree(root)


def some_notes(root: Path, count: int) -> list[Path]:
    return [Path(path) for path in sample(sorted(str(path) for path in root.rglob("*.md")), count)]


def one_save(asker: Asker, note: Path, number: int) -> float:
    """Milliseconds from the end of the save to the first probe that finds the note."""
    word = f"zqx{number}saved"
    with note.open("a", encoding="utf-8") as file:
        file.write(f"\n{word}\n")
    start = time.perf_counter()
    while not asker.get(f"/probe?mode=token&q={quote(word)}")["results"]:
        time.sleep(0.002)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
