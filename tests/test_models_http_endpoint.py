import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from models import endpoint as fake
from models.endpoint import Endpoint
from ohmykb.config import ConfigError
from ohmykb.errors import KbError
from ohmykb.models.encoder import EncoderUnavailableError
from ohmykb.models.http_endpoint import BATCH, HttpEncoder, Patience, endpoint

QUICK = Patience(connect=0.5, query=0.5, passages=0.5, tries=3, pause=0.01, longest_pause=0.02, rest=30)
KEY = "sk-a-very-secret-key"


@pytest.fixture
def there() -> Iterator[Endpoint]:
    with fake.endpoint() as running:
        yield running


def encoder(there: Endpoint, model: str = "bge-m3", key: str | None = None, **patience: Any) -> HttpEncoder:
    values = {name: getattr(QUICK, name) for name in Patience.__dataclass_fields__} | patience
    return HttpEncoder(there.url, model, key, Patience(**values))


def expected(texts: list[str], dim: int = 8) -> np.ndarray:
    vectors = np.asarray([fake.vector(text, dim) for text in texts], dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("dialect", [fake.reference, fake.shuffled, fake.unnumbered, fake.packed])
def test_every_dialect_gives_the_same_vectors_in_order(there: Endpoint, dialect: fake.Dialect) -> None:
    there.dialect = dialect
    texts = ["资金费率", "funding rate", "", "可转债"]
    vectors = encoder(there).encode_passages(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(texts), atol=1e-6)


def test_passages_go_in_batches(there: Endpoint) -> None:
    texts = [f"text {n}" for n in range(2 * BATCH + 3)]
    np.testing.assert_allclose(encoder(there).encode_passages(texts), expected(texts), atol=1e-6)
    assert [len(question["input"]) for question in there.questions] == [BATCH, BATCH, 3]


def test_the_question_is_openai_s(there: Endpoint) -> None:
    encoder(there, "multilingual-e5-small", KEY).encode_queries(["a\0b \ud800"])
    assert there.paths == ["/v1/embeddings"]
    assert there.questions == [
        {"model": "multilingual-e5-small", "input": ["query: a b ?"], "encoding_format": "float"}
    ]
    assert there.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(there: Endpoint) -> None:
    encoder(there).encode_queries(["a"])
    assert not [name for name in there.headers[0] if name.lower() == "authorization"]


def test_no_texts_ask_nothing(there: Endpoint) -> None:
    made = encoder(there)
    assert made.encode_queries([]).shape[0] == made.encode_passages([]).shape[0] == 0
    assert there.questions == []


def test_dim_asks_once(there: Endpoint) -> None:
    made = encoder(there)
    assert (made.dim, made.dim) == (8, 8)
    assert len(there.questions) == 1
    assert made.id == f"http:{there.url.removeprefix('http://')}:bge-m3"


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_busy_and_failing_endpoints_are_asked_again(there: Endpoint, status: int) -> None:
    there.script = [fake.failing(status, Retry_After="0"), fake.failing(status)]
    np.testing.assert_allclose(encoder(there).encode_passages(["a"]), expected(["a"]), atol=1e-6)
    assert len(there.questions) == 3


def test_a_broken_connection_is_tried_again(there: Endpoint) -> None:
    there.script = [lambda _: (0, {}, b"")]
    np.testing.assert_allclose(encoder(there).encode_queries(["a"]), expected(["a"]), atol=1e-6)


def test_tries_are_bounded_and_a_long_wait_is_not_obeyed(there: Endpoint) -> None:
    there.dialect = fake.failing(503, Retry_After="3600")
    start = time.monotonic()
    with pytest.raises(EncoderUnavailableError, match=r"is busy \(503: no\)"):
        encoder(there).encode_passages(["a"])
    assert len(there.questions) == QUICK.tries
    assert time.monotonic() - start < 5


WRONG: list[tuple[fake.Dialect, str]] = [
    (fake.raw(b"<html>proxy error</html>"), "no JSON"),
    (fake.raw(b""), "no JSON"),
    (fake.raw(b"[1]", kind="application/json"), "without any vectors"),
    (fake.raw(b"{}", kind="application/json"), "without any vectors"),
    (lambda _: fake.said({"error": {"message": "model is loading"}}), "model is loading"),
    (lambda _: fake.said({"data": []}), "0 vectors for 2 texts"),
    (lambda texts: fake.said({"data": fake.rows(texts)[:1]}), "1 vectors for 2 texts"),
    (lambda _: fake.said({"data": [1, 2]}), "without any vectors"),
    (lambda texts: fake.said({"data": [row | {"index": 0} for row in fake.rows(texts)]}), "numbered"),
    (lambda texts: fake.said({"data": [row | {"index": n + 1} for n, row in enumerate(fake.rows(texts))]}), "numbered"),
    (lambda texts: fake.said({"data": fake.rows(texts[:1], 8) + fake.rows(texts, 9)[1:]}), "different lengths"),
    (lambda texts: fake.said({"data": [row | {"embedding": []} for row in fake.rows(texts)]}), "different lengths"),
    (
        lambda texts: fake.said({"data": [row | {"embedding": ["x"]} for row in fake.rows(texts)]}),
        "not made of numbers",
    ),
    (lambda texts: fake.said({"data": [row | {"embedding": "%%"} for row in fake.rows(texts)]}), "not made of numbers"),
    (lambda texts: fake.said({"data": [row | {"embedding": [[1.0]]} for row in fake.rows(texts)]}), "not made of num"),
    (lambda _: fake.said({"data": [{"index": n} for n in range(2)]}), "not made of numbers"),
    (
        lambda texts: fake.said({"data": [row | {"embedding": [float("nan")] * 8} for row in fake.rows(texts)]}),
        "no vec",
    ),
    (
        lambda texts: fake.said({"data": [row | {"embedding": [float("inf")] * 8} for row in fake.rows(texts)]}),
        "no vec",
    ),
    (lambda texts: fake.said({"data": [row | {"embedding": [0.0] * 8} for row in fake.rows(texts)]}), "no vector"),
    (fake.failing(401, {"error": {"message": f"bad key {KEY}"}}), r"refuses the key \(401: bad key …\)"),
    (fake.failing(403), "refuses the key"),
    (fake.failing(404, {"error": "model not found, try pulling it"}), "does not know the model bge-m3"),
    (fake.failing(400, {"detail": "bad input"}), r"refuses the question \(400: bad input\)"),
    (fake.failing(302, Location="http://127.0.0.1:1/"), r"refuses the question \(302"),
]


@pytest.mark.parametrize(("dialect", "words"), WRONG, ids=[words for _, words in WRONG])
def test_odd_answers_are_said_in_words(there: Endpoint, dialect: fake.Dialect, words: str) -> None:
    there.dialect = dialect
    with pytest.raises(EncoderUnavailableError, match=words) as caught:
        encoder(there, key=KEY).encode_passages(["a", "b"])
    said = caught.value.message + caught.value.fix
    assert KEY not in said
    assert caught.value.fix
    assert caught.value.code == "model-unavailable"


def test_a_hanging_endpoint_costs_its_limit_once(there: Endpoint) -> None:
    there.dialect = there.hang
    made = encoder(there, query=0.2)
    start = time.monotonic()
    with pytest.raises(EncoderUnavailableError, match="did not answer in time"):
        made.encode_queries(["a"])
    assert time.monotonic() - start < 2
    with pytest.raises(EncoderUnavailableError, match="tried again in"):
        made.encode_queries(["a"])
    assert len(there.questions) == 1


def test_queries_are_tried_again_after_the_rest_or_a_success(there: Endpoint) -> None:
    made = encoder(there, tries=1)
    there.script = [fake.failing(500)]
    with pytest.raises(EncoderUnavailableError):
        made.encode_queries(["a"])
    made.encode_passages(["a"])  # the batches look whether it is back
    made.encode_queries(["a"])
    rested = encoder(there, tries=1, rest=0)
    there.script = [fake.failing(500)]
    with pytest.raises(EncoderUnavailableError):
        rested.encode_queries(["a"])
    rested.encode_queries(["a"])


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EncoderUnavailableError, match="cannot be reached") as caught:
            HttpEncoder(url, "m", None, QUICK).encode_passages(["a"])
    assert "http_encoder" in caught.value.fix


def test_a_change_of_dimension_says_what_to_do(there: Endpoint) -> None:
    made = encoder(there)
    made.encode_passages(["a"])
    there.dialect = fake.of_length(9)
    for ask in (made.encode_passages, made.encode_queries):
        with pytest.raises(EncoderUnavailableError, match="9 numbers a vector, before it was 8") as caught:
            ask(["a"])
        assert "kb index --rebuild" in caught.value.fix
    assert made.dim == 8


def test_a_change_of_dimension_within_one_call(there: Endpoint) -> None:
    there.script = [fake.reference, fake.of_length(9)]
    with pytest.raises(EncoderUnavailableError, match="another model"):
        encoder(there).encode_passages(["a"] * (BATCH + 1))


def test_texts_too_long_for_the_model_are_shortened_alone(there: Endpoint) -> None:
    there.dialect = fake.at_most(600)
    texts = ["short", "x" * 2000, "also short"]
    vectors = encoder(there).encode_passages(texts)
    np.testing.assert_allclose(vectors, expected(["short", "x" * 500, "also short"]), atol=1e-6)
    there.dialect = fake.at_most(5)
    with pytest.raises(EncoderUnavailableError, match="finds a text too long"):
        encoder(there).encode_passages(["x" * 2000])


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/embeddings"),
        ("http://localhost:11434/", "http://localhost:11434/v1/embeddings"),
        (" https://api.example.com/v1/ ", "https://api.example.com/v1/embeddings"),
        ("https://api.example.com/v1/embeddings", "https://api.example.com/v1/embeddings"),
        ("https://x.example.com/api/v3?v=1", "https://x.example.com/api/v3/embeddings?v=1"),
    ],
)
def test_addresses_may_be_given_in_parts(given: str, whole: str) -> None:
    assert endpoint(given) == whole


@pytest.mark.parametrize("url", ["", "localhost:11434", "ftp://x", "file:///etc/passwd", "http://"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ConfigError, match="no address"):
        HttpEncoder(url, "m")


@pytest.mark.parametrize("url", ["http://api.example.com/v1", "http://192.168.1.5:8080", "http://u:p@10.0.0.1"])
def test_a_key_does_not_travel_unencrypted(url: str) -> None:
    with pytest.raises(ConfigError, match="unencrypted") as caught:
        HttpEncoder(url, "m", None if "@" in url else KEY)
    assert KEY not in caught.value.message
    assert "u:p" not in caught.value.message


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://a.example.com"])
def test_where_a_key_may_go(url: str) -> None:
    assert KEY not in HttpEncoder(url, "m", f" {KEY}\n").id


def test_an_impossible_key() -> None:
    with pytest.raises(ConfigError, match="no key has"):
        HttpEncoder("https://a.example.com", "m", "a\nb")


def test_failures_are_kb_errors(there: Endpoint) -> None:
    there.dialect = fake.failing(404)
    with pytest.raises(KbError):
        _ = encoder(there).dim
