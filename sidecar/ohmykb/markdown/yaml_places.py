"""Where properties stand in the text, as the YAML loader sees it: nothing is guessed from how a line looks."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from ohmykb.markdown.properties import split

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Front(NamedTuple):
    """The frontmatter of a note. `flat` is the note with `\\n` alone for line ends, each character in its place."""

    flat: str
    start: int
    """Where the YAML begins."""
    stop: int
    """Where it ends."""
    there: bool

    @property
    def source(self) -> str:
        return self.flat[self.start : self.stop]


def front(text: str) -> Front:
    """Also for a note without: then both places are where it would begin."""
    flat = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
    bom = 1 if text.startswith("\ufeff") else 0
    found = split(flat, bom)
    return Front(flat, bom, bom, there=False) if found is None else Front(flat, found[0], found[1], there=True)


def composed(source: str) -> Any:
    """The root node, its marks in code points of `source`; None for nothing. Raises yaml.YAMLError, ValueError."""
    return yaml.compose(source, Loader=_LOADER)


def scalars(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar value by its path, as links name it (`related`, `related.0`). An alias is where it is anchored."""
    if isinstance(node, yaml.ScalarNode):
        yield path, node
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from scalars(item, f"{path}.{number}")
    elif isinstance(node, yaml.MappingNode):
        for key, item in node.value:
            yield from scalars(item, f"{path}.{key.value}" if path else str(key.value))


def twice(node: Any) -> str | None:
    """A key that some mapping holds twice, at any depth: the app reads no properties then."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen and key.value != "<<":
                    return str(key.value)
                seen.add(key.value)
            if (found := twice(value)) is not None:
                return found
    elif isinstance(node, yaml.SequenceNode):
        return next((found for item in node.value if (found := twice(item)) is not None), None)
    return None
