"""`python tests/bench/bench_graph.py [N]`: two hops, related notes and token probes in a big vault."""

import statistics
import sys
import time
from collections.abc import Callable

from vaults import home, sample, synthetic

from ohmykb import wiring
from ohmykb.search.probe import Prober
from ohmykb.store import graph, listing

COUNT = 400


def timed(ask: Callable[[], object]) -> float:
    start = time.perf_counter()
    ask()
    return (time.perf_counter() - start) * 1000


def show(what: str, took: list[float]) -> None:
    took.sort()
    print(f"{what}: p50 {statistics.median(took):.2f} ms, p95 {took[int(len(took) * 0.95)]:.2f} ms, max {took[-1]:.2f}")


def main() -> None:
    home()
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    vault = wiring.find_vault(str(synthetic(notes)), ".")
    index = wiring.open_index(vault)
    index.reconcile()
    index.close()
    readers = wiring.readers(vault)
    db = readers.get()
    rows = listing.notes(db)
    ids = {row["path"]: db.value("SELECT id FROM files WHERE path = ?", (row["path"],)) for row in rows}
    some = sample([row["path"] for row in rows], COUNT)
    print(f"{notes} notes, {listing.counts(db)['links']} links")
    show("two hops", [timed(lambda p=path: graph.two_hops(db, ids[p], 50)) for path in some])  # type: ignore[misc]
    hubs = sorted(rows, key=lambda row: -row["backlinks"])[:20]
    show(
        "two hops of the 20 most linked", [timed(lambda p=row["path"]: graph.two_hops(db, ids[p], 50)) for row in hubs]
    )  # type: ignore[misc]
    prober = Prober(readers.get)
    prober.warm()
    questions = {
        "a title": [row["title"] for row in rows if row["path"] in set(some[:100])],
        "a word in a third of all notes or more": ["graph", "知识", "index", "管理", "note", "记忆"] * 10,
        "two common words": ["graph index", "知识管理", "model plan", "数据模型"] * 15,
        "a common question": ["how does the graph index help risk review", "数据模型怎么帮助知识管理"] * 20,
        "nothing": ["zxqwv", "不存在的词语"] * 20,
    }
    for what, asked in questions.items():
        show(f"probe, {what}", [timed(lambda q=text: prober.probe(q, mode="token")) for text in asked])  # type: ignore[misc]


if __name__ == "__main__":
    main()
