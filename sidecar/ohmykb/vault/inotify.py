"""watchdog on Linux, told what it does not do: report an overflow, report that the watches ran out (it
leaves such folders unwatched and says nothing), spare hidden folders, forget what moved out of the vault,
and say so when its reading thread dies.

Written against watchdog 7.1, where one InotifyFD reads the kernel's queue for all watches.
"""

import errno
import os
from collections.abc import Callable

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter, InotifyObserver, InotifyWatchGroup
from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)


class VaultDescriptor(InotifyFD):
    """The kernel's queue of one vault."""

    def __init__(
        self,
        root: str,
        is_watched: Callable[[str], bool],
        on_overflow: Callable[[], None],
        on_exhausted: Callable[[OSError], None],
    ) -> None:
        super().__init__()
        self._prefix = os.fsencode(root) + b"/"
        self._is_watched = is_watched
        self._on_overflow = on_overflow
        self._on_exhausted = on_exhausted

    def add_callback(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        if path.startswith(self._prefix) and not self._is_watched(os.fsdecode(path[len(self._prefix) :])):
            # watchdog passes over folders below the root that refuse a watch.
            raise OSError(errno.EACCES, "hidden")
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EMFILE):
                self._on_exhausted(error)
            raise

    def _add_callback(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        # watchdog's own warns of every folder made within a new one, whose watch it sets twice, with a
        # message that lists all watches there are.
        watch = self._get_or_create_watch(path, mask)
        watch.callbacks[id_] = callback
        return watch.wd

    def handle_event(self, event: InotifyEvent) -> None:
        super().handle_event(event)  # at an overflow it sets the watches anew; only then may anyone look
        if event.is_queue_overflow:
            self._on_overflow()

    def run(self) -> None:
        try:
            super().run()
        finally:
            if self.should_keep_running():
                self._on_exhausted(OSError(errno.EIO, "the watching thread ended"))


class VaultWatchGroup(InotifyWatchGroup):
    def _remove_watch_internally(self, wd: WatchDescriptor) -> None:
        # watchdog's own expects the path to be there. But a folder that moved out of the vault keeps its watch
        # and its path, which may have become another folder's, and gone with that.
        path = self._active_callbacks_by_watch.pop(wd, None)
        if path is not None and self._active_callbacks_by_path.get(path) == wd:
            del self._active_callbacks_by_path[path]


class VaultEmitter(InotifyEmitter):
    def on_thread_start(self) -> None:
        # watchdog's own, but for the group.
        self._inotify = VaultWatchGroup(
            self._inotify_fd,
            os.fsencode(self.watch.path),
            is_recursive=self.watch.is_recursive,
            event_mask=self.get_event_mask_from_filter(),
            follow_symlink=self.watch.follow_symlink,
        )


class VaultObserver(InotifyObserver):
    def __init__(
        self,
        root: str,
        is_watched: Callable[[str], bool],
        on_overflow: Callable[[], None],
        on_exhausted: Callable[[OSError], None],
    ) -> None:
        # Not InotifyObserver's own: it would make a plain InotifyFD.
        self._inotify_fd = VaultDescriptor(root, is_watched, on_overflow, on_exhausted)
        self._inotify_fd.start()
        BaseObserver.__init__(self, VaultEmitter, inotify_fd=self._inotify_fd)
