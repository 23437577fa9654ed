"""Parameters of a route: one table entry both checks a request and describes it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import parse_qsl

from ohmykb.errors import UsageError

VISIBLE: Final = "[^\\s\x1c-\x1f\x85\ufeff]"
"""A pattern of JSON Schema: something to read. (Regular expressions differ on a few of these spaces.)"""
_PART = r"(?:[^/\\.\x00]|\.[^/\\.\x00]|\.\.[^/\\\x00])[^/\\\x00]*"
INSIDE: Final = rf"^{_PART}(?:[/\\]{_PART})*$"
"""A path or name that cannot lead out of the vault."""
_FOLDER = r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*"
FOLDER: Final = rf"^{_FOLDER}(?:/{_FOLDER})*$"
DAY: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    about: str
    kind: Literal["string", "integer"] = "string"
    required: bool = False
    default: str | int | None = None
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    format: str | None = None

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self.kind}
        if self.kind == "integer":
            found |= {"minimum": self.low, "maximum": self.high}
        elif self.choices:
            found["enum"] = list(self.choices)
        elif self.format:
            found["format"] = self.format
        else:
            found["minLength"] = 1
        if self.pattern:
            found["pattern"] = self.pattern
        if self.default is not None:
            found["default"] = self.default
        return found

    def read(self, text: str) -> str | int:
        """Raises UsageError."""
        if self.kind == "integer":
            if not re.fullmatch("-?[0-9]{1,12}", text) or not self.low <= int(text) <= self.high:
                raise UsageError(
                    f"`{self.name}` should be a whole number from {self.low} to {self.high}.",
                    f"Ask with {self.name}={self.default if self.default is not None else self.low}",
                )
            return int(text)
        if self.choices and text not in self.choices:
            raise UsageError(f"`{self.name}` should be one of {', '.join(self.choices)}.", "Choose one")
        if not text or (self.pattern and not re.search(_python(self.pattern), text)):
            raise UsageError(f"`{self.name}` should be {self.about}.", "Mend the parameter, or leave it out")
        return text


def read_query(raw: str, params: tuple[Param, ...]) -> dict[str, Any]:
    """The checked parameters of a query string, absent ones at their default. Raises UsageError."""
    known = {param.name: param for param in params}
    found: dict[str, Any] = {param.name: param.default for param in params}
    seen: set[str] = set()
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, errors="strict", max_num_fields=100)
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError("The parameters are not UTF-8, or too many.", "Encode them as UTF-8") from error
    for name, text in pairs:
        if name not in known:
            some = ", ".join(known) or "none"
            raise UsageError(f"There is no parameter `{name}` here.", f"Known: {some}")
        if name in seen:
            raise UsageError(f"`{name}` is given twice.", "Give it once")
        seen.add(name)
        found[name] = known[name].read(text)
    for param in params:
        if param.required and param.name not in seen:
            raise UsageError(f"`{param.name}` is missing.", f"Add {param.name}=…: {param.about}")
    return found


def check(value: Any, schema: Mapping[str, Any], where: str = "the body") -> Any:
    """`value`, if it fits this part of JSON Schema (the part shapes.py uses). Raises UsageError."""
    if "anyOf" in schema:
        for choice in schema["anyOf"]:
            if _is_type(value, choice.get("type")):
                return check(value, choice, where)
        kinds = " or ".join(choice["type"] for choice in schema["anyOf"])
        raise UsageError(f"`{where}` should be of type {kinds}.", "See openapi.json")
    kind = schema.get("type")
    if not _is_type(value, kind):
        raise UsageError(f"`{where}` should be of type {kind}.", "See openapi.json")
    if kind == "object":
        properties = schema.get("properties", {})
        for name in value:
            if name not in properties and schema.get("additionalProperties") is False:
                raise UsageError(f"There is no `{name}` in {where}.", f"Known: {', '.join(properties)}")
        for name in schema.get("required", ()):
            if name not in value:
                raise UsageError(f"`{name}` is missing in {where}.", "Add it")
        return {
            name: check(inner, properties[name], name if where == "the body" else f"{where}.{name}")
            for name, inner in value.items()
        }
    if kind == "array":
        return [check(inner, schema["items"], f"{where}[{number}]") for number, inner in enumerate(value)]
    _check_value(value, schema, where)
    return int(value) if kind == "integer" else value


def _check_value(value: Any, schema: Mapping[str, Any], where: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        choices = ", ".join(
            json.dumps(choice) if not isinstance(choice, str) else choice or '""' for choice in schema["enum"]
        )
        raise UsageError(f"`{where}` should be one of {choices}.", "Choose one")
    if "pattern" in schema and not re.search(_python(schema["pattern"]), value):
        about = schema.get("description", "of another form")
        raise UsageError(f"`{where}` should be {about}.", "See openapi.json")
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        raise UsageError(f"`{where}` should be from {schema['minimum']} to {schema['maximum']}.", "Mend it")


def _is_type(value: Any, kind: str | None) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "integer":
            return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return True


def _python(pattern: str) -> str:
    """`$` of JSON Schema is the very end."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
