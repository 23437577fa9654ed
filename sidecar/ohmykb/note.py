"""The nouns every room shares: what a note is made of.

The rows a scan yields by the hundred thousand (Link, Tag, Heading, Block, Chunk) are named
tuples rather than frozen dataclasses: as immutable, three times as fast to make, and they go
into SQL as they are.
"""

from enum import IntEnum
from typing import Literal, NamedTuple, NewType

NotePath = NewType("NotePath", str)
"""Vault-relative, `/` between parts, spelled exactly as on disk."""

LinkKind = Literal["wikilink", "embed", "markdown", "property"]

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]


class Link(NamedTuple):
    """One occurrence of a link in a note, as written."""

    kind: LinkKind
    raw: str
    """The exact source slice; of a property link without the quotes."""
    linkpath: str
    """Decoded text before `#` and `|`, trimmed; empty for a link to the note itself."""
    subpath: str | None
    """What follows the first `#`, without it: `H`, `H1#H2`, `^block`."""
    display: str
    """What the app would show."""
    line: int | None
    """1-based line in the file; None in a canvas."""
    start: int
    """Offset of `raw` in the text, in code points; -1 where the source slice has no place of its own."""
    key: str | None = None
    """The property that holds it (`related`, `related.0`), for kind `property`."""


class Tag(NamedTuple):
    """A tag as written, without `#`; compare lower-cased."""

    name: str
    line: int
    start: int
    """Offset of the `#`; -1 for a tag of the properties."""


class Heading(NamedTuple):
    level: int
    text: str
    """Source text after the marks, trimmed; links and emphasis stay as written (as in the app)."""
    line: int
    start: int


class Block(NamedTuple):
    """A block id, `^id` at the end of a block or on the line under it."""

    id: str
    line: int
    start: int


class ListItem(NamedTuple):
    line: int
    start: int
    end: int
    parent: int
    """1-based line of the item it is nested in; for a root item minus the line its list begins on
    (the app's convention, made 1-based)."""
    task: str | None
    """The character between the brackets of a task, else None."""


class Chunk(NamedTuple):
    """A slice of a note's text that is encoded and cited as one."""

    start: int
    end: int
    line: int
    """1-based line of `start`."""
    heading: str
    """The headings it stands under, joined by ` > `; empty at the top."""


class Problem(NamedTuple):
    """Bad content, stored and shown; never a reason to stop."""

    line: int | None
    code: str
    message: str


class Scan(NamedTuple):
    """Everything one pass over a note's text finds, in order of place."""

    properties: dict[str, JSON]
    body: int
    """Offset where the text after the frontmatter begins; 0 without frontmatter."""
    links: list[Link]
    tags: list[Tag]
    headings: list[Heading]
    blocks: list[Block]
    problems: list[Problem]


class Scope(IntEnum):
    """How far a file takes part."""

    GRAPH = 0
    """Everywhere."""
    SEARCH = 1
    """Found by probes, out of graph, orphans and suggestions."""
    TARGET = 2
    """Left out, but there: a link to it resolves."""


class Stamp(NamedTuple):
    """What tells that a file may have changed without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
