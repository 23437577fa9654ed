"""`python tests/bench/bench_vectors.py [nearest|encode|serve|many …]`: what vectors cost, and how exact the scan is.

nearest: neighbours at 100,000 chunks against vec0's float scan, in turns in one run. The vectors are real: the three
public vaults cut at several sizes, by the bundled encoder, kept in `.bench/`; each run encodes further for
OHMYKB_BENCH_MINUTES (15) of processor time, until there are 100,000 (about 12 minutes).
encode: how fast vectors fill in, against the encoder alone on the same texts. serve: a vault of 10,000 notes, indexed
once (some minutes): first answer by meaning, probes over HTTP, and memory at rest. many: the same probes at 100,000
chunks, a vault of 66,000 notes (a quarter of an hour to encode, once).
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import apsw
import numpy as np
from bench_http import COMMON, KB, Line, at_rest, show
from numpy.typing import NDArray
from vaults import KEPT, SHARED, home, sample, synthetic

from ohmykb import wiring
from ohmykb.index.encode import Filler
from ohmykb.markdown.words import is_chinese
from ohmykb.models.bundled import BundledEncoder
from ohmykb.search.space import Space, centre, make_space, means_of, pack
from ohmykb.store import vectors
from ohmykb.store.vectors import Placed

WANTED = 100_000
SIZES = (80, 120, 180, 250, 350, 500, 700, 1000)
"""Characters of a chunk (a Chinese one is half as long)."""
QUESTIONS = 100
FIRST = 10
MANY = 66_000
"""Notes of the generator with 100,000 chunks."""
Vectors = NDArray[np.float32]


def texts() -> list[str]:
    """Chunks of all public vaults, of all sizes, mixed; the same each time."""
    notes: list[str] = []
    for packed in sorted((SHARED / "vaults").glob("*.tar.gz")):
        with tarfile.open(packed) as archive:
            members = sorted(
                (one for one in archive.getmembers() if one.name.endswith(".md")), key=lambda one: one.name
            )
            files = [file for one in members if (file := archive.extractfile(one)) is not None]
            notes += [file.read().decode("utf-8", "replace") for file in files]
    found: dict[str, None] = {}
    for size in SIZES:
        for text in notes:
            found |= dict.fromkeys(cut(text, size // 2 if is_chinese(text) else size))
    return sample([*found], WANTED)


def cut(text: str, size: int) -> list[str]:
    """Whole lines, `size` characters or a little more together; long ones in pieces."""
    pieces, current = [], ""
    for line in (part for whole in text.split("\n") for part in re.findall(f"(?s).{{1,{2 * size}}}", whole)):
        current += line + "\n"
        if len(current) >= size:
            pieces.append(current.strip())
            current = ""
    return [piece for piece in (*pieces, current.strip()) if len(piece) >= size // 4]


def real() -> tuple[Vectors, NDArray[np.int64]]:
    """(vectors, languages) as far as they are encoded; goes on encoding for some minutes."""
    kept = KEPT / "real-chunks.npz"
    todo = texts()
    done = np.load(kept)["vectors"] if kept.is_file() else np.empty((0, BundledEncoder.dim), dtype=np.float32)
    encoder, start = BundledEncoder(KEPT), time.process_time()
    until = 60 * float(os.environ.get("OHMYKB_BENCH_MINUTES", "15"))
    parts = [done]
    count = len(done)
    while count < len(todo) and time.process_time() - start < until:
        some = todo[count : count + 1024]
        parts += [encoder.encode_passages(some[at : at + encoder.batch]) for at in range(0, len(some), encoder.batch)]
        count += len(some)
    if count > len(done):
        np.savez(kept, vectors=np.concatenate(parts))
    made = np.concatenate(parts)
    return made, np.array([int(is_chinese(text)) for text in todo[:count]])


def questions(means: Vectors) -> Vectors:
    """Questions of people, on other topics and on these: the retrieval trials, and headings of the vaults."""
    asked = [json.loads(line)["query"] for line in (SHARED / "retrieval/queries.jsonl").read_text("utf-8").splitlines()]
    heads = [match[1] for text in texts()[:20_000] for match in re.finditer(r"(?m)^#+ (.{4,60})$", text)]
    some = sample(asked, QUESTIONS // 2) + sample(sorted(set(heads)), QUESTIONS // 2)
    encoded = BundledEncoder(KEPT).encode_queries(some)
    return centre(encoded, np.array([int(is_chinese(text)) for text in some]), means)


def nearest() -> None:
    made, languages = real()
    means = means_of(made, languages)
    measure(f"{len(made)} real vectors", centre(made, languages, means), questions(means))


def measure(label: str, units: Vectors, asked: Vectors) -> None:
    count = len(units)
    rows, zeros = np.arange(count), np.zeros(count, dtype=np.int64)
    space: Space = make_space(Placed(rows, rows, rows, zeros, zeros), units, pack(units))
    with tempfile.TemporaryDirectory(dir=KEPT) as place:
        db = apsw.Connection(str(Path(place) / "vec0.db"))
        db.execute("PRAGMA journal_mode = WAL; PRAGMA mmap_size = 2147483648")
        vectors.load_extension(db)  # type: ignore[arg-type]
        db.execute(f"CREATE VIRTUAL TABLE v USING vec0 (vector float[{units.shape[1]}] distance_metric=cosine)")
        with db:
            db.executemany("INSERT INTO v (rowid, vector) VALUES (?, ?)", enumerate(map(bytes, units)))
        scan, ours, floats, found, same = [], [], [], 0, 0
        for turn, one in enumerate([asked[0], *asked]):
            start = time.perf_counter()
            near = space.nearest(one, FIRST)
            took = time.perf_counter() - start
            start = time.perf_counter()
            told = [
                row[0] for row in db.execute("SELECT rowid FROM v WHERE vector MATCH ? AND k = ?", (bytes(one), FIRST))
            ]
            vec0 = time.perf_counter() - start
            start = time.perf_counter()
            cosines = units @ one
            matrix = time.perf_counter() - start
            if not turn:
                continue  # caches fill
            least = np.sort(cosines)[-FIRST] - 1e-6
            found += int((near.cosines >= least).sum())
            same += int((cosines[told] >= least).sum())
            ours.append(took * 1000)
            scan.append(vec0 * 1000)
            floats.append(matrix * 1000)
        db.close()
    ratio = statistics.median(scan) / statistics.median(ours)
    print(label)
    show("  ours", ours)
    show("  vec0's float scan", scan)
    show("  numpy, all floats", floats)
    print(f"  {ratio:.0f}× vec0; recall@{FIRST} {found / len(ours) / FIRST:.4f} (vec0 {same / len(ours) / FIRST:.4f})")


class Listening:
    """The encoder, and what it was given."""

    symmetric, remote = True, False

    def __init__(self, encoder: BundledEncoder) -> None:
        self.id, self.dim, self.batch = encoder.id, encoder.dim, encoder.batch
        self.warm, self.encode_queries, self._encode = encoder.warm, encoder.encode_queries, encoder.encode_passages
        self.given: list[Sequence[str]] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.given.append(texts)
        return self._encode(texts)


def encode() -> None:
    """Alone, filling, alone again, filling again: the machine may be shared."""
    root = synthetic(1000)
    shares = []
    for turn in range(2):
        os.environ["OHMYKB_HOME"] = str(KEPT / f"home-encode-{turn}")
        vault = wiring.find_vault(str(root), str(root))
        wiring.drop_index(vault)
        with wiring.writing(vault) as index:
            index.reconcile()
            encoder = BundledEncoder(KEPT)
            encoder.warm()
            filler = Filler(encoder, lambda job: job(index.db))
            told = Listening(encoder)
            filler.encoder = told
            start, wall = time.process_time(), time.perf_counter()
            done = filler.fill(index.db)
            ours, ours_wall = time.process_time() - start, time.perf_counter() - wall
        start, wall = time.process_time(), time.perf_counter()
        for some in told.given:
            encoder.encode_passages(some)
        alone, alone_wall = time.process_time() - start, time.perf_counter() - wall
        shares.append(alone / ours)
        print(
            f"{done} texts: filling {done / ours:.0f}/CPU-s ({done / ours_wall:.0f}/s), the encoder alone"
            f" {done / alone:.0f}/CPU-s ({done / alone_wall:.0f}/s): {alone / ours:.0%}"
        )
    print(f"encoding at {statistics.median(shares):.0%} of the encoder's own speed")


def serve() -> None:
    home()
    root = synthetic(10_000)
    os.environ["OHMYKB_VAULT"] = str(root)
    start = time.perf_counter()
    subprocess.run([*KB, "index"], check=True)
    print(f"kb index: {time.perf_counter() - start:.1f} s")
    asked = [json.loads(line)["query"] for line in (SHARED / "retrieval/queries.jsonl").read_text("utf-8").splitlines()]
    first = [once(asked[turn]) for turn in range(5)]
    show("kb serve → first answer by meaning", first)
    probes(asked)


def many() -> None:
    home()
    os.environ["OHMYKB_VAULT"] = str(synthetic(MANY))
    subprocess.run([*KB, "index"], check=True)
    asked = [json.loads(line)["query"] for line in (SHARED / "retrieval/queries.jsonl").read_text("utf-8").splitlines()]
    probes(asked)


def probes(asked: list[str]) -> None:
    """Of the vault at hand, when its sidecar is ready."""
    sidecar, line = begin()
    try:
        while (status := line.get("/status"))["work"]["state"] != "ready" or not status["model"]["id"]:
            time.sleep(0.2)
        titles = [row["title"] for row in line.get("/graph")["notes"]]
        print(f"{len(titles)} notes, load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else len(titles))
        for label, some in (
            ("the retrieval trials", asked), ("a title", sample(titles, 300)), ("common words", COMMON * 20),
        ):  # fmt: skip
            timed(line, some[:10])
            show(f"hybrid probe, {label}", timed(line, some))
        if sys.platform == "linux":
            at_rest(sidecar.pid)
    finally:
        sidecar.terminate()
        sidecar.wait()


def begin() -> tuple["subprocess.Popen[bytes]", Line]:
    sidecar = subprocess.Popen([*KB, "serve"], stdout=subprocess.PIPE)
    assert sidecar.stdout is not None
    said = json.loads(sidecar.stdout.readline())
    places = Path(os.environ["OHMYKB_HOME"], "state").glob("*/sidecar.json")
    found = [json.loads(path.read_text("utf-8")) for path in places]
    return sidecar, Line(next(one for one in found if one["pid"] == said["pid"]))


def once(question: str) -> float:
    """Milliseconds from the start of the process."""
    start = time.perf_counter()
    sidecar, line = begin()
    try:
        while "no vectors" in line.get(f"/probe?q={quote(question)}").get("degraded", ""):
            time.sleep(0.01)
        return (time.perf_counter() - start) * 1000
    finally:
        sidecar.terminate()
        sidecar.wait()


def timed(line: Line, some: list[str]) -> list[float]:
    took = []
    for question in some:
        start = time.perf_counter()
        line.get(f"/probe?q={quote(question)}")
        took.append((time.perf_counter() - start) * 1000)
    return took


if __name__ == "__main__":
    print(f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "")
    for part in sys.argv[1:] or ("nearest", "encode", "serve", "many"):
        {"nearest": nearest, "encode": encode, "serve": serve, "many": many}[part]()
