"""Layout: nothing overlaps, groups are apart, few edges cross, and the same input gives the same places."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohmykb.canvas.layout import Size, crossings, lay_out

sizes = st.builds(Size, st.integers(40, 500), st.integers(30, 400))


@settings(max_examples=40)
@given(st.lists(sizes, max_size=25), st.data())
def test_nothing_overlaps(cards: list[Size], data: st.DataObject) -> None:
    place = st.integers(0, max(len(cards) - 1, 0))
    edges = data.draw(st.lists(st.tuples(place, place), max_size=30)) if cards else []
    groups = data.draw(st.lists(st.lists(place, max_size=8), max_size=4)) if cards else []
    found = lay_out(cards, edges, groups)
    assert found == lay_out(cards, edges, groups)
    for number, (at, size) in enumerate(zip(found, cards, strict=True)):
        for other, span in zip(found[:number], cards[:number], strict=True):
            assert (
                at.x + size.width <= other.x or other.x + span.width <= at.x
                or at.y + size.height <= other.y or other.y + span.height <= at.y
            )  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_cards(count: int) -> None:
    assert len(lay_out([Size(100, 50)] * count, [(0, 1)] if count > 1 else [], [])) == count


def test_groups_are_apart() -> None:
    groups = [list(range(start, start + 5)) for start in (0, 5, 10)]
    edges = [(a, b) for group in groups for a in group for b in group if a < b] + [(0, 5), (6, 11)]
    found = lay_out([Size(320, 160)] * 17, edges, groups)
    rects = []
    for cards in groups:
        xs, ys = [found[card].x for card in cards], [found[card].y for card in cards]
        rects.append((min(xs), min(ys), max(xs) + 320, max(ys) + 160))
    for number, a in enumerate(rects):
        for b in rects[:number]:
            assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
        for card in set(range(17)) - set(groups[number]):
            x, y = found[card].x, found[card].y
            assert not (a[0] - 320 < x < a[2] and a[1] - 160 < y < a[3]), "a stranger lies in the group"


def test_a_tree_has_no_crossings() -> None:
    edges = [(card, (card - 1) // 3) for card in range(1, 31)]
    found = lay_out([Size(200, 100)] * 31, edges, [])
    points = np.array([(at.x + 100, at.y + 50) for at in found], dtype=float)
    assert crossings(points, np.array(edges)) <= 1


def test_crossings_are_counted() -> None:
    points = np.array([(0, 0), (10, 10), (0, 10), (10, 0)], dtype=float)
    assert crossings(points, np.array([(0, 1), (2, 3)])) == 1
    assert crossings(points, np.array([(0, 2), (1, 3)])) == 0
    assert crossings(points, np.array([(0, 1), (1, 2)])) == 0
