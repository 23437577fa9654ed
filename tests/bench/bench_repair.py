"""Repair: how right it is on public vaults broken on purpose, and how fast on large ones.

bench_repair.py [notes …]      the public vaults, then synthetic ones of so many notes
"""

import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import vaults

import breaking
from ohmykb.config import load
from ohmykb.evolve.repair import plan_repairs
from ohmykb.search.graph import unresolved
from ohmykb.search.suggest import Names
from trial import Trial


def accuracy(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = breaking.unpack(vaults.SHARED / "vaults" / f"{name}.tar.gz", Path(folder))
        breaks = breaking.break_links(root, 400, 1)
        made = Trial(root)
        made.look()
        start = perf_counter()
        plan = breaking.plan_of(made)
        took = perf_counter() - start
        told = breaking.tally(breaks, plan)
        own = [m for m in plan.mends if m.certain and (m.source, m.raw) not in {(b.source, b.raw) for b in breaks}]
        print(f"{name}: {told.breaks} broken {dict(Counter(one.kind for one in breaks))}; plan {took:.2f} s")
        print(f"  certain {told.certain}, of them wrong {len(told.wrong)}")
        print(f"  in form only and unique: {told.form}, not certain {len(told.uncertain)}")
        print(f"  others: {told.others}, not among three {len(told.missed)}")
        print(f"  certain among {len(plan.mends)} that were broken before: {len(own)}")
        for one, mend in (*told.wrong, *told.missed):
            shown = [(c.path, c.score, c.rule) for c in mend.candidates]
            print(f"    {one.kind}: {one.before} → {one.raw}: {one.truth}, not {shown}")
        for lone in told.uncertain:
            print(f"    not certain: {lone}")
        for mend in own:
            print(f"    found: {mend.source}: {mend.raw} → {mend.replacement} ({mend.rule})")
        made.close()


def renames(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Trial(breaking.unpack(vaults.SHARED / "vaults" / f"{name}.tar.gz", Path(folder)))
        told = breaking.rename_trial(made, 200, 10, 1)
        print(f"{name}, 200 notes and 10 folders renamed: {told.links} links resolved before, {told.touched} of them")
        print(f"  touched, {len(told.strayed)} strayed after repair, {len(told.spoilt)} notes spoilt")
        for line in (*told.strayed, *told.spoilt):
            print(f"    {line}")
        made.close()


def speed(notes: int) -> None:
    made = Trial(vaults.synthetic(notes))
    made.look()
    db, config = made.index.db, load(made.root)
    links = [row[0] for row in db.rows("SELECT DISTINCT linkpath FROM links WHERE target IS NULL LIMIT 100")]
    marks = [("Names", perf_counter())]
    names = Names(db)
    marks.append(("a first link", perf_counter()))
    names.suggest("Alphs Beta")
    marks.append((f"{len(links)} links", perf_counter()))
    for link in links:
        names.suggest(link)
    some = [row[0] for row in db.rows("SELECT path FROM files WHERE kind = 0 ORDER BY path LIMIT 20")]
    marks.append(("one path refreshed", perf_counter()))
    names.refresh(db, some[:1])
    db.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")
    marks.append(("caught up", perf_counter()))
    names.catch_up(db)
    marks.append(("a saved note's plan", perf_counter()))
    plan_repairs(db, made.index._history, made.root, config, sources=some[:1], names=names)
    marks.append(("20 notes' plan", perf_counter()))
    plan_repairs(db, made.index._history, made.root, config, sources=some, names=names)
    marks.append(("whole plan", perf_counter()))
    plan = plan_repairs(db, made.index._history, made.root, config)
    marks.append(("kb unresolved", perf_counter()))
    unresolved(db)
    marks.append(("", perf_counter()))
    for (what, start), (_, end) in pairwise(marks):
        print(f"{notes} notes: {what} {(end - start) * 1000:.1f} ms")
    print(f"  {len(plan.mends)} links, {sum(mend.certain for mend in plan.mends)} certain")
    made.close()


if __name__ == "__main__":
    vaults.home()
    for name in ("zh-knowledge-garden", "jacky-garden", "kepano-vault"):
        accuracy(name)
        renames(name)
    for notes in map(int, sys.argv[1:]):
        speed(notes)
