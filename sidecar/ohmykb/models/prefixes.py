"""The words that some models expect before a query and before a passage.

By the name of the model, for where its own files do not say. The words are those of the model cards; a
model that is not here gets none, which is right for most (paraphrase-*, gte, jina v2, LaBSE, bge-m3).
"""

import re
from typing import Final

_FAMILIES: Final[tuple[tuple[str, str, str], ...]] = (
    (r"e5-(?:small|base|large)(?!.*instruct)", "query: ", "passage: "),
    (r"nomic-embed", "search_query: ", "search_document: "),
    (r"bge-(?:small|base|large)-en", "Represent this sentence for searching relevant passages: ", ""),
    (r"bge-(?:small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    (r"mxbai-embed", "Represent this sentence for searching relevant passages: ", ""),
    (r"snowflake-arctic-embed|arctic-embed", "query: ", ""),
    (r"embeddinggemma", "task: search result | query: ", "title: none | text: "),
    (
        r"qwen3-embedding|e5-.*instruct",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        "",
    ),
)


def prefixes(model: str) -> tuple[str, str]:
    """What goes before a query, and before a passage, for a model of this name."""
    for pattern, query, passage in _FAMILIES:
        if re.search(pattern, model, re.IGNORECASE):
            return query, passage
    return "", ""
