import numpy as np
import pytest

from ohmykb.models.encoder import MAX_PASSAGE, EncoderUnavailableError, prepare, unit


def test_texts_that_no_engine_stumbles_over() -> None:
    texts = prepare(["a\0b", "\ud83d", "x" * (MAX_PASSAGE + 5), "资金 🚀"])
    assert texts == ["a b", "?", "x" * MAX_PASSAGE, "资金 🚀"]


def test_unit_length() -> None:
    vectors = unit(np.asarray([[3, 4], [1e-30, 0], [3e38, 3e38]], dtype=np.float32), "It")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("bad", [[0, 0], [np.nan, 1], [np.inf, 1]])
def test_what_has_no_direction(bad: list[float]) -> None:
    with pytest.raises(EncoderUnavailableError, match=r"^It gave a vector that is no vector"):
        unit(np.asarray([[1, 0], bad], dtype=np.float32), "It")
