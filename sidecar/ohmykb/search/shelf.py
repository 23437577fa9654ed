"""The names of a vault's files of one kind, under every key that a misspelled link may be found by.

A spelling with one fault keeps either its beginning or its end, so that two short keys a name find all
of them, and no link takes a scan of the vault.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from ohmykb.markdown.words import fold, segment_all, tokens

MOST_BEGUN = 200
"""Names that begin alike are looked at up to here; of more, a link that stops short tells nothing."""
MOST_OF_A_WORD = 500
"""A word that more names share tells nothing."""
MOST_ALIKE = 8
NUMERALS = "〇零一二三四五六七八九十百千"
_MARKS = re.compile(r"[^\w\n]+|_+")
_GAP = re.compile("[^\\w\u0080-\U0010ffff]+|_+")
_HAN = "\u2e80"
_NUMBERS = re.compile(rf"\d+|[{NUMERALS}]+")
_SERIES = re.compile(rf"\d+|[{NUMERALS}]+|(?<![^\W_])(?:[a-z]|[ivx]+)(?![^\W_])")


def simplified(keys: str) -> str:
    """Traditional characters made simplified and nothing else: `fold` also takes accents off."""
    if keys.isascii():
        return keys
    table = {ord(char): plain for char in set(keys) if char >= _HAN and (plain := fold(char)) != char}
    return keys.translate(table) if table else keys


_FORM = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "‐‑‒–—―−⸺⸻〜～﹘﹣~"), "-"),
    **dict.fromkeys(map(ord, "‘’‚‛′ʼ´`｀＇"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»「」『』＂"), '"'),
    **dict.fromkeys(map(ord, " \t\u00a0\u1680\u202f\u205f\u3000\u200b\u200c\u200d\u2060\ufeff\u00ad"), None),
    **dict.fromkeys(range(0x2000, 0x200B)),
}
_DASHES = re.compile("--+")


def normal_key(name: str) -> str:
    """Equal exactly for names that differ only by width, dashes, quotes, spaces, case and Unicode composition."""
    if name.isascii():
        key = name.lower().replace(" ", "").replace("\t", "").replace("`", "'").replace("~", "-")
    else:
        key = normalize("NFC", normalize("NFC", name).translate(_FORM).casefold())
    return _DASHES.sub("-", key) if "--" in key else key


def letters(folded: str) -> str:
    """Letters and digits only, of folded names, one a line: dashes, quotes, spaces and marks do not count."""
    return _MARKS.sub("", folded)


def numbers(name: str, *, series: bool) -> list[str]:
    """What tells the members of a series apart: numbers, numerals, and for `series` single letters too."""
    return (_SERIES if series else _NUMBERS).findall(fold(name))


_KINDS: Final = {
    **dict.fromkeys(("avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp"), "picture"),
    **dict.fromkeys(("flac", "m4a", "mp3", "ogg", "wav"), "sound"),
    **dict.fromkeys(("mkv", "mov", "mp4", "ogv", "webm"), "film"),
    "pdf": "pdf", "canvas": "canvas", "base": "base",
}  # fmt: skip
"""Files that a link names with their extension (the app's help, "Accepted file formats")."""


class Name(NamedTuple):
    """The last part of a link or path, as the ladder compares it."""

    kind: str
    """Of a picture, recording and the like; empty for a note."""
    extension: str
    stem: str
    normal: str
    simple: str
    letters: str

    @property
    def keys(self) -> tuple[str, str, str]:
        return self.normal, self.simple, self.letters


class Shelf:
    """Paths by key. What is `out` counts when a name should be the only one, and is never proposed."""

    def __init__(self) -> None:
        self.normal: dict[str, list[str]] = {}
        self.simple: dict[str, list[str]] = {}
        self.out: set[str] = set()
        self.letters: dict[str, list[str]] = {}
        """Of those that may be proposed."""
        self.aliases: dict[str, list[str]] = {}
        """By simplified normal key."""
        self._sorted: list[str] | None = None
        self._halves: dict[str, list[str]] | None = None
        self._words: dict[str, list[str]] | None = None

    def put(self, path: str, keys: tuple[str, str, str], *, out: bool) -> None:
        """`keys`: normal, simplified, letters."""
        normal, simple, loose = keys
        self.normal.setdefault(normal, []).append(path)
        self.simple.setdefault(simple, []).append(path)
        if out:
            self.out.add(path)
            return
        if not loose:
            return
        known = self.letters.setdefault(loose, [])
        known.append(path)
        if len(known) > 1:
            return
        if self._sorted is not None:
            insort(self._sorted, loose)
        if self._halves is not None:
            for half in _halves(loose):
                self._halves.setdefault(half, []).append(loose)
        if self._words is not None:
            for word in set(tokens(stem(path))):
                self._words.setdefault(word, []).append(loose)

    def take(self, path: str, keys: tuple[str, str, str]) -> None:
        normal, simple, loose = keys
        _drop(self.normal, normal, path)
        _drop(self.simple, simple, path)
        if path in self.out:
            self.out.discard(path)
            return
        if not loose or not _drop(self.letters, loose, path):
            return
        if self._sorted is not None:
            del self._sorted[bisect_left(self._sorted, loose)]
        if self._halves is not None:
            for half in _halves(loose):
                _drop(self._halves, half, loose)
        if self._words is not None:
            for word in set(tokens(stem(path))):
                _drop(self._words, word, loose)

    def beginning(self, key: str) -> list[str]:
        """Longer keys that begin so; none where too many do."""
        if self._sorted is None:
            self._sorted = sorted(self.letters)
        low = bisect_left(self._sorted, key)
        high = bisect_left(self._sorted, key + "\U0010ffff", low)
        return [one for one in self._sorted[low:high] if one != key] if high - low <= MOST_BEGUN else []

    def begun(self, key: str, least: int) -> list[str]:
        """Keys of at least so many characters that `key` begins with."""
        return [key[:end] for end in range(least, len(key)) if key[:end] in self.letters]

    def one_off(self, key: str) -> list[str]:
        """Keys that one wrong, missing, added or swapped character makes of `key`."""
        if self._halves is None:
            self._halves = {}
            for known in self.letters:
                for half in _halves(known):
                    self._halves.setdefault(half, []).append(known)
        near: dict[str, None] = {}
        for length in range(max(len(key) - 1, 1), len(key) + 2):
            for piece in _halves(key, length):
                near.update(dict.fromkeys(self._halves.get(piece, ())))
        found = process.extract(key, list(near), scorer=OSA.distance, score_cutoff=1, limit=None)
        return [one for one, off, _ in found if off]

    def alike(self, key: str, name: str, least: float) -> list[tuple[str, float]]:
        """(key, likeness from `least` to 1) of names that share a rare word with `name`."""
        if self._words is None:
            self._words = {}
            stems = [stem(paths[0]) for paths in self.letters.values()]
            for known, line in zip(self.letters, segment_all(stems), strict=True):
                for word in set(_GAP.sub(" ", line).split()):
                    self._words.setdefault(word, []).append(known)
        near: dict[str, None] = {}
        for word in set(tokens(name)):
            if len(word) > 1:
                keys: Sequence[str] = self._words.get(word, ())
                near.update(dict.fromkeys(keys if len(keys) <= MOST_OF_A_WORD else ()))
        there = [one for one in near if one in self.letters]  # a name spelled in two ways leaves traces
        found = process.extract(key, there, scorer=fuzz.ratio, score_cutoff=least * 100, limit=MOST_ALIKE)
        return [(one, likeness / 100) for one, likeness, _ in found]

    def offered(self, paths: Iterable[str]) -> list[str]:
        return [path for path in paths if path not in self.out]


def stem(path: str) -> str:
    """The last part of a path, without `.md`."""
    name = path[path.rfind("/") + 1 :]
    return name[:-3] if name[-3:].lower() == ".md" and len(name) > 3 else name


def _halves(key: str, length: int | None = None) -> tuple[str, str]:
    """The beginning and the end of a name, the middle left out: of the two, one fault spares one.

    A fault is one character wrong, missing or added, or two neighbours swapped. With n characters and
    halves of h = (n - 1) // 2, a fault at p >= h spares the first h, one at p < h the last h, since the
    swap of p and p + 1 <= h ends before n - h > h. `length` is n, that of the name looked for.
    """
    length = length or len(key)
    half = (length - 1) // 2
    return f"{length}<{key[:half]}", f"{length}>{key[len(key) - half :]}"


def _drop(table: dict[str, list[str]], key: str, value: str) -> bool:
    """Takes one value out; whether none is left."""
    values = table.get(key)
    if values is None or value not in values:
        return False
    values.remove(value)
    if values:
        return False
    del table[key]
    return True


def read_names(paths: Sequence[str]) -> list[Name]:
    """One pass over all: folding a name alone costs ten times its share of a long text."""
    parts = []
    for path in paths:
        name = stem(path.replace("\n", " "))
        extension = name[name.rfind(".") + 1 :].lower()
        kind = _KINDS.get(extension, "") if "." in name else ""
        parts.append((kind, extension, name[: -len(extension) - 1]) if kind else ("", "", name))
    bare = [part[2] for part in parts]
    normal = in_lines(normal_key, bare)
    simple = in_lines(simplified, normal)
    loose = in_lines(letters, in_lines(fold, bare))
    return [Name(*part, one, two, three) for part, one, two, three in zip(parts, normal, simple, loose, strict=True)]


def in_lines(change: Callable[[str], str], texts: list[str]) -> list[str]:
    changed = change("\n".join(texts)).split("\n")
    return changed if len(changed) == len(texts) else [change(text) for text in texts]
