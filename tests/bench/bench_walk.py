"""`python tests/bench/bench_walk.py [N]`: the walk, a look and a read, each against the bare system calls.

Rounds alternate between the two sides and the best of each counts, since the machine is shared.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from ohmykb.config import Config, IndexSettings
from ohmykb.vault.read import read
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import look, walk

PER_FOLDER = 200
TEXT = "# A note\n\nSome text with [[links]] 和一些中文。\n" * 50
ROUNDS = 7


def make(root: Path, count: int) -> None:
    for number in range(count):
        folder = root / f"area {number // PER_FOLDER // 20}" / f"项目 {number // PER_FOLDER}"
        if number % PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"{'Note' if number % 3 else '笔记'} {number}.md").write_text(TEXT, encoding="utf-8")


def bare_walk(root: str) -> int:
    """What the figures are measured against: every folder listed, every file asked for its stat."""
    found = 0
    todo = [root]
    while todo:
        with os.scandir(todo.pop()) as handle:
            for item in handle:
                if item.is_dir(follow_symlinks=False):
                    todo.append(item.path)
                else:
                    item.stat(follow_symlinks=False)
                    found += 1
    return found


def bare_read(root: str, paths: list[str]) -> None:
    for path in paths:
        descriptor = os.open(f"{root}/{path}", os.O_RDONLY | os.O_CLOEXEC)
        data = os.read(descriptor, 1 << 16)
        os.close(descriptor)
        sha256(data).hexdigest()


def each(does: Callable[[Path, str, Any], object], root: Path, paths: list[str], by: object) -> None:
    for path in paths:
        does(root, path, by)


def best(*sides: Callable[[], object]) -> list[float]:
    """Seconds of CPU, the best of some alternating rounds for each side."""
    times = [float("inf")] * len(sides)
    for _ in range(ROUNDS):
        for place, side in enumerate(sides):
            start = time.process_time()
            side()
            times[place] = min(times[place], time.process_time() - start)
    return times


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        make(root, count)
        plain = Config()
        ruled = Config(index=IndexSettings(exclude=("archive/", "*.excalidraw.md"), search_only=("clips/**",)))
        rules, some_rules = Rules(plain), Rules(ruled, ["Templates/", "/draft/"])
        bare, ours, with_rules = best(
            lambda: bare_walk(str(root)),
            lambda: walk(root, rules, plain),
            lambda: walk(root, some_rules, ruled),
        )
        print(f"{count:,} files, bare scandir + stat  {bare * 1000:7.0f} ms")
        print(f"walk                            {ours * 1000:7.0f} ms  {ours / bare:.2f}x")
        print(f"walk, five rules                {with_rules * 1000:7.0f} ms  {with_rules / bare:.2f}x")
        paths = [str(entry.path) for entry in walk(root, rules, plain).entries[:5000]]
        bare, ours, looks = best(
            lambda: bare_read(str(root), paths),
            lambda: each(read, root, paths, plain),
            lambda: each(look, root, paths, rules),
        )
        per = 1e6 / len(paths)
        print(f"bare open + read + close + sha256 {bare * per:5.1f} us a note")
        print(f"read                              {ours * per:5.1f} us a note, +{(ours - bare) * per:.1f}")
        print(f"look                              {looks * per:5.1f} us a path")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
