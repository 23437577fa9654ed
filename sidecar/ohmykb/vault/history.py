"""`.history/` as it lies on the disk: what was done, and the exact bytes from before.

The folder may travel by sync, so any part of it may be missing or cut: what cannot be proved by its hash
is told as a problem, and never used.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ohmykb.errors import ConflictError, NotFoundError
from ohmykb.vault.operations import ARCHIVE, HISTORY, KEPT, RECORD, Operation, RecordError, from_json, is_id
from ohmykb.vault.replace import digest, read_bytes


class Version(NamedTuple):
    """Archived bytes of a note."""

    op: Operation
    path: str
    hash: str


class History:
    def __init__(self, root: Path) -> None:
        self.folder = root / HISTORY

    def ids(self) -> list[str]:
        """In the order of time."""
        try:
            return sorted(entry.name for entry in os.scandir(self.folder) if is_id(entry.name))
        except OSError:
            return []

    def read(self, op_id: str) -> Operation:
        """Raises NotFoundError, RecordError."""
        if not is_id(op_id):
            raise NotFoundError(f"{op_id!r} is no operation.", "See them with: kb history")
        try:
            data = (self.folder / op_id / RECORD).read_bytes()
        except FileNotFoundError as error:
            if not (self.folder / op_id).is_dir():
                raise NotFoundError(f"There is no operation {op_id}.", "See them with: kb history") from error
            raise RecordError(
                f"{HISTORY}/{op_id} has no {RECORD}: half synced, or cut off while it was made."
            ) from error
        except OSError as error:
            raise RecordError(f"{HISTORY}/{op_id}/{RECORD} cannot be read: {error.strerror}.") from error
        return from_json(data, op_id)

    def operations(self, note: str | None = None) -> list[Operation]:
        """Oldest first; only what touched `note`, where one is named. What cannot be read is left out."""
        found = []
        for op_id in self.ids():
            try:
                op = self.read(op_id)
            except (RecordError, NotFoundError):
                continue
            if note is None or any(one.path == note for one in op.files):
                found.append(op)
        return found

    def problems(self) -> list[tuple[str, str]]:
        """(operation, sentence) of what is not whole."""
        found = []
        for op_id in self.ids():
            try:
                op = self.read(op_id)
            except (RecordError, NotFoundError) as error:
                found.append((op_id, error.message))
                continue
            lost = [one.path for one in op.files if one.before and not self._there(op_id, one.path)]
            if lost:
                found.append(
                    (op_id, f"{len(lost)} archived versions are not here (not synced yet, or purged): {lost[0]}")
                )
        return found

    def open(self, device: str) -> list[Operation]:
        """What this device began and did not end."""
        return [
            op for op_id in self.ids() if f"-{device[:4]}-" in op_id
            for op in self._read_or_none(op_id) if op.state == "prepared" and op.device == device
        ]  # fmt: skip

    def _read_or_none(self, op_id: str) -> list[Operation]:
        try:
            return [self.read(op_id)]
        except (RecordError, NotFoundError):
            return []

    def archived(self, op_id: str, path: str) -> bytes:
        """The exact bytes from before. Raises ConflictError where they are not here, or not whole."""
        wanted = next((one.before for one in self.read(op_id).files if one.path == path), None)
        if wanted is None:
            raise NotFoundError(f"Operation {op_id} archived nothing of {path}.", "See what it did: kb history")
        data = read_bytes(self.folder / op_id / ARCHIVE / path)
        if data is None:
            raise ConflictError(
                f"What {path} held before operation {op_id} is not here: purged, or not synced yet.",
                "If another device has it, wait for the sync",
            )
        if digest(data) != wanted:
            raise ConflictError(
                f"The archived {path} of operation {op_id} is not whole.", "Wait for the sync; a backup may have it"
            )
        return data

    def versions(self, path: str) -> list[Version]:
        """Archived versions of a note, oldest first, each content once."""
        found: dict[str, Version] = {}
        for op in self.operations(path):
            for one in op.files:
                if one.path == path and one.before and self._there(op.id, path):
                    found.setdefault(one.before, Version(op, path, one.before))
        return list(found.values())

    def kept(self, op_id: str, path: str) -> Path:
        """Where the archived bytes would lie."""
        return self.folder / op_id / ARCHIVE / path

    def _there(self, op_id: str, path: str) -> bool:
        return self.kept(op_id, path).is_file()

    def kept_aside(self, op_id: str) -> Iterator[tuple[str, Path]]:
        """(path of the note, file) of versions that were saved at the moment of a write."""
        top = self.folder / op_id / KEPT
        for above, _, names in os.walk(top):
            for name in sorted(names):
                file = Path(above, name)
                yield file.relative_to(top).as_posix().rstrip("~"), file

    def size(self) -> int:
        """Bytes that the folder holds."""
        total = 0
        for above, _, names in os.walk(self.folder):
            for name in names:
                try:
                    total += os.lstat(os.path.join(above, name)).st_size  # noqa: PTH118
                except OSError:
                    continue
        return total

    def purge(self, path: str) -> int:
        """Removes a note's archived versions for good, half-synced operations' too; the records stay.
        Returns how many."""
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise NotFoundError(f"{path!r} is no place in the vault.", "Give a path from the vault's top")
        removed = 0
        for op_id in self.ids():
            for top in (self.folder / op_id / ARCHIVE, self.folder / op_id / KEPT):
                removed += _remove(top, path)
        return removed


def _remove(top: Path, path: str) -> int:
    kept = top / path
    if not os.path.realpath(kept.parent).startswith(os.path.realpath(top.parent)):
        return 0  # a link that came with the vault
    removed = 0
    while kept.is_file():
        kept.unlink()
        removed += 1
        kept = kept.with_name(f"{kept.name}~")
    for above in (top / path).parents:  # folders that hold nothing any more
        if above == top.parent:
            break
        with suppress(OSError):
            above.rmdir()
    return removed
