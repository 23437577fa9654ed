"""One link of a note or canvas is written anew: it alone changes, and back again every byte is as it was."""

import json
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.canvas_places import nodes, strings
from ohmykb.markdown.edits import Edit, apply_edits
from ohmykb.markdown.link_edits import canvas_edits, link_edit
from ohmykb.markdown.proof import proves, proves_canvas
from ohmykb.markdown.rewrite import retarget
from ohmykb.markdown.scan import scan
from ohmykb.note import Link, Scan

NAMES = [
    "新 名", "笔 记 (二)", "文 f(x", "文 x)y", "it's 文", "R&D 部", "100% 文 a", "文 50%20", "C++ 语 言", "a,b; 文 c",
    "文献/“引 号”", '文 q"uote', "a&amp;文 b", "$x$ 文", "`c` 文", "_u_ 文",
    "a<b> 文", "../x/文 y", "文 – y", "文 😀", "*文 x*",
]  # fmt: skip
"""Each with a space and a character beyond ASCII, so that a link keeps the marks of how it was encoded."""

SUBPATHS = [None, "H", "外#内 b", "^blk", "a (b", "50% 'c'", 'q"&amp;']


def led(text: str, found: Scan, at: int, name: str, sub: str | None) -> tuple[str, Scan] | None:
    """The text with one link led elsewhere, everything else proved to be as it was; None where it cannot be."""
    link = found.links[at]
    raw = retarget(link, name, sub)
    edits = None if raw is None else link_edit(text, link, raw, found.body)
    if raw is None or edits is None:
        return None
    assert link_edit(text, link, raw) == edits, "the same without being told where the text begins"
    (edit,) = edits
    if link.start >= 0 and link.kind != "property":
        assert link.start <= edit.start <= edit.end <= link.start + len(link.raw)
    after = apply_edits(text, edits)
    if proves(found, after, {at: (name, sub)}) is not None:
        return None
    now = scan(after)
    assert now.links[at].raw == raw
    return after, now


def there_and_back(text: str, random: Random, count: Counter[str]) -> None:
    found = scan(text)
    for at, link in enumerate(found.links):
        count["links"] += 1
        name, sub = random.choice(NAMES), random.choice(SUBPATHS)
        gone = led(text, found, at, name, sub)
        if gone is None:
            count["left as it is"] += 1
            continue
        count["led elsewhere"] += 1
        back = led(*gone, at, link.linkpath, link.subpath)
        if back is None:
            count["no way back"] += 1
            continue
        assert back[0] == text, (link, name, sub)
        count["there and back"] += 1


@pytest.mark.parametrize("vault, least", [("jacky-garden", 3500), ("kepano-vault", 170), ("zh-knowledge-garden", 6000)])
def test_every_link_of_a_public_vault_there_and_back(shared: Path, vault: str, least: int) -> None:
    random, count = Random(vault), Counter[str]()
    with tarfile.open(shared / "vaults" / f"{vault}.tar.gz") as packed:
        for member in packed:
            file = packed.extractfile(member) if member.name.endswith(".md") else None
            if file is not None:
                there_and_back(file.read().decode("utf-8", "replace"), random, count)
    print(vault, dict(count))
    assert count["led elsewhere"] >= 0.99 * count["links"]
    assert count["no way back"] <= 0.001 * count["links"]
    assert count["there and back"] >= least


def all_led(text: str, found: Scan, goals: dict[int, tuple[str, str | None]]) -> str | None:
    edits: set[Edit] = set()
    for at, goal in goals.items():
        raw = retarget(found.links[at], *goal)
        made = None if raw is None else link_edit(text, found.links[at], raw, found.body)
        if made is None:
            return None
        edits.update(made)
    try:
        after = apply_edits(text, edits)
    except ValueError:  # one text for two properties
        return None
    return after if proves(found, after, goals) is None else None


def all_there_and_back(text: str, random: Random, count: Counter[str]) -> None:
    found = scan(text)
    goals = {at: (random.choice(NAMES), random.choice(SUBPATHS)) for at in range(len(found.links))}
    after = all_led(text, found, goals)
    count["together" if after is not None else "not together"] += 1
    if after is not None:
        old = {at: (link.linkpath, link.subpath) for at, link in enumerate(found.links)}
        back = all_led(after, scan(after), old)
        assert back in (text, None)
        count["no way back"] += back is None


@pytest.mark.parametrize("vault", ["jacky-garden", "kepano-vault", "zh-knowledge-garden"])
def test_all_links_of_a_note_at_once(shared: Path, vault: str) -> None:
    random, count = Random(vault), Counter[str]()
    with tarfile.open(shared / "vaults" / f"{vault}.tar.gz") as packed:
        for member in packed:
            file = packed.extractfile(member) if member.name.endswith(".md") else None
            if file is not None:
                all_there_and_back(file.read().decode("utf-8", "replace"), random, count)
    print(vault, dict(count))
    assert count["not together"] + count["no way back"] <= 0.005 * count["together"]


def test_every_link_of_the_public_canvases_there_and_back(shared: Path) -> None:
    random, count = Random(1), 0
    with tarfile.open(shared / "vaults" / "zh-knowledge-garden.tar.gz") as packed:
        for member in packed:
            file = packed.extractfile(member) if member.name.endswith(".canvas") else None
            text = file.read().decode() if file is not None else ""
            for link in dict.fromkeys(scan_canvas(text).links):
                name = random.choice(NAMES)
                after = led_canvas(text, link, name, link.subpath)
                assert after is not None
                there = next(one for one in scan_canvas(after).links if one[2:4] == (name, link.subpath))
                assert led_canvas(after, there, link.linkpath, link.subpath) == text
                count += 1
    assert count > 50


# fmt: off
PIECES = [
    "[[A]]", "[[A|b]]", "![[A#H|c]]", "[[A\\|b]]", "[t](A%20b.md)", "[t](<A b.md> \"t\")", "![](p.png)",
    "[![i](p.png)](n.md)",
    "[[#H]]", "[t](#H)", "[[x] y](z.md)", "[t][r]", "\n\n[r]: A.md\n", "# [[A]] h\n",
    "`[[A]]` ", "```\n[[A]]\n```\n", "$x$ ", "$5 ",
    "`", "%%", " #tag ", "| a | [[A\\|b]] |\n|---|---|\n| [t](A.md) | b |\n", "- [ ] [[A]]\n",
    "> [[A]] ^id\n\n", "文😀 ", "\r\n", "\n", "\n\n",
    "<b>", "<!-- [[A]] -->", "[", "](", "$",
]
FRONTS = [
    "", "\ufeff", "---\nup: \"[[A]]\"\n---\n",
    "---\nup: '[[it''s]]' # [[A]]\nall:\n  - \"[[A|b]]\"\n  - '[[A|b]]'\n---\n",
    "\ufeff---\r\n# \"[[A]]\"\r\na: [\"[[A]]\", '[[A]]']\r\nb: \"[[\\u4e2d\\\"|x]]\"\r\n---\r\n",
    "---\na: |-\n  [[A]]\nb: \" [[A]] \"\n---\n",
    "---\na: &x \"[[A]]\"\nb: *x\n---\n", "---\na: \"[[A\n  b]]\"\n---\n", "---\na: {b: {c: '[[A]]'}}\n---\n",
]
# fmt: on


@given(st.sampled_from(FRONTS), st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.randoms())
def test_any_text_there_and_back(head: str, body: str, random: Random) -> None:
    there_and_back(head + body, random, Counter())  # type: ignore[arg-type]
    all_there_and_back(head + body, random, Counter())  # type: ignore[arg-type]


def in_properties(yaml: str, name: str, at: int = 0) -> str | None:
    text = f"---\n{yaml}\n---\n"
    gone = led(text, scan(text), at, name, None)
    return None if gone is None else gone[0][4:-5]


def test_quotes_of_properties_stay_valid() -> None:
    assert in_properties("a: '[[A|it''s]]'", "it's") == "a: '[[it''s|it''s]]'"
    assert in_properties('a: "[[\\u4e2d|\\u6587]]" # [[中]]', 'q"') == 'a: "[[q\\"|\\u6587]]" # [[中]]'
    assert in_properties('# "[[A]]"\na: "[[A]]"', "B") == '# "[[A]]"\na: "[[B]]"'
    assert in_properties("a: ['[[A]]', \"[[A]]\"]", "it's \"", at=1) == "a: ['[[A]]', \"[[it's \\\"]]\"]"
    assert in_properties("a: >-\n  [[A]]\nb: 1", "it's \"") == "a: >-\n  [[it's \"]]\nb: 1"
    assert in_properties('a:\n  b.c: "[[A]]"', "B") == 'a:\n  b.c: "[[B]]"'


def test_a_place_that_is_not_certain_gives_no_edit() -> None:
    assert in_properties('a: "[[A\n  b]]"', "B") is None, "folded over two lines"
    assert in_properties('a: &x "[[A]]"\nb: *x', "B") is None, "one text for two properties"
    assert in_properties('a: "[[A]]"\na: "[[A]]"', "B") is None, "which of the two counts"
    link = scan("x [[A]]").links[0]
    assert link_edit("xxx[[A]]", link, "[[B]]", 0) is None
    assert link_edit("[[A]]", link._replace(start=-1), "[[B]]", 0) is None
    assert link_edit("---\na: {{x}}\n---\n", link._replace(kind="property", key="a"), "[[B]]") is None


def test_only_what_differs_is_touched() -> None:
    text = "[[Note A|words]]"
    assert link_edit(text, scan(text).links[0], "[[Note B|words]]", 0) == (Edit(7, 8, "B"),)


# --- canvases

CANVAS = r"""{
	"nodes":[
		{"id":"a","type":"file","file":"notes\/\u4E2D.md","subpath":"#H","x":0},
		{"id":"b","file":"notes\/\u4E2D.md","type":"file"},
		{"id":"c","type":"text","text":"see [[\u4E2D|\u6587]], \"[[\u4E2D|\u6587]]\" \ud83d\ude00 [t](A.md)\n![[A]]"},
		{"id":"d","type":"group","label":"file","background":"notes\/\u4E2D.md"},
		{"id":"e","type":"link","url":"x","file":"notes\/\u4E2D.md"},
		{"id":"f","type":"file","file":"[d] [[A]].md","more":{"type":"file","file":"notes\/\u4E2D.md"}}
	],
	"edges":[{"id":"g","label":"[[\u4E2D|\u6587]]"}]
}"""


def led_canvas(text: str, link: Link, name: str, sub: str | None) -> str | None:
    edits = canvas_edits(text, link, name, sub)
    if edits is None:
        return None
    after = apply_edits(text, edits)
    assert proves_canvas(text, after, {(link.linkpath, link.subpath, link.raw): (name, sub)}) is None
    return after


def canvas_link(number: int) -> Link:
    return scan_canvas(CANVAS).links[number]


def test_cards_are_changed_and_nothing_else() -> None:
    heading, plain, words, _, markdown, embed, odd = (canvas_link(n) for n in range(7))
    old = r'"file":"notes\/\u4E2D.md"'
    assert led_canvas(CANVAS, heading, "x/新.md", "H") == CANVAS.replace(old, r'"file":"x\/\u65B0.md"', 1)
    assert led_canvas(CANVAS, heading, "notes/中.md", "I") == CANVAS.replace("#H", "#I")
    assert led_canvas(CANVAS, plain, "新.md", None) == CANVAS.replace(rf'"b",{old}', r'"b","file":"\u65B0.md"')
    assert led_canvas(CANVAS, plain, "新.md", "H") is None, "it has no string for a heading"
    assert led_canvas(CANVAS, heading, "新.md", None) is None
    first, edges = CANVAS.split('"edges"')
    assert led_canvas(CANVAS, words, "新 x", None) == first.replace("[[\\u4E2D", "[[\\u65B0 x") + '"edges"' + edges
    assert led_canvas(CANVAS, markdown, 'a "b', None) == CANVAS.replace("(A.md)", '(a%20\\"b)')
    assert led_canvas(CANVAS, embed, "a/b", None) == CANVAS.replace("![[A]]", r"![[a\/b]]")
    assert led_canvas(CANVAS, odd, "n.md", None) == CANVAS.replace("[d] [[A]].md", "n.md")
    assert canvas_edits(CANVAS, words, "a|b", None) is None
    assert canvas_edits(CANVAS, words._replace(raw="[[none]]"), "b", None) is None


def test_raw_letters_stay_raw() -> None:
    text = '{"nodes":[{"type":"file","file":"文/a.md"}]}'
    assert led_canvas(text, scan_canvas(text).links[0], "新/b.md", None) == text.replace("文/a", "新/b")


def test_a_card_that_holds_a_key_twice_is_left() -> None:
    text = '{"nodes":[{"type":"file","file":"a.md","file":"b.md"}]}'
    assert nodes(text) == []
    assert canvas_edits(text, scan_canvas(text).links[0], "c.md", None) is None


WORDS = st.text(st.sampled_from('a文😀"\\/\n\t{}[],:\u2028'), max_size=6)
JSONS = st.recursive(
    WORDS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*path, number))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))


@given(st.lists(JSONS, max_size=3), st.booleans(), st.sampled_from([None, 2]))
def test_strings_are_found_where_json_has_them(value: object, escaped: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    assert [(path, token.value) for path, token in strings(text)] == list(leaves(value))
    assert all(json.loads(text[token.start : token.end]) == token.value for _, token in strings(text))


@given(WORDS, st.sampled_from(NAMES), st.booleans())
def test_any_text_card_there_and_back(words: str, name: str, escaped: bool) -> None:
    text = json.dumps({"nodes": [{"type": "text", "text": f"{words} [[文 a|b]] 😀 [[文 a|b]]"}]}, ensure_ascii=escaped)
    for link in scan_canvas(text).links[:1]:
        after = led_canvas(text, link, name, None)
        if after is not None:
            back = led_canvas(after, scan_canvas(after).links[0], link.linkpath, None)
            assert back == text
