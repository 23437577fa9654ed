"""Values as YAML that reads back as the same, here (YAML 1.2) and by tools of the older YAML 1.1."""

import json
import re
from typing import Final

from ohmykb.markdown.properties import parse_yaml
from ohmykb.note import JSON

_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""What YAML takes for a line end, or for no text at all, though JSON lets it stand."""
_OTHER_WORD: Final = re.compile(
    r"(?i:y|n|yes|no|on|off|true|false|null|~|[-+]?\.inf|\.nan|=|<<|---|\.\.\.)\Z|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?\Z"
    r"|0[xob][0-9a-fA-F_]+\Z"
)
"""A word or number to some reader of YAML."""
_FIRST: Final = frozenset("-?:,[]{}#&*!|>'\"%@`=~")
_FLOW: Final = frozenset(",[]{}:?#&*!|>'\"%@`")
_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w-]*(?: [\w-]+)*")


def key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and not _OTHER_WORD.match(name) else quoted(name)


def scalar(value: JSON, *, flow: bool = False, mark: str = "") -> str:
    """One value on one line; a list or properties of properties as JSON. `mark` is the quote that text is to have
    even without need."""
    if value is None:
        return "null"
    if isinstance(value, str):
        if mark == "'" and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        return quoted(value) if mark or not _plain(value, flow=flow) else value
    if isinstance(value, list):
        return "[" + ", ".join(scalar(item, flow=True) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(name)}: {scalar(item, flow=True)}" for name, item in value.items()) + "}"
    return json.dumps(value)


def quoted(text: str) -> str:
    return _ESCAPED.sub(lambda one: f"\\u{ord(one.group()):04x}", json.dumps(text, ensure_ascii=False))


def _plain(text: str, *, flow: bool) -> bool:
    """Whether text may stand without quotes. Dates and times may: they are text to us and dates to the app."""
    if not text or text != text.strip() or text[0] in _FIRST or _OTHER_WORD.match(text):
        return False
    if ": " in text or " #" in text or text[-1] == ":" or (flow and not _FLOW.isdisjoint(text)):
        return False
    if not all(char.isprintable() or char in "\u00a0\u3000\u200d" for char in text):
        return False
    return parse_yaml(f"x: {text}\n") == ({"x": text}, [])
