"""Canvas files: their cards as links and text."""

import json

import pytest

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.note import Link


def canvas(*nodes: dict[str, object], edges: list[dict[str, object]] | None = None) -> str:
    return json.dumps({"nodes": list(nodes), "edges": edges or []})


def test_file_cards_are_embeds_and_text_cards_are_read() -> None:
    found = scan_canvas(
        canvas(
            {"id": "1", "type": "file", "file": "a/B.md", "subpath": "#H#I"},
            {"id": "2", "type": "text", "text": "See [[C|c]] `[[no]]` and ![[d.png]]"},
            {"id": "3", "type": "link", "url": "https://e.com"},
            {"id": "4", "type": "group", "label": "Group"},
            edges=[{"id": "e", "label": "because"}],
        )
    )
    assert found.links == [
        Link("embed", "a/B.md", "a/B.md", "H#I", "a/B.md > H > I", None, -1),
        Link("wikilink", "[[C|c]]", "C", None, "c", None, -1),
        Link("embed", "![[d.png]]", "d.png", None, "d.png", None, -1),
    ]
    assert found.text.split("\n\n") == ["See [[C|c]] `[[no]]` and ![[d.png]]", "Group", "because"]
    assert found.problems == []


@pytest.mark.parametrize("text", ["", "  \n", "{}", '{"nodes":[]}', "\ufeff{}"])
def test_empty_canvases(text: str) -> None:
    assert scan_canvas(text) == ([], "", [])


@pytest.mark.parametrize("text", ["{", "[]", "null", "[" * 100_000, '{"nodes":[}', "\x00"])
def test_broken_canvases_are_a_problem(text: str) -> None:
    found = scan_canvas(text)
    assert [p.code for p in found.problems] == ["bad-canvas"]
    assert found.problems[0].message.endswith((".", "object."))


def test_odd_cards_are_passed_over() -> None:
    odd = {"nodes": [1, None, {"type": "file"}, {"type": "file", "file": 3}, {"type": "text", "text": []}], "edges": 7}
    assert scan_canvas(json.dumps(odd)) == ([], "", [])
