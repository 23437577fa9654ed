"""Layouts of maps against d3-force with rectangle separation, dagre and elk stress: crossings, overlaps, time.

bench_canvas.py [graphs]     20 seeded graphs of 40 and of 150 cards, and real neighbourhoods of the public vaults.
The other layouts come from npm into `.bench/layouts`; elk's stress is slow, so it has every fifth graph of 150.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import vaults

import breaking
from ohmykb.canvas.layout import GAP, Size, crossings, lay_out
from ohmykb.search import regions
from ohmykb.store import maps
from trial import Trial

GROUPS = 6
Graph = dict[str, Any]
SCRIPT = Path(__file__).with_name("other_layouts.mjs")


def seeded(count: int, seed: int) -> Graph:
    """Cards of many sizes in six groups, two edges a card, few of them between groups."""
    rng = random.Random(seed)
    of = [rng.randrange(GROUPS) for _ in range(count)]
    edges = set()
    for one in range(count):
        for _ in range(2):
            other = rng.choice([x for x in range(count) if x != one and (of[x] == of[one] or rng.random() < 0.06)])
            edges.add((min(one, other), max(one, other)))
    sizes = [(rng.randrange(260, 401), rng.randrange(60, 261)) for _ in range(count)]
    groups = [[n for n in range(count) if of[n] == group] for group in range(GROUPS)]
    return {"sizes": sizes, "edges": sorted(edges), "groups": groups}


def real(count: int) -> list[Graph]:
    """What is around the most linked notes of the public vaults."""
    found = []
    for packed in sorted((vaults.SHARED / "vaults").glob("*.tar.gz")):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["OHMYKB_HOME"] = str(Path(folder) / "home")
            trial = Trial(breaking.unpack(packed, Path(folder)))
            trial.look()
            db = trial.index.db
            known = sorted(maps.notes(db, maps.all_notes(db)).values(), key=lambda one: (-one.links, one.path))
            for note in known[:4]:
                region = regions.around(db, note.path, 2, count)
                place = {one.id: number for number, one in enumerate(region.notes)}
                edges = sorted({tuple(sorted((place[x.source], place[x.target]))) for x in region.links})
                if len(place) >= count // 2:
                    found.append({"sizes": [(320, 160)] * len(place), "edges": edges, "groups": []})
            trial.close()
    return found


def ours(graph: Graph, *, grouped: bool) -> tuple[list[list[float]], float]:
    sizes = [Size(*size) for size in graph["sizes"]]
    start = perf_counter()
    found = lay_out(sizes, graph["edges"], graph["groups"] if grouped else [])
    took = (perf_counter() - start) * 1000
    return [[at.x + size.width / 2, at.y + size.height / 2] for at, size in zip(found, sizes, strict=True)], took


def others(graphs: list[Graph]) -> dict[str, list[Any]]:
    folder = vaults.KEPT / "layouts"
    if not (folder / "node_modules").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        packages = ["d3-force@3", "@dagrejs/dagre@1", "elkjs@0.11"]
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--prefix", str(folder), *packages], check=True)
    script = folder / "layouts.mjs"
    script.write_text(SCRIPT.read_text("utf-8"), "utf-8")
    done = subprocess.run(["node", str(script)], input=json.dumps(graphs).encode(), stdout=subprocess.PIPE, check=True)
    found: dict[str, list[Any]] = json.loads(done.stdout)
    return found


def overlaps(at: list[list[float]], sizes: list[tuple[int, int]]) -> int:
    points, spans = np.array(at), np.array(sizes)
    hit = (np.abs(points[:, None] - points[None]) < (spans[:, None] + spans[None]) / 2).all(axis=2)
    return int(np.triu(hit, 1).sum())


def report(name: str, graphs: list[Graph]) -> None:
    drawn: dict[str, list[tuple[int, list[list[float]], float]]] = {}
    for label, grouped in (("ours", False), ("ours, in groups", True)):
        if grouped and not graphs[0]["groups"]:
            continue
        drawn[label] = [(n, *ours(graph, grouped=grouped)) for n, graph in enumerate(graphs)]
    for label, rows in others(graphs).items():
        drawn[label] = [(row["graph"], row["at"], row["ms"]) for row in rows]
    print(f"\n{name}: {len(graphs)} graphs, {statistics.median(len(g['edges']) for g in graphs):.0f} edges (median)")
    print("| layout | crossings, median | overlaps | ms, median |\n|---|---|---|---|")
    for label, made in drawn.items():
        crossed = [crossings(np.array(at), np.array(graphs[n]["edges"])) for n, at, _ in made]
        over = sum(overlaps(at, graphs[n]["sizes"]) for n, at, _ in made)
        some = "" if len(made) == len(graphs) else f" ({len(made)} of them)"
        took = statistics.median(ms for *_, ms in made)
        print(f"| {label}{some} | {statistics.median(crossed):.0f} | {over} | {took:.0f} |")


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"load {os.getloadavg()[0]:.1f}; gap {GAP}")
    report("40 cards", [seeded(40, seed) for seed in range(wanted)])
    report("150 cards", [seeded(150, seed) for seed in range(wanted)])
    report("real neighbourhoods", real(147))
