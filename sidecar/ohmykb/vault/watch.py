"""Says which files of the vault may have changed; whoever is told looks for himself.

Events are hints: a path may be reported twice, or without having changed, but never missed without
`on_overflow` being called, which asks for a look at the whole vault. Two things no system reports, and a
look now and then finds: a folder above the vault renamed, and on Windows and macOS an overflow, which
watchdog swallows there. Folders that links lead to are not watched.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ohmykb.config import VAULT_FILE
from ohmykb.errors import KbError
from ohmykb.vault.rules import APP_FILE

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver

SETTINGS_FILES = frozenset((VAULT_FILE, APP_FILE))
"""The hidden files that are reported: when they change, so may the judgement of every file."""
_SETTINGS_FOLDERS = {file.partition("/")[0]: file for file in SETTINGS_FILES}

_STOP_SECONDS = 5


class WatchError(KbError):
    """The vault cannot be watched; it must be looked at now and then instead."""

    code = "watch"


class Watcher:
    """Watches the vault from `start` to `stop`.

    `on_dirty` gets vault-relative paths, both ends of a move together; one that ends in `/` is a folder, to
    be looked at with all that is in it. Both callbacks come from watchdog's threads and must return soon.
    """

    def __init__(
        self, root: Path, on_dirty: Callable[[tuple[str, ...]], None], on_overflow: Callable[[], None]
    ) -> None:
        self._root = os.path.realpath(root)  # macOS reports real paths
        self._on_dirty = on_dirty
        self._on_overflow = on_overflow
        self._observer: BaseObserver | None = None
        self._started = False
        self.trouble: WatchError | None = None
        """Set, with a call of `on_overflow`, when a folder that appeared later cannot be watched."""

    def start(self) -> None:
        """Returns when every change from now on will be told. Raises WatchError."""
        try:
            observer = self._observe()
        except OSError as error:
            raise watch_error(error) from error
        self._observer = observer
        try:
            observer.start()
        except OSError as error:
            self.stop()
            raise watch_error(error) from error
        self._started = True
        if self.trouble is not None:
            self.stop()
            raise self.trouble

    def stop(self) -> None:
        """No callback is called after this returns. May be called twice, or without a start."""
        observer, self._observer = self._observer, None
        if observer is None:
            return
        observer.stop()
        if observer.ident is not None:
            observer.join(_STOP_SECONDS)

    def _observe(self) -> "BaseObserver":
        # Late: watchdog takes 50 ms to import, and most commands do not watch.
        from watchdog import events

        self.trouble, self._started = None, False
        kinds: list[type[FileSystemEvent]] = [
            events.FileCreatedEvent,  # also a file moved or linked into the vault from outside
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.DirCreatedEvent,
            events.DirMovedEvent,
            events.DirDeletedEvent,
        ]
        observer: BaseObserver
        if sys.platform == "linux":
            from ohmykb.vault.inotify import VaultObserver

            # Only when a writer closes: not for every write, and never for our own reads.
            kinds.append(events.FileClosedEvent)
            observer = VaultObserver(self._root, is_watched, self._on_overflow, self._exhausted)
        else:
            from watchdog.observers import Observer

            kinds.append(events.FileModifiedEvent)
            observer = Observer()

        observer.schedule(_handler(self._tell), self._root, recursive=True, event_filter=kinds)
        # A folder is not told of its own renaming; the one above is.
        above = os.path.dirname(self._root)  # noqa: PTH120
        if above != self._root and sys.platform == "linux":
            gone: list[type[FileSystemEvent]] = [events.DirMovedEvent, events.DirDeletedEvent]
            observer.schedule(_handler(self._tell_above), above, recursive=False, event_filter=gone)
        return observer

    def _tell(self, event: "FileSystemEvent") -> None:
        if event.is_synthetic:
            return  # what is in a folder that moved or came: the folder itself is told
        paths = []
        for place in (event.src_path, event.dest_path):
            if not place:
                continue
            inside = self._inside(os.fsdecode(place))
            if inside is None:
                continue
            if not inside:
                self._on_overflow()  # the vault itself
                return
            told = told_as(inside, is_folder=event.is_directory)
            if told is not None:
                paths.append(told)
        if paths:
            self._on_dirty(tuple(paths))

    def _tell_above(self, event: "FileSystemEvent") -> None:
        if self._root in (event.src_path, event.dest_path):
            self._on_overflow()

    def _inside(self, path: str) -> str | None:
        if path == self._root:
            return ""
        if not path.startswith(self._root + os.sep):
            return None
        return path[len(self._root) + 1 :].replace(os.sep, "/")

    def _exhausted(self, error: OSError) -> None:
        if self.trouble is None:
            self.trouble = watch_error(error)
            if self._started:
                self._on_overflow()


def _handler(tell: "Callable[[FileSystemEvent], None]") -> "FileSystemEventHandler":
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def dispatch(self, event: "FileSystemEvent") -> None:
            tell(event)

    return Handler()


def told_as(path: str, *, is_folder: bool) -> str | None:
    """What to report for a changed path; None for what is hidden, or has no name in UTF-8."""
    if path.startswith(".") or "/." in path:
        if path in SETTINGS_FILES:
            return path
        if is_folder:
            return _SETTINGS_FOLDERS.get(path)
        above, _, name = path.rpartition("/")
        if name.endswith(".icloud") and len(name) > len("..icloud"):
            return told_as(f"{above}/{name[1:-7]}" if above else name[1:-7], is_folder=False)
        return None
    if not path.isascii():
        try:
            path.encode()
        except UnicodeEncodeError:
            return None
    return path + "/" if is_folder else path


def is_watched(folder: str) -> bool:
    """Whether a folder (vault-relative) is worth a watch: there are few, and `.git` alone has hundreds."""
    return not (folder.startswith(".") or "/." in folder) or folder in _SETTINGS_FOLDERS


def watch_error(error: OSError) -> WatchError:
    import errno

    if error.errno == errno.ENOSPC:
        what = "The vault has more folders than this system lets one user watch."
        fix = "Raise it: `sudo sysctl fs.inotify.max_user_watches=524288`, and in /etc/sysctl.conf to keep it"
    elif error.errno == errno.EMFILE:
        what = "This system lets no more programs watch files."
        fix = "Raise the limit: `sudo sysctl fs.inotify.max_user_instances=1024`, or `ulimit -n`"
    else:
        return WatchError(
            f"The vault cannot be watched: {error.strerror}.", "Changes are found by looking now and then."
        )
    return WatchError(what, f"{fix}. Until then changes are found by looking now and then.")
