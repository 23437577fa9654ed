"""Links to be made to notes that nobody links to: where others speak of them. Nothing here writes."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ohmykb.config import Config
from ohmykb.evolve.plan import Candidate, Mend, Plan
from ohmykb.evolve.relink.mentions import find, is_cjk, proves
from ohmykb.evolve.sheet import Sheet, sheet_of
from ohmykb.index.resolve import Resolver
from ohmykb.markdown.edits import Edit
from ohmykb.markdown.words import segment
from ohmykb.note import NotePath
from ohmykb.search.cite import cite
from ohmykb.search.shelf import numbers
from ohmykb.store import files, fulltext
from ohmykb.store import graph as rows
from ohmykb.store.connection import Database
from ohmykb.store.fulltext import Where

MENTION: Final = "mention"
MOST: Final = 5
"""Links proposed to one note: who has some is no orphan any more."""
LOOKED_AT: Final = 60
"""Notes that are read for one name."""
COMMON: Final = 40
"""A name that stands in more notes than this is a word of the vault, and no name."""
SURE: Final = 0.9
LIKELY: Final = 0.6
_SHORTEST: Final = 2
NO_NAMES: Final = frozenset({"index", "readme", "home", "log", "untitled", "todo", "inbox", "未命名", "无标题", "目录"})
"""Files are called so for what they are for; nobody speaks of them by these words."""
_DATE: Final = re.compile(r"[\d\s.:/年月日周W-]+")


@dataclass(frozen=True, slots=True)
class _Name:
    text: str
    shown: str
    """title, name or alias: for the reason."""


class Planner:
    def __init__(self, db: Database, root: Path, config: Config, left: Callable[[str, str], bool]) -> None:
        """`left`: whether a link path in a note was said to be meant as it stands."""
        self._db = db
        self._root = root
        self._config = config
        self._left = left
        self._resolver = Resolver(lambda key: files.named(db, key))
        self._known: list[tuple[str, str]] | None = None
        self._sheets: dict[str, Sheet | str] = {}

    def plan(self, notes: Iterable[str]) -> Plan:
        """For each of these notes (paths) the places where others speak of it."""
        return Plan(tuple(mend for path in notes for mend in self._of(path)))

    def _of(self, path: str) -> list[Mend]:
        row = files.by_path(self._db, path)
        if row is None:
            return []
        found: dict[str, Mend] = {}
        linked = rows.links_between(self._db, row.id)
        for name in self._names(row.id, path):
            sources = self._speaking(name.text)
            if len(sources) > COMMON:
                continue
            longer = self._longer(name.text, path)
            ambiguous = self._shared(name.text, path)
            for number, source in sources:
                if source == path or number in linked or source in found:
                    continue
                mend = self._mention(source, path, name, longer, ambiguous=ambiguous)
                if mend is not None:
                    found[source] = mend
        best = sorted(found.values(), key=lambda one: (-one.confidence, one.source))
        return best[:MOST]

    def _names(self, note: int, path: str) -> list[_Name]:
        """Title, name, aliases, the longest first: none that is a date, a number or a single character."""
        (title,) = self._db.row("SELECT title FROM notes WHERE id = ?", (note,))
        stem = path.rpartition("/")[2].removesuffix(".md")
        aliases = [row[0] for row in self._db.rows("SELECT alias FROM aliases WHERE note = ? ORDER BY alias", (note,))]
        named = [_Name(stem, "name"), _Name(title, "title"), *(_Name(alias, "alias") for alias in aliases)]
        kept: dict[str, _Name] = {}
        for one in named:
            text = one.text.strip()
            if len(text) >= _SHORTEST and not _DATE.fullmatch(text) and text.lower() not in NO_NAMES:
                kept.setdefault(text.lower(), _Name(text, one.shown))
        return sorted(kept.values(), key=lambda one: -len(one.text))

    def _speaking(self, name: str) -> list[tuple[int, str]]:
        """(id, path) of notes of the graph that have the words of this name, one after the other."""
        words = segment(name).split()
        if not words:
            return []
        phrase = " ".join(words).replace('"', '""')
        tail = "*" if is_cjk(name[-1]) else ""
        ids = fulltext.matching(self._db, f'body: "{phrase}"{tail}', Where(), LOOKED_AT + 1)
        known = rows.titles(self._db, ids)
        return sorted((number, known[number][0]) for number in ids if number in known)

    def _all(self) -> list[tuple[str, str]]:
        """(name in lower case, path) of every file and alias."""
        if self._known is None:
            self._known = [
                (path.rpartition("/")[2].removesuffix(".md").lower(), path)
                for (path,) in self._db.rows("SELECT path FROM files WHERE kind < 2")
            ]
            sql = "SELECT lower(a.alias), f.path FROM aliases a JOIN files f ON f.id = a.note"
            self._known += self._db.rows(sql)
        return self._known

    def _longer(self, name: str, path: str) -> list[str]:
        low = name.lower()
        return sorted({other for other, own in self._all() if own != path and len(other) > len(low) and low in other})

    def _shared(self, name: str, path: str) -> bool:
        low = name.lower()
        return any(other == low and own != path for other, own in self._all())

    def _mention(self, source: str, target: str, name: _Name, longer: Sequence[str], *, ambiguous: bool) -> Mend | None:
        sheet = self._sheets.get(source)
        if sheet is None:
            sheet = self._sheets[source] = sheet_of(self._root, source, self._config)
        if isinstance(sheet, str) or sheet.is_canvas or sheet.refusal:
            return None
        linkpath = cite(self._db, target)[2:-2].split("|")[0]
        if self._left(source, linkpath):
            return None
        unsure: Mend | None = None
        for place in find(sheet.text, sheet.scan, name.text, longer):
            raw = sheet.text[place.start : place.end]
            fresh = f"[[{raw}]]" if self._leads(raw, source, target) else f"[[{linkpath}|{raw}]]"
            path = raw if fresh == f"[[{raw}]]" else linkpath
            edit = Edit(place.start, place.end, fresh)
            if not proves(sheet.scan, sheet.text, [edit], [path]):
                continue
            first = _FIRST.search(sheet.text[max(0, place.start - 40) : place.start]) is not None
            doubt = _doubt(name.text, raw, ambiguous=ambiguous, first=first)
            reason = f"It speaks of {target} by its {name.shown}, and does not link to it."
            made = Mend(
                NotePath(source), sheet.text.count("\n", 0, place.start) + 1, raw, path, None, fresh, NotePath(target),
                MENTION, SURE if not doubt else LIKELY, not doubt, (edit,), sheet.sha256,
                (Candidate(NotePath(target), SURE if not doubt else LIKELY, MENTION),),
                (reason, doubt) if doubt else (reason,), (path, None),
            )  # fmt: skip
            if made.certain:
                return made
            unsure = unsure or made
        return unsure

    def _leads(self, linkpath: str, source: str, target: str) -> bool:
        """Whether a link of these very words would lead to the note."""
        if re.search(r"[\[\]|#^]", linkpath):
            return False
        own = files.by_path(self._db, source)
        row = files.by_path(self._db, target)
        return own is not None and row is not None and self._resolver.resolve(linkpath, source, own.id) == row.id


_FIRST: Final = re.compile(r"(?:\A|\n[\s>*+#-]*|[.!?:]\s+)[\"'“(*_]*\Z")
"""What stands before the first word of a sentence."""


def _doubt(name: str, raw: str, *, ambiguous: bool, first: bool) -> str:
    """Why it is not certain that the note is meant; empty where it is."""
    if ambiguous:
        return "Another note has this name as well."
    letters = [char for char in name if char.isalnum()]
    if any(is_cjk(char) for char in letters):
        if len(letters) < 3:
            return "Two characters may be part of a longer word."
    elif len(name.split()) < 2 and (len(letters) < 4 or name.islower() or (first and name[1:].islower())):
        return "One word may be meant as a word."
    if raw != name:
        return "It is written in another case."
    if numbers(name, series=False):
        return "The name has a number: another of its kind may be meant."
    return ""
