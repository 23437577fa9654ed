"""Properties changed in their place: what is not the property asked for keeps its bytes, comments and order.

Places are those of the YAML loader. Every change is read again before it is handed out: exactly the one
property differs, or nothing is changed.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from ohmykb.errors import KbError
from ohmykb.markdown import yaml_values as write
from ohmykb.markdown.edits import Edit, apply_edits
from ohmykb.markdown.properties import aliases, parse
from ohmykb.markdown.yaml_places import composed, front, twice
from ohmykb.note import JSON

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_COMMENT: Final = re.compile(r"[ \t]+#[^\n]*")
_IN_HEAD: Final = re.compile(r"(?<=\s)#[^\n]*")


class PatchError(KbError):
    """The properties cannot be changed without touching more than was asked for."""

    code = "properties"


def set_property(text: str, key: str, value: JSON) -> tuple[Edit, ...]:
    """`key` gets this value, in its place, or as the last one. Raises PatchError."""
    front_ = _Front(text)
    return () if _same(front_.properties.get(key, ...), value) else front_.patched(key, value)


def remove_property(text: str, key: str) -> tuple[Edit, ...]:
    """Nothing to do where it is not there. Raises PatchError."""
    front_ = _Front(text)
    return front_.removed(key) if key in front_.properties else ()


def add_to_list(text: str, key: str, items: Sequence[str]) -> tuple[Edit, ...]:
    """Adds what is not in the list yet, in the style it has; a lone value becomes a list. Tags are the same
    whatever their case, with or without `#`. Raises PatchError."""
    front_ = _Front(text)
    known = front_.properties.get(key)
    have: list[JSON] = known if isinstance(known, list) else [] if known is None else [known]
    if key == "aliases" and isinstance(known, str):
        have = list(aliases(front_.properties))
    seen = {_alike(key, item) for item in have}
    more = []
    for item in items:
        if _alike(key, item) not in seen:
            seen.add(_alike(key, item))
            more.append(item)
    return front_.extended(key, have, more) if more else ()


def _alike(key: str, item: JSON) -> str:
    return str(item).strip().removeprefix("#").lower() if key == "tags" else str(item)


class _Entry(NamedTuple):
    """A property as it is written, in places of the note."""

    start: int
    """Of its first line."""
    head: int
    """After its colon."""
    ended: int
    """After its value."""
    stop: int
    """After the line that its value ends on: blank lines and comments that follow are the next one's."""
    node: Any

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def is_block(self) -> bool:
        """Whether the value stands in lines below the key, which a comment beside the key does not follow."""
        if isinstance(self.node, yaml.ScalarNode):
            return self.node.style in ("|", ">")
        return not self.node.flow_style


class _Front:
    def __init__(self, text: str) -> None:
        self.text = text
        self._front = front(text)
        end = _LINE_END.search(text)
        self.end = end.group() if end is not None else "\n"
        self.properties, problems = parse(self._front.source)
        if problems:
            raise PatchError(f"The properties cannot be read: {problems[0].message}", "Mend them first")
        try:
            self._root = composed(self._front.source)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise PatchError("The properties cannot be read, so they are not changed.", "Mend them first") from error
        double = twice(self._root)
        if double is not None:
            raise PatchError(f"The properties name `{double}` twice, so they are not changed.", "Take one of them out")
        if self._root is not None and self._root.flow_style:
            raise PatchError("The properties are written in braces, so they are not changed.", "Change them by hand")

    # --- changes

    def patched(self, key: str, value: JSON) -> tuple[Edit, ...]:
        entry = self._entry(key)
        if entry is None:
            lead = " " * self._root.start_mark.column if self._root is not None else ""
            written = self._below(value, lead + "  - ") if isinstance(value, list) and value else _beside(value)
            return self._proved(self._appended(f"{lead}{write.key(key)}:{written}{self.end}"), key, value)
        self._refuse_comments(entry)
        line_end = _LINE_END.search(self.text, entry.ended)
        end = line_end.start() if line_end is not None else entry.stop
        if isinstance(value, list) and value and not (entry.is_list and not entry.is_block):
            lead = self._lead(entry) or " " * (self._key_column(entry)) + "  - "
            edit = Edit(entry.head, end, self._comment(entry) + self._below(value, lead))
        elif entry.is_block:
            edit = Edit(entry.head, end, _beside(value) + self._comment(entry))
        else:
            edit = Edit(entry.head, entry.ended, _beside(value))
        return self._proved((edit,), key, value)

    def removed(self, key: str) -> tuple[Edit, ...]:
        entry = self._entry(key)
        if entry is None:
            raise PatchError(f"`{key}` is not written on a line of its own.", "Take it out by hand")
        return self._proved((Edit(entry.start, entry.stop, ""),), key, None, gone=True)

    def extended(self, key: str, have: Sequence[JSON], more: Sequence[str]) -> tuple[Edit, ...]:
        entry = self._entry(key)
        wanted: list[JSON] = [*have, *more]
        if entry is None or not entry.is_list or not entry.node.value:
            if any(isinstance(item, dict) for item in have):
                self._cannot(key)
            return self.patched(key, wanted)
        mark = _mark(entry.node.value)
        if not entry.is_block:
            at = self._front.start + entry.node.value[-1].end_mark.index
            new = "".join(f", {write.scalar(item, flow=True, mark=mark)}" for item in more)
            return self._proved((Edit(at, at, new),), key, wanted)
        lead = self._lead(entry)
        if lead is None:
            self._cannot(key)
        new = "".join(f"{lead}{write.scalar(item, mark=mark)}{self.end}" for item in more)
        return self._proved((Edit(entry.stop, entry.stop, new),), key, wanted)

    # --- places

    def _entry(self, key: str) -> _Entry | None:
        flat, first = self._front.flat, self._front.start
        for name, node in self._root.value if self._root is not None else ():
            if name.value != key or not isinstance(name, yaml.ScalarNode):
                continue
            at = first + name.start_mark.index
            start = flat.rfind("\n", 0, at) + 1
            head = flat.find(":", first + name.end_mark.index) + 1
            if not head or first + node.start_mark.index < head or flat[max(start, first) : at].strip(" "):
                self._cannot(key)  # `? key`, or a value that stands where it is anchored
            last = _last(node)
            ended = max(first + last.end_mark.index, head)
            while getattr(last, "style", None) in ("|", ">") and flat[ended - 1] in " \n":
                ended -= 1  # the loader counts the blank lines below
            end = flat.find("\n", ended)
            return _Entry(max(start, first), head, ended, min(end + 1 or len(flat), self._front.stop), node)
        return None

    def _key_column(self, entry: _Entry) -> int:
        line = self._front.flat[entry.start : entry.head]
        return len(line) - len(line.lstrip(" "))

    def _lead(self, entry: _Entry) -> str | None:
        """What stands before the last item of a list below its key: `  - `."""
        if not entry.is_list or not entry.is_block or not entry.node.value:
            return None
        at = self._front.start + entry.node.value[-1].start_mark.index
        dash = re.fullmatch(r"( *-)( *)(?:[&!]\S* +)*", self._front.flat[self._front.flat.rfind("\n", 0, at) + 1 : at])
        return dash[1] + (dash[2] or " ") if dash is not None else None

    def _comment(self, entry: _Entry) -> str:
        """The comment on the line of the key, or after a value of one line."""
        if not entry.is_block:
            found = _COMMENT.match(self._front.flat, entry.ended, entry.stop)
        else:
            found = _IN_HEAD.search(self._front.flat, entry.head, entry.stop)
            if found is not None and "\n" in self._front.flat[entry.head : found.start()]:
                found = None
        return " " + found.group().strip() if found is not None else ""

    def _refuse_comments(self, entry: _Entry) -> None:
        """A comment within a list belongs to what it stands beside, and would go with it."""
        if isinstance(entry.node, yaml.ScalarNode):
            return
        first, flat = self._front.start, self._front.flat
        at = flat.find("\n", entry.head) if entry.is_block else entry.head
        stop = entry.stop if entry.is_block else entry.ended
        for leaf in [*_leaves(entry.node), None]:
            begun = first + leaf.start_mark.index if leaf is not None else stop
            if _IN_HEAD.search(flat, at, max(at, begun)):
                raise PatchError("The value holds comments, which would be lost with it.", "Change it by hand")
            at = max(at, first + leaf.end_mark.index if leaf is not None else stop)

    # --- what is written

    def _below(self, items: Sequence[JSON], lead: str) -> str:
        return "".join(f"{self.end}{lead}{write.scalar(item)}" for item in items)

    def _appended(self, line: str) -> tuple[Edit, ...]:
        if self._front.there:
            return (Edit(self._front.stop, self._front.stop, line),)
        return (Edit(self._front.start, self._front.start, f"---{self.end}{line}---{self.end}"),)

    def _proved(self, edits: tuple[Edit, ...], key: str, value: JSON, *, gone: bool = False) -> tuple[Edit, ...]:
        after = apply_edits(self.text, edits)
        now = front(after)
        said, problems = parse(now.source) if now.there else ({}, [])
        rest = self.text[self._front.stop :] if self._front.there else f"---{self.end}{self.text[self._front.start :]}"
        kept = [name for name in self.properties if name != key]
        if (
            problems
            or after[now.stop :] != rest
            or kept != [name for name in said if name != key]
            or not all(_same(self.properties[name], said[name]) for name in kept)
            or not (key not in said if gone else _same(said.get(key, ...), value))
        ):
            self._cannot(key)
        return edits

    @staticmethod
    def _cannot(key: str) -> NoReturn:
        raise PatchError(f"`{key}` cannot be changed without touching other properties.", "Change it by hand")


def _beside(value: JSON) -> str:
    return "" if value is None else f" {write.scalar(value)}"


def _last(node: Any) -> Any:
    """The last scalar, or list in brackets: what a value ends with."""
    while not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    return node


def _leaves(node: Any) -> list[Any]:
    if isinstance(node, yaml.ScalarNode):
        return [node]
    if isinstance(node, yaml.SequenceNode):
        return [leaf for item in node.value for leaf in _leaves(item)]
    return [leaf for pair in node.value for item in pair for leaf in _leaves(item)]


def _mark(items: Sequence[Any]) -> str:
    """The quote that all items have."""
    marks = {getattr(item, "style", None) for item in items}
    return str(marks.pop()) if marks in ({"'"}, {'"'}) else ""


def _same(one: object, other: object) -> bool:
    """Equal and of one kind, all the way down: 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
