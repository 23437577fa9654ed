"""Both arms together: who is found, for what reason, and what is said when an arm is missing."""

import json
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from models.tiny import Tiny
from ohmykb import wiring
from ohmykb.models.bundled import BundledEncoder
from ohmykb.models.encoder import EncoderMissingError, EncoderUnavailableError
from ohmykb.search.asked import where_of
from ohmykb.search.probe import NO_VECTORS
from ohmykb.store.connection import open_reader
from ohmykb.store.schema import INDEX_MIGRATIONS
from trial import Trial

NOTES = {
    "币圈/资金费率.md": "# 资金费率\n\n永续合约每八小时结算一次，多头付给空头。"
    "\n\n## 计算\n\n溢价指数加上利率的差额，再加以限幅。\n#crypto\n",
    "债券/可转债.md": "# 可转债\n\n可以按约定价格换成股票的债券，有转股价与下修条款。\n",
    "Bees.md": "# Swarming\n\nWhen the hive is crowded the old queen leaves with half of the colony.\n",
    "Sourdough.md": "# Sourdough\n\nFlour and water ferment until the dough has doubled.\n",
    "Bike.md": "# Chain\n\nA worn chain skips under load; measure it every 500 km.\n",
    "Owls.md": "# Owls\n\nThey cough up pellets of fur and bones.\n",
}  # fmt: skip


@pytest.fixture
def some(trial: Trial, bundled: BundledEncoder) -> Trial:
    trial.put(NOTES)
    trial.look()
    trial.understand(bundled)
    return trial


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("funding rate", "币圈/资金费率.md"), ("convertible bond", "债券/可转债.md"),
        ("蜜蜂分蜂", "Bees.md"), ("面团发酵", "Sourdough.md"),
        ("bread baking with wild yeast", "Sourdough.md"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_found_for_its_meaning(some: Trial, query: str, path: str, mode: str) -> None:
    answer = some.prober.probe(query, mode=mode)  # type: ignore[arg-type]
    hit = answer.results[0]
    assert (hit.path, answer.degraded) == (path, None)
    assert "semantic" in hit.why
    assert 0 <= hit.score <= 1


def test_where_it_answers(some: Trial) -> None:
    """The line and heading of the chunk that is near, though no word is shared."""
    first = "\n\n".join("The hive stands at the edge of the wood and gets the morning sun. " * 8 for _ in range(3))
    some.put(
        {"Long.md": f"# Garden log\n\n{first}\n\n## Dough\n\n" + "Knead flour and water and let it ferment. " * 12}
    )
    some.look()
    some.understand(*(arm.encoder for arm in some.prober.meaning.arms))
    hit = next(one for one in some.prober.probe("面团怎么发酵").results if one.path == "Long.md")
    assert hit.heading == "Dough"
    assert "Knead" in hit.snippet
    assert "semantic" in hit.why


def test_words_alone_are_words_alone(some: Trial) -> None:
    assert [hit.path for hit in some.prober.probe("funding rate", mode="token").results] == []
    hit = some.prober.probe("结算", mode="token").results[0]
    assert "semantic" not in hit.why


def test_the_exact_name_wins(some: Trial) -> None:
    some.put({"费率表.md": "# 费率表\n\n资金费率、手续费率、借贷费率。"})
    some.look()
    some.encode(*(arm.encoder for arm in some.prober.meaning.arms))
    some.prober.meaning.refresh(some.index.db)
    assert some.prober.probe("资金费率").results[0].path == "币圈/资金费率.md"


def test_filters_hold_for_meaning_too(some: Trial) -> None:
    inside = some.prober.probe("funding rate", where=where_of("债券", None, None)).results
    assert {hit.path for hit in inside} <= {"债券/可转债.md"}
    tagged = some.prober.probe("funding rate", where=where_of(None, "crypto", None)).results
    assert [hit.path for hit in tagged] == ["币圈/资金费率.md"]
    assert not list(some.prober.probe("funding rate", where=where_of(None, "nope", None)).results)


def test_what_is_not_there(some: Trial) -> None:
    assert some.prober.probe("how to renew a passport in Lisbon").verdict == "skip"
    assert some.prober.probe("funding rate").verdict != "skip"
    assert some.prober.probe("Sourdough").verdict == "read"


def test_a_deleted_note_is_not_found_before_the_vectors_know(some: Trial) -> None:
    some.remove("Owls.md")
    some.settle()
    assert "Owls.md" not in [hit.path for hit in some.prober.probe("birds of prey at night", n=50).results]


def test_without_vectors_it_is_said(trial: Trial) -> None:
    trial.put(NOTES)
    trial.look()
    answer = trial.prober.probe("资金费率")
    assert (answer.results[0].path, answer.degraded) == ("币圈/资金费率.md", NO_VECTORS)
    assert trial.prober.probe("资金费率", mode="token").degraded is None


@pytest.mark.parametrize("error", [EncoderUnavailableError, EncoderMissingError])
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_an_encoder_that_fails_questions(trial: Trial, error: type[EncoderMissingError], mode: str) -> None:
    trial.put(NOTES)
    trial.look()
    tiny = Tiny()
    trial.understand(tiny)
    tiny.fault = error("The endpoint is down.", "Start it.")  # type: ignore[assignment]
    answer = trial.prober.probe("资金费率", mode=mode)  # type: ignore[arg-type]
    assert answer.results[0].path == "币圈/资金费率.md"
    assert answer.degraded == "The endpoint is down. Start it."


def test_one_of_two_fails(trial: Trial, bundled: BundledEncoder) -> None:
    trial.put(NOTES)
    trial.look()
    tiny = Tiny()
    trial.understand(bundled, tiny)
    tiny.fault = EncoderUnavailableError("The endpoint is down.", "Start it.")
    answer = trial.prober.probe("funding rate")
    assert answer.results[0].path == "币圈/资金费率.md"
    assert answer.degraded == "The endpoint is down. Start it."


def test_the_way_without_a_sidecar(some: Trial, encoder_cache: Path, home: Path) -> None:
    (home / "cache").mkdir(exist_ok=True)
    if not (home / "cache/models").exists():
        (home / "cache/models").symlink_to(encoder_cache / "models")
    db = open_reader(some.vault.index_file, len(INDEX_MIGRATIONS))
    meaning = wiring.meaning(some.vault, db)
    assert [arm.encoder.id for arm in meaning.arms] == [BundledEncoder.id]
    assert meaning.behind is None
    db.close()


def test_what_cannot_be_had_is_said(some: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OHMYKB_EMBEDDINGS_URL", "OHMYKB_EMBEDDINGS_MODEL"):
        monkeypatch.delenv(name, raising=False)
    some.put({".kb/config.toml": '[search]\nfine = "http"\n'})
    db = open_reader(some.vault.index_file, len(INDEX_MIGRATIONS))
    meaning = wiring.meaning(some.vault, db)
    assert len(meaning.arms) == 1
    assert meaning.behind is not None
    assert "OHMYKB_EMBEDDINGS_URL" in meaning.behind
    db.close()


# --- the retrieval trials, with the bundled encoder alone

FLOORS = {"zh->zh": 0.85, "en->en": 0.85, "en->zh": 0.95, "zh->en": 0.75, "alias": 0.95, "tag": 0.95}
MEAN = 0.92
TEMPLATE = Path(__file__).resolve().parents[1] / "vault-template"


def recall(found: list[str], relevant: list[str], first: int) -> float:
    """As shared/retrieval/score.py counts it."""
    return len({*found[:first]} & {*relevant}) / min(first, len(relevant))


def test_the_shared_trials(
    shared: Path, tmp_path: Path, trial_at: Callable[[Path], Trial], bundled: BundledEncoder
) -> None:
    shutil.copytree(shared / "retrieval/vault", tmp_path / "vault")
    trial = trial_at(tmp_path / "vault")
    trial.look()
    trial.understand(bundled)
    at_5, at_10 = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    skipped, wrongly = [], []
    for line in (shared / "retrieval/queries.jsonl").read_text("utf-8").splitlines():
        query = json.loads(line)
        answer = trial.prober.probe(query["query"], n=10)
        assert answer.degraded is None
        (skipped if query["type"] == "negative" else wrongly).append(answer.verdict == "skip")
        if query["type"] != "negative":
            found = [hit.path for hit in answer.results]
            at_5[query["type"]].append(recall(found, query["relevant"], 5))
            at_10[query["type"]].append(recall(found, query["relevant"], 10))
    reached = {kind: sum(values) / len(values) for kind, values in at_5.items()}
    assert not {kind: value for kind, value in reached.items() if value < FLOORS.get(kind, 0)}, reached
    assert sum(at_10["keyword"]) == len(at_10["keyword"])
    assert sum(map(sum, at_5.values())) / sum(map(len, at_5.values())) >= MEAN
    assert sum(skipped) / len(skipped) >= 0.5
    assert sum(wrongly) / len(wrongly) <= 0.05


@pytest.fixture
def template(tmp_path: Path, trial_at: Callable[[Path], Trial], bundled: BundledEncoder) -> Trial:
    shutil.copytree(TEMPLATE, tmp_path / "vault")
    trial = trial_at(tmp_path / "vault")
    trial.look()
    trial.understand(bundled)
    return trial


@pytest.mark.parametrize(("query", "name"), [("funding rate", "资金费率"), ("convertible bond", "可转债")])
def test_the_template_answers_across_languages(template: Trial, query: str, name: str) -> None:
    hit = template.prober.probe(query).results[0]
    assert name in hit.path + hit.title
    assert "semantic" in hit.why
