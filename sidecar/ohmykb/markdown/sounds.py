"""How Chinese names are typed: pinyin and its initials, so that `zjfl` and `zijin` find 资金费率."""

import os
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import islice, product

from ohmykb.markdown.words import fold

MARK = "\ue000"
"""Begins every sound in the full-text index, so that none is taken for a word."""

READINGS = 2
"""Readings kept of one character; the first is the usual one."""
SPELLINGS = 4
"""Spellings kept of one run of characters."""
LONGEST = 16
"""Characters of a run beyond which nobody types its sounds."""

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")


@cache
def _readings() -> dict[int, str]:
    os.environ.setdefault("PYPINYIN_NO_PHRASES", "true")  # we keep every reading; half the memory
    from pypinyin.constants import PINYIN_DICT  # 40,000 entries: only where a Chinese name is met

    return dict(PINYIN_DICT)


@cache
def _syllables(char: str) -> tuple[str, ...]:
    """Toneless readings of one character, the usual first: `行` → hang, xing."""
    found: dict[str, None] = {}
    for reading in _readings().get(ord(char), "").split(","):
        plain = "".join(_TONELESS.get(c, c) for c in reading)
        if plain:
            found[plain] = None
    return tuple(islice(found, READINGS))


_TONELESS = {
    marked: plain
    for plain, all_marked in (
        ("a", "āáǎà"), ("e", "ēéěèêếề"), ("i", "īíǐì"), ("o", "ōóǒò"), ("u", "ūúǔù"), ("v", "üǖǘǚǜ"),
        ("n", "ńňǹ"), ("m", "ḿ"),
    )
    for marked in all_marked
}  # fmt: skip


def sounds(names: Iterable[str]) -> str:
    """The sounds of names, ready for the full-text index: each spelling from every syllable on, so
    that a prefix search finds the middle of a name too, and the initials likewise."""
    found: dict[str, None] = {}
    for name in names:
        if name.isascii():
            continue
        for run in _HAN.findall(fold(name)):
            for syllables in _spellings(run[:LONGEST]):
                for start in range(len(syllables)):
                    rest = syllables[start:]
                    found["".join(rest)] = None
                    if len(rest) > 1:
                        found["".join(s[0] for s in rest)] = None
    return " ".join(MARK + sound for sound in found)


@lru_cache(maxsize=4096)
def _spellings(run: str) -> list[tuple[str, ...]]:
    choices = [_syllables(char) for char in run]
    if not all(choices):
        choices = [choice for choice in choices if choice]
    return list(islice(product(*choices), SPELLINGS)) if choices else []


WHOLE, PART = 1.0, 0.5


def sounds_like(letters: str, names: Iterable[str]) -> float:
    """How far typed letters are the sound of one of these names: WHOLE for all of it (or all its initials),
    PART for its end or its beginning from some syllable on, else 0."""
    best = 0.0
    for name in names:
        for run in () if name.isascii() else _HAN.findall(fold(name)):
            for syllables in _spellings(run[:LONGEST]):
                initials = "".join(s[0] for s in syllables)
                if letters in ("".join(syllables), initials):
                    return WHOLE
                rests = ("".join(syllables[start:]) for start in range(len(syllables)))
                if letters in initials or any(rest.startswith(letters) for rest in rests):
                    best = PART
    return best
