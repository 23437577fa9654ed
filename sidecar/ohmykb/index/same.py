"""Whether a file with the bytes of one that is gone is that file: of two notes made from one form it is not."""

import re

from ohmykb.index.frames import says_something
from ohmykb.markdown.properties import split

_DIGITS = re.compile(r"\d+")


def may_be(old: str, new: str, text: str) -> bool:
    """For two paths with the same text: surely one note, moved or renamed."""
    if not text:
        return False
    was, now = old.rsplit("/", 1)[-1], new.rsplit("/", 1)[-1]
    if was == now:
        return True
    left, right = _DIGITS.findall(was), _DIGITS.findall(now)
    if left and right and left != right:
        return False
    found = split(text, int(text.startswith("\ufeff")))
    return says_something(text if found is None else text[found[2] :])
