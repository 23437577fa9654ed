"""Rectangles pushed apart, by as little as possible; single cards, and whole groups."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 400
PULLS = 3
SHARES = (0.9, 0.75, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05)
"""Of the way to the middle, tried in this order."""
BETWEEN = 30.0
"""Pixels that groups keep apart when they are drawn together."""
MARGIN = 40.0
"""Pixels between the box of a group and its cards: its name stands there."""


def push_apart(at: Floats, sizes: Floats) -> Floats:
    """Centres float64[n, 2] of rectangles `sizes` float64[n, 2], moved until none overlap.

    Each pair that overlaps moves along the axis where less is missing; what is left after many rounds is set on free
    places outside.
    """
    at = at.copy()
    one, other = np.triu_indices(len(at), 1)
    need = (sizes[one] + sizes[other]) / 2 + 0.5
    for _ in range(ROUNDS):
        away = at[one] - at[other]
        missing = need - np.abs(away)
        hit = np.flatnonzero((missing[:, 0] > 0) & (missing[:, 1] > 0))
        if not len(hit):
            return at
        a, b, gap, side = one[hit], other[hit], missing[hit], away[hit]
        axis = (gap[:, 0] >= gap[:, 1]).astype(np.int64)
        rows = np.arange(len(hit))
        # Two at the very same place part by their order.
        step = 0.35 * gap[rows, axis] * np.where(side[rows, axis] < 0, -1.0, 1.0)
        for xy in (0, 1):
            own = axis == xy
            push = np.bincount(a[own], step[own], len(at)) - np.bincount(b[own], step[own], len(at))
            most = np.zeros(len(at))
            np.maximum.at(most, a[own], np.abs(step[own]))
            np.maximum.at(most, b[own], np.abs(step[own]))
            at[:, xy] += np.clip(push, -1.5 * most, 1.5 * most) + np.sign(push) * 0.2
    return _set_outside(at, sizes)


def _set_outside(at: Floats, sizes: Floats) -> Floats:
    """Those that still overlap an earlier one, below all others, in a row."""
    kept: list[int] = []
    x, y = at[:, 0].min(), (at[:, 1] + sizes[:, 1]).max()
    for card in range(len(at)):
        need = (sizes[card] + sizes[kept]) / 2
        if kept and (np.abs(at[card] - at[kept]) < need).all(axis=1).any():
            at[card] = x + sizes[card, 0] / 2, y + sizes[card, 1] / 2 + 1
            x += sizes[card, 0] + 1
        kept.append(card)
    return at


def boxes(at: Floats, sizes: Floats, group: Ints) -> dict[int, tuple[float, float, float, float]]:
    """Group → left, top, right, bottom around its cards."""
    found = {}
    for number in sorted(set(group.tolist()) - {-1}):
        own = group == number
        low, high = (at[own] - sizes[own] / 2).min(axis=0), (at[own] + sizes[own] / 2).max(axis=0)
        found[number] = (low[0] - MARGIN, low[1] - MARGIN, high[0] + MARGIN, high[1] + MARGIN)
    return found


def groups_apart(at: Floats, sizes: Floats, group: Ints) -> Floats:
    """Each group drawn together, then moved as one; cards in no group are such of one card."""
    at = at.copy()
    for number in sorted(set(group.tolist()) - {-1}):
        own = np.flatnonzero(group == number)
        middle = at[own].mean(axis=0)
        at[own] = push_apart(middle + (at[own] - middle) * 0.75, sizes[own])
    found = boxes(at, sizes, group)
    names = [*found, *(-2 - card for card in np.flatnonzero(group < 0).tolist())]
    rects = np.array([found[name] if name in found else _alone(at, sizes, -2 - name) for name in names])
    centres, spans = (rects[:, :2] + rects[:, 2:]) / 2, rects[:, 2:] - rects[:, :2]
    moved = draw_in(push_apart(centres, spans), spans) - centres
    for name, move in zip(names, moved, strict=True):
        own = group == name if name >= 0 else np.arange(len(at)) == -2 - name
        at[own] += move
    return at


def draw_in(at: Floats, sizes: Floats) -> Floats:
    """Rectangles that do not overlap, each as near to the middle of all as the others let it."""
    at = at.copy()
    middle = np.average(at, axis=0, weights=sizes.prod(axis=1))
    for _ in range(PULLS):
        for one in np.argsort(((at - middle) ** 2).sum(axis=1), kind="stable").tolist():
            need = (sizes + sizes[one]) / 2 + BETWEEN
            for share in SHARES:
                tried = at[one] + (middle - at[one]) * share
                hit = (np.abs(tried - at) < need).all(axis=1)
                hit[one] = False
                if not hit.any():
                    at[one] = tried
                    break
    return at


def _alone(at: Floats, sizes: Floats, card: int) -> tuple[float, float, float, float]:
    low, high = at[card] - sizes[card] / 2, at[card] + sizes[card] / 2
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def room(at: Floats, sizes: Floats, group: Ints) -> Floats:
    """float64[n, 4]: where each centre may go so that its card stays in the box of its group; those in none stay."""
    found = np.stack([at[:, 0], at[:, 1], at[:, 0], at[:, 1]], axis=1)
    for number, (left, top, right, bottom) in boxes(at, sizes, group).items():
        own = group == number
        half = sizes[own] / 2
        found[own] = np.stack(
            [
                left + MARGIN + half[:, 0],
                top + MARGIN + half[:, 1],
                right - MARGIN - half[:, 0],
                bottom - MARGIN - half[:, 1],
            ],
            axis=1,
        )
    return found
