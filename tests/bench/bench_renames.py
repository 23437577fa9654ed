"""Notes and folders renamed outside Obsidian, on the public vaults, by the command line alone and beside a sidecar.

bench_renames.py [vault …] [--seed N]    200 notes and 10 folders; then kb repair --apply, kb verify, kb undo
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import vaults

import breaking

KB = [sys.executable, "-c", "import sys; from ohmykb.cli.entry import main; sys.exit(main())"]
NOTES, FOLDERS = 200, 10
Files = dict[str, tuple[bytes, int]]
Links = dict[tuple[str, int | None, str], Counter[str]]


def kb(root: Path, *args: str) -> Any:
    done = subprocess.run([*KB, "--vault", str(root), *args, "--json"], capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"{args}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


@contextmanager
def sidecar(root: Path, *, running: bool) -> Any:
    if not running:
        yield
        return
    served = subprocess.Popen([*KB, "--vault", str(root), "serve", "--no-vectors"], stdout=subprocess.PIPE)
    assert served.stdout is not None
    served.stdout.readline()
    try:
        yield
    finally:
        served.terminate()
        served.wait()


def files(root: Path) -> Files:
    found = (path for path in root.rglob("*") if path.is_file() and ".history" not in path.parts)
    return {path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mode) for path in found}


def links(root: Path) -> Links:
    """Where the links of each line lead: (source, line, kind) → targets."""
    found: Links = defaultdict(Counter)
    for one in kb(root, "graph")["links"]:
        if one["target"] is not None:
            found[one["source"], one["line"], one["kind"]][one["target"]] += 1
    return found


def rename(root: Path, rng: random.Random) -> dict[str, str]:
    """Old path → new path of every file below what was renamed."""
    before = {path.relative_to(root).as_posix(): path.stat().st_ino for path in root.rglob("*") if path.is_file()}
    notes = sorted(path for path in root.rglob("*.md") if not any(part.startswith(".") for part in path.parts[1:]))
    for number, note in enumerate(rng.sample(notes, min(NOTES, len(notes) // 2))):
        aim = note.with_name(f"{note.stem} 改名 {number}.md")
        if number % 3 == 0:
            aim = root / "elsewhere 别处" / aim.name
            aim.parent.mkdir(exist_ok=True)
        note.rename(aim)
    folders = sorted(
        path for path in root.rglob("*")
        if path.is_dir() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    )  # fmt: skip
    for number, folder in enumerate(rng.sample(folders, min(FOLDERS, len(folders)))):
        if folder.is_dir():
            folder.rename(folder.with_name(f"{folder.name} moved {number}"))
    after = {path.stat().st_ino: path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    return {old: after[inode] for old, inode in before.items()}


def trial(name: str, seed: int, *, running: bool) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OHMYKB_HOME"] = str(Path(folder) / "home")
        root = breaking.unpack(vaults.SHARED / "vaults" / f"{name}.tar.gz", Path(folder))
        kb(root, "index", "--no-vectors")
        was = links(root)
        with sidecar(root, running=running):
            moved = rename(root, random.Random(seed))
            kb(root, "index", "--no-vectors")
            before = files(root)
            done = kb(root, "repair", "--apply")
            now = links(root)
            held = lost = 0
            for (source, line, kind), targets in was.items():
                meant = Counter({moved[target]: count for target, count in targets.items()})
                wrong = meant - now[moved[source], line, kind]
                held, lost = held + meant.total() - wrong.total(), lost + wrong.total()
                for target in wrong:
                    print(f"    {source}:{line} ({kind}) does not lead to {target} any more")
            touched = {one["source"] for one in done["plans"] if one["applied"]}
            after = files(root)
            others = {path for path in before if path not in touched and before[path] != after.get(path)}
            modes = {path for path in before if before[path][1] != after[path][1]}
            equal = kb(root, "verify")["equal"]
            kb(root, "undo", done["op"])
            back = files(root) == before
        print(f"{name}, sidecar {'running' if running else 'off'}: {held} of {held + lost} links to the same note;")
        print(f"  applied {done['applied']}, other files changed {len(others)}, modes changed {len(modes)},")
        print(f"  verify equal {equal}, undo exact {back}")
        shutil.rmtree(root)
        return not lost and not others and not modes and equal and back


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    names = asked.names or sorted(path.name.removesuffix(".tar.gz") for path in (vaults.SHARED / "vaults").glob("*.gz"))
    print(f"load {os.getloadavg()[0]:.1f}")
    right = [trial(name, asked.seed, running=running) for name in names for running in (False, True)]
    sys.exit(0 if all(right) else "some links were lost")
