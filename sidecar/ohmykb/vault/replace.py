"""One file of the vault written whole or not at all, and never over what was not seen."""

import errno
import os
import shutil
import stat
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from ohmykb.errors import ConflictError, UsageError
from ohmykb.vault.exchange import exchange

TEMPORARY: Final = ".kb-tmp"
TRIES: Final = 5
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class ChangedError(ConflictError):
    """The file is not as it was seen."""


def digest(data: bytes) -> str:
    return sha256(data, usedforsecurity=False).hexdigest()


def locate(root: Path, path: str) -> Path:
    """The file meant. Raises UsageError for what is hidden, or leads out of the vault."""
    parts = path.split("/")
    if not path or "\\" in path or "\0" in path or any(part in ("", ".", "..") or part[0] == "." for part in parts):
        raise UsageError(f"{path!r} is not a place for a note in the vault.", "Give a path from the vault's top")
    file = root / path
    if not Path(os.path.realpath(file.parent)).is_relative_to(os.path.realpath(root)):
        raise UsageError(f"{path} leads out of the vault: nothing is written there.", "Put the note inside the vault")
    if file.is_symlink():
        raise UsageError(f"{path} is a link to another file: nothing is written through it.", "Change the file itself")
    return file


def read_bytes(file: Path) -> bytes | None:
    """None where there is no file. Raises ConflictError for what cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise blocked(file, error) from error
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ConflictError(f"{file.name} is no ordinary file.", "Nothing was changed")
        return opened.read()


def expect(file: Path, before: str | None) -> bytes | None:
    """The bytes of a file that must be as it was seen. Raises ChangedError."""
    data = read_bytes(file)
    if (None if data is None else digest(data)) != before:
        raise changed(file, there=data is not None)
    return data


def stage(target: Path, data: bytes, tag: str) -> Path:
    """A file beside the target that holds `data`, safe on the disk, with the target's mode and attributes."""
    if target.exists() and not os.access(target, os.W_OK):
        raise ConflictError(f"{target.name} is read-only.", "Nothing was changed; make it writable first")
    fresh = target.with_name(f".{tag}{TEMPORARY}")
    try:
        with open(fresh, "xb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            _take_after(target, fresh)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise blocked(target, error) from error
    return fresh


def _take_after(target: Path, fresh: Path) -> None:
    """Mode, extended attributes, owner where we may; the creation time where the system lets it be set."""
    found = target.stat()
    fresh.chmod(stat.S_IMODE(found.st_mode))
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(fresh, found.st_uid, found.st_gid)
    now = fresh.stat()
    copied = getattr(shutil, "_copyxattr", None)
    if copied is not None:
        with suppress(OSError):
            copied(str(target), str(fresh))
    born = getattr(found, "st_birthtime", None)
    if sys.platform == "darwin" and born is not None:
        os.utime(fresh, (born, born))  # earlier than its birth: the birth moves there
    os.utime(fresh, ns=(now.st_atime_ns, now.st_mtime_ns))


def put(fresh: Path, target: Path, before: str | None) -> None:
    """The staged file takes the target's place, if that is still what was seen. Raises ChangedError.

    What was replaced then stands under the name of `fresh`, where the system can do that (see `let_go`).
    """
    try:
        if before is None:
            _create(fresh, target)
        elif not _exchange(fresh, target, before):
            expect(target, before)
            os.replace(fresh, target)  # noqa: PTH105
    except OSError as error:
        raise blocked(target, error) from error
    sync_folder(target.parent)


def held(fresh: Path, before: str | None) -> bool:
    """Whether what was replaced is still what was seen: a program that had it open may have written late."""
    if before is None:
        return True
    data = read_bytes(fresh)
    return data is None or digest(data) == before


def give_back(fresh: Path, target: Path) -> None:
    """The replaced file, with what was written late, returns to its place; ours goes."""
    exchange(str(fresh), str(target))
    fresh.unlink(missing_ok=True)
    sync_folder(target.parent)


def _create(fresh: Path, target: Path) -> None:
    try:
        os.link(fresh, target)  # fails where something is there, unlike a rename
    except FileExistsError as error:
        raise changed(target, there=True) from error
    except OSError:
        if target.exists():
            raise changed(target, there=True) from None
        fresh.rename(target)  # a disk without hard links
        return
    fresh.unlink()


def _exchange(fresh: Path, target: Path, before: str) -> bool:
    """Swaps and looks at what came out; what was not expected goes back, however often somebody saves meanwhile."""
    ours = digest(read_bytes(fresh) or b"")
    try:
        if not exchange(str(fresh), str(target)):
            return False
    except FileNotFoundError as error:
        raise changed(target, there=False) from error
    out = digest(read_bytes(fresh) or b"")
    if out == before:
        return True
    for _ in range(TRIES):
        exchange(str(fresh), str(target))
        came = digest(read_bytes(fresh) or b"")
        if came in (ours, out):
            fresh.unlink()
            raise changed(target, there=True)
        out, came = came, out  # saved again between the two: the newer goes back in turn
    raise ConflictError(
        f"Something keeps writing {target.name}; one version of it is kept as {fresh.name}.", "Look at both"
    )


def take(target: Path, before: str, tag: str) -> None:
    """The file goes, if it is still what was seen. Raises ChangedError."""
    aside = target.with_name(f".{tag}{TEMPORARY}")
    try:
        expect(target, before)
        target.rename(aside)
        if digest(read_bytes(aside) or b"") != before:
            _create(aside, target)
            raise changed(target, there=True)
        aside.unlink()
    except OSError as error:
        raise blocked(target, error) from error
    sync_folder(target.parent)


def write_new(file: Path, data: bytes) -> None:
    """Safe on the disk when it returns. The folder is there."""
    with open(file, "xb") as opened:  # noqa: PTH123
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def write_whole(file: Path, data: bytes) -> None:
    """In place of what was there, in one step."""
    fresh = file.with_name(f".{file.name}{TEMPORARY}")
    fresh.unlink(missing_ok=True)
    write_new(fresh, data)
    os.replace(fresh, file)  # noqa: PTH105
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Makes names in a folder safe on the disk, where the system lets folders be opened."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def changed(file: Path, *, there: bool) -> ChangedError:
    what = "was changed meanwhile" if there else "is not there any more"
    return ChangedError(f"{file.name} {what}: nothing was written over it.", "Look again, and decide anew")


def blocked(file: Path, error: OSError) -> ConflictError:
    if error.errno in _FULL:
        return ConflictError("The disk is full.", "Nothing was changed; make room and try again")
    if isinstance(error, PermissionError):
        return ConflictError(
            f"{file.name} may not be written, or another program has it locked.", "Nothing was changed; try again later"
        )
    if error.errno == errno.EROFS:
        return ConflictError("The vault lies on a disk that is read-only.", "Nothing was changed")
    return ConflictError(f"{file.name} cannot be written: {error.strerror}.", "Nothing was changed")
