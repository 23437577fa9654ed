"""How much faster the scan is than python-frontmatter with markdown-it-py under the same rules.

`python tests/bench/bench_scan.py [FOLDER…]`: without folders, the three public vaults and a generated
one of 2,000 notes. Each note is read by both in turn and the best of several runs counts, so that a
busy machine weighs on both alike; what the clock itself costs is taken off both. Ends with read, hash
and scan together.
"""

import argparse
import gc
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import frontmatter
import yaml

from ohmykb.markdown.quick import quick
from ohmykb.markdown.reference import reference
from ohmykb.markdown.scan import scan

SHARED = Path(os.environ.get("OHMYKB_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))
MOST = 400
"""Notes of a vault that are measured, evenly spread."""


def peer(text: str) -> object:
    """Properties by python-frontmatter, the rest by the reference."""
    try:
        properties, body = frontmatter.parse(text)
    except yaml.YAMLError:
        properties, body = {}, text
    return properties, reference(body)


def best(read: Callable[[str], object], text: str, times: int) -> int:
    found = 1 << 62
    for _ in range(times):
        began = time.thread_time_ns()
        read(text)
        found = min(found, time.thread_time_ns() - began)
    return found


def nothing(text: str) -> object:
    return text


def measure(folder: Path) -> None:
    paths = sorted(folder.rglob("*.md"))
    paths = paths[:: max(1, len(paths) // MOST)]
    texts = [path.read_bytes().decode("utf-8", errors="replace") for path in paths]
    if not texts:
        print(f"{folder.name}: no notes")
        return
    ours = theirs = careful = 0
    clock = best(nothing, "", 1000)
    for text in texts:
        ours += best(scan, text, 9) - clock
        theirs += best(peer, text, 3) - clock
        careful += quick(text.replace("\r\n", " \n"), scan(text).body, 1, [], []) is None
        gc.collect(0)
    whole = []
    for _ in range(3):
        began = time.perf_counter_ns()
        for path in paths:
            data = path.read_bytes()
            hashlib.sha256(data).digest()
            scan(data.decode("utf-8", errors="replace"))
        whole.append(time.perf_counter_ns() - began)
    n = len(texts)
    print(
        f"{folder.name:<22} {n:>5} notes {sum(map(len, texts)) // n:>6} chars/note"
        f"  scan {ours / n / 1e3:7.1f} us  peer {theirs / n / 1e3:8.1f} us  ratio {theirs / ours:5.1f}"
        f"  read+hash+scan {min(whole) / n / 1e3:7.1f} us  careful {careful}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", nargs="*", type=Path)
    folders = parser.parse_args().folders
    gc.disable()
    if folders:
        for folder in folders:
            measure(folder)
        return
    if not SHARED.is_dir():
        sys.exit(f"no shared test data at {SHARED}: set OHMYKB_SHARED, or name folders")
    with tempfile.TemporaryDirectory() as place:
        for packed in sorted((SHARED / "vaults").glob("*.tar.gz")):
            folder = Path(place) / packed.name.removesuffix(".tar.gz")
            with tarfile.open(packed) as archive:
                archive.extractall(folder, filter="data")
            measure(folder)
        made = Path(place) / "generated"
        subprocess.run([sys.executable, SHARED / "tools" / "gen_vault.py", made, "2000"], check=True)
        measure(made)


if __name__ == "__main__":
    main()
