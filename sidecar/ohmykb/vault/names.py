"""What is wrong with the names in a folder: a whole folder at once, since nearly always nothing is."""

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from ohmykb.note import Problem
from ohmykb.vault import troubles

# Names that Windows, and some phones and sync services, cannot hold. Joined by `/`, which no name contains.
_CHARACTERS = re.compile(r'[:*?"<>|\\\x00-\x1f]')
_RESERVED = re.compile(r"/(?:CON|PRN|AUX|NUL|COM[1-9]|LPT[1-9])[./]", re.IGNORECASE)


def fold(name: str) -> str:
    """Equal for names that a disk may take for one: without regard to case and Unicode normalisation."""
    return name.casefold() if name.isascii() else normalize("NFC", normalize("NFC", name).casefold())


def name_problems(names: Sequence[str]) -> Iterator[tuple[str, Problem]]:
    """`(name, Problem)` for the names of one folder; a clash comes after what else is wrong with a name."""
    if not names:
        return
    joined = f"/{'/'.join(names)}/"
    if _CHARACTERS.search(joined) or "./" in joined or " /" in joined or _RESERVED.search(joined):
        for name in names:
            wrong = _not_portable(name)
            if wrong:
                yield name, troubles.name_not_portable(wrong)
    folded = fold(joined).split("/")[1:-1]
    if len(set(folded)) != len(names):
        groups: dict[str, list[str]] = {}
        for name, key in zip(names, folded, strict=True):
            groups.setdefault(key, []).append(name)
        for group in groups.values():
            for name in group if len(group) > 1 else ():
                yield name, _clash(name, [other for other in group if other != name])


def _not_portable(name: str) -> str | None:
    found = _CHARACTERS.search(name)
    if found:
        return f"holds {found[0]!r}"
    if name[-1] in ". ":
        return "ends in a dot" if name[-1] == "." else "ends in a space"
    return f"is reserved ({name.partition('.')[0]})" if _RESERVED.match(f"/{name}/") else None


def _clash(name: str, others: list[str]) -> Problem:
    shown = ", ".join(repr(other) for other in others)
    if all(normalize("NFC", name) == normalize("NFC", other) for other in others):
        return troubles.name_normalization(shown)
    return troubles.name_case(shown)
