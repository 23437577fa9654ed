"""`kb canvas` as a person uses it, alone and beside a sidecar; and the canvases of others."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from sidecar_process import Kb

import breaking
from ohmykb.canvas.draw import draw
from ohmykb.canvas.json_canvas import read_canvas
from test_canvas_draw import a_map, assert_apart, assert_valid


@pytest.fixture(params=["alone", "sidecar"])
def any_kb(request: pytest.FixtureRequest, kb: Kb) -> Kb:
    for number in range(12):
        link = f"[[Plant {(number + 1) % 12}]] [[Funding rate]]"
        (kb.vault / f"Plant {number}.md").write_text(f"---\ntags: [green]\n---\n# Plant {number}\n\n{link}\n", "utf-8")
    kb.run("index", "--no-vectors")
    if request.param == "sidecar":
        kb.serve("--no-vectors").settled()
    return kb


def read(kb: Kb, file: str) -> Any:
    return json.loads((kb.vault / file).read_text("utf-8"))


@pytest.mark.parametrize(
    "asked",
    [["Funding rate"], ["Funding rate", "--hops", "2"], ["--clusters"], ["--orphans"], ["--probe", "plant"],
     ["--folder", "folder"], ["--tag", "green"]],
    ids=lambda asked: asked[0].strip("-"),
)  # fmt: skip
def test_every_kind_of_map(any_kb: Kb, asked: list[str]) -> None:
    printed = any_kb.run("canvas", *asked).stdout
    assert_valid(printed)
    assert_apart(printed)
    told = any_kb.json("canvas", *asked, "-o", "maps/a map.canvas")
    assert told["file"] == "maps/a map.canvas"
    assert (any_kb.vault / "maps/a map.canvas").read_text("utf-8") + "\n" == printed
    assert told["cards"] == len([one for one in json.loads(printed)["nodes"] if one["type"] != "group"])
    before = (any_kb.vault / "maps/a map.canvas").read_bytes()
    again = any_kb.json("canvas", "--update", "maps/a map.canvas")
    assert (again["op"], again["added"], again["kept"]) == (None, 0, told["cards"])
    assert (any_kb.vault / "maps/a map.canvas").read_bytes() == before
    assert any_kb.json("verify")["equal"]
    any_kb.run("undo", told["op"])
    assert not (any_kb.vault / "maps/a map.canvas").exists()


def test_what_was_arranged_by_hand_survives_twenty_changes(any_kb: Kb) -> None:
    kb = any_kb
    kb.run("canvas", "Funding rate", "-o", "m.canvas")
    mine = read(kb, "m.canvas")
    rng = random.Random(3)
    for node in mine["nodes"]:
        node |= {"x": rng.randrange(-5000, 5000), "y": rng.randrange(-5000, 5000), "color": "4"}
    (kb.vault / "m.canvas").write_text(json.dumps(mine, ensure_ascii=False), "utf-8")
    for number in range(10):
        (kb.vault / f"New {number}.md").write_text(f"# New {number}\n\n[[Funding rate]]\n", "utf-8")
    for number in range(5):
        (kb.vault / f"Plant {number}.md").write_text("no links any more\n", "utf-8")
    for number in range(5, 10):
        (kb.vault / f"Plant {number}.md").unlink()
    kb.run("index", "--no-vectors")
    told = kb.json("canvas", "--update", "m.canvas")
    later = read(kb, "m.canvas")
    assert told["added"] >= 10
    assert later["nodes"][: len(mine["nodes"])] == mine["nodes"]
    again = kb.json("canvas", "--update", "m.canvas")
    assert again["op"] is None


def test_what_cannot_be_drawn_is_said(any_kb: Kb) -> None:
    kb = any_kb
    assert "no note 'Nobody'" in kb.json("canvas", "Nobody", code=2)["error"]["message"]
    assert "one thing" in kb.json("canvas", "--clusters", "--orphans", code=2)["error"]["message"]
    assert "no canvas file" in kb.json("canvas", "--clusters", "-o", "x.md", code=1)["error"]["message"]
    assert kb.json("canvas", "--clusters", "-o", "../x.canvas", code=2)["error"]["code"] == "usage"
    assert not (kb.vault.parent / "x.canvas").exists()
    (kb.vault / "bad.canvas").write_text("{", "utf-8")
    assert kb.json("canvas", "--clusters", "-o", "bad.canvas", code=1)["error"]["code"] == "bad-canvas"
    assert (kb.vault / "bad.canvas").read_text("utf-8") == "{"
    (kb.vault / "theirs.canvas").write_text('{"nodes":[],"edges":[]}', "utf-8")
    assert "no map of ours" in kb.json("canvas", "--update", "theirs.canvas", code=1)["error"]["message"]


def test_canvases_of_the_real_app_are_kept(shared: Path, tmp_path: Path, home: Path) -> None:
    found = 0
    for packed in sorted((shared / "vaults").glob("*.tar.gz")):
        root = breaking.unpack(packed, tmp_path / packed.name)
        for file in sorted(root.rglob("*.canvas")):
            text = file.read_text("utf-8")
            before = read_canvas(text)
            drawn = draw(a_map(), text)
            after = read_canvas(drawn.text)
            assert after.nodes[: len(before.nodes)] == before.nodes
            assert after.edges[: len(before.edges)] == before.edges
            assert drawn.added == (5 if before.nodes else drawn.cards)
            found += 1
    oracle = shared / "oracle" / "obsidian-tasks" / "vault"
    for file in sorted(oracle.rglob("*.canvas")):
        before = read_canvas(file.read_text("utf-8"))
        after = read_canvas(draw(a_map(), file.read_text("utf-8")).text)
        assert after.nodes[: len(before.nodes)] == before.nodes
        found += 1
    assert found
