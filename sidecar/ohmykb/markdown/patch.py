"""Properties changed line by line: what is not the property asked for keeps its bytes, comments and order.

Every change is read again before it is handed out: exactly the one property differs, or nothing is changed.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from ohmykb.errors import KbError
from ohmykb.markdown.edits import Edit, apply_edits
from ohmykb.markdown.properties import parse
from ohmykb.note import JSON

_FRONTMATTER: Final = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"""^(?:[^'"#]|'[^']*'|"(?:[^"\\]|\\.)*"|(?<=\S)#)*?(?P<comment>[ \t]+#.*)$""")
_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w-]*(?: [\w-]+)*")


class PatchError(KbError):
    """The properties cannot be changed without touching more than was asked for."""

    code = "properties"


def set_property(text: str, key: str, value: JSON) -> tuple[Edit, ...]:
    """`key` gets this value, in its place, or as the last one. Raises PatchError."""
    return _Front(text).patched(key, value)


def remove_property(text: str, key: str) -> tuple[Edit, ...]:
    """Nothing to do where it is not there. Raises PatchError."""
    front = _Front(text)
    return front.removed(key) if key in front.properties else ()


def add_to_list(text: str, key: str, items: Sequence[str]) -> tuple[Edit, ...]:
    """Adds what is not in the list yet, in the style it has; a lone value becomes a list. Raises PatchError."""
    front = _Front(text)
    known = front.properties.get(key)
    have = known if isinstance(known, list) else [] if known is None else [known]
    more = [item for item in dict.fromkeys(items) if item not in have]
    return front.extended(key, have, more) if more else ()


class _Front:
    def __init__(self, text: str) -> None:
        self.text = text
        self._bom = 1 if text.startswith("\ufeff") else 0
        self.end = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
        found = _FRONTMATTER.match(text, self._bom)
        self.there = found is not None
        self.start, self.stop = found.span("yaml") if found is not None else (self._bom, self._bom)
        self.properties, problems = parse(self._source(text, self.start, self.stop))
        if problems:
            raise PatchError(f"The properties cannot be read: {problems[0].message}", "Mend them first")

    @staticmethod
    def _source(text: str, start: int, stop: int) -> str:
        return text[start:stop].replace("\r\n", "\n")

    # --- changes

    def patched(self, key: str, value: JSON) -> tuple[Edit, ...]:
        written = _value(value, self.end)
        place = self._place(key)
        if place is None:
            return self._proved(self._appended(f"{_key(key)}:{written}{self.end}"), key, value)
        _, stop, head = place
        comment = _COMMENT.match(self.text[head:stop].split("\n")[0].rstrip("\r"))
        kept = comment["comment"] if comment is not None and "\n" not in written else ""
        return self._proved((Edit(head, stop, written + kept + self._tail(stop)),), key, value)

    def removed(self, key: str) -> tuple[Edit, ...]:
        place = self._place(key)
        if place is None:
            raise PatchError(f"`{key}` is not written on a line of its own.", "Take it out by hand")
        return self._proved((Edit(place[0], place[1], ""),), key, None, gone=True)

    def extended(self, key: str, have: Sequence[JSON], more: Sequence[str]) -> tuple[Edit, ...]:
        place = self._place(key)
        wanted: list[JSON] = [*have, *more]
        if place is None or not isinstance(self.properties.get(key), list) or not have:
            return self.patched(key, wanted)
        _, stop, head = place
        value = self.text[head:stop]
        if value.lstrip().startswith("["):
            close = value.rfind("]")
            new = "".join(f", {_scalar(item, flow=True)}" for item in more)
            return self._proved((Edit(head + close, head + close, new),), key, wanted)
        last = [line for line in value.split("\n") if line.strip()][-1]
        dash = re.match(r"([ \t]*-[ \t]+)", last)
        if dash is None:
            return self.patched(key, wanted)
        new = "".join(f"{dash[1]}{_scalar(item)}{self.end}" for item in more)
        return self._proved((Edit(stop, stop, new),), key, wanted)

    def _appended(self, line: str) -> tuple[Edit, ...]:
        if self.there:
            return (Edit(self.stop, self.stop, line),)
        return (Edit(self._bom, self._bom, f"---{self.end}{line}---{self.end}"),)

    def _tail(self, stop: int) -> str:
        return self.end if stop and self.text[stop - 1 : stop] == "\n" else ""

    def _place(self, key: str) -> tuple[int, int, int] | None:
        """(where its first line begins, where its last ends, where the value begins after the colon)."""
        names = "|".join(re.escape(name) for name in (key, f'"{key}"', f"'{key}'"))
        found = re.compile(rf"^(?:{names})[ \t]*:(?=[ \t\r\n]|\Z)", re.MULTILINE).search(
            self.text, self.start, self.stop
        )
        if found is None:
            return None
        stop = self._line_end(found.end())
        good = stop
        while stop < self.stop:
            after = self._line_end(stop)
            line = self.text[stop:after]
            if line.strip() and not line.startswith((" ", "\t", "-", "#")):
                break
            stop = after
            if line.strip() and not line.startswith("#"):
                good = stop  # blank lines and comments that follow are the next one's
        return found.start(), good, found.end()

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return self.stop if end < 0 or end >= self.stop else end + 1

    def _proved(self, edits: tuple[Edit, ...], key: str, value: JSON, *, gone: bool = False) -> tuple[Edit, ...]:
        after = apply_edits(self.text, edits)
        found = _FRONTMATTER.match(after, self._bom)
        said, problems = parse(self._source(after, *found.span("yaml"))) if found is not None else ({}, [])
        wanted = {name: one for name, one in self.properties.items() if name != key}
        kept = {name: one for name, one in said.items() if name != key}
        right = (key not in said) if gone else (key in said and said[key] == value and type(said[key]) is type(value))
        if problems or kept != wanted or list(kept) != list(wanted) or not right:
            raise PatchError(f"`{key}` cannot be changed without touching other properties.", "Change it by hand")
        return edits


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: JSON, end: str) -> str:
    """What follows the colon: a scalar on the line, a list below it."""
    if isinstance(value, list):
        if not value:
            return " []"
        return "".join(f"{end}  - {_scalar(item)}" for item in value)
    if isinstance(value, dict):
        raise PatchError("A property of properties is not written by us.", "Write it by hand")
    return "" if value is None else f" {_scalar(value)}"


def _scalar(value: JSON, *, flow: bool = False) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return json.dumps(value)
    text = str(value)
    if not (flow and set(text) & set(",[]{}")):
        read, problems = parse(f"x: {text}\n")
        if not problems and read == {"x": text} and not text.startswith(("{", "[")) and text == text.strip():
            return text
    return json.dumps(text, ensure_ascii=False)
