"""Files that are gone here and new there, or that took one another's places: the same notes under other names."""

from collections.abc import Callable, Mapping, Sequence

from ohmykb.index.diff import Diff, same_file
from ohmykb.index.same import may_be
from ohmykb.note import Scope
from ohmykb.store.files import OTHER
from ohmykb.vault.read import FileText
from ohmykb.vault.walk import Entry

Read = Callable[[Entry], FileText | None]
Stored = Callable[[Sequence[int]], Mapping[int, bytes | None]]
"""Ids of files → sha256 of what the index holds of them."""


def pair_moves(diff: Diff, read: Read, stored: Stored) -> None:
    """Moves what is one file from `gone`, `new` and `replaced` to `moved`: by inode first, then by bytes, so that a
    copy does not take the place of the file itself."""
    _take_turns(diff)
    if not (diff.gone and diff.new):
        return
    by_inode = {row[7]: path for path, row in diff.gone.items() if row[7]}  # Windows tells none: 0
    found: dict[str, str] = {
        entry.path: old
        for entry in diff.new
        if (old := by_inode.get(entry.stamp.inode)) is not None and same_file(entry.stamp, diff.gone[old])
    }
    _move(diff, found)
    _move(diff, _by_bytes(diff, read, stored))


def _move(diff: Diff, found: Mapping[str, str]) -> None:
    """`found`: new path → path of one that is gone."""
    stay = []
    for entry in diff.new:
        old = found.get(entry.path)
        if old is None or diff.gone[old][2] != entry.kind:
            stay.append(entry)
        else:
            diff.moved.append((diff.gone.pop(old)[1], old, entry))
    diff.new = stay


def _take_turns(diff: Diff) -> None:
    """Two notes swap names, or one gives its name to the next: every path but the ends is there before and after.

    Only where the file that stood at such a path is found elsewhere, and the one that stands there now came from
    elsewhere: an editor that keeps the old file as a copy and writes a new one renames nothing.
    """
    if not diff.replaced:
        return
    rows = {path: row for path, (row, _) in diff.replaced.items()} | diff.gone
    homes = {row[7]: path for path, row in rows.items() if row[7]}
    entries = [entry for _, entry in diff.replaced.values()] + diff.new
    moves: dict[str, Entry] = {}
    for entry in entries:
        old = homes.get(entry.stamp.inode)
        if old not in (None, entry.path) and rows[old][2] == entry.kind and same_file(entry.stamp, rows[old]):
            moves[old] = entry
    while True:
        taken = {entry.path for entry in moves.values()}
        sound = {
            old: entry
            for old, entry in moves.items()
            if (entry.path not in diff.replaced or entry.path in moves) and (old in diff.gone or old in taken)
        }
        if len(sound) == len(moves):
            break
        moves = sound
    moves = {old: entry for old, entry in moves.items() if old in diff.replaced or entry.path in diff.replaced}
    if not moves:
        return
    taken = {entry.path for entry in moves.values()}
    settled = {diff.replaced[path][0][1] for path in taken if path in diff.replaced}
    diff.moved += [(rows[old][1], old, entry) for old, entry in moves.items()]
    diff.new = [entry for entry in diff.new if entry.path not in taken]
    diff.gone = {path: row for path, row in diff.gone.items() if path not in moves}
    diff.unread = [(file, entry) for file, entry in diff.unread if file not in settled]
    diff.rescoped = [(file, entry) for file, entry in diff.rescoped if file not in settled]
    diff.restamped = [(stamp, file) for stamp, file in diff.restamped if file not in settled]


def _by_bytes(diff: Diff, read: Read, stored: Stored) -> dict[str, str]:
    """New path → the one that is gone with the same bytes; of several alike only where the name decides."""
    by_size: dict[int, list[str]] = {}
    for path, row in diff.gone.items():
        if row[4] is not None and not row[8]:
            by_size.setdefault(row[4], []).append(path)
    claims: dict[str, list[str]] = {}
    for entry in diff.new:
        alike = by_size.get(entry.stamp.size, ())
        if alike and entry.kind != OTHER and entry.scope <= Scope.SEARCH and entry.stamp.size:
            claims[entry.path] = _alike(entry, alike, diff, read, stored)
    found: dict[str, str] = {}
    for new, olds in claims.items():
        own = [old for old in olds if _name(old) == _name(new)]
        if len(own) == 1 and _only(new, own[0], claims, by_name=True):
            found[new] = own[0]
    left = {new: [old for old in olds if old not in found.values()] for new, olds in claims.items() if new not in found}
    for new, olds in left.items():
        if len(olds) == 1 and _only(new, olds[0], left, by_name=False):
            found[new] = olds[0]
    return found


def _only(new: str, old: str, claims: Mapping[str, list[str]], *, by_name: bool) -> bool:
    """Whether nobody else could be that file as well."""
    return not any(
        old in olds and (not by_name or _name(other) == _name(old)) for other, olds in claims.items() if other != new
    )


def _alike(entry: Entry, candidates: Sequence[str], diff: Diff, read: Read, stored: Stored) -> list[str]:
    found = read(entry)
    if found is None:
        return []
    digest = bytes.fromhex(found.sha256)
    hashes = stored([diff.gone[path][1] for path in candidates])
    return [
        path for path in candidates if hashes.get(diff.gone[path][1]) == digest and may_be(path, entry.path, found.text)
    ]


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
