"""Free places on a sheet that somebody arranged: beside what a new card belongs to, over nothing."""

from collections.abc import Sequence

from ohmykb.canvas.json_canvas import Box
from ohmykb.canvas.layout import GAP

RINGS = 60


def beside(anchors: Sequence[Box], taken: Sequence[Box], width: int, height: int) -> tuple[int, int]:
    """The nearest upper left corner to the middle of `anchors` where a card of this size overlaps nothing taken."""
    if not anchors:
        return _below(taken)
    middle_x = sum(x + w / 2 for x, _, w, _ in anchors) / len(anchors)
    middle_y = sum(y + h / 2 for _, y, _, h in anchors) / len(anchors)
    step_x, step_y = width + GAP, height + GAP
    left, top = round(middle_x - width / 2), round(middle_y - height / 2)
    for ring in range(RINGS):
        spots = [
            (left + dx * step_x // 2, top + dy * step_y // 2)
            for dx in range(-ring, ring + 1)
            for dy in range(-ring, ring + 1)
            if max(abs(dx), abs(dy)) == ring
        ]
        free = [spot for spot in spots if not any(_overlap((*spot, width, height), box) for box in taken)]
        if free:
            return min(free, key=lambda at: (abs(at[0] - left) + abs(at[1] - top), at[1], at[0]))
    return _below(taken)


def _below(taken: Sequence[Box]) -> tuple[int, int]:
    """Under everything."""
    if not taken:
        return 0, 0
    return min(x for x, _, _, _ in taken), max(y + h for _, y, _, h in taken) + GAP


def _overlap(a: Box, b: Box) -> bool:
    gap = GAP // 2
    return (
        a[0] < b[0] + b[2] + gap and b[0] < a[0] + a[2] + gap and a[1] < b[1] + b[3] + gap and b[1] < a[1] + a[3] + gap
    )
