"""Where the strings of a canvas stand in its file: JSON read by position, each string with its path."""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Token(NamedTuple):
    """A string with its quotes."""

    start: int
    end: int
    value: str


Path = tuple[str | int, ...]


def strings(text: str) -> Iterator[tuple[Path, Token]]:
    """Every string that is a value, in order. For text that is valid JSON; of other text, whatever comes of it."""
    path: list[str | int] = []
    key: str | None = None
    for piece in _PIECE.finditer(text):
        sign = piece.group()
        if sign == "{":
            path.append("")
            key = None
        elif sign == "[":
            path.append(0)
        elif sign in "}]":
            if path:
                path.pop()
            key = None
        elif sign == ",":
            key = None
            if path and isinstance(path[-1], int):
                path[-1] += 1
        elif sign == ":":
            if path and key is not None:
                path[-1] = key
        elif path and isinstance(path[-1], str) and key is None:
            key = _value(sign)
        else:
            yield tuple(path), Token(piece.start(), piece.end(), _value(sign))


def nodes(text: str) -> list[dict[str, Token]]:
    """The strings of each card, by key. A card that holds a key twice is left out: which counts is not certain."""
    found: dict[str | int, dict[str, Token]] = {}
    doubtful: set[str | int] = set()
    for path, token in strings(text):
        if len(path) != 3 or path[0] != "nodes" or not isinstance(path[1], int) or not isinstance(path[2], str):
            continue
        card = found.setdefault(path[1], {})
        if path[2] in card:
            doubtful.add(path[1])
        card[path[2]] = token
    return [card for number, card in sorted(found.items(), key=lambda item: int(item[0])) if number not in doubtful]


def _value(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return ""
