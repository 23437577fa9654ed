"""`python tests/bench/bench_cli.py`: `kb probe` through a running sidecar against `python -c pass`.

Builds a wheel and installs it, not editable, with a current pip, as users do; both commands then run in
turn, so that load of the machine meets both alike.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from vaults import REPO

ROUNDS = 60


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)


def installed(folder: Path) -> Path:
    """The `bin` folder of a fresh environment with our wheel in it."""
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [programs / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "--upgrade", "pip")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder / "wheel", REPO)
    run(*pip, "install", next((folder / "wheel").glob("*.whl")))
    return programs


def timed(command: list[str | Path], env: dict[str, str]) -> tuple[float, float]:
    """(wall, CPU) in milliseconds."""
    before = os.times()
    start = time.perf_counter()
    run(*command, env=env)
    wall = time.perf_counter() - start
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall * 1000, cpu * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = Path(sys.argv[1]) if len(sys.argv) > 1 else installed(folder)
        env = {**os.environ, "OHMYKB_HOME": str(folder / "home"), "OHMYKB_VAULT": str(folder / "vault")}
        run(programs / "kb", "init", folder / "vault", env=env)
        run(programs / "kb", "index", env=env)
        sidecar = subprocess.Popen([programs / "kb", "serve"], env=env, stdout=subprocess.PIPE)
        assert sidecar.stdout is not None
        sidecar.stdout.readline()
        try:
            commands: dict[str, list[str | Path]] = {
                "python -c pass": [programs / "python", "-c", "pass"],
                "kb probe": [programs / "kb", "probe", "资金费率", "--mode", "token"],
                "kb probe --json": [programs / "kb", "probe", "资金费率", "--mode", "token", "--json"],
            }
            for command in commands.values():
                timed(command, env)
            taken: dict[str, list[tuple[float, float]]] = {what: [] for what in commands}
            for _ in range(ROUNDS):
                for what, command in commands.items():
                    taken[what].append(timed(command, env))
        finally:
            sidecar.terminate()
            sidecar.wait()
    base = statistics.median(wall for wall, _ in taken["python -c pass"])
    for what, rows in taken.items():
        wall = statistics.median(row[0] for row in rows)
        cpu = statistics.mean(row[1] for row in rows)
        print(f"{what}: p50 {wall:.1f} ms wall ({wall / base:.2f}×), CPU {cpu:.1f} ms")


if __name__ == "__main__":
    main()
