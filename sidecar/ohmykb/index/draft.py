"""One file's text in, the row of its note out: everything but where its links lead."""

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.chunks import chunk
from ohmykb.markdown.properties import aliases, property_tags, searchable, title
from ohmykb.markdown.scan import scan
from ohmykb.markdown.sounds import sounds
from ohmykb.markdown.words import fold, segment, segment_all
from ohmykb.note import JSON, Link, Problem
from ohmykb.store.files import path_key
from ohmykb.store.notes import MANAGED, PRIVATE, PROTECTED, NoteRow, Words

_DATE = re.compile(r"(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?")
_DATE_PROPERTIES = ("date", "created", "updated", "modified", "日期", "创建", "创建时间", "created_at")
HASH_BYTES = 16
_json = json.JSONEncoder(ensure_ascii=False).encode


def draft_note(file: int, path: str, text: str, problems: Sequence[Problem]) -> NoteRow:
    """The row of a Markdown note; `targets` are left open."""
    found = scan(text)
    properties = found.properties
    name = note_name(path)
    heading = title(properties, found.headings, name)
    names = aliases(properties) if properties else []
    tags = {path_key(tag.name) for tag in found.tags}
    if properties:
        tags.update(map(path_key, property_tags(properties)))
    chunks = chunk(text, found)
    label = name if heading == name else f"{name} {heading}"
    name_words, alias_words, tag_words, heading_words, property_words, path_words, body_words = segment_all(
        (
            label,
            "\n".join(names),
            "\n".join(sorted(tags)),
            "\n".join([h.text for h in found.headings]),
            searchable(properties) if properties else "",
            path,
            text[found.body :] if found.body else text,
        )
    )
    return NoteRow(
        file, path, heading,
        _word(properties.get("type")), _word(properties.get("domain")), note_date(properties, name),
        _flags(properties), _json(properties) if properties else "{}",
        found.headings, [block.id for block in found.blocks],
        names, sorted(tags), found.links, (),
        text, chunks, [text_hash(chunk_text(heading, text[part.start : part.end])) for part in chunks],
        Words(
            name_words, alias_words, tag_words, heading_words, property_words, path_words, body_words,
            sounds([label, *names]),
        ),
        [*problems, *found.problems],
        text_hash(names_text(heading, name, names)),
    )  # fmt: skip


def note_name(path: str) -> str:
    """What a note is called by its file."""
    name = path[path.rfind("/") + 1 :]
    return name[:-3] if name.lower().endswith(".md") else name


def chunk_text(title: str, text: str) -> str:
    """A chunk as it is encoded: a passage alone does not say what it is about."""
    return f"{title}\n{text}"


def names_text(title: str, name: str, aliases: Iterable[str]) -> str:
    """All that a note is called, as it is encoded."""
    return " | ".join(dict.fromkeys((name, title, *aliases)))


def draft_canvas(file: int, path: str, text: str, problems: Sequence[Problem]) -> NoteRow:
    """The row of a canvas: links from its cards, and its text to be found."""
    found = scan_canvas(text)
    name = path[path.rfind("/") + 1 :]
    stem = name[: -len(".canvas")]
    return NoteRow(
        file, path, stem, None, None, None, 0, "{}", (), (), (), (), found.links, (), found.text, (), (),
        Words(segment(stem), "", "", "", "", segment(path), segment(found.text), sounds([stem])),
        [*problems, *found.problems],
    )  # fmt: skip


def draft_unreadable(file: int, path: str, problems: Sequence[Problem]) -> NoteRow:
    """A note whose text cannot be had: known and found by its name, empty otherwise."""
    empty: tuple[Link, ...] = ()
    name = path[path.rfind("/") + 1 :].rsplit(".", 1)[0]
    return NoteRow(
        file, path, name, None, None, None, 0, "{}", (), (), (), (), empty, (), "", (), (),
        Words(segment(name), "", "", "", "", segment(path), "", sounds([name])), problems,
    )  # fmt: skip


def note_date(properties: dict[str, JSON], name: str) -> str | None:
    """The day a note is about: from its properties, else from its name; ISO, or None."""
    for key in _DATE_PROPERTIES:
        value = properties.get(key)
        if isinstance(value, str) and (found := _DATE.match(value.strip())):
            return _iso(found)
    found = _DATE.search(name)
    return _iso(found) if found else None


def _iso(found: re.Match[str]) -> str | None:
    year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
    return f"{year:04}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None


def _word(value: JSON) -> str | None:
    """`type` and `domain` as edges: one folded word; a list gives its first."""
    if isinstance(value, list):
        value = value[0] if value else None
    return (fold(str(value)).strip() or None) if isinstance(value, (str, int, float)) else None


def _flags(properties: dict[str, JSON]) -> int:
    flags = 0
    for key, flag in (("kb_private", PRIVATE), ("kb_protect", PROTECTED), ("kb_managed", MANAGED)):
        if properties.get(key) is True or properties.get(key) == "true":
            flags |= flag
    return flags


def text_hash(text: str) -> bytes:
    """What a text is known by among the vectors."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES]
