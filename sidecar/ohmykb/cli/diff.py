"""A unified diff for a terminal: what differs inside a line is marked, long lines wrap by columns."""

import re
from difflib import SequenceMatcher
from typing import Final

from ohmykb.search.layout import Style, clean

RED, GREEN, REVERSE, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[7m", "\x1b[27m"
END: Final = "\x1b[0m"
ALIKE: Final = 0.4
"""Below this two lines have so little in common that marking words would only confuse."""
_WORDS = re.compile(r"[\u3400-\u9fff]|\w+|\s+|.", re.DOTALL)


def show(diff: str, look: Style, indent: int = 2) -> list[str]:
    """Lines to print. The headers are left out: whoever prints names the file."""
    found: list[str] = []
    removed: list[str] = []
    added: list[str] = []

    def flush() -> None:
        pairs = [_marked(old, new, look) for old, new in zip(removed, added, strict=False)]
        olds = [pair[0] for pair in pairs] + removed[len(pairs) :]
        news = [pair[1] for pair in pairs] + added[len(pairs) :]
        for sign, colour, lines in (("-", RED, olds), ("+", GREEN, news)):
            for line in lines:
                found.append(" " * indent + _coloured(f"{sign} {line}", colour, look))
        removed.clear()
        added.clear()

    for number, line in enumerate(diff.split("\n")[:-1]):
        if number < 2:
            continue  # the names of the file
        if line.startswith("-"):
            if added:
                flush()
            removed.append(clean(line[1:]))
        elif line.startswith("+"):
            added.append(clean(line[1:]))
        else:
            flush()
            if line.startswith("@@"):
                where = re.match(r"@@ -\d+(?:,\d+)? \+(\d+)", line)
                found.append(" " * indent + look.dim(f"line {where[1]}" if where else line))
            elif line.startswith(" "):
                found += [look.dim(part) for part in look.lines(line[1:], indent + 2)]
    flush()
    return found


def _coloured(line: str, colour: str, look: Style) -> str:
    return f"{colour}{line}{END}" if look.colour else line


def _marked(old: str, new: str, look: Style) -> tuple[str, str]:
    """Both lines, the words in which they differ in reverse."""
    if not look.colour:
        return old, new
    left, right = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < ALIKE:
        return old, new
    one, two = [], []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        a, b = "".join(left[i1:i2]), "".join(right[j1:j2])
        one.append(a if tag == "equal" or not a else f"{REVERSE}{a}{PLAIN}")
        two.append(b if tag == "equal" or not b else f"{REVERSE}{b}{PLAIN}")
    return "".join(one), "".join(two)
