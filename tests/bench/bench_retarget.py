"""Links written anew, a second: the slice and its edit, over every link of a vault, scanning left out.

bench_retarget.py [notes]      a synthetic vault, 10,000 notes unless told
"""

import sys
from collections import defaultdict
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import vaults

from ohmykb.markdown.link_edits import link_edit
from ohmykb.markdown.rewrite import retarget
from ohmykb.markdown.scan import scan

ROUNDS = 5


def main() -> None:
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rows = defaultdict(list)
    for path in sorted(vaults.synthetic(notes).rglob("*.md")):
        text = path.read_text("utf-8", errors="replace")
        found = scan(text)
        for link in found.links:
            rows[link.kind].append((text, link, found.body))
    rows["all"] = [row for kind in list(rows) for row in rows[kind]]
    for kind, links in rows.items():
        best = made = 0.0
        for _ in range(ROUNDS):
            start, made = perf_counter(), 0
            for text, link, body in links:
                new = retarget(link, "新 名 (x)", link.subpath)
                made += new is not None and link_edit(text, link, new, body) is not None
            best = max(best, len(links) / (perf_counter() - start))
        print(f"{notes:>7} notes  {kind:<9} {len(links):>7} links, {made} with an edit  {best:>9,.0f} a second")


if __name__ == "__main__":
    main()
