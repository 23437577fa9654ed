"""Frontmatter -> properties. Most notes hold a few plain lines, which a reader of our own takes
ten times faster than libyaml; whatever is not plain goes to the loader. Both resolve scalars as the
app does (YAML 1.2: dates, `yes` and `12:30` stay strings)."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from ohmykb.note import JSON, Heading, Problem

MAX_NODES = 100_000
"""More values than this are a YAML bomb (aliases of aliases), not properties."""

_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*|0[0-9]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASE = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_MAYBE = frozenset("-+.0123456789")
_TAG_OK = re.compile(r"[^\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+\Z")


def split(text: str, start: int = 0) -> tuple[int, int, int] | None:
    """Where the frontmatter's YAML begins and ends, and where the body begins; None without one."""
    opened = text.find("\n", start)
    if opened < 0 or not text.startswith("---", start) or text[start + 3 : opened].strip(" \t"):
        return None
    at = opened
    while (at := text.find("\n---", at)) >= 0:
        end = text.find("\n", at + 4)
        if end < 0:
            end = len(text)
        if end == at + 4 or not text[at + 4 : end].strip(" \t"):
            return opened + 1, at + 1, end + 1 if end < len(text) else end
        at += 4
    return None


def parse(source: str, first_line: int = 2) -> tuple[dict[str, JSON], list[Problem]]:
    """The properties in a block of YAML that begins on `first_line` of its file."""
    plain = parse_plain(source)
    if plain is not None:
        return plain, []
    if (
        "{{" in source
        and (template := _TEMPLATE.search(source))
        and parse_plain(_TEMPLATE.sub("x", source)) is not None
    ):
        # Templates are the one thing wrong: the loader would say so, but slowly.
        line = first_line + source.count("\n", 0, template.start())
        return {}, [Problem(line, "bad-yaml", _sentence(source, line, first_line, ""))]
    return parse_yaml(source, first_line)


# -- plain lines ----------------------------------------------------------------------------------

_KEY = re.compile(r"[^\W\d](?:[\w /.-]*\w)?")
_QUOTED = re.compile(r"(?:\"[^\"\\\n]*\"|'[^'\n]*')\Z")
_NOT_FIRST = frozenset("!&*-?|>@`\"'#{}[],%:")


_TEMPLATE = re.compile(r"(?<=: )\{\{[\w.-]+\}\}(?= *(?:\n|\Z))")
_FOLDS = {">-": (" ", ""), ">": (" ", "\n"), "|-": ("\n", ""), "|": ("\n", "\n")}


class _NotPlainError(Exception):
    pass


def parse_plain(source: str) -> dict[str, JSON] | None:
    """`key: scalar`, `key: [a, b]` and `key:` with a list below it; None for anything else."""
    lines = source.split("\n")
    if not "".join(lines).isprintable():
        return None
    found: dict[str, JSON] = {}
    key = ""  # the one that a list may follow
    items: list[JSON] | None = None
    depth = 0
    for line in lines:
        if not line or line[0] == " " or line[0] == "-":
            bare = line.strip(" ")
            if not bare:
                continue
            if not key or bare[0] != "-":
                return None
            indent = line.find("-")
            if items is None:
                items = []
                found[key] = items
                depth = indent
            elif depth != indent:
                return None
            if bare == "-":
                items.append(None)
                continue
            if bare[1] != " ":
                return None
            value = bare[1:].strip(" ")
            into = items
        else:
            colon = line.find(":")
            if colon <= 0:
                return None
            key = line[:colon]
            if (not key.isidentifier() and not _KEY.fullmatch(key)) or key in _WORDS:
                return None
            value = line[colon + 1 :]
            if value:
                if value[0] != " ":
                    return None
                value = value.strip(" ")
            items = None
            if not value:
                found[key] = None
                continue
            into = None
        if value in _FOLDS:
            return _with_text(source) if into is None else None
        # A word or a few, a date, something in quotes: by far the most frequent values.
        first = value[0]
        read: JSON
        if (
            (first.isalpha() or (value[4:5] == "-" and value[:4].isdigit()))
            and value not in _WORDS
            and value[-1] != ":"
            and (":" not in value or ": " not in value)
            and ("#" not in value or " #" not in value)
        ):
            read = value
        elif (first == '"' or first == "'") and value[-1] == first and value.count(first) == 2 and "\\" not in value:
            read = value[1:-1]
        else:
            try:
                read = _value(value)
            except _NotPlainError:
                return None
        if into is None:
            found[key] = read
            key = ""
        else:
            into.append(read)
    return found


_TEXT = re.compile(r"(?:^|\n)(\w[^:\n]*): +([>|]-?) *(\n(?P<depth> +)[^\s].*(?:\n(?P=depth)[^\s].*)*)?(?=\n(?:\S|\Z))")


def _with_text(source: str) -> dict[str, JSON] | None:
    """The same with `key: >-` and the like, each over lines of one depth: they are put in afterwards."""
    texts: list[str] = []

    def out(got: re.Match[str]) -> str:
        joint, tail = _FOLDS[got.group(2)]
        depth = len(got.group("depth") or "")
        texts.append("" if not depth else joint.join(line[depth:] for line in got.group(3)[1:].split("\n")) + tail)
        return f"{got.group(0)[:1] if got.group(0)[0] == chr(10) else ''}{got.group(1)}: \u241a"

    if "\u241a" in source:
        return None
    bare = _TEXT.sub(out, source)
    found = parse_plain(bare) if texts else None
    if found is None or list(found.values()).count("\u241a") != len(texts):
        return None
    waiting = iter(texts)
    return {key: next(waiting) if value == "\u241a" else value for key, value in found.items()}


def _value(text: str) -> JSON:
    first = text[0]
    if first == "[":
        if text[-1] != "]":
            raise _NotPlainError
        inner = text[1:-1].strip(" ")
        if not inner:
            return []
        if "[" in inner or "{" in inner or "]" in inner or "}" in inner:
            return _flow_quoted(inner)
        if '"' in inner or "'" in inner:
            return _flow_quoted(inner)
        return [_flow_scalar(part.strip(" ")) for part in inner.split(",")]
    return _scalar(text)


def _flow_scalar(part: str) -> JSON:
    if not part or ":" in part or "?" in part:
        raise _NotPlainError
    return _scalar(part)


_FLOW_QUOTED = re.compile(r" *(\"[^\"\\\n]*\"|'[^'\n]*') *(?:,|\Z)")


def _flow_quoted(inner: str) -> JSON:
    """A flow list whose every item is in quotes."""
    at = 0
    items: list[JSON] = []
    while at < len(inner):
        part = _FLOW_QUOTED.match(inner, at)
        if part is None:
            raise _NotPlainError
        items.append(_scalar(part.group(1)))
        at = part.end()
    if inner[-1] == ",":
        raise _NotPlainError
    return items


def _scalar(text: str) -> JSON:
    first = text[0]
    if first in "\"'":
        if _QUOTED.match(text) is None:
            raise _NotPlainError
        return text[1:-1]
    if first in _NOT_FIRST and not (first == "-" and _FLOAT.match(text)):
        raise _NotPlainError
    if ": " in text or " #" in text or text[-1] == ":":
        raise _NotPlainError
    return _resolve(text)


def _resolve(text: str) -> JSON:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _MAYBE:
        if _NUMBER.match(text):
            if len(text) > 300:
                raise _NotPlainError
            return int(text)
        if _BASE.match(text):
            return int(text[2:], 8 if text[1] == "o" else 16)
        if _FLOAT.match(text):
            number = float(text)
            return number if number - number == 0 else text
    return text


# -- everything else ------------------------------------------------------------------------------

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Resolves plain scalars by the YAML 1.2 core schema, as the app's parser does."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own)
    yaml_constructors: dict[str | None, Any] = dict(_Base.yaml_constructors)  # noqa: RUF012


def _number(loader: Any, node: Any) -> JSON:
    text = str(loader.construct_scalar(node))
    try:
        return _resolve(text)
    except _NotPlainError:
        return text


def _text(loader: Any, node: Any) -> JSON:
    return str(loader.construct_scalar(node))


for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z", list("-+0123456789")),
    ("tag:yaml.org,2002:float", _FLOAT.pattern, list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _text)
_Loader.add_constructor("tag:yaml.org,2002:binary", _text)


def parse_yaml(source: str, first_line: int = 2) -> tuple[dict[str, JSON], list[Problem]]:
    """The same by the loader, for any YAML."""
    try:
        loaded = yaml.load(source, Loader=_Loader)  # noqa: S506 (a safe loader)
        if loaded is None:
            return {}, []
        if not isinstance(loaded, dict):
            return {}, [
                Problem(first_line, "bad-yaml", "The properties are not `name: value` lines, so none were read.")
            ]
        return {_key(k): v for k, v in _Plain().convert_items(loaded)}, []
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = first_line + mark.line if mark is not None else first_line
        why = getattr(error, "problem", None) or "this is not YAML"
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        line, why = first_line, str(error) or "this is not YAML"
    return {}, [Problem(line, "bad-yaml", _sentence(source, line, first_line, why))]


def _sentence(source: str, line: int, first_line: int, why: str) -> str:
    lines = source.split("\n")
    here = lines[line - first_line] if 0 <= line - first_line < len(lines) else ""
    if "{{" in here or "<%" in here:
        return f"Line {line} of the properties holds a template that was not filled in; no property was read."
    return f"The properties cannot be read at line {line}: {why}. No property was read; the text was."


def _key(key: object) -> str:
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


class _Plain:
    """Turns what the loader made into JSON, with an end to how much."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def convert_items(self, source: dict[Any, Any]) -> Iterable[tuple[str, JSON]]:
        return [(_key(k), self.convert(v)) for k, v in source.items()]

    def convert(self, value: object) -> JSON:
        self.left -= 1
        if self.left < 0:
            raise ValueError(f"they hold more than {MAX_NODES} values")
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, dict):
            return dict(self.convert_items(value))
        if isinstance(value, list | tuple | set | frozenset):
            return [self.convert(item) for item in value]
        return str(value)


# -- what the properties say ----------------------------------------------------------------------


def aliases(properties: dict[str, JSON]) -> list[str]:
    """Other names of the note: `aliases`, a list, or text split on commas."""
    value = properties.get("aliases")
    if isinstance(value, str):
        return [part for part in (piece.strip() for piece in value.split(",")) if part]
    if isinstance(value, list):
        return [name for name in (_word(item) for item in value) if name]
    word = _word(value)
    return [word] if word else []


def property_tags(properties: dict[str, JSON]) -> list[str]:
    """Tags of the property `tags`, without `#`. As in the app, text is one tag, and no tag when it
    holds a comma or a space (oracle: yaml_tags_with_two_values_on_one_line)."""
    value = properties.get("tags")
    found = []
    for item in value if isinstance(value, list) else [value]:
        name = item if isinstance(item, str) else _word(item)
        name = name.strip().removeprefix("#")
        if _TAG_OK.match(name) and not (name.isdigit() and name.isascii()):
            found.append(name)
    return found


def _word(value: JSON) -> str:
    if value is None or isinstance(value, bool | list | dict):
        return ""
    return str(value).strip()


def title(properties: dict[str, JSON], headings: Sequence[Heading], name: str) -> str:
    """`title` when it is text, else the first heading when that is of level 1, else the file's name."""
    value = properties.get("title")
    if isinstance(value, str) and value.strip():
        return value.strip()
    if headings and headings[0].level == 1 and headings[0].text:
        return headings[0].text
    return name


def searchable(properties: dict[str, JSON]) -> str:
    """Keys and values as lines of text, for the full-text index."""
    lines: list[str] = []

    def add(key: str, value: JSON) -> None:
        if isinstance(value, dict):
            for inner, item in value.items():
                add(f"{key} {inner}", item)
        elif isinstance(value, list):
            texts = [_word(item) for item in value if not isinstance(item, list | dict)]
            lines.append(f"{key} {' '.join(text for text in texts if text)}".rstrip())
            for item in value:
                if isinstance(item, list | dict):
                    add(key, item)
        elif value is None:
            lines.append(key)
        else:
            lines.append(f"{key} {str(value).lower() if isinstance(value, bool) else value}")

    for key, value in properties.items():
        add(key, value)
    return "\n".join(lines)
