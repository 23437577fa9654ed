"""Which colour means what: a text card that a person may change, and that later drawings go by."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ohmykb.canvas.cards import Card

COLOURS: Final = {"1": "🔴", "2": "🟠", "3": "🟡", "4": "🟢", "5": "🔵", "6": "🟣"}
"""The theme's six: red, orange, yellow, green, cyan, purple."""
CENTRE: Final = "6"
_ROW: Final = re.compile(r"^[\s>*-]*(?:([1-6])|([🔴🟠🟡🟢🔵🟣]))[\s.:：]+(.+?)\s*$", re.MULTILINE)


def choose(cards: Sequence[Card], *, centre: bool) -> dict[str, str]:
    """Kind → colour for the most frequent kinds, where there is more than one."""
    kinds = Counter(card.kind for card in cards if card.kind)
    free = [colour for colour in COLOURS if not (centre and colour == CENTRE)]
    names = sorted(kinds, key=lambda kind: (-kinds[kind], kind))[: len(free)]
    return dict(zip(names, free, strict=False)) if len(names) > 1 else {}


def write(colours: dict[str, str], centre: str | None) -> str:
    """The text of the card."""
    rows = [f"{COLOURS[colour]} {kind}" for kind, colour in colours.items()]
    if centre is not None:
        rows.insert(0, f"{COLOURS[CENTRE]} {centre}")
    return "\n".join(rows)


def read(text: str) -> dict[str, str]:
    """Kind → colour, as it stands in the card now; rows may begin with a dot of the colour or its number."""
    back = {sign: colour for colour, sign in COLOURS.items()}
    return {kind: number or back[sign] for number, sign, kind in _ROW.findall(text)}
