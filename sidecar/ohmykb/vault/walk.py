"""What is in the vault: every visible file with its stamp, read from the folders and nothing opened.

`walk` sees everything, `walk_folder` one folder, `look` one path; all three judge alike. Symbolic links
are judged by where they lead alone, so that the order of a walk does not matter: what they lead to inside
the vault is seen there; what lies outside is left unless `[vault] follow_symlinks` is set.
"""

import gc
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from ohmykb.config import Config
from ohmykb.errors import NoVaultError
from ohmykb.note import NotePath, Problem, Scope, Stamp
from ohmykb.vault import troubles
from ohmykb.vault.conflicts import conflict_copy, copies_of, may_hold_copies
from ohmykb.vault.links import Chain, judge_link
from ohmykb.vault.names import fold, name_problems
from ohmykb.vault.rules import Rules
from ohmykb.vault.stamp import CAN_BE_AWAY, cloud_only, is_junction, stamp_of


class FileKind(IntEnum):
    NOTE = 0
    CANVAS = 1
    OTHER = 2


class Entry(NamedTuple):
    path: NotePath
    kind: FileKind
    scope: Scope
    stamp: Stamp


# See stamp.py.
_entry = cast("Callable[[tuple[str, FileKind, Scope, Stamp]], Entry]", partial(tuple.__new__, Entry))
_BY_DESCRIPTOR = os.scandir in os.supports_fd


@dataclass(slots=True)
class Walk:
    entries: list[Entry] = field(default_factory=list)
    """In no order."""
    problems: dict[NotePath, Problem] = field(default_factory=dict)
    """By file or folder; of several the gravest."""
    unreadable: list[str] = field(default_factory=list)
    """Folders (`a/b/`) that could not be listed: what the index knows below them is not gone."""

    @property
    def complete(self) -> bool:
        return not self.unreadable


def walk(root: Path, rules: Rules, config: Config) -> Walk:
    """Everything visible in the vault. Raises NoVaultError when `root` is no folder that can be listed."""
    look_around = _Look(root, rules, follow=config.vault.follow_symlinks)
    with _no_collection():
        look_around.folders("", ())
    return look_around.found


def walk_folder(root: Path, folder: str, rules: Rules, config: Config) -> Walk:
    """What `walk` would find below `folder` (no slash at the end; empty: everything)."""
    if not folder:
        return walk(root, rules, config)
    look_around = _Look(root, rules, follow=config.vault.follow_symlinks)
    folder = look_around.spelled(folder)
    chain = look_around.way(folder) if _sane(folder) and rules.descend(folder) else None
    if chain is not None:
        look_around.folders(folder + "/", chain)
    else:
        look_around.require_root()
    return look_around.found


def look(root: Path, path: str, rules: Rules) -> Entry | None:
    """What `walk` would say of one path; None: nothing there that takes part.

    Where the disk does not tell names apart by case, the Entry has the real spelling, not the one asked for.
    """
    return examine(root, path, rules)[0]


def examine(root: Path, path: str, rules: Rules) -> tuple[Entry | None, Problem | None]:
    """`look`, with the Problem that `walk` would record for the path (clashes with other names apart)."""
    look_around = _Look(root, rules, follow=rules.follow_symlinks)
    path = look_around.spelled(path)
    above, _, name = path.rpartition("/")
    chain = look_around.way(above) if _sane(path) and rules.descend(path) else None
    if chain is None:
        look_around.require_root()
        return None, None
    look_around.one(above + "/" if above else "", name, chain)
    for _, problem in name_problems([name]):
        if look_around.found.entries:
            look_around.problem(path, problem)
    entries = look_around.found.entries
    return (entries[0] if entries else None), look_around.found.problems.get(NotePath(path))


def kin(root: Path, paths: Iterable[str]) -> set[NotePath]:
    """Other files whose scope hangs on whether these exist: OneDrive's copies beside them (conflicts.py).

    Ask for files that appeared or vanished, all at once: each folder is listed once.
    """
    by_folder: dict[str, set[str]] = {}
    for path in paths:
        above, slash, name = path.rpartition("/")
        by_folder.setdefault(above + slash, set()).add(name)
    found: set[NotePath] = set()
    for prefix, names in by_folder.items():
        try:
            listing = os.listdir(root / prefix)  # noqa: PTH208 - names, not paths
        except OSError:
            continue
        found.update(NotePath(prefix + copy) for copy in copies_of(names, listing))
    return found


class _Look:
    """One look at the disk."""

    __slots__ = ("_follow", "_real", "_root", "_rules", "found")

    def __init__(self, root: Path, rules: Rules, *, follow: bool) -> None:
        self._root = os.fspath(root).rstrip("/" if os.sep == "/" else "/\\") + "/"
        self._real = ""
        self._rules = rules
        self._follow = follow
        self.found = Walk()

    def require_root(self) -> None:
        if not os.path.isdir(self._root):  # noqa: PTH112 - hot path of `look`
            raise self._no_vault()

    def folders(self, prefix: str, chain: Chain) -> None:
        """Everything below `prefix` ("" or `a/b/`)."""
        todo = [(prefix, chain)]
        while todo:
            here, links = todo.pop()
            todo.extend(self._folder(here, links))

    def _folder(self, prefix: str, chain: Chain) -> list[tuple[str, Chain]]:
        """Sees one folder; returns those in it that are to be walked."""
        with ExitStack() as held:
            try:
                place: str | int = self._root + prefix
                if _BY_DESCRIPTOR:
                    # Spares the kernel the way from the root for every single stat.
                    place = os.open(self._root + prefix, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                    held.callback(os.close, place)
                with os.scandir(place) as handle:
                    listing = list(handle)
            except OSError as error:
                self._no_listing(prefix, error)
                return []
            return self._sort_out(prefix, chain, listing)

    def _sort_out(self, prefix: str, chain: Chain, listing: list["os.DirEntry[str]"]) -> list[tuple[str, Chain]]:
        below: list[tuple[str, Chain]] = []
        append, graph, note = self.found.entries.append, Scope.GRAPH, FileKind.NOTE

        def beside(name: str) -> bool:
            return any(item.name == name for item in listing)

        # What holds for all names at once need not be asked of each.
        names = [item.name for item in listing]
        joined = "/".join(names)
        plain = self._rules.plain and not may_hold_copies(joined) and not CAN_BE_AWAY
        utf8 = _is_utf8(joined)
        for name, item in zip(names, listing, strict=True):
            if name[0] == ".":
                self._hidden(prefix, name, beside)
                continue
            if not utf8 and not self._has_utf8(prefix, name):
                continue
            try:
                if item.is_file(follow_symlinks=False):
                    found = item.stat(follow_symlinks=False)
                    if plain:
                        kind = note if name.endswith(".md") else _kind(name)
                        append(_entry((prefix + name, kind, graph, stamp_of(found))))
                    else:
                        self._file(prefix + name, name, found, beside)
                elif item.is_dir(follow_symlinks=False) and not is_junction(item):
                    below.append((f"{prefix}{name}/", chain))
                elif item.is_symlink() or item.is_dir(follow_symlinks=False):
                    followed = self._link(prefix, name, chain, beside)
                    if followed is not None:
                        below.append((f"{prefix}{name}/", followed))
                else:
                    self._special(prefix, name)
            except FileNotFoundError:
                continue  # gone since the listing
            except OSError:
                self._unknown(prefix, name, beside)
        if not utf8 or joined.startswith(".") or "/." in joined:
            names = [name for name in names if name[0] != "." and _is_utf8(name)]
        for name, problem in name_problems(names):
            self.problem(prefix + name, problem)
        return below

    def _no_listing(self, prefix: str, error: OSError) -> None:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            if not prefix:
                raise self._no_vault() from error
            self.require_root()  # an unmounted drive is not an emptied vault
        elif not prefix:
            raise NoVaultError(
                f"{self._root} cannot be read: {error.strerror}.", "Give yourself the right to read it."
            ) from error
        else:
            self.found.unreadable.append(prefix)
            self.problem(prefix[:-1], troubles.folder_unreadable(error.strerror))

    def one(self, prefix: str, name: str, chain: Chain) -> None:
        """The file `name` in a folder that is known to take part."""
        path = NotePath(prefix + name)

        def beside(other: str) -> bool:
            return os.path.lexists(self._root + prefix + other)

        if not self._has_utf8(prefix, name):
            return
        try:
            found = os.lstat(self._root + path)
        except (FileNotFoundError, NotADirectoryError):
            self.require_root()
            if beside(f".{name}.icloud"):
                self._hidden(prefix, f".{name}.icloud", beside)
            return
        except OSError:
            self._unknown(prefix, name, beside)
            return
        if stat.S_ISREG(found.st_mode):
            self._file(prefix + name, name, found, beside)
        elif stat.S_ISLNK(found.st_mode):
            self._link(prefix, name, chain, beside)
        elif not stat.S_ISDIR(found.st_mode):
            self._special(prefix, name)

    def way(self, folder: str) -> Chain | None:
        """The links followed on the way to `folder`; None when a walk would not come there."""
        if not folder or os.path.realpath(self._root + folder) == os.path.join(self._root_real(), folder):  # noqa: PTH118
            return () if os.path.isdir(self._root + folder) else None  # noqa: PTH112
        chain: Chain | None = ()
        prefix = ""
        for part in folder.split("/"):
            try:
                found = os.lstat(self._root + prefix + part)
            except OSError:
                return None
            if stat.S_ISLNK(found.st_mode):
                chain = self._link(prefix, part, chain or (), lambda _: False)
                self.found.problems.pop(NotePath(prefix + part), None)
                if chain is None:
                    return None
            elif not stat.S_ISDIR(found.st_mode):
                return None
            prefix += part + "/"
        return chain

    def spelled(self, path: str) -> str:
        """`path` as the disk spells it. Only a disk that takes two spellings for one is listed for that."""
        other = path.swapcase()
        if other == path:
            other = fold(path)
        if other == path or not os.path.lexists(self._root + other) or not os.path.lexists(self._root + path):
            return path  # without the last, the other of two on a disk that tells them apart would be meant
        prefix = ""
        for part in path.split("/"):
            try:
                names = os.listdir(self._root + prefix)  # noqa: PTH208 - names, not paths
            except OSError:
                return path
            if part not in names:
                part = next((name for name in names if fold(name) == fold(part)), part)
            prefix += part + "/"
        return prefix[:-1]

    def problem(self, path: str, problem: Problem) -> None:
        """Kept unless a graver one is: what is said of content comes before what is said of names. What is
        left out has none, except that it cannot be seen.
        """
        scope_of = self._rules.scope
        if problem.code != "unreadable" and Scope.TARGET in (scope_of(path), scope_of(path + "/")):
            return
        known = self.found.problems.get(NotePath(path))
        if known is None or not problem.code.startswith("name-"):
            self.found.problems[NotePath(path)] = problem

    def _no_vault(self) -> NoVaultError:
        return NoVaultError(f"There is no folder {self._root}.", "Is the drive mounted? Name another --vault.")

    # --- the judgements

    def _file(self, path: str, name: str, found: os.stat_result, beside: Callable[[str], bool]) -> None:
        scope = self._rules.scope(path, beside)
        if scope is None:
            return
        if scope is Scope.SEARCH:
            original = conflict_copy(name, beside)
            if original is not None:
                self.problem(path, troubles.conflict_copy_of(original))
        if CAN_BE_AWAY and cloud_only(found):
            scope = self._away(path)
        self.found.entries.append(Entry(NotePath(path), _kind(name), scope, stamp_of(found)))

    def _away(self, path: str) -> Scope:
        # A target only: links to it still resolve, and nothing reads (and thereby downloads) it.
        self.problem(path, troubles.CLOUD_ONLY)
        return Scope.TARGET

    def _hidden(self, prefix: str, name: str, beside: Callable[[str], bool]) -> None:
        """Of the hidden only two tell something: iCloud's placeholders, and a vault in the vault."""
        if name.endswith(".icloud") and len(name) > len("..icloud"):
            real = name[1:-7]
            if beside(real) or self._rules.scope(prefix + real) is None or not self._has_utf8(prefix, name):
                return
            try:
                found = os.lstat(self._root + prefix + name)
            except OSError:
                return
            path = NotePath(prefix + real)
            self.found.entries.append(Entry(path, _kind(real), self._away(path), stamp_of(found)))
        elif name == ".obsidian" and prefix and os.path.isdir(self._root + prefix + name):  # noqa: PTH112
            self.problem(prefix[:-1], troubles.NESTED_VAULT)

    def _link(self, prefix: str, name: str, chain: Chain, beside: Callable[[str], bool]) -> Chain | None:
        """The chain to walk on with when the link is to a folder and followed."""
        path = prefix + name
        found = judge_link(self._root + path, self._root_real(), chain, follow=self._follow)
        if isinstance(found, Problem):
            self.problem(path, found)
        elif isinstance(found, os.stat_result):
            self._file(path, name, found, beside)
        else:
            return found
        return None

    def _special(self, prefix: str, name: str) -> None:
        if _kind(name) is not FileKind.OTHER:
            self.problem(prefix + name, troubles.NOT_A_FILE)

    def _unknown(self, prefix: str, name: str, beside: Callable[[str], bool]) -> None:
        """There, but it cannot be asked anything: it stays known, and reading it says why."""
        path = NotePath(prefix + name)
        scope = self._rules.scope(path, beside)
        if scope is not None:
            self.found.entries.append(Entry(path, _kind(name), scope, Stamp(-1, -1, -1, -1)))

    def _has_utf8(self, prefix: str, name: str) -> bool:
        if _is_utf8(name):
            return True
        shown = os.fsencode(prefix + name).decode("utf-8", "backslashreplace")
        self.problem(shown, troubles.NAME_NOT_UTF8)
        return False

    def _root_real(self) -> str:
        self._real = self._real or os.path.realpath(self._root)
        return self._real


def _kind(name: str) -> FileKind:
    if name.endswith(".md"):
        return FileKind.NOTE
    extension = name[name.rfind(".") :].lower()
    if extension == ".md":
        return FileKind.NOTE
    return FileKind.CANVAS if extension == ".canvas" else FileKind.OTHER


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing made here forms a cycle, yet at 100,000 files a sixth of the walk would go on looking for one."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _is_utf8(names: str) -> bool:
    if names.isascii():
        return True
    try:
        names.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sane(path: str) -> bool:
    return not ({"", ".", ".."} & set(path.split("/")) or "\0" in path)
