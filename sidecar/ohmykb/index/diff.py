"""What a look at the disk found against what the index knows: plain sets, no side effects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ohmykb.note import Scope, Stamp
from ohmykb.store.displaced import Held
from ohmykb.store.files import OTHER, Known
from ohmykb.vault.walk import Entry


class Returned(NamedTuple):
    """A new file that left the index a moment ago."""

    old: str
    new: str
    links: tuple[Held, ...]
    """Where its links led when it left."""
    since: float
    """When it left, in seconds since the epoch."""
    sure: bool
    """Known by its inode; by its bytes it may be another that is made like it."""


@dataclass(slots=True)
class Diff:
    new: list[Entry] = field(default_factory=list)
    gone: dict[str, Known] = field(default_factory=dict)
    moved: list[tuple[int, str, Entry]] = field(default_factory=list)
    """(id, old path, entry at the new path)."""
    rescoped: list[tuple[int, Entry]] = field(default_factory=list)
    unread: list[tuple[int, Entry]] = field(default_factory=list)
    """Files whose text must be read: changed, or never read."""
    restamped: list[tuple[Stamp, int]] = field(default_factory=list)
    """Files whose text does not matter, with another stamp than recorded."""

    returned: list[Returned] = field(default_factory=list)
    replaced: dict[str, tuple[Known, Entry]] = field(default_factory=dict)
    """Path → what is known of the file that stood there, and what stands there now: another file by its inode."""

    def empty(self) -> bool:
        return not (self.new or self.gone or self.moved or self.rescoped or self.unread)


def compare(entries: Iterable[Entry], known: Mapping[str, Known], unreadable: Iterable[str] = ()) -> Diff:
    """`known` holds the files of the part of the vault that was looked at.

    Nothing under a folder in `unreadable` counts as gone: it could not be seen.
    """
    found = Diff()
    left = dict(known)
    take = left.pop
    for entry in entries:
        path, kind, scope, stamp = entry
        row = take(path, None)
        if row is None:
            found.new.append(entry)
            continue
        _, file, _, known_scope, size, mtime, ctime, inode, pending = row
        if inode and stamp.inode != inode:
            found.replaced[path] = row, entry
        if scope != known_scope:
            found.rescoped.append((file, entry))
        if kind != OTHER and scope <= Scope.SEARCH:
            if pending or stamp != (size, mtime, ctime, inode):
                found.unread.append((file, entry))
        elif stamp != (size, mtime, ctime, inode):
            found.restamped.append((stamp, file))
    hidden = tuple(folder.rstrip("/") + "/" for folder in unreadable)
    found.gone = {path: row for path, row in left.items() if not (hidden and path.startswith(hidden))}
    return found


def same_file(stamp: Stamp, row: Known) -> bool:
    """Whether a new file is a vanished one by its inode: a rename changes neither it, nor size, nor mtime."""
    return (stamp.inode, stamp.size, stamp.mtime_ns) == (row[7], row[4], row[5])
