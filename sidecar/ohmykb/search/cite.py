"""A wikilink that leads to this very note, wherever it is pasted."""

from urllib.parse import quote

from ohmykb.store import files
from ohmykb.store.connection import Database

_BREAKS_A_LINK = frozenset("#^[]|\\")


def cite(db: Database, path: str) -> str:
    """`[[Name]]`, or `[[folder/Name]]` where the name alone could mean another file.

    A path that no wikilink can spell (`#`, `^`, `[`, `]`, `|`) is cited as a Markdown link.
    """
    plain = path[:-3] if path.lower().endswith(".md") else path
    if plain.lower().endswith(".md"):  # x.md.md
        plain = path
    name = plain.rsplit("/", 1)[-1]
    if not _BREAKS_A_LINK.isdisjoint(plain):
        label = "".join("\\" + char if char in "[]\\" else char for char in name)
        return f"[{label}]({quote(path)})"
    others = [other for _, other, _ in files.named(db, files.name_key(path)) if other != path]
    if plain in others:  # fig.png beside the note fig.png.md
        plain = path
    return f"[[{plain if others else name}]]"
