"""Reads what an OpenAI-compatible `/v1/embeddings` answers, in the dialects that are about.

OpenAI's reference: `{"data": [{"index", "embedding": [float] | base64 of float32}]}`. Seen besides: no
`index` (then the order counts), an error object with status 200, NaN where a model overflowed.
"""

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class OddAnswerError(ValueError):
    """Not an answer to our question; the words complete "The endpoint …"."""


def read_answer(body: bytes, count: int) -> "NDArray[np.float32]":
    """float32[count, dim], in the order of the texts, not normalised. Raises OddAnswerError."""
    try:
        told = json.loads(body)
    except ValueError as error:
        start = body[:60].decode("utf-8", "replace").strip()
        raise OddAnswerError(f"answered something that is no JSON (it begins {start!r})") from error
    rows = told.get("data") if isinstance(told, dict) else None
    if not isinstance(rows, list):
        words = error_words(body)
        raise OddAnswerError(f"answered an error: {words}" if words else "answered without any vectors")
    if len(rows) != count:
        raise OddAnswerError(f"answered {len(rows)} vectors for {count} texts")
    vectors: list[NDArray[np.float32] | None] = [None] * count
    for position, row in enumerate(rows):
        if not isinstance(row, dict):
            raise OddAnswerError("answered without any vectors")
        place = row.get("index", position)
        if not isinstance(place, int) or not 0 <= place < count or vectors[place] is not None:
            raise OddAnswerError("numbered its vectors wrongly")
        vectors[place] = _vector(row.get("embedding"))
    given = [vector for vector in vectors if vector is not None]
    if len({vector.size for vector in given}) != 1 or given[0].size == 0:
        raise OddAnswerError("answered vectors of different lengths")
    return np.stack(given)


def error_words(body: bytes) -> str:
    """What an answer says went wrong, in one line of at most 200 characters; empty if it says nothing."""
    try:
        told = json.loads(body)
    except ValueError:
        return ""
    said = told.get("error", told.get("message", told.get("detail", ""))) if isinstance(told, dict) else ""
    if isinstance(said, dict):
        said = said.get("message", "")
    return " ".join(str(said).split())[:200] if said else ""


def _vector(value: Any) -> "NDArray[np.float32]":
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        vector = np.asarray(value, dtype=np.float32)
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise OddAnswerError("answered vectors that are not made of numbers") from error
    if vector.ndim != 1 or not isinstance(value, list):
        raise OddAnswerError("answered vectors that are not made of numbers")
    return vector
