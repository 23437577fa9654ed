"""Fits the weights of search/relevance.py for a set of encoders, and says how good they are.

    python tests/bench/fit_relevance.py [--encoders bundled] [--data DIR ...] [--write]

`--encoders`: names of models/catalog.py joined by `+`, the quick one first, such as `bundled+http`; they
are set up as for the sidecar (docs/MODELS.md). `--data`: folders with `vault/` and `queries.jsonl` (as
tests/retrieval; yours may be your own notes). Two at least: each is judged by weights fitted on the
others, and questions of the others serve as absent topics. Vectors are kept in `.bench/`.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vaults import KEPT, REPO, SHARED

from ohmykb import config as settings
from ohmykb import places, wiring
from ohmykb.index.encode import Filler
from ohmykb.models.catalog import open_encoder
from ohmykb.models.encoder import Encoder
from ohmykb.search import relevance
from ohmykb.search.candidates import Rarity, Standing, Vocabulary, gather
from ohmykb.search.hybrid import candidates, hear, weigh
from ohmykb.search.meaning import Meaning
from ohmykb.search.probe import CLOSE_LOOKS
from ohmykb.search.question import read_question
from ohmykb.search.score import judge
from ohmykb.store import fulltext
from ohmykb.store.connection import Database
from ohmykb.store.fulltext import Where

Floats = NDArray[np.float64]

RIDGE = 1.0
WORDS = 4
"""Signals of words; two for each encoder follow."""
OWN_WEIGHT = 3.0
"""What an absent topic written for the vault counts beside one borrowed from another."""
FALSE_SKIP = 0.04
"""Share of answerable questions that may be skipped where the threshold is set."""
FALSE_READ = 0.10
"""Share of absent topics that may be called worth reading."""
TYPES = ("zh->zh", "en->en", "en->zh", "zh->en", "keyword", "alias", "tag")
BORROWED = ("zh->zh", "en->en", "en->zh", "zh->en", "alias")
ANSWERABLE, OWN, FOREIGN = 0, 1, 2
RANKED_AT = 60
"""The constant of reciprocal rank fusion."""
WEIGHTS = REPO / "sidecar" / "ohmykb" / "search" / "weights.json"


@dataclass(frozen=True, slots=True)
class Trial:
    """All questions over one vault: arrays by question, note (and signal)."""

    name: str
    questions: list[str]
    types: list[str]
    kinds: NDArray[np.int64]
    signals: Floats
    relevant: NDArray[np.bool_]
    candidates: NDArray[np.bool_]
    """Notes that the product would weigh."""
    token: Floats
    """Score by words alone; -1 where they find nothing."""
    meaning: Floats
    """Nearness to names and chunks, over all encoders."""
    highest: Floats

    @property
    def prior(self) -> float:
        return relevance.prior(self.signals.shape[1])

    def outcome(self, logits: Floats) -> Floats:
        """float[q, 4], what the verdict looks at."""
        rows = []
        for number, question in enumerate(self.questions):
            ids = np.flatnonzero(self.candidates[number])
            signals = [relevance.Signals(*self.signals[number, at, :WORDS]) for at in ids]
            rows.append(relevance.outcome(question, list(logits[number, ids]), signals, self.highest[number]))
        return np.array(rows, dtype=float)


# --- asking the index ---------------------------------------------------------------------------


def read_questions(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def run_trial(folder: Path, encoders: Sequence[Encoder], others: Sequence[Path]) -> Trial:
    """Indexes the vault as the sidecar does and asks it everything."""
    label = "/".join(folder.parts[-2:])
    own = read_questions(folder)
    rows = [(one["query"], one["type"], ANSWERABLE if one["relevant"] else OWN, one["relevant"]) for one in own]
    for other in others:
        rows += [(q["query"], "borrowed", FOREIGN, []) for q in read_questions(other) if q["type"] in BORROWED]
    vault = wiring.find_vault(str(folder / "vault"), str(folder / "vault"))
    with wiring.writing(vault) as index:
        index.reconcile()
        meaning = Meaning(encoders)
        for encoder in encoders:
            Filler(encoder, lambda job: job(index.db), progress=_tell(label, encoder.id)).fill(index.db)
        meaning.refresh(index.db)
        return _ask(index.db, label, meaning, rows)


def _tell(vault: str, encoder: str) -> Callable[[int, int], None]:
    return lambda done, total: print(f"\r{vault}: {encoder} {done}/{total}   ", end="", file=sys.stderr)


def _ask(db: Database, name: str, meaning: Meaning, rows: list[tuple[str, str, int, list[str]]]) -> Trial:
    places_of = {path: number for number, (path,) in enumerate(db.rows("SELECT path FROM files JOIN notes USING (id)"))}
    ids = [row[0] for row in db.rows("SELECT id FROM files JOIN notes USING (id)")]
    at = {number: place for place, number in enumerate(ids)}
    vocabulary, rarity, standing = Vocabulary(), Rarity(), Standing()
    standing.refresh(db)
    shape = (len(rows), len(ids))
    signals = np.zeros((*shape, WORDS + 2 * len(meaning.arms)))
    relevant, chosen = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    token, near, highest = np.full(shape, -1.0), np.zeros(shape), np.zeros(len(rows))
    for number, (query, _, _, answers) in enumerate(rows):
        relevant[number, [places_of[path] for path in answers]] = True
        question = read_question(query, fulltext.size(db), rarity.of(db))
        by_words = gather(db, question, Where(), CLOSE_LOOKS, 10, vocabulary, standing)
        heard = hear(meaning.arms, query)
        if heard.fault:
            raise SystemExit(heard.fault)
        chosen[number, [at[n] for n in candidates(db, heard, by_words, Where(), words=True)]] = True
        weighed = weigh(db, question, heard, ids, words=True)
        signals[number] = [one.row() for one in weighed.signals]
        for found in fulltext.fetch(db, by_words):
            token[number, at[found.id]] = judge(question, found).score
        near[number] = sum(look.name + look.passage for look in weighed.looks)
        highest[number] = heard.highest
    print(f"{name}: {shape[1]} notes, {shape[0]} questions         ")
    return Trial(
        name, [r[0] for r in rows], [r[1] for r in rows], np.array([r[2] for r in rows]),
        signals, relevant, chosen, token, near, highest,
    )  # fmt: skip


# --- fitting ------------------------------------------------------------------------------------


def logistic(
    x: Floats, y: Floats, weight: Floats | None = None, *, signed: bool = False
) -> tuple[float, NDArray[np.float64]]:
    """(bias, float[k]) by IRLS with a ridge on standardised columns. Each signal speaks for a note: a
    weight that comes out negative is dropped, the worst first, unless `signed`."""
    w = np.ones(len(x)) if weight is None else weight
    middle = np.average(x, axis=0, weights=w)
    scale = np.sqrt(np.average((x - middle) ** 2, axis=0, weights=w)) + 1e-6
    kept = list(range(x.shape[1]))
    while True:
        beta = _newton(np.c_[(x[:, kept] - middle[kept]) / scale[kept], np.ones(len(x))], y, w)
        worst = [(beta[place], column) for place, column in enumerate(kept) if beta[place] < 0]
        if signed or not worst:
            break
        kept.remove(min(worst)[1])
    values = np.zeros(x.shape[1])
    values[kept] = beta[:-1] / scale[kept]
    return float(beta[-1] - values @ middle), values


def _newton(z: Floats, y: Floats, w: Floats) -> Floats:
    rate = np.average(y, weights=w)
    beta = np.r_[np.zeros(z.shape[1] - 1), np.log(rate / (1 - rate))]
    pull = np.r_[np.full(z.shape[1] - 1, RIDGE), 0.0]

    def loss(at: Floats) -> float:
        value = z @ at
        return float((w * (np.logaddexp(0, value) - y * value)).sum() + (pull * at * at).sum() / 2)

    here = loss(beta)
    for _ in range(200):
        p = 1 / (1 + np.exp(-np.clip(z @ beta, -40, 40)))
        curve = (z * (w * np.maximum(p * (1 - p), 1e-9))[:, None]).T @ z + np.diag(pull + 1e-9)
        step = np.linalg.solve(curve, z.T @ (w * (y - p)) - pull * beta)
        part = 1.0
        while (there := loss(beta + part * step)) > here and part > 1e-6:
            part /= 2  # Newton overshoots where a signal parts the two nearly perfectly
        if there > here:
            break
        beta, gain, here = beta + part * step, here - there, there
        if gain < 1e-9 * max(abs(here), 1):
            break
    return beta


def fit_notes(trials: Sequence[Trial]) -> tuple[float, Floats]:
    """On all notes of all vaults; the prior belongs to the model, so it is put back in the bias.

    Encoders count alike: with a weight each, so few questions tell no better (docs/SEARCH.md).
    """
    x = np.concatenate([one.signals.reshape(-1, one.signals.shape[-1]) for one in trials])
    arms = x[:, WORDS:].reshape(len(x), -1, 2)
    y = np.concatenate([one.relevant.ravel() for one in trials]).astype(float)
    bias, values = logistic(np.c_[x[:, :WORDS], arms.sum(axis=1)], y)
    both = np.r_[values[:WORDS], np.tile(values[WORDS:], arms.shape[1])]
    return bias + float(np.mean([one.prior for one in trials])), both


def logits_of(trial: Trial, bias: float, values: Floats) -> Floats:
    return np.where(trial.candidates, trial.signals @ values + bias - trial.prior, -50.0)


def fit_verdict(seen: Sequence[Floats], trials: Sequence[Trial]) -> tuple[float, Floats]:
    kinds = np.concatenate([one.kinds for one in trials])
    weight = np.where(kinds == OWN, OWN_WEIGHT, 1.0)
    return logistic(np.concatenate(seen), (kinds == ANSWERABLE).astype(float), weight, signed=True)


def thresholds(logits: Floats, kinds: NDArray[np.int64]) -> tuple[float, float]:
    """(skip, read)."""
    there = kinds == ANSWERABLE
    return float(np.quantile(logits[there], FALSE_SKIP)), float(np.quantile(logits[~there], 1 - FALSE_READ))


# --- the table ----------------------------------------------------------------------------------


def recall(scores: Floats, trial: Trial, k: int = 5) -> Floats:
    """By question; NaN where there is nothing to find."""
    top = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    hits = np.take_along_axis(trial.relevant & (scores > -40), top, axis=1).sum(axis=1)
    there = trial.relevant.sum(axis=1)
    return np.where(there > 0, hits / np.maximum(np.minimum(there, k), 1), np.nan)


def fused(trial: Trial) -> Floats:
    """Reciprocal rank fusion of the two arms."""
    total = np.zeros_like(trial.token)
    for scores, found in ((trial.token, trial.token >= 0), (trial.meaning, trial.candidates)):
        ranks = np.argsort(np.argsort(-np.where(found, scores, -99.0), axis=1, kind="stable"), axis=1)
        total += np.where(found, 1 / (RANKED_AT + 1 + ranks), 0)
    return np.where(trial.candidates, total, -50.0)


def bootstrap(figure: Callable[[list[Floats]], float], groups: Sequence[Floats], rounds: int = 2000) -> tuple[Any, ...]:
    """The middle 90 % of what a figure would be, had the questions been others of their kind."""
    chance = np.random.default_rng(0)
    found = [figure([g[chance.integers(0, len(g), len(g))] for g in groups]) for _ in range(rounds)]
    return tuple(np.quantile(found, [0.05, 0.95]))


def short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def interval(found: tuple[Any, ...]) -> str:
    return "–".join(short(value) for value in found)


def print_row(label: str, scores: Floats, trial: Trial) -> None:
    by_question = recall(scores, trial)
    groups = [by_question[[t == kind for t in trial.types]] for kind in TYPES]
    means = [float(g.mean()) for g in groups]
    cells = [
        f"{short(mean)} ({interval(bootstrap(lambda g: float(g[0].mean()), [group]))})"
        for mean, group in zip(means, groups, strict=True)
    ]
    every = bootstrap(lambda g: float(np.mean([one.mean() for one in g])), groups)
    print(f"| {label} | {' | '.join(cells)} | **{np.mean(means):.3f}** ({interval(every)}) |")


def print_verdict(label: str, logits: Floats, trial: Trial, skip: float, read: float) -> None:
    by_kind = [logits[trial.kinds == kind] for kind in (ANSWERABLE, OWN, FOREIGN)]
    parts = [f"false skip {short(float((by_kind[0] < skip).mean()))}"]
    for name, group in (("own absent", by_kind[1]), ("borrowed", by_kind[2])):
        if len(group):
            bounds = bootstrap(lambda g: float((g[0] < skip).mean()), [group])
            parts.append(f"{name} skipped {short(float((group < skip).mean()))} ({interval(bounds)})")
    parts.append(f"read {' / '.join(short(float((g >= read).mean())) if len(g) else '-' for g in by_kind)}")
    five = float(np.quantile(by_kind[0], 0.05))
    parts.append(f"at 5 % set here: {' / '.join(short(float((g < five).mean())) for g in by_kind[1:] if len(g))}")
    print(f"{label}: {'; '.join(parts)}")


def print_reliability(held: Sequence[Floats], trials: Sequence[Trial]) -> None:
    """Predicted against true, for all notes and for the first hits."""
    edges = (0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01)
    p = [1 / (1 + np.exp(-np.clip(one, -40, 40))) for one in held]
    first = [one.argmax(axis=1) for one in p]
    pairs = {
        "all notes": (
            np.concatenate([a[t.candidates] for a, t in zip(p, trials, strict=True)]),
            np.concatenate([t.relevant[t.candidates] for t in trials]),
        ),
        "first hits": (
            np.concatenate([a.max(axis=1) for a in p]),
            np.concatenate([t.relevant[np.arange(len(f)), f] for t, f in zip(trials, first, strict=True)]),
        ),
    }
    for name, (said, true) in pairs.items():
        cells = []
        for low, high in pairwise(edges):
            here = (said >= low) & (said < high)
            if here.any():
                cells.append(f"{said[here].mean():.2f}→{true[here].mean():.2f} ({here.sum()})")
        print(f"said→true, {name}: {'  '.join(cells)}")


def fit(trials: Sequence[Trial], names: list[str]) -> dict[str, Any]:
    """Prints the table, held out; returns the weights fitted on everything."""
    everywhere = range(len(trials))
    held, seen = [], []
    for number, trial in enumerate(trials):
        others = [trials[n] for n in everywhere if n != number]
        held.append(logits_of(trial, *fit_notes(others)))
        seen.append(trial.outcome(held[-1]))
    bias, values = fit_notes(trials)
    print(f"\nrecall@5 (90 % intervals)\n| | {' | '.join(TYPES)} | mean |\n|{'---|' * (len(TYPES) + 2)}")
    for trial, logits in zip(trials, held, strict=True):
        print_row(f"{trial.name}: token", trial.token, trial)
        print_row(f"{trial.name}: semantic", trial.meaning, trial)
        print_row(f"{trial.name}: rank fusion", fused(trial), trial)
        print_row(f"{trial.name}: relevance, held out", logits, trial)
        print_row(f"{trial.name}: relevance, fitted on all", logits_of(trial, bias, values), trial)
        keyword = recall(logits, trial, 10)[[t == "keyword" for t in trial.types]].mean()
        print(f"keyword recall@10, held out: {keyword:.3f}")
    print("\nverdict, held out (weights and thresholds of the others)")
    for number, trial in enumerate(trials):
        others = [n for n in everywhere if n != number]
        vbias, vvalues = fit_verdict([seen[n] for n in others], [trials[n] for n in others])
        inner = np.concatenate([seen[n] @ vvalues + vbias for n in others])
        skip, read = thresholds(inner, np.concatenate([trials[n].kinds for n in others]))
        print_verdict(trial.name, seen[number] @ vvalues + vbias, trial, skip, read)
    print_reliability(held, trials)
    vbias, vvalues = fit_verdict(seen, trials)
    pooled = [one @ vvalues + vbias for one in seen]
    skip, read = thresholds(np.concatenate(pooled), np.concatenate([one.kinds for one in trials]))
    print("\nverdict as written (fitted on all)")
    for trial in trials:
        logits = trial.outcome(logits_of(trial, bias, values)) @ vvalues + vbias
        print_verdict(trial.name, logits, trial, skip, read)
    return {
        "encoders": names, "bias": bias, "values": values.tolist(),
        "verdict_bias": vbias, "verdict_values": vvalues.tolist(), "skip": skip, "read": read,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoders", default="bundled")
    parser.add_argument("--data", type=Path, nargs="+", default=[SHARED / "retrieval", REPO / "tests" / "retrieval"])
    parser.add_argument("--write", action="store_true", help="put the weights in search/weights.json")
    asked = parser.parse_args()
    folders = [one.resolve() for one in asked.data if (one / "queries.jsonl").is_file()]
    if len(folders) < 2:
        parser.error("two folders of data are needed: without a second vault nothing can be said of the first")
    device = settings.load(folders[0] / "vault")
    os.environ["OHMYKB_HOME"] = str(KEPT / "home")
    encoders = [open_encoder(one, device, Path(places.home("cache"))) for one in asked.encoders.split("+")]
    found = [one for one in encoders if one is not None]
    names = relevance.names_of([one.id for one in found])
    trials = [run_trial(one, found, [other for other in folders if other != one]) for one in folders]
    weights = fit(trials, names)
    print(json.dumps({"+".join(names): weights}))
    if asked.write:
        kept = json.loads(WEIGHTS.read_text("utf-8"))
        kept["+".join(names)] = weights
        WEIGHTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
