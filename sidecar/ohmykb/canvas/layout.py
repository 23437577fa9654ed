"""Where cards go: by distances in the graph, then moved one by one until few edges cross, and apart.

Everything is decided by the input alone: no clock, and no chance but that of a fixed seed. Sources: stress majorization
(Gansner, Koren, North 2004) for the start; vertex by vertex against crossings (Radermacher et al. 2018), which hinder
reading most (Purchase 1997).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohmykb.canvas.apart import groups_apart, push_apart, room

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GAP: Final = 50
"""Pixels between cards at least."""
EDGE: Final = 1.25
"""Wanted length of an edge, by the diagonal of a card."""
CLOSER: Final = 0.7
"""Cards of one group are wanted nearer than the graph says."""
MAJORIZED: Final = 40
FORCED: Final = 120
AT_ONCE: Final = 128
"""Edges that are compared with all others in one step."""
TRIED: Final = 1500
"""Places times edges of one card, in one turn: a hub is tried in few places."""
PAIRS: Final = 6_000_000
"""Pairs of segments compared at most: bounds the time, whatever the graph."""
RINGS: Final = (0.45, 0.9, 1.6, 2.6)
ANGLES: Final = 9
LENGTH_WEIGHT: Final = 0.25
"""Of an edge twice as long as wanted, against one crossing."""
SEED: Final = 7


class Size(NamedTuple):
    width: int
    height: int


class Place(NamedTuple):
    x: int
    y: int


def lay_out(sizes: Sequence[Size], edges: Sequence[tuple[int, int]], groups: Sequence[Sequence[int]]) -> list[Place]:
    """The upper left corner of each card, in pixels; `edges` and `groups` are of places in `sizes`.

    Cards never overlap, nor do the boxes around groups; cards in no group stay outside of them.
    """
    if not sizes:
        return []
    wanted = np.array(sizes, dtype=np.float64) + GAP
    pairs = np.array(sorted({(min(a, b), max(a, b)) for a, b in edges if a != b}), dtype=np.int64).reshape(-1, 2)
    group = _numbers(len(sizes), groups)
    unit = float(np.sqrt((wanted**2).sum(axis=1)).mean()) * EDGE
    starts = [_majorized(_distances(len(sizes), pairs, group), unit), _forced(len(sizes), pairs, group, unit)]
    apart = [push_apart(start * np.array([1.15, 0.87]), wanted) for start in starts]
    sheet = _Sheet(min(apart, key=lambda at: crossings(at, pairs)), wanted, pairs, unit)
    sheet.improve(PAIRS // 2, within=None)
    sheet.at = push_apart(sheet.at, wanted)
    if groups:
        sheet.at = groups_apart(sheet.at, wanted, group)
    sheet.improve(PAIRS // 2, within=room(sheet.at, wanted, group) if groups else None, free=True)
    corner = sheet.at - np.array(sizes) / 2
    corner -= corner.min(axis=0)
    return [Place(int(x), int(y)) for x, y in np.round(corner)]


def crossings(points: Floats, pairs: Ints) -> int:
    """How many pairs of edges cross, drawn straight between `points` float64[n, 2]; such as share an end do not."""
    return int(_crossed(points, pairs).sum()) // 2


def _crossed(points: Floats, pairs: Ints) -> Ints:
    """How many others cross each edge."""
    found = np.zeros(len(pairs), dtype=np.int64)
    a, b = points[pairs[:, 0]], points[pairs[:, 1]]
    for start in range(0, len(pairs), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        own = pairs[some]
        hits = _cross(a[some, None], b[some, None], a[None], b[None])
        shared = (own[:, :, None, None] == pairs.T[None, None]).any(axis=(1, 2))
        found[some] = (hits & ~shared).sum(axis=1)
    return found


def _cross(a: Floats, b: Floats, c: Floats, d: Floats) -> NDArray[np.bool_]:
    """Whether segments a–b and c–d cross, broadcast over all leading axes."""
    return (_side(a, b, c) * _side(a, b, d) < 0) & (_side(c, d, a) * _side(c, d, b) < 0)


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    found: Floats = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        c[..., 0] - a[..., 0]
    )
    return found


def _numbers(count: int, groups: Sequence[Sequence[int]]) -> Ints:
    """The group of each card, -1 for none; a card in several counts to the first."""
    found = np.full(count, -1, dtype=np.int64)
    for number, cards in enumerate(groups):
        for card in cards:
            if found[card] < 0:
                found[card] = number
    return found


def _distances(count: int, pairs: Ints, group: Ints) -> Floats:
    """Steps between cards in the graph, nearer within a group; parts that do not hang together are a bit apart."""
    steps = np.full((count, count), np.inf)
    np.fill_diagonal(steps, 0.0)
    if len(pairs):
        steps[pairs[:, 0], pairs[:, 1]] = steps[pairs[:, 1], pairs[:, 0]] = 1.0
    for between in range(count):
        np.minimum(steps, steps[:, between, None] + steps[None, between], out=steps)
    whole = steps[np.isfinite(steps)].max(initial=1.0)
    steps[~np.isfinite(steps)] = max(2.0, 0.6 * whole)
    same = (group[:, None] == group[None]) & (group[:, None] >= 0)
    steps[same] = np.minimum(steps[same], 3.0) * CLOSER
    np.fill_diagonal(steps, 0.0)
    return steps


def _majorized(steps: Floats, unit: float) -> Floats:
    """Places float64[n, 2] whose distances are near `steps` times `unit`."""
    count = len(steps)
    at = np.random.default_rng(SEED).random((count, 2)) * count**0.5
    if count > 2:  # classical scaling is a good start
        square = steps**2
        centred = -0.5 * (square - square.mean(axis=0) - square.mean(axis=1)[:, None] + square.mean())
        values, vectors = np.linalg.eigh(centred)
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), range(count)])
        at = at * 0.05 + (vectors * signs)[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 1e-9))
    weights = np.zeros_like(steps)
    weights[steps > 0] = steps[steps > 0] ** -2.0
    total = np.maximum(weights.sum(axis=1), 1e-9)
    for _ in range(MAJORIZED):
        away = at[:, None] - at[None]
        length = np.sqrt((away**2).sum(axis=2)) + 1e-9
        ratio = weights * steps / length
        at = (weights @ at + (ratio[..., None] * away).sum(axis=1)) / total[:, None]
    placed: Floats = at * unit
    return placed


def _forced(count: int, pairs: Ints, group: Ints, unit: float) -> Floats:
    """Places by springs and repulsion: better than distances where everything is a few steps from everything, around
    hubs. A spring is the weaker, the more its ends have."""
    turn = np.arange(count) * 2.399963  # the golden angle: an even start
    at = unit * np.sqrt(np.arange(count) + 0.5)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    degree = np.bincount(pairs.ravel(), minlength=count)
    a, b = pairs[:, 0], pairs[:, 1]
    strength = (1.0 / np.maximum(np.minimum(degree[a], degree[b]), 1))[:, None] if len(pairs) else np.zeros((0, 1))
    bias = (degree[a] / np.maximum(degree[a] + degree[b], 1))[:, None] if len(pairs) else np.zeros((0, 1))
    same = ((group[:, None] == group[None]) & (group[:, None] >= 0)).astype(np.float64)
    share = same / np.maximum(same.sum(axis=1, keepdims=True), 1.0)
    speed = np.zeros_like(at)
    for step in range(FORCED):
        heat = (1.0 - step / FORCED) ** 1.5
        away = at[:, None] - at[None]
        square = (away**2).sum(axis=2) + 0.01 * unit**2
        speed += heat * 0.35 * unit**2 * (away / square[..., None]).sum(axis=1) * 0.1
        gap = at[b] + speed[b] - at[a] - speed[a]
        length = np.sqrt((gap**2).sum(axis=1, keepdims=True)) + 1e-9
        pull = gap * (length - unit) / length * heat * strength
        for xy in (0, 1):
            speed[:, xy] -= np.bincount(b, pull[:, xy] * bias[:, 0], count)
            speed[:, xy] += np.bincount(a, pull[:, xy] * (1 - bias[:, 0]), count)
        speed -= at * 0.03 * heat
        speed += heat * 0.1 * (share @ at - at) * (group >= 0)[:, None]
        speed *= 0.6
        at += speed
    placed: Floats = at
    return placed


class _Sheet:
    def __init__(self, at: Floats, sizes: Floats, pairs: Ints, unit: float) -> None:
        self.at = at
        self.sizes = sizes
        self.pairs = pairs
        self.unit = unit
        self.near: list[Ints] = [
            np.unique(np.concatenate([pairs[pairs[:, 0] == card, 1], pairs[pairs[:, 1] == card, 0]]))
            for card in range(len(at))
        ]
        turn = np.arange(ANGLES) * 2 * np.pi / ANGLES
        self._ring = np.concatenate(
            [radius * np.stack([np.cos(turn + radius), np.sin(turn + radius)], axis=1) for radius in RINGS]
        )

    def improve(self, budget: int, *, within: Floats | None, free: bool = False) -> None:
        """Card by card to where its edges cross least. `within`: boxes float64[n, 4] that centres stay in;
        `free`: only where no other card is."""
        while budget > 0 and len(self.pairs):
            crossed = _crossed(self.at, self.pairs)
            budget -= len(self.pairs) ** 2
            heavy = np.bincount(self.pairs[:, 0], crossed, len(self.at)) + np.bincount(
                self.pairs[:, 1], crossed, len(self.at)
            )
            moved = False
            for card in np.argsort(-heavy, kind="stable").tolist():
                if not heavy[card] or budget <= 0:
                    break
                tried = self._places(card, within, free=free)
                budget -= len(tried) * len(self.near[card]) * len(self.pairs)
                costs = self._costs(card, tried)
                best = int(costs.argmin())
                if costs[best] < costs[0] - 1e-9:
                    self.at[card] = tried[best]
                    moved = True
            if not moved:
                return

    def _places(self, card: int, within: Floats | None, *, free: bool) -> Floats:
        """Where it is, then places around its neighbours' middle and around itself."""
        middle = self.at[self.near[card]].mean(axis=0)
        tried = np.concatenate([middle + self._ring * self.unit, self.at[card] + self._ring * self.unit, middle[None]])
        if within is not None:
            left, top, right, bottom = within[card]
            tried = tried[
                (tried[:, 0] >= left) & (tried[:, 0] <= right) & (tried[:, 1] >= top) & (tried[:, 1] <= bottom)
            ]
        if free and len(tried):
            away = np.abs(tried[:, None] - self.at[None])
            hit = (away < (self.sizes[card] + self.sizes)[None] / 2).all(axis=2)
            hit[:, card] = False
            tried = tried[~hit.any(axis=1)]
        most = max(6, TRIED // max(len(self.near[card]), 1))
        return np.concatenate([self.at[card][None], tried[:: max(1, -(-len(tried) // most))]])

    def _costs(self, card: int, tried: Floats) -> Floats:
        """Crossings and length of a card's edges from each of these places."""
        near = self.near[card]
        others = self.pairs[(self.pairs != card).all(axis=1)]
        ends = self.at[near]
        length = np.sqrt(((tried[:, None] - ends[None]) ** 2).sum(axis=2)) / self.unit
        cost = LENGTH_WEIGHT * np.abs(length - 1.0).sum(axis=1)
        close = np.sqrt(((tried[:, None] - self.at[None]) ** 2).sum(axis=2)) / self.unit
        close[:, card] = 9.0
        cost += np.maximum(0.0, 0.7 - close).sum(axis=1)
        if len(others):
            cross = _cross(
                tried[:, None, None],
                ends[None, :, None],
                self.at[others[:, 0]][None, None],
                self.at[others[:, 1]][None, None],
            )
            apart = (others[:, 0][None] != near[:, None]) & (others[:, 1][None] != near[:, None])
            cost = cost + (cross & apart[None]).sum(axis=(1, 2))
        found: Floats = cost
        return found
