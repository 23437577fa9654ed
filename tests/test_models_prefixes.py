import pytest

from ohmykb.models.prefixes import prefixes


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("E5-Large-v2", "query: ", "passage: "),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("paraphrase-multilingual-MiniLM-L12-v2", "", ""),
        ("bge-m3", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_by_name(model: str, query: str, passage: str) -> None:
    assert prefixes(model) == (query, passage)


def test_instructions() -> None:
    assert prefixes("multilingual-e5-large-instruct")[0].startswith("Instruct: ")
    assert prefixes("multilingual-e5-large-instruct")[1] == ""
    assert prefixes("BAAI/bge-small-zh-v1.5")[0].startswith("为这个句子")
