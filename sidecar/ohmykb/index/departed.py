"""Files that left the index a moment ago, and may come back under another name.

A note is renamed and its folder right after, a sync tool deletes and then creates: of such a move the two ends are
told in different looks. The file is then new to the index; what is remembered of its links goes on with it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ohmykb.clock import Clock
from ohmykb.index.diff import Returned, same_file
from ohmykb.index.same import may_be
from ohmykb.note import Stamp
from ohmykb.store.displaced import Held
from ohmykb.store.files import Known
from ohmykb.vault.read import FileText

REMEMBERED_S: Final = 600.0
"""Half of a folder may arrive minutes after the other left."""


class _Left(NamedTuple):
    row: Known
    hash: bytes | None
    links: tuple[Held, ...]
    at: float
    wall: float
    """The same moment in seconds since the epoch."""


class Departed:
    def __init__(self) -> None:
        self._left: dict[str, _Left] = {}
        self._by_inode: dict[int, str] = {}
        self._by_size: dict[int, dict[str, None]] = {}

    def note(
        self, rows: Mapping[str, Known], hashes: Mapping[str, bytes | None], links: Iterable[Held], clock: Clock
    ) -> None:
        """These are taken out, and with them where their own links led."""
        if not (rows or self._left):
            return
        now, wall = clock.monotonic(), clock.wall()
        own: dict[str, list[Held]] = {}
        for link in links:
            own.setdefault(link.source, []).append(link)
        self._left = {path: one for path, one in self._left.items() if now - one.at < REMEMBERED_S}
        self._left |= {
            path: _Left(row, hashes.get(path), tuple(own.get(path, ())), now, wall) for path, row in rows.items()
        }
        self._by_inode = {one.row[7]: path for path, one in self._left.items() if one.row[7]}
        self._by_size = {}
        for path, one in self._left.items():
            if one.hash and one.row[4]:
                self._by_size.setdefault(one.row[4], {})[path] = None

    def back(self, new: str, stamp: Stamp, read: Callable[[], FileText | None]) -> Returned | None:
        """What the file at `new` was, if it is one of them: by its inode, else by its bytes."""
        found = self._by_inode.get(stamp.inode)
        sure = True
        if found is None or found not in self._left or not same_file(stamp, self._left[found].row):
            found = None
            alike = self._by_size.get(stamp.size)
            own = read() if alike else None
            same = [] if own is None else [
                path for path in alike or ()
                if self._left[path].hash == bytes.fromhex(own.sha256) and may_be(path, new, own.text)
            ]  # fmt: skip
            found, sure = same[0] if len(same) == 1 else None, False
        if found is None:
            return None
        self._by_size.get(stamp.size, {}).pop(found, None)
        left = self._left.pop(found)
        return Returned(found, new, left.links, left.wall, sure)
