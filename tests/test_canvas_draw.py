"""Maps: valid canvases, the same each time, and whatever a person made of one stays."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohmykb.canvas import legend
from ohmykb.canvas.cards import Card, Group, Map, Tie
from ohmykb.canvas.draw import GONE, draw
from ohmykb.canvas.json_canvas import BadCanvasError, read_canvas, write_canvas

COLOURS = {"1", "2", "3", "4", "5", "6"}
SIDES = {"top", "right", "bottom", "left"}


def a_map(names: str = "abcde", ties: tuple[tuple[str, str], ...] = (("a", "b"), ("b", "c")), **more: Any) -> Map:
    cards = tuple(Card(f"{name}.md", name, "kind " + name) for name in names)
    return Map(
        {"kind": "note", "value": "a.md", "hops": 1}, "a", cards,
        tuple(Tie(f"{a}.md", f"{b}.md") for a, b in ties), **more,
    )  # fmt: skip


def nodes(text: str) -> dict[str, dict[str, Any]]:
    """By the file, label or text they show."""
    return {one.get("file") or one.get("label") or one["text"]: one for one in json.loads(text)["nodes"]}


def assert_valid(text: str) -> None:
    """JSON Canvas 1.0."""
    found = json.loads(text)
    ids = [node["id"] for node in found["nodes"]]
    assert len(ids) == len(set(ids))
    for node in found["nodes"]:
        assert node["type"] in {"file", "text", "group", "link"}
        assert all(type(node[key]) is int for key in ("x", "y", "width", "height"))
        assert node.get("color", "1") in COLOURS
        assert isinstance(node[{"file": "file", "text": "text", "group": "label", "link": "url"}[node["type"]]], str)
    for edge in found["edges"]:
        assert {edge["fromNode"], edge["toNode"]} <= set(ids)
        assert {edge["fromSide"], edge["toSide"]} <= SIDES
    assert len({edge["id"] for edge in found["edges"]} | set(ids)) == len(found["edges"]) + len(ids)


def boxes(text: str) -> list[tuple[int, int, int, int]]:
    found = [one for one in json.loads(text)["nodes"] if one["type"] != "group"]
    return [(one["x"], one["y"], one["x"] + one["width"], one["y"] + one["height"]) for one in found]


def assert_apart(text: str) -> None:
    found = boxes(text)
    for number, a in enumerate(found):
        for b in found[:number]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


names = st.text("abcdefghijklmnopqrstuvwxyz资金 /#[", min_size=1, max_size=6)


@settings(max_examples=40)
@given(st.lists(names, unique=True, max_size=14), st.data())
def test_any_map_is_a_valid_canvas_without_overlaps(paths: list[str], data: st.DataObject) -> None:
    pairs = st.tuples(st.sampled_from(paths), st.sampled_from(paths)) if paths else st.nothing()
    drawn = data.draw(st.lists(pairs, max_size=20, unique=True)) if paths else []
    ties = tuple(Tie(a, b, "label" if a < b else "", both=a > b) for a, b in drawn if a != b)
    ties = tuple({(min(t.source, t.target), max(t.source, t.target)): t for t in ties}.values())
    groups = (Group("first", tuple(paths[: len(paths) // 2])), Group("second", tuple(paths[len(paths) // 2 :])))
    wanted = Map({"kind": "clusters"}, "x", tuple(Card(path, path, path[:1]) for path in paths), ties, groups)
    found = draw(wanted)
    assert_valid(found.text)
    assert_apart(found.text)
    assert draw(wanted).text == found.text
    assert draw(wanted, found.text).text == found.text


def test_what_is_drawn() -> None:
    found = draw(a_map(centre="a.md", hidden=("x.md", "y.md"), groups=(Group("#tag", ("b.md", "c.md")),)))
    shown = nodes(found.text)
    assert shown["a.md"]["color"] == legend.CENTRE
    assert "**+2 more**\n- [[x]]\n- [[y]]" in shown
    assert shown["#tag"]["type"] == "group"
    inside = shown["#tag"]
    for path in ("b.md", "c.md"):
        assert inside["x"] < shown[path]["x"]
        assert shown[path]["x"] + shown[path]["width"] < inside["x"] + inside["width"]
    assert (found.cards, found.edges, found.kept, found.hidden) == (7, 2, 0, 2)


def test_ties_say_what_they_are() -> None:
    cards = (Card("a.md", "a"), Card("b.md", "b"), Card("c.md", "c"))
    ties = (Tie("a.md", "b.md", "source", both=True), Tie("b.md", "c.md", proposed=True))
    one, two = json.loads(draw(Map({}, "x", cards, ties)).text)["edges"]
    assert (one["label"], one["fromEnd"], one.get("toEnd")) == ("source", "arrow", None)
    assert (two["label"], two["toEnd"]) == ("?", "none")


def test_whatever_a_person_arranged_stays() -> None:
    first = json.loads(draw(a_map()).text)
    for number, node in enumerate(first["nodes"]):
        node |= {"x": number * 1000 + 7, "y": -3, "width": 222, "color": "2", "own": {"key": [1]}}
    first["nodes"].insert(
        0, {"id": "mine", "type": "text", "text": "my words", "x": -999, "y": 5, "width": 10, "height": 9}
    )
    first["edges"].append(
        {"id": "hand", "fromNode": "mine", "toNode": first["nodes"][1]["id"], "fromSide": "top", "toSide": "top"}
    )
    first["theirs"] = {"z": 1.5}
    text = json.dumps(first, ensure_ascii=False)
    assert draw(a_map(), text).text == text, "without change, byte for byte"
    again = draw(a_map("abcdefg", (("a", "b"), ("b", "c"), ("f", "a"))), text)
    found = json.loads(again.text)
    assert found["nodes"][: len(first["nodes"])] == first["nodes"]
    assert found["edges"][: len(first["edges"])] == first["edges"]
    assert found["theirs"] == {"z": 1.5}
    assert {node["file"] for node in found["nodes"][len(first["nodes"]) :]} == {"f.md", "g.md"}
    assert (again.kept, again.added) == (len(first["nodes"]), 2)
    assert_apart(again.text)
    near, moved = nodes(again.text)["f.md"], nodes(again.text)["a.md"]
    assert abs(near["x"] - moved["x"]) < 1000, "beside what it belongs to"


def test_what_a_person_took_away_stays_away() -> None:
    first = json.loads(draw(a_map(ties=(("a", "b"), ("b", "c"), ("c", "d")))).text)
    first["nodes"] = [node for node in first["nodes"] if node.get("file") != "e.md"]
    gone = first["edges"].pop()
    text = json.dumps(first)
    assert draw(a_map(ties=(("a", "b"), ("b", "c"), ("c", "d"))), text).text == text
    later = json.loads(draw(a_map("abcdef", (("a", "b"), ("c", "d"), ("f", "e"))), text).text)
    assert "e.md" not in {node.get("file") for node in later["nodes"]}
    assert gone["id"] not in {edge["id"] for edge in later["edges"]}


def test_what_is_gone_is_labelled_and_not_repainted() -> None:
    text = draw(a_map()).text
    less = draw(a_map("abcd"), text).text
    assert nodes(less)["e.md"] == nodes(text)["e.md"]
    assert GONE in nodes(less)
    assert draw(a_map("abcd"), less).text == less
    assert json.loads(draw(a_map(), less).text)["nodes"] == json.loads(text)["nodes"], (
        "and the label goes with its reason"
    )


def test_a_renamed_note_is_the_card_it_was() -> None:
    text = draw(a_map()).text.replace('"file":"b.md"', '"file":"new.md"')
    wanted = a_map()
    cards = tuple(Card("new.md", "new") if card.path == "b.md" else card for card in wanted.cards)
    ties = (Tie("a.md", "new.md"), Tie("new.md", "c.md"))
    assert draw(Map(wanted.of, "a", cards, ties), text).text == text


def test_the_legend_is_the_persons() -> None:
    text = draw(a_map("ab")).text
    old = next(node for node in json.loads(text)["nodes"] if node["type"] == "text")["text"]
    assert legend.read(old) == {"kind a": "1", "kind b": "2"}
    changed = text.replace(json.dumps(old, ensure_ascii=False), json.dumps("My colours\n5: kind c\n🟢 kind b"))
    later = nodes(draw(a_map("abc"), changed).text)
    assert later["c.md"]["color"] == "5"
    assert later["b.md"]["color"] == "2", "what stands is not repainted"


def test_the_canvas_of_somebody_else_is_extended() -> None:
    theirs = write_canvas(
        read_canvas(
            '{"nodes":[{"id":"1","type":"file","file":"a.md","x":0,"y":0,"width":400,"height":400}],"edges":[]}'
        )
    )
    found = json.loads(draw(a_map("abc"), theirs).text)
    assert found["nodes"][0] == {"id": "1", "type": "file", "file": "a.md", "x": 0, "y": 0, "width": 400, "height": 400}
    assert next(edge["fromNode"] for edge in found["edges"]) == "1"


@pytest.mark.parametrize("text", ["{", "[]", '{"nodes": 5}', '{"nodes": [5]}', '{"edges": {}}'])
def test_what_is_no_canvas_is_left_alone(text: str) -> None:
    with pytest.raises(BadCanvasError):
        draw(a_map(), text)
