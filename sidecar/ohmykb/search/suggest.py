"""What an unresolved link may have meant: by a ladder of rules, the surest first.

The rules only propose. Candidates come by key from small tables, and close spellings from notes that
share a word or its beginning with the link, so that a thousand broken links take no scan each.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz

from ohmykb.markdown.words import fold, is_paired, tokens
from ohmykb.store.connection import Database

CLOSE = 0.8
"""Likeness of names, from which on a spelling is close (normalised indel distance)."""
BEGUN = 4
"""Folded characters that a truncated name must have, two where they are Chinese."""
MOST = 3
_MEDIA = frozenset(
    ("avif", "base", "bmp", "canvas", "flac", "gif", "jpeg", "jpg", "m4a", "mkv", "mov", "mp3", "mp4", "ogg", "ogv",
     "pdf", "png", "svg", "wav", "webm", "webp")
)  # fmt: skip
"""Files that a link names with their extension (the app's help, "Accepted file formats")."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    path: str
    score: float
    rule: str
    """normalised, alias, begun, close."""


class Names:
    """Names and aliases of all notes, keyed for the ladder; read once for many links."""

    def __init__(self, db: Database) -> None:
        self._exact: dict[str, list[str]] = {}
        self._alias: dict[str, list[str]] = {}
        self._by_piece: dict[str, set[str]] = {}
        self._keys: dict[str, str] = {}
        for path in (row[0] for row in db.rows("SELECT path FROM files WHERE scope = 0 ORDER BY path")):
            key = _key(_stem(path))
            self._exact.setdefault(key, []).append(path)
            self._keys[path] = key
            for piece in _pieces(_stem(path)):
                self._by_piece.setdefault(piece, set()).add(path)
        for alias, path in db.rows(
            "SELECT a.alias, f.path FROM aliases a JOIN files f ON f.id = a.note WHERE f.scope = 0"
        ):
            self._alias.setdefault(_key(alias), []).append(path)
        self._sorted = sorted(self._exact)

    def suggest(self, linkpath: str, source: str = "") -> list[Suggestion]:
        """At most three, the best first; nothing for a link without a name.

        Not the note that holds the link (`source`); for a picture only files of its kind.
        """
        name = linkpath.rsplit("/", 1)[-1]
        key = _key(name.removesuffix(".md"))
        if not key:
            return []
        found: dict[str, Suggestion] = {}
        self._add(found, self._exact.get(key, ()), 0.98, "normalised")
        self._add(found, self._alias.get(key, ()), 0.95, "alias")
        if len(key) >= (2 if is_paired(key) else BEGUN):
            self._add(found, self._beginning(key), 0.8, "begun")
        if len(found) < MOST:
            for path in self._near(name):
                likeness = fuzz.ratio(key, self._keys[path]) / 100
                if likeness >= CLOSE:
                    self._add(found, (path,), round(likeness * 0.9, 3), "close")
        found.pop(source, None)
        wanted = _kind(linkpath)
        found = {path: one for path, one in found.items() if _kind(path) == wanted}
        best = sorted(found.values(), key=lambda one: (-one.score, len(one.path), one.path))
        return best[:MOST]

    @staticmethod
    def _add(found: dict[str, Suggestion], paths: Iterable[str], score: float, rule: str) -> None:
        for path in paths:
            if path not in found:
                found[path] = Suggestion(path, score, rule)

    def _beginning(self, key: str) -> list[str]:
        place = bisect_left(self._sorted, key)
        paths: list[str] = []
        while place < len(self._sorted) and self._sorted[place].startswith(key) and len(paths) < MOST:
            paths.extend(self._exact[self._sorted[place]])
            place += 1
        return paths

    def _near(self, name: str) -> set[str]:
        near: set[str] = set()
        for piece in _pieces(name):
            paths = self._by_piece.get(piece, set())
            if len(paths) <= 2000:
                near |= paths
        return near


def _kind(path: str) -> str:
    """The extension of a picture, recording and the like; empty for a note."""
    extension = path.rpartition(".")[2].lower()
    return extension if extension in _MEDIA else ""


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name


def _key(name: str) -> str:
    """Letters and digits only, folded: width, case, accents, dashes, quotes and spaces do not count."""
    return "".join(c for c in fold(name) if c.isalnum())


def _pieces(name: str) -> set[str]:
    """What names of close spelling share: a pair of characters, or three letters at either end of a word."""
    pieces: set[str] = set()
    for token in tokens(name):
        if is_paired(token):
            pieces.update((token, token[0]))
        else:
            pieces.update((token[:3], "\x00" + token[-3:]))
    return pieces
