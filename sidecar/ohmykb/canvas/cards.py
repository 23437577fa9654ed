"""What a map shows, before anything has a place: cards, ties between them, groups."""

from dataclasses import dataclass

WIDTH, HEIGHT = 320, 160
"""Pixels of a note's card: a title and some lines can be read at the first zoom."""
MOST = 150
"""Cards of a map: with more nobody finds their way."""


@dataclass(frozen=True, slots=True)
class Card:
    """A note, or another file, on the map."""

    path: str
    title: str
    kind: str = ""
    """What its colour tells: a type, else the top folder."""


@dataclass(frozen=True, slots=True)
class Tie:
    source: str
    target: str
    label: str = ""
    """The relation, where it has a name."""
    both: bool = False
    """Each links to the other."""
    proposed: bool = False
    """No link yet: it would be one."""


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    """What joins them."""
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """`of` says what was asked, so that the map can be drawn again: plain JSON."""

    of: dict[str, object]
    title: str
    cards: tuple[Card, ...]
    ties: tuple[Tie, ...]
    groups: tuple[Group, ...] = ()
    centre: str | None = None
    """The note it is about."""
    hidden: tuple[str, ...] = ()
    """Paths that did not find room, the most telling first."""
