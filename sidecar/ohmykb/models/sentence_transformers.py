"""A fine encoder: any model that the package sentence-transformers loads, by name or from a folder.

The only file that imports the package, which brings PyTorch along (1.4 GB) and takes seconds to load.
Nothing is fetched unless this device's settings say so, and no code that comes with a model is run.
Licence: that of the chosen model; the reference model, paraphrase-multilingual-MiniLM-L12-v2, is Apache-2.0.
"""

import hashlib
import json
import os
import re
import threading
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ohmykb.models.encoder import MAX_QUERY, EncoderMissingError, empty, prepare, unit
from ohmykb.models.prefixes import prefixes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

REFERENCE: Final = "paraphrase-multilingual-MiniLM-L12-v2"
BATCH: Final = 16
_WEIGHTS: Final = ("*.safetensors", "pytorch_model*.bin")
_SHAPERS: Final = ("modules.json", "config.json", "*_config.json", "config_*.json", "tokenizer.json", "*.model")
"""Small files that change what a text becomes: pooling, length, tokenizer, prompts."""
_QUERY, _PASSAGE = ("query",), ("document", "passage", "corpus")
"""Names under which models keep what goes before a query and a passage."""


class SentenceTransformersEncoder:
    batch = BATCH
    symmetric = False
    remote = False

    def __init__(self, model: str, *, download: bool = False) -> None:
        """`model`: a folder, or a name on the Hugging Face hub (`org/name`; without org, that of the package).

        Raises EncoderMissingError at once where the extra is not installed.
        """
        if find_spec("sentence_transformers") is None:
            raise EncoderMissingError(
                "The package sentence-transformers is not installed.",
                'Run `pipx inject oh-my-kb sentence-transformers`, or `pip install "oh-my-kb[st]"` (about 1.4 GB).',
            )
        self._model = model
        self._download = download
        self._lock = threading.Lock()
        self._engine: Any = None

    @cached_property
    def id(self) -> str:
        """Hashes the weights: half a second for the reference model."""
        folder = self._folder
        return f"sentence-transformers:{folder_name(self._model)}:{_fingerprint(folder)}"

    @property
    def dim(self) -> int:
        engine = self._loaded()
        measured = getattr(engine, "get_embedding_dimension", None) or engine.get_sentence_embedding_dimension
        return int(measured())

    def encode_queries(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        return self._encode(prepare(texts, MAX_QUERY), _QUERY, 0)

    def encode_passages(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        return self._encode(prepare(texts), _PASSAGE, 1)

    def warm(self) -> None:
        self.encode_queries([""])

    def _encode(self, texts: list[str], names: "Sequence[str]", side: int) -> "NDArray[np.float32]":
        engine = self._loaded()
        if not texts:
            return empty(self.dim)
        prompt = _prompt(engine.prompts, names)
        if prompt is None:
            prompt = prefixes(self._model)[side]
        vectors = engine.encode(texts, prompt=prompt, batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False)
        return unit(np.asarray(vectors, dtype=np.float32), f"The model {self._model}")

    def _loaded(self) -> Any:
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = self._load()
        return self._engine

    @cached_property
    def _folder(self) -> Path:
        """Where the model lies, fetched first if that is allowed."""
        folder = Path(self._model).expanduser()
        if folder.is_dir():
            _refuse_code(folder)
            return folder
        if folder.is_absolute() or not re.fullmatch(r"\w[\w.-]*(?:/\w[\w.-]*)?", self._model):
            raise EncoderMissingError(
                f"There is no folder {self._model} with a model for sentence-transformers.",
                "Correct `model` under [search.sentence_transformers].",
            )
        _be_quiet(offline=not self._download)
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

        name = self._model if "/" in self._model else f"sentence-transformers/{self._model}"
        try:
            for weights in ("*.safetensors", "pytorch_model*.bin"):  # many models come in both, one is enough
                found = Path(
                    snapshot_download(
                        name,
                        local_files_only=not self._download,
                        allow_patterns=[*_SHAPERS, "*.txt", "*/*.json", weights, f"*/{weights}"],
                        ignore_patterns=["onnx/*", "openvino/*"],
                    )
                )
                if any(found.rglob(weights)):
                    break
            else:
                raise self._not_here()
        except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
            raise self._not_here() from error
        _refuse_code(found)
        return found

    def _load(self) -> Any:
        folder = self._folder
        _be_quiet(offline=True)
        try:
            import torch
            from safetensors import SafetensorError
            from sentence_transformers import SentenceTransformer
        except (ImportError, OSError) as error:  # OSError: a library of PyTorch's own that does not load
            raise EncoderMissingError(
                f"The package sentence-transformers cannot be loaded: {_first_line(error)}.", "Install it again."
            ) from error
        # Half of the cores, so that the machine stays usable while passages are encoded.
        torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
        try:
            return SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
        except (ImportError, OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise EncoderMissingError(
                f"The model in {folder} cannot be loaded: {_first_line(error)}.",
                "Fetch it again, or choose another model or encoder.",
            ) from error

    def _not_here(self) -> EncoderMissingError:
        return EncoderMissingError(
            f"The model {self._model} is not on this machine"
            + (", and could not be fetched." if self._download else ", and may not be fetched unasked."),
            "Allow it with OHMYKB_SENTENCE_TRANSFORMERS_DOWNLOAD=true or `download = true` under "
            "[sentence_transformers] in this device's settings; or give the path of a folder that holds it.",
        )


def folder_name(model: str) -> str:
    """The last part of a path or a hub name."""
    return Path(model).expanduser().name or model


def _prompt(prompts: "Mapping[str, str]", names: "Sequence[str]") -> str | None:
    """What the model's own files say goes before such a text; None where they say nothing about any."""
    if not any(prompts.values()):
        return None
    return next((prompts[name] for name in names if prompts.get(name)), "")


def _fingerprint(folder: Path) -> str:
    """12 hex over all that decides what a text becomes: weights, tokenizer, pooling, prompts."""
    files = {path for pattern in (*_WEIGHTS, *_SHAPERS) for path in folder.rglob(pattern)}
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:12]


def _refuse_code(folder: Path) -> None:
    """A model may name Python classes of its own, and a shared vault may name a model: none of it runs."""
    try:
        modules = json.loads((folder / "modules.json").read_bytes())
        kinds = [str(module["type"]) for module in modules]
    except FileNotFoundError:
        return  # a bare transformers model
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EncoderMissingError(
            f"{folder / 'modules.json'} cannot be read: {_first_line(error)}.", "Fetch the model again."
        ) from error
    for kind in kinds:
        if not kind.startswith("sentence_transformers."):
            raise EncoderMissingError(
                f"The model in {folder} wants to run code of its own ({kind}), which is not allowed here.",
                "Choose a model that needs none.",
            )


def _be_quiet(*, offline: bool) -> None:
    """The libraries read these when they are first imported: no telemetry, no chatter, no look at the network."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    if offline:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
