"""`python tests/bench/bench_build.py [N …]`: the first build against reading, hashing and scanning alone,
and a reconcile of the unchanged vault against a bare walk."""

import os
import resource
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

from bench_walk import bare_walk
from vaults import home, synthetic

from ohmykb import wiring
from ohmykb.markdown.scan import scan

ROUNDS = 3


def floor(root: Path) -> float:
    """Seconds to read, hash and scan every note once."""
    start = time.perf_counter()
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".md"):
                descriptor = os.open(f"{folder}/{name}", os.O_RDONLY)
                data = os.read(descriptor, os.fstat(descriptor).st_size)
                os.close(descriptor)
                sha256(data).digest()
                scan(data.decode("utf-8", "replace"))
    return time.perf_counter() - start


def build(root: Path) -> float:
    vault = wiring.find_vault(str(root), ".")
    wiring.drop_index(vault)
    index = wiring.open_index(vault)
    start = time.perf_counter()
    index.reconcile()
    took = time.perf_counter() - start
    index.close()
    return took


def reconcile(root: Path) -> list[float]:
    """Ratios of an unchanged vault's reconcile to a bare walk, round by round."""
    index = wiring.open_index(wiring.find_vault(str(root), "."))
    ratios = []
    for _ in range(7):
        start = time.perf_counter()
        bare_walk(str(root))
        middle = time.perf_counter()
        index.reconcile()
        ratios.append((time.perf_counter() - middle) / (middle - start))
    index.close()
    return sorted(ratios)


def one(notes: int) -> None:
    root = synthetic(notes)
    floor(root)  # warms the file cache
    rounds = 1 if notes > 20_000 else ROUNDS
    pairs = [(floor(root), build(root)) for _ in range(rounds)]
    base, built = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    print(
        f"{notes} notes: read+hash+scan {base:.2f} s ({base / notes * 1e6:.0f} us a note), first build {built:.2f} s, "
        f"ratio {built / base:.1f}; peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )
    ratios = reconcile(root)
    print(f"{notes} notes: unchanged reconcile / bare walk: median {ratios[3]:.2f} (best {ratios[0]:.2f})")


def main() -> None:
    home()
    if len(sys.argv) == 2:
        one(int(sys.argv[1]))
        return
    for notes in sys.argv[1:] or ["10000", "100000"]:  # a process each: peak memory is the process's own
        subprocess.run([sys.executable, __file__, notes], check=True)


if __name__ == "__main__":
    main()
