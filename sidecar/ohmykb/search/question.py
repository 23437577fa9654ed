"""What was asked, cut into the terms the index knows."""

from collections.abc import Callable
from math import log
from typing import NamedTuple

from ohmykb.markdown.words import fold, is_paired, tokens

RARE_FLOOR = 0.15
"""Weight of a term beside the rarest possible one, at the least: even a common word counts a little."""


class Term(NamedTuple):
    text: str
    paired: bool
    """From a script without spaces: a pair, or a lone character."""
    weight: float
    """Rarity: ln(1 + notes / holders), relative to a term nobody holds, so in ]0, 1]."""
    spread: int
    """Notes that hold it as a word."""

    @property
    def match(self) -> str:
        """As an FTS5 expression: a lone character begins every token that it is part of."""
        lone = self.paired and len(self.text) == 1
        return f'"{self.text}"*' if lone else f'"{self.text}"'


class Question(NamedTuple):
    text: str
    """As asked, trimmed."""
    folded: str
    terms: tuple[Term, ...]
    """Distinct, rarest first."""
    phrase: str | None
    """The whole question as one FTS5 phrase whose last word may go on; None without words."""


def read_question(text: str, notes: int, spread: Callable[[str], int]) -> Question:
    """`notes` is the size of the index; `spread` says how many notes hold a term."""
    text = " ".join(text.split())
    parts = tokens(text)
    kept = [
        part
        for place, part in enumerate(parts)
        if not (len(part) == 1 and is_paired(part) and place and _ends(parts[place - 1], part))
    ]
    most = log(1 + max(notes, 1))
    terms = []
    for part in dict.fromkeys(kept):
        holders = spread(part)
        weight = max(log((1 + notes) / (1 + holders)) / most, RARE_FLOOR) if notes else 1.0
        terms.append(Term(part, is_paired(part), weight, holders))
    terms.sort(key=lambda term: (term.spread, term.text))
    phrase = '"' + " ".join(kept) + '"*' if kept else None
    return Question(text, fold(text), tuple(terms), phrase)


def _ends(pair: str, char: str) -> bool:
    """Whether `char` is only the tail that closes a run in the index: 费率 率."""
    return len(pair) == 2 and is_paired(pair) and pair[1] == char
