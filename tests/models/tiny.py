"""A small encoder of ours for tests: words in, their sum out; it remembers what it was given."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ohmykb.models.encoder import KbError


class Tiny:
    """Texts with words in common are near each other. `before` is called with each batch of passages."""

    batch = 4

    def __init__(
        self, name: str = "tiny", dim: int = 24, *, remote: bool = False, symmetric: bool = True, batch: int = 4
    ) -> None:
        self.id, self.dim, self.remote, self.symmetric, self.batch = name, dim, remote, symmetric, batch
        self.passages: list[str] = []
        self.queries: list[str] = []
        self.before: Callable[[Sequence[str]], None] = lambda _: None
        self.fault: KbError | None = None
        """Raised in place of every answer."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fault is not None:
            raise self.fault
        self.queries += texts
        return self._encode(texts)

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before(texts)
        if self.fault is not None:
            raise self.fault
        self.passages += texts
        return self._encode(texts)

    def warm(self) -> None:
        pass

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        made = np.array(
            [sum((word(one, self.dim) for one in text.lower().split()), word("", self.dim)) for text in texts]
        )
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def word(one: str, dim: int) -> NDArray[np.float64]:
    return np.random.default_rng(int.from_bytes(sha256(one.encode()).digest()[:8], "big")).normal(size=dim)
