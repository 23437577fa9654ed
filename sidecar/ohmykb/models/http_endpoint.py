"""A fine encoder elsewhere: any endpoint that speaks OpenAI's `/v1/embeddings` (Ollama, LM Studio, llama.cpp, TEI …).

Address, model and key come from this device's settings only. Texts leave our process for it, so it is
never given a private note. A query waits a few seconds at most, and after a failure queries are answered
"unavailable" at once for a while, so that search by words does not wait with them.
"""

import ipaddress
import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ohmykb.config import ConfigError
from ohmykb.models.embeddings_answer import OddAnswerError, error_words, read_answer
from ohmykb.models.encoder import MAX_QUERY, EncoderUnavailableError, empty, prepare, unit
from ohmykb.models.prefixes import prefixes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx
    import numpy as np
    from numpy.typing import NDArray

BATCH: Final = 32
MAX_ANSWER: Final = 64_000_000
"""Bytes; 32 vectors of 4,096 numbers are 3 MB as text."""
_TOO_LONG: Final = re.compile(r"(?i)too (?:long|large|many)|maximum|exceed|context|token|batch size|must be less")
_SHORTEST: Final = 250
"""Characters below which a text is not shortened further."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    connect: float = 3
    query: float = 2
    """For a query as a whole, second tries included: somebody waits, and words answer without it."""
    passages: float = 30
    """For one try of a batch."""
    tries: int = 4
    pause: float = 0.5
    """Before the second try of a batch; doubled before each further one."""
    longest_pause: float = 15
    """Also where the endpoint asks for more (Retry-After)."""
    rest: float = 15
    """How long queries are not tried after a failure."""


class HttpEncoder:
    batch = BATCH
    symmetric = True
    remote = True

    def __init__(self, url: str, model: str, key: str | None = None, patience: Patience | None = None) -> None:
        """`url`: the server, its `/v1`, or the whole address. Raises ConfigError for one that is not to be used."""
        self._url = endpoint(url)
        self._model = model
        self._key = _usable(key)
        self._patience = patience or Patience()
        parts = urlsplit(self._url)
        self._where = parts.netloc.rpartition("@")[2]
        self._local = _loopback(parts.hostname or "")
        if (key or parts.password) and parts.scheme != "https" and not self._local:
            raise ConfigError(
                f"The key for {self._where} would travel unencrypted, since its address begins with http.",
                "Use an https address, or an endpoint on this machine.",
            )
        self._query_prefix, self._passage_prefix = prefixes(model)
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._dim: int | None = None
        self._rests_until = 0.0
        self._under_way: list[float] = []
        """When the queries began that are not answered yet."""

    @property
    def id(self) -> str:
        """Where and which; what lies behind the name cannot be seen, but a change of length is noticed."""
        return f"http:{self._where}:{self._model}"

    @property
    def dim(self) -> int:
        if self._dim is None:
            self.warm()
        return int(self._dim or 0)

    def warm(self) -> None:
        self.encode_queries(["warm"])

    def encode_queries(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        if not texts:
            return empty(self._dim or 0)
        left = self._rests_until - time.monotonic()
        if left > 0:
            raise self._unavailable(f"did not answer a moment ago, and is tried again in {left:.0f} s")
        ready = [self._query_prefix + text for text in prepare(texts, MAX_QUERY)]
        now = time.monotonic()
        if any(now - start > self._patience.query / 4 for start in [*self._under_way]):
            raise self._unavailable("keeps another question waiting")
        self._under_way.append(now)
        try:
            return self._encode(ready, now + self._patience.query)
        finally:
            self._under_way.remove(now)

    def encode_passages(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        if not texts:
            return empty(self._dim or 0)
        import numpy as np

        ready = [self._passage_prefix + text for text in prepare(texts)]
        return np.concatenate([self._encode(ready[at : at + BATCH], None) for at in range(0, len(ready), BATCH)])

    def _checked(self, vectors: "NDArray[np.float32]") -> "NDArray[np.float32]":
        dim = int(vectors.shape[1])
        if self._dim not in (None, dim):
            raise EncoderUnavailableError(
                f"The endpoint {self._where} now answers {self._model} with {dim} numbers a vector, before it was "
                f"{self._dim}: another model stands behind the name.",
                "Put the former model back, or run `kb index --rebuild` to encode all notes with the new one.",
            )
        checked = unit(vectors, f"The endpoint {self._where}")
        self._dim = dim
        return checked

    def _encode(self, texts: list[str], limit: float | None) -> "NDArray[np.float32]":
        """float32[n, dim], unit length; texts that the model finds too long are given in parts or shortened."""
        import numpy as np

        try:
            return self._checked(self._ask(texts, limit))
        except _TooLongError as error:
            if len(texts) > 1:
                half = len(texts) // 2
                return np.concatenate([self._encode(texts[:half], limit), self._encode(texts[half:], limit)])
            if len(texts[0]) < 2 * _SHORTEST:
                raise self._unavailable(str(error)) from error
            return self._encode([texts[0][: len(texts[0]) // 2]], limit)

    def _ask(self, texts: list[str], limit: float | None) -> "NDArray[np.float32]":
        """One question with its further tries: for 429, 5xx and a broken connection, while time and tries last.

        An endpoint that hangs or is not there gets no second try: whoever asked comes again later.
        """
        patience = self._patience
        pause = patience.pause
        for attempt in range(1, patience.tries + 1):
            deadline = limit if limit is not None else time.monotonic() + patience.passages
            try:
                vectors = self._once(texts, deadline)
            except _GoneError as error:
                self._rests_until = time.monotonic() + patience.rest
                raise self._unavailable(str(error)) from error
            except _AgainError as error:
                wait = min(max(error.after, pause), patience.longest_pause)
                if attempt == patience.tries or (limit is not None and time.monotonic() + wait >= limit):
                    self._rests_until = time.monotonic() + patience.rest
                    raise self._unavailable(str(error)) from error
                time.sleep(wait)
                pause *= 2
            else:
                self._rests_until = 0.0
                return vectors
        raise self._unavailable("was not tried")  # tries < 1

    def _once(self, texts: list[str], deadline: float) -> "NDArray[np.float32]":
        import httpx

        left = deadline - time.monotonic()
        if left <= 0:
            raise _GoneError("did not answer in time")
        question = {"model": self._model, "input": texts, "encoding_format": "float"}
        timeout = httpx.Timeout(left, connect=min(left, self._patience.connect))
        try:
            with self._http().stream("POST", self._url, json=question, timeout=timeout) as response:
                body = _body(response, deadline)
        except httpx.TimeoutException as error:
            raise _GoneError("did not answer in time") from error
        except httpx.ConnectError as error:
            raise _GoneError("cannot be reached") from error
        except httpx.HTTPError as error:
            raise _AgainError("broke the connection") from error
        self._judge(response, body)
        try:
            return read_answer(body, len(texts))
        except OddAnswerError as error:
            raise self._unavailable(str(error)) from error

    def _judge(self, response: "httpx.Response", body: bytes) -> None:
        """Raises for every status but 200."""
        status, words = response.status_code, error_words(body)
        said = f": {words}" if words else ""
        if status == 200:
            return
        if status in (400, 413, 422, 500) and (status == 413 or _TOO_LONG.search(words)):
            raise _TooLongError(f"finds a text too long{said}")
        if status == 429 or status >= 500:
            busy = "is busy" if status in (429, 503) else "has a fault"
            raise _AgainError(f"{busy} ({status}{said})", _seconds(response.headers.get("retry-after")))
        if status in (401, 403):
            raise self._unavailable(f"refuses the key ({status}{said})", "Correct OHMYKB_EMBEDDINGS_KEY.")
        if status == 404:
            raise self._unavailable(
                f"does not know the model {self._model}, or has no embeddings there ({status}{said})",
                f"Correct address and model, or fetch the model (with Ollama: ollama pull {self._model}).",
            )
        raise self._unavailable(f"refuses the question ({status}{said})")

    def _unavailable(self, what: str, fix: str = "") -> EncoderUnavailableError:
        return EncoderUnavailableError(
            f"The endpoint {self._where} {self._hide(what)}.",
            fix or "Look whether it runs and whether address and model under [http_encoder] are right.",
        )

    def _hide(self, words: str) -> str:
        return words.replace(self._key, "…") if self._key else words

    def _http(self) -> "httpx.Client":
        with self._lock:
            if self._client is None:
                import httpx

                headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
                # A proxy is for other machines. Redirects are not followed: the key is for this address alone.
                self._client = httpx.Client(headers=headers, trust_env=not self._local, follow_redirects=False)
            return self._client


class _AgainError(Exception):
    """Worth another try; the words complete "The endpoint …"."""

    def __init__(self, what: str, after: float = 0) -> None:
        super().__init__(what)
        self.after = after


class _GoneError(Exception):
    """Not worth another try now."""


class _TooLongError(Exception):
    """Worth a try with less text."""


def endpoint(url: str) -> str:
    """The whole address of the embeddings. Raises ConfigError for what is no http address."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"{url!r} is no address of an endpoint.", "Write it like http://127.0.0.1:11434/v1 under [http_encoder]."
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/embeddings"):
        path = f"{path or '/v1'}/embeddings"
    return parts._replace(path=path, fragment="").geturl()


def _usable(key: str | None) -> str | None:
    key = (key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigError(
            "The key for the embeddings endpoint holds characters that no key has.", "Copy OHMYKB_EMBEDDINGS_KEY again."
        )
    return key or None


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _body(response: "httpx.Response", deadline: float) -> bytes:
    """All of an answer that is neither endless nor trickling."""
    read = bytearray()
    for part in response.iter_bytes():
        read += part
        if len(read) > MAX_ANSWER:
            raise _GoneError("answered without end")
        if time.monotonic() > deadline:
            raise _GoneError("did not answer in time")
    return bytes(read)


def _seconds(text: Any) -> float:
    try:
        return max(0.0, float(text))
    except (TypeError, ValueError):
        return 0.0
