"""Which file a link means, as the Obsidian app decides it.

Exact vault path, then the source's own folder (not its ancestors), then the shortest path as a
string (observed on the app 1.13.7: docs/NOTE-FORMAT.md). Case does not count, nor does the form of
Unicode; where two files differ only by that, the one spelled as the link wins. Aliases never resolve.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ohmykb.store.anchors import plain
from ohmykb.store.files import NOTE, name_key, path_key

Named = tuple[int, str, int]
"""(id, path, FileKind) of a file."""


class _Group(NamedTuple):
    """The files of one name: those a link means as it stands, and notes that it means without `.md`."""

    exact: dict[str, list[Named]]
    """path_key → files; a note also stands under its path without `.md`."""
    files: list[Named]
    """Those that need their extension, shortest path first."""
    notes: list[Named]
    exact_names: set[str]
    """The names that mean one of them, where they stand alone: with and without `.md`."""
    only: int | None
    """The id, where there is one file of this name."""


class Resolver:
    """Resolves links against the files that `load` names, loading each name once."""

    def __init__(self, load: Callable[[str], Iterable[Named]]) -> None:
        self._load = load
        self._groups: dict[str, _Group] = {}

    def resolve(self, linkpath: str, source: str, source_id: int) -> int | None:
        """The id of the file that `linkpath` means in the note `source`; the note itself when empty."""
        if not linkpath:
            return source_id
        key = path_key(linkpath)
        bare = "/" not in key
        group = self._group((key[:-3] if key.endswith(".md") and len(key) > 3 else key) if bare else name_key(linkpath))
        if group is None:
            return None
        if bare and group.only is not None and key in group.exact_names:
            return group.only  # the usual case: one file has this name
        folder = source[: source.rfind("/") + 1]
        if key.startswith(("./", "../")):
            steps = _join(path_key(folder), key)
            return None if steps is None else _pick(group.exact.get(steps), folder + linkpath)
        if key.startswith("/"):
            return _pick(group.exact.get(key.lstrip("/")), linkpath.lstrip("/"))
        found = _pick(group.exact.get(key), linkpath)
        if found is None and folder:
            found = _pick(group.exact.get(path_key(folder) + key), folder + linkpath)
        return found if found is not None else _shortest(group, key, linkpath)

    def _group(self, key: str) -> _Group | None:
        group = self._groups.get(key)
        if group is None:
            group = _Group({}, [], [], set(), None)
            for named in sorted(self._load(key), key=lambda row: (len(row[1]), row[1])):
                whole = path_key(named[1])
                if named[2] == NOTE:
                    group.notes.append(named)
                    group.exact.setdefault(whole[:-3], []).append(named)
                else:
                    group.files.append(named)
                group.exact.setdefault(whole, []).append(named)
            if len(group.files) + len(group.notes) == 1:
                (one,) = group.files or group.notes
                names = {key, key + ".md"} if group.notes else {path_key(one[1].rsplit("/", 1)[-1])}
                group = group._replace(only=one[0], exact_names=names)
            self._groups[key] = group
        return group if group.exact else None


def _pick(candidates: list[Named] | None, spelled: str) -> int | None:
    if not candidates:
        return None
    if len(candidates) > 1:
        for number, path, _ in candidates:
            if path in (spelled, spelled + ".md"):
                return number
    return candidates[0][0]


def _shortest(group: _Group, key: str, linkpath: str) -> int | None:
    """The shortest path that ends in `/` and the link; of several, the one spelled alike."""
    bare = "/" not in key
    tail = "/" + key
    for candidates, suffix in ((group.files, ""), (group.notes, "" if key.endswith(".md") else ".md")):
        best: Named | None = None
        for named in candidates:
            if best is not None and len(named[1]) > len(best[1]):
                break
            if not bare and not path_key(named[1]).endswith(tail + suffix):
                continue
            if best is None:
                best = named
            if named[1].endswith("/" + linkpath + suffix):
                return named[0]
        if best is not None:
            return best[0]
    return None


def _join(folder: str, relative: str) -> str | None:
    parts = [part for part in folder.split("/") if part]
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def subpath_found(subpath: str, headings: Iterable[str], blocks: Iterable[str]) -> bool:
    """Whether `#heading`, `#outer#inner` or `#^block` is there, compared as the app compares."""
    if subpath.startswith("^"):
        return subpath[1:].lower() in {block.lower() for block in blocks}
    wanted = [plain(part) for part in subpath.split("#") if part.strip()]
    place = 0
    for heading in headings:
        if place < len(wanted) and plain(heading) == wanted[place]:
            place += 1
    return place == len(wanted)
