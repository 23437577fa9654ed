"""What a look at the disk found against what the index knows: plain sets, no side effects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ohmykb.note import Scope, Stamp
from ohmykb.store.files import OTHER
from ohmykb.vault.walk import Entry

Known = tuple[int, int, int, int | None, int | None, int | None, int | None, bytes | None]
"""(id, kind, scope, size, mtime_ns, ctime_ns, inode, hash), as `files.manifest` gives it."""


@dataclass(slots=True)
class Diff:
    new: list[Entry] = field(default_factory=list)
    gone: dict[str, Known] = field(default_factory=dict)
    moved: list[tuple[int, str, Entry]] = field(default_factory=list)
    """(id, old path, entry at the new path)."""
    rescoped: list[tuple[int, Entry]] = field(default_factory=list)
    unread: list[tuple[int, Entry]] = field(default_factory=list)
    """Files whose text must be read: changed, or never read."""

    def empty(self) -> bool:
        return not (self.new or self.gone or self.moved or self.rescoped or self.unread)


def compare(entries: Iterable[Entry], known: Mapping[str, Known], unreadable: Iterable[str] = ()) -> Diff:
    """`known` holds the files of the part of the vault that was looked at.

    Nothing under a folder in `unreadable` counts as gone: it could not be seen.
    """
    found = Diff()
    left = dict(known)
    for entry in entries:
        row = left.pop(entry.path, None)
        if row is None:
            found.new.append(entry)
            continue
        file, _, scope, size, mtime, ctime, inode, digest = row
        if entry.scope != scope:
            found.rescoped.append((file, entry))
        if entry.kind != OTHER and entry.scope <= Scope.SEARCH:
            stamp = entry.stamp
            if (
                digest is None
                or stamp.mtime_ns != mtime
                or stamp.size != size
                or stamp.ctime_ns != ctime
                or stamp.inode != inode
            ):
                found.unread.append((file, entry))
    hidden = tuple(folder.rstrip("/") + "/" for folder in unreadable)
    found.gone = {path: row for path, row in left.items() if not (hidden and path.startswith(hidden))}
    return found


def same_file(stamp: Stamp, row: Known) -> bool:
    """Whether a new file is a vanished one by its inode: a rename changes neither it, nor size, nor mtime."""
    return row[6] is not None and (stamp.inode, stamp.size, stamp.mtime_ns) == (row[6], row[3], row[4])
