"""The proof before a write: whatever else would change is found."""

import pytest

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.proof import Target, proves, proves_canvas
from ohmykb.markdown.scan import scan

NOTE = """---
up: "[[A]]"
all: [x, "[[A|b]]"]
tags: [t]
---
# A heading with [[A]]
[[A|b]] [t](A.md) ![[A]] #tag ^id

[![i](p.png)](A.md)
"""
# In order: 0 up, 1 all.1, 2 heading, 3 [[A|b]], 4 [t], 5 ![[A]], 6 the linked picture, 7 the picture


def order() -> list[str]:
    return [link.raw for link in scan(NOTE).links]


def said(after: str, expected: dict[int, Target]) -> str | None:
    return proves(scan(NOTE), after, expected)


def test_the_order_that_these_tests_count_by() -> None:
    assert order()[:6] == ["[[A]]", "[[A|b]]", "[[A]]", "[[A|b]]", "[t](A.md)", "![[A]]"]
    assert sorted(order()[6:]) == ["![i](p.png)", "[![i](p.png)](A.md)"]


@pytest.mark.parametrize("at, old, new, target", [
    (0, 'up: "[[A]]"', 'up: "[[B]]"', ("B", None)),
    (1, '"[[A|b]]"]', '"[[B#H|b]]"]', ("B", "H")),
    (2, "with [[A]]", "with [[B]]", ("B", None)),
    (2, "with [[A]]", "with [[B|A]]", ("B", None)),
    (3, "\n[[A|b]]", "\n[[B|b]]", ("B", None)),
    (4, "[t](A.md)", "[t](B.md)", ("B.md", None)),
    (5, "![[A]]", "![[B#^x]]", ("B", "^x")),
    (order().index("[![i](p.png)](A.md)"), "(A.md)\n", "(B.md)\n", ("B.md", None)),
    (order().index("![i](p.png)"), "(p.png)", "(q.png)", ("q.png", None)),
])  # fmt: skip
def test_one_link_led_elsewhere_is_proved(at: int, old: str, new: str, target: Target) -> None:
    assert NOTE.count(old) == 1
    assert said(NOTE.replace(old, new), {at: target}) is None
    assert said(NOTE.replace(old, new), {}) is not None
    assert said(NOTE, {at: target}) is not None


@pytest.mark.parametrize("old, new, why", [
    ("[[A|b]] [t]", "[[B|c]] [t]", "other words"),
    ("[[A|b]] [t]", "[[B]] [t]", "other words"),
    ("[[A|b]] [t]", "![[B|b]] [t]", "lead"),
    ("[[A|b]] [t]", "[[C|b]] [t]", "lead"),
    ("[[A|b]] [t]", "[[B|b]]\n[t]", "change too"),
    ("[[A|b]] [t]", "[[B|b]] [[C]] [t]", "other links"),
    ("[[A|b]] [t](A.md)", "[[B|b]] [t](B.md)", "change too"),
    ("[[A|b]] [t](A.md)", "[[B|b]] [t](A.md \"title\")", "change too"),
    ("[[A|b]] [t](A.md)", "[[B|b]] [u](A.md)", "other words"),
    ("[[A|b]] [t](A.md) ![[A]] #tag", "[[B|b]] [t](A.md) ![[A]] #tog", "a tag"),
    ("[[A|b]] [t](A.md) ![[A]] #tag ^id", "[[B|b]] [t](A.md) ![[A]] #tag ^di", "a block"),
    ("heading with [[A]]\n[[A|b]]", "Heading with [[A]]\n[[B|b]]", "a heading"),
    ("# A heading with [[A]]\n[[A|b]]", "## A heading with [[A]]\n[[B|b]]", "a heading"),
    ("heading with [[A]]\n[[A|b]]", "heading with [[A]]\n[[B|b]]\n\n# more", "other links|change too|a tag|a heading"),
    ("[t]\n---\n# A heading with [[A]]\n[[A|b]]", "[s]\n---\n# A heading with [[A]]\n[[B|b]]", "a tag"),
    ("tags: [t]\n---\n# A heading with [[A]]\n[[A|b]]", "tags: [t]\nc: 1\n---\n# A heading with [[A]]\n[[B|b]]", "too"),
    ("[x, \"[[A|b]]\"]\ntags: [t]\n---\n# A heading with [[A]]\n[[A|b]]",
     "[y, \"[[A|b]]\"]\ntags: [t]\n---\n# A heading with [[A]]\n[[B|b]]", "a property"),
    ("[x, \"[[A|b]]\"]\ntags: [t]\n---\n# A heading with [[A]]\n[[A|b]]",
     "['x', \"[[A|b]]\", 1]\ntags: [t]\n---\n# A heading with [[A]]\n[[B|b]]", "a property"),
])  # fmt: skip
def test_whatever_else_would_change_is_said(old: str, new: str, why: str) -> None:
    assert NOTE.count(old) == 1
    told = said(NOTE.replace(old, new), {3: ("B", None)})
    assert told is not None
    assert any(part in told for part in why.split("|"))


def test_a_wikilink_gets_no_words_that_it_did_not_show() -> None:
    assert said(NOTE.replace("with [[A]]", "with [[B|C]]"), {2: ("B", None)}) is not None


def test_beside_a_changed_link_its_property_stays() -> None:
    after = NOTE.replace('[x, "[[A|b]]"]', '[y, "[[B|b]]"]')
    assert said(after, {1: ("B", None)}) == "a property would change"
    before = scan('---\nup: " [[A]] "\nn: 1\n---\n')
    assert proves(before, '---\nup: " [[B]] "\nn: 1\n---\n', {0: ("B", None)}) is None
    assert proves(before, '---\nup: "[[B]]"\nn: 1\n---\n', {0: ("B", None)}) == "a property would change"
    assert proves(before, '---\nup: " [[B]] "\nn: true\n---\n', {0: ("B", None)}) == "a property would change"


CANVAS = (
    '{"nodes":[{"id":"1","type":"file","file":"a.md","x":1},'
    '{"id":"2","type":"text","text":"# [[a]] #t\\n[[b|c]]"},{"id":"3","type":"file","file":"a.md","subpath":"#H"}],'
    '"edges":[{"id":"4","label":"a.md"}]}'
)


@pytest.mark.parametrize("old, new, proved", [
    ('"a.md","x"', '"b.md","x"', True),
    ('"a.md","x":1', '"b.md","x":2', False),
    ('"a.md","x":1', '"b.md","x":1.0', False),
    ('"a.md","x":1', '"b.md","x":1,"x":1', False),
    ('"a.md","x":1},', '"b.md","x":1},{"id":"0"},', False),
    ('"a.md","x":1', '"b.md"', False),
    ('"a.md","x"', '"c.md","x"', False),
    ('"file":"a.md","x"', '"file":"b.md","y"', False),
    ('"a.md","sub', '"b.md","sub', False),
    ("", "", False),
])  # fmt: skip
def test_of_a_canvas_only_the_cards_with_the_link_change(old: str, new: str, proved: bool) -> None:
    link = scan_canvas(CANVAS).links[0]
    told = proves_canvas(CANVAS, CANVAS.replace(old, new, 1), {(link.linkpath, link.subpath, link.raw): ("b.md", None)})
    assert (told is None) == proved, told


def test_of_a_text_card_only_the_link_changes() -> None:
    changed: dict[tuple[str, str | None, str], Target] = {("b", None, "[[b|c]]"): ("d", None)}
    good = CANVAS.replace("[[b|c]]", "[[d|c]]")
    assert proves_canvas(CANVAS, good, changed) is None
    assert proves_canvas(CANVAS, good.replace("#t", "#u"), changed) is not None
    assert proves_canvas(CANVAS, good.replace("d|c", "d|e"), changed) is not None
    assert proves_canvas(CANVAS, good.replace('"label":"a', '"label":"b'), changed) is not None
    assert proves_canvas(CANVAS, good[:-1], changed) == "the canvas would be broken"
    assert proves_canvas("", "", {}) is None
