"""What an unresolved link may have meant: by a ladder of rules, the surest first.

The rules only propose. Candidates come by key from small tables (`shelf`), so that a thousand broken
links take no scan each, and a link that stands in many notes is thought about once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from ohmykb.markdown.words import CHINESE_LETTER, fold, is_paired
from ohmykb.search.shelf import Name, Shelf, in_lines, letters, normal_key, numbers, read_names, simplified
from ohmykb.store import files
from ohmykb.store.connection import Database

Rule = Literal["normalised", "alias", "converted", "elsewhere", "letters", "begun", "close", "alike"]

MOST: Final = 3
SCORES: Final[dict[Rule, float]] = {
    "normalised": 0.98, "alias": 0.95, "converted": 0.93, "elsewhere": 0.9, "letters": 0.88,
    "begun": 0.85, "close": 0.9, "alike": 0.75,
}  # fmt: skip
"""The order of the rules; those of `begun`, `close` and `alike` shrink with what is missing or wrong."""
BEGUN_FLOOR: Final = 0.5
"""The score of a beginning so short that it tells next to nothing."""
BEGUN: Final = 4
"""Letters that a beginning must have; Chinese characters count more, so two suffice."""
BEGUN_SHARE: Final = 0.5
"""Of a link that is longer than the name, so much must be the name; of a name, so much a shorter beginning."""
CLOSE: Final = 4
"""Letters that a name must have for one fault to leave it recognisable; three where they are Chinese."""
CLOSE_PAIRED: Final = 3
ALIKE: Final = 0.8
"""Likeness of names from which on several faults are one spelling (normalised indel distance)."""
ALIKE_LETTERS: Final = 8
OTHER_NUMBER: Final = 0.5
"""No more than this where a number differs: 2024 is not 2025 misspelled."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    path: str
    score: float
    rule: Rule
    only: bool = False
    """No other file fits by this rule, those left out of graph and search included."""


_FILES: Final = "SELECT path, scope FROM files ORDER BY path"
_ALIASES: Final = "SELECT f.path, a.alias FROM aliases a JOIN files f ON f.id = a.note WHERE f.scope = 0"


class Names:
    """Names and aliases of all files, keyed for the ladder; read once for many links."""

    def __init__(self, db: Database) -> None:
        self._shelves: dict[str, Shelf] = {}
        self._names: dict[str, Name] = {}
        self._aliases: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str], tuple[Suggestion, ...]] = {}
        self._asked: dict[str, Name] = {}
        self._revision = files.revision(db)
        self._rows = dict(db.rows(_FILES))
        self._put(list(self._rows.items()))
        self._put_aliases(db.rows(_ALIASES))

    def catch_up(self, db: Database) -> None:
        """Follows whatever changed in the index since, found by comparison: tens of milliseconds, not a new start."""
        revision = files.revision(db)
        if revision == self._revision:
            return
        now = dict(db.rows(_FILES))
        changed = {path for path, _ in self._rows.items() ^ now.items()}
        aliases: dict[str, list[str]] = {}
        for path, alias in db.rows(_ALIASES):
            aliases.setdefault(path, []).append(alias)
        for path in aliases.keys() | self._aliases.keys():
            if aliases.get(path, []) != self._aliases.get(path, []):
                changed.add(path)
        self.refresh(db, changed)
        self._revision = revision

    def refresh(self, db: Database, paths: Iterable[str]) -> None:
        """Follows files that came, went or changed."""
        paths = dict.fromkeys(paths)
        self._known.clear()
        for path in paths:
            name = self._names.pop(path, None)
            if name is not None:
                self._shelves[name.kind].take(path, name.keys)
            self._rows.pop(path, None)
            for alias in self._aliases.pop(path, ()):
                paths_of = self._shelf("").aliases.get(simplified(normal_key(alias.replace("\n", " "))), [])
                if path in paths_of:
                    paths_of.remove(path)
        found = [row for path in paths for row in db.rows("SELECT path, scope FROM files WHERE path = ?", (path,))]
        self._put(found)
        self._rows.update(found)
        for path, scope in found:
            if scope == 0:
                sql = "SELECT f.path, a.alias FROM aliases a JOIN files f ON f.id = a.note WHERE f.path = ?"
                self._put_aliases(db.rows(sql, (path,)))

    def _put(self, rows: Sequence[tuple[str, int]]) -> None:
        for (path, scope), name in zip(rows, read_names([path for path, _ in rows]), strict=True):
            self._names[path] = name
            self._shelf(name.kind).put(path, name.keys, out=scope != 0)

    def _put_aliases(self, rows: Sequence[tuple[str, str]]) -> None:
        if not rows:
            return
        table = self._shelf("").aliases
        keys = in_lines(simplified, in_lines(normal_key, [alias.replace("\n", " ") for _, alias in rows]))
        for (path, alias), key in zip(rows, keys, strict=True):
            self._aliases.setdefault(path, []).append(alias)
            if key:
                table.setdefault(key, []).append(path)

    def _shelf(self, kind: str) -> Shelf:
        found = self._shelves.get(kind)
        if found is None:
            found = self._shelves[kind] = Shelf()
        return found

    def prepare(self, linkpaths: Iterable[str]) -> None:
        """Reads many links at once: those that are about to be asked for."""
        new = [one for one in dict.fromkeys(linkpaths) if one not in self._asked]
        self._asked.update(zip(new, read_names(new), strict=True))

    def suggest(self, linkpath: str, source: str = "") -> list[Suggestion]:
        """At most three, the best first; nothing for a link without a name.

        Not the note that holds the link (`source`); for a picture only files of its kind.
        """
        folder = source[: source.rfind("/") + 1] if linkpath.startswith(("./", "../")) else ""
        known = self._known.get((linkpath, folder))
        if known is None:
            known = self._known[linkpath, folder] = tuple(self._climb(linkpath, folder)[: MOST + 1])
        return [one for one in known if one.path != source][:MOST]

    # --- the ladder

    def _climb(self, linkpath: str, folder: str) -> list[Suggestion]:
        if "://" in linkpath:
            return []
        name = self._asked.pop(linkpath, None) or read_names([linkpath])[0]
        shelf = self._shelves.get(name.kind)
        if shelf is None or not name.normal:
            return []
        found: dict[str, Suggestion] = {}
        self._by_name(found, shelf, name, _folders(linkpath, folder))
        self._by_alias(found, shelf, name)
        if name.letters:
            self._by_letters(found, shelf, name)
            self._by_beginning(found, shelf, name)
            self._by_fault(found, shelf, name)
            if not found and len(name.letters) >= ALIKE_LETTERS / (2 if is_paired(name.letters) else 1):
                for key, likeness in shelf.alike(name.letters, name.stem, ALIKE):
                    self._add(found, name, shelf.letters[key], SCORES["alike"] * likeness, "alike")
        named = _folders(linkpath, folder)

        def rank(one: Suggestion) -> tuple[float, bool, int, str]:
            return -one.score, named is not None and not named.fit(one.path), len(one.path), one.path

        return sorted(found.values(), key=rank)

    def _by_name(self, found: dict[str, Suggestion], shelf: Shelf, name: Name, folders: "_Folders | None") -> None:
        """The same name but for width, dashes, quotes and the like, in the folder named; else in another."""
        rules: tuple[tuple[Rule, list[str]], ...] = (
            ("normalised", shelf.normal.get(name.normal, [])),
            ("converted", shelf.simple.get(name.simple, [])),
        )
        for rule, paths in rules:
            alike = [path for path in paths if self._names[path].extension == name.extension]
            here = [path for path in alike if folders is None or folders.fit(path)]
            for path in shelf.offered(here):
                found.setdefault(path, Suggestion(path, SCORES[rule], rule, only=len(here) == 1))
            for path in shelf.offered(alike):
                only = not here and len(alike) == 1
                score = SCORES["elsewhere"] if only else SCORES["letters"]
                found.setdefault(path, Suggestion(path, score, "elsewhere", only=only))

    def _by_alias(self, found: dict[str, Suggestion], shelf: Shelf, name: Name) -> None:
        paths = list(dict.fromkeys(shelf.aliases.get(name.simple, ())))
        for path in paths:
            found.setdefault(path, Suggestion(path, SCORES["alias"], "alias", only=len(paths) == 1))

    def _by_letters(self, found: dict[str, Suggestion], shelf: Shelf, name: Name) -> None:
        for key in {name.letters, letters(fold(unquote(name.stem))) if "%" in name.stem else name.letters}:
            self._add(found, name, shelf.letters.get(key, ()), SCORES["letters"], "letters")

    def _by_beginning(self, found: dict[str, Suggestion], shelf: Shelf, name: Name) -> None:
        key = name.letters
        least = 2 if is_paired(key) else BEGUN
        if len(key) < least - 1:
            return
        longer = [(one, len(key) / len(one)) for one in shelf.beginning(key)]
        if len(key) < least:
            longer = [(one, share) for one, share in longer if share >= BEGUN_SHARE]
        shorter = [(one, len(one) / len(key)) for one in shelf.begun(key, max(least, int(BEGUN_SHARE * len(key))))]
        for one, share in sorted((*longer, *shorter), key=lambda pair: -pair[1])[: 2 * MOST]:
            score = BEGUN_FLOOR + (SCORES["begun"] - BEGUN_FLOOR) * share
            self._add(found, name, shelf.letters[one], score, "begun")

    def _by_fault(self, found: dict[str, Suggestion], shelf: Shelf, name: Name) -> None:
        for key in shelf.one_off(name.letters):
            if max(len(key), len(name.letters)) >= (CLOSE_PAIRED if is_paired(key) else CLOSE):
                score = SCORES["close"] * (1 - 1 / _weight(key if len(key) > len(name.letters) else name.letters))
                self._add(found, name, shelf.letters[key], score, "close")

    def _add(
        self, found: dict[str, Suggestion], name: Name, paths: Iterable[str], score: float, rule: Rule
    ) -> None:  # fmt: skip
        for path in paths:
            if path in found and found[path].score >= score:
                continue
            if not _numbers_agree(name.stem, self._names[path].stem, begun=rule == "begun"):
                score = min(score, OTHER_NUMBER)
            if path not in found or found[path].score < score:
                found[path] = Suggestion(path, round(score, 3), rule)


class _Folders(NamedTuple):
    """The folder part of a link, normalised."""

    parts: list[str]
    whole: bool
    """From the top of the vault, as relative links are once they are joined to the source's folder."""

    def fit(self, path: str) -> bool:
        own = [normal_key(part) for part in path.split("/")[:-1]]
        return own == self.parts if self.whole else own[len(own) - len(self.parts) :] == self.parts


def _folders(linkpath: str, folder: str) -> _Folders | None:
    if "/" not in linkpath:
        return None
    written = linkpath.split("/")[:-1]
    if written[0] not in (".", ".."):
        return _Folders([normal_key(part) for part in written if part], whole=not written[0])
    joined = [part for part in folder.split("/") if part]
    for part in written:
        if part == "..":
            if not joined:
                return _Folders(["\0"], whole=True)  # it leads out of the vault: no folder fits
            joined.pop()
        elif part not in ("", "."):
            joined.append(part)
    return _Folders([normal_key(part) for part in joined], whole=True)


def _weight(key: str) -> float:
    """Letters of a name, a Chinese character counted as the several it says as much as."""
    return sum(CHINESE_LETTER if is_paired(char) else 1 for char in key)


def _numbers_agree(link: str, name: str, *, begun: bool) -> bool:
    """Single letters count among the numbers of a series, but for a beginning, which may end within a word."""
    return numbers(link, series=not begun) == numbers(name, series=not begun)
