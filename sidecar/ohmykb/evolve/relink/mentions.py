"""Where a text speaks of a note without linking to it: its words as they stand, at the borders of words, in plain text.

Pure. What a link may not stand in (code, formulas, other links, headings, properties, comments, addresses) is told by
writing the link and reading again: it must be the only thing that changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ohmykb.markdown.edits import Edit, apply_edits
from ohmykb.markdown.scan import scan
from ohmykb.note import Link, Scan

_ADDRESS: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S+|\S+@\S+\.\S+", re.IGNORECASE)
_COMMENT: Final = re.compile(r"%%.*?(?:%%|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_GLUE: Final = frozenset("-_/\\.@#$%&+=~'’")
"""Signs that make a longer word of two: between letters, without a space, they are no border."""


class Mention(NamedTuple):
    start: int
    end: int
    """In code points of the text."""


def is_cjk(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7ff" or "\uf900" <= char <= "\ufaff"


def find(text: str, scanned: Scan, name: str, longer: Iterable[str] = ()) -> Iterator[Mention]:
    """Places of `name` in plain text, in order. `longer`: names of other notes that hold this one; where such a one
    stands, it is meant."""
    if not name.strip():
        return
    pattern = re.compile(re.escape(name), re.IGNORECASE)
    hidden: list[tuple[int, int]] | None = None
    others = [re.compile(re.escape(one), re.IGNORECASE) for one in longer]
    for match in pattern.finditer(text, scanned.body):
        start, end = match.span()
        if not (_border(text, start, start - 1) and _border(text, end - 1, end)):
            continue
        if any(
            hit.start() <= start and end <= hit.end()
            for one in others
            for hit in one.finditer(text, max(0, start - 200), end + 200)
        ):
            continue
        if hidden is None:
            hidden = _hidden(text, scanned)
        if any(left < end and start < right for left, right in hidden):
            continue
        yield Mention(start, end)


def _border(text: str, inside: int, outside: int) -> bool:
    """Whether a name may end here. Scripts without spaces have no borders to be seen, but a number goes on."""
    if not 0 <= outside < len(text):
        return True
    own, other = text[inside], text[outside]
    if is_cjk(own) or is_cjk(other):
        return not (is_cjk(own) and other.isdigit())
    if other in _GLUE:
        beyond = text[2 * outside - inside : 2 * outside - inside + 1] if 2 * outside >= inside else ""
        return not (beyond.isalnum() and not is_cjk(beyond))
    return not (own.isalnum() and other.isalnum())


def _hidden(text: str, scanned: Scan) -> list[tuple[int, int]]:
    spans = [(link.start, link.start + len(link.raw)) for link in scanned.links if link.start >= 0]
    spans += [(tag.start - 1, tag.start + len(tag.name) + 1) for tag in scanned.tags if tag.start >= 0]
    for heading in scanned.headings:
        end = text.find("\n", heading.start)
        end = len(text) if end < 0 else end
        after = text.find("\n", end + 1)
        under = text[end + 1 : after if after >= 0 else len(text)]
        if under.strip() and not under.strip("=- \r"):  # underlined
            end = after if after >= 0 else len(text)
        spans.append((heading.start, end))
    for pattern in (_ADDRESS, _COMMENT):
        spans += [match.span() for match in pattern.finditer(text)]
    return spans


def proves(before: Scan, text: str, edits: Sequence[Edit], expected: Sequence[str]) -> bool:
    """Whether the text after the edits has just these further links (link paths, in order of place), and says the same
    otherwise."""
    after = scan(apply_edits(text, edits))
    moved = _moved(edits)
    old = {(moved(link.start), link.raw) for link in before.links if link.start >= 0}
    new = [link for link in after.links if link.start >= 0 and (link.start, link.raw) not in old]
    kept = len([link for link in after.links if link.start >= 0]) - len(new)
    return (
        [link.linkpath for link in new] == list(expected)
        and kept == len([link for link in before.links if link.start >= 0])
        and [link for link in after.links if link.start < 0] == [link for link in before.links if link.start < 0]
        and all(_stands(link, edits) for link in new)
        and [(one.level, one.text, one.line) for one in before.headings]
        == [(one.level, one.text, one.line) for one in after.headings]
        and [(tag.name, tag.line) for tag in before.tags] == [(tag.name, tag.line) for tag in after.tags]
        and [(one.id, one.line) for one in before.blocks] == [(one.id, one.line) for one in after.blocks]
        and before.properties == after.properties
    )


def _moved(edits: Sequence[Edit]) -> Callable[[int], int]:
    """Places before → places after."""
    return lambda place: place + sum(len(one.text) - (one.end - one.start) for one in edits if one.end <= place)


def _stands(link: Link, edits: Sequence[Edit]) -> bool:
    """A new link is one that was written, whole."""
    return link.kind == "wikilink" and link.raw in {one.text for one in edits}
