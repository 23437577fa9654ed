"""What every encoder is: texts in, vectors of unit length out; and the two ways in which one can fail.

Thresholds and weights belong to an encoder's `id`, since cosines of different encoders do not compare.
"""

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from ohmykb.errors import KbError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

MAX_PASSAGE: Final = 8_000
"""Characters of a passage that are encoded; more than any encoder reads well, and a bound on time and memory."""
MAX_QUERY: Final = 1_000
"""Characters of a query: somebody waits for it."""


class EncoderMissingError(KbError):
    """The encoder, or its weights, are not installed here; `fix` says how to get them."""

    code = "model-missing"


class EncoderUnavailableError(KbError):
    """The encoder is set up and gave no usable answer (an endpoint that is down, slow, or changed)."""

    code = "model-unavailable"


class Encoder(Protocol):
    """Loading is put off to the first vector or `warm`. Any thread may call."""

    batch: int
    """A good number of passages for one call."""
    symmetric: bool
    """Questions and passages are encoded alike."""
    remote: bool
    """Texts leave our own process: a private note must not be given."""

    @property
    def id(self) -> str:
        """Names encoder and weights, by hash where they lie here: vectors of two ids never mix.

        Raises EncoderMissingError where the weights must be looked at and are not there.
        """

    @property
    def dim(self) -> int:
        """Length of a vector. Where it is not known beforehand, loads or asks, and raises as they do."""

    def encode_queries(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        """float32[n, dim], unit length. Raises EncoderMissingError, EncoderUnavailableError."""

    def encode_passages(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        """float32[n, dim], unit length; a title is a passage of its own. Raises as `encode_queries`."""

    def warm(self) -> None:
        """Loads now what the first vector would load, and checks what is too slow to check then."""


def prepare(texts: "Iterable[str]", limit: int = MAX_PASSAGE) -> list[str]:
    """Texts that no engine stumbles over: no lone surrogates, no NUL (an end to C), at most `limit` characters."""
    return [text[:limit].encode("utf-8", "replace").decode().replace("\0", " ") for text in texts]


def unit(vectors: "NDArray[np.float32]", who: str) -> "NDArray[np.float32]":
    """float32[n, dim], each row at unit length.

    Raises EncoderUnavailableError for a row that has no direction (NaN, infinity, zeros); `who` names the culprit.
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EncoderUnavailableError(
            f"{who} gave a vector that is no vector (not a number, or all zeros).",
            "Restart it, or choose another encoder.",
        )
    return np.asarray(vectors / lengths, dtype=np.float32)


def empty(dim: int) -> "NDArray[np.float32]":
    """float32[0, dim]: the answer to no texts."""
    return np.zeros((0, dim), dtype=np.float32)
