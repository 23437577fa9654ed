"""One file of the vault written whole or not at all, and never over what was not seen."""

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from ohmykb.errors import ConflictError
from ohmykb.vault.exchange import exchange

TEMPORARY: Final = ".kb-tmp"
TRIES: Final = 5
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class ChangedError(ConflictError):
    """The file is not as it was seen."""


def digest(data: bytes) -> str:
    return sha256(data, usedforsecurity=False).hexdigest()


def no_step(name: str) -> None:
    """Nobody watches."""


def beside(target: Path, tag: str) -> Path:
    """A hidden name in the same folder, for what takes the target's place or makes room. Short: names have a limit."""
    return target.with_name(f".{tag}{TEMPORARY}")


def read_bytes(file: Path) -> bytes | None:
    """None where there is no file. Raises ConflictError for what cannot be read."""
    # Without waiting: a pipe that nobody writes to would be waited for without end.
    how = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(file, how)
        try:
            ordinary = stat.S_ISREG(os.fstat(descriptor).st_mode)
        except OSError:
            ordinary = False
        if not ordinary:
            os.close(descriptor)
            raise ConflictError(f"{file.name} is no ordinary file.", "Nothing was changed")
        with os.fdopen(descriptor, "rb") as opened:
            return opened.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise blocked(file, error) from error


def hash_of(file: Path) -> str | None:
    """None where there is no file. Raises ConflictError for what cannot be read."""
    data = read_bytes(file)
    return None if data is None else digest(data)


def expect(file: Path, before: str | None) -> bytes | None:
    """The bytes of a file that must be as it was seen. Raises ChangedError."""
    data = read_bytes(file)
    if (None if data is None else digest(data)) != before:
        raise changed(file, there=data is not None)
    return data


def stage(target: Path, data: bytes, fresh: Path) -> None:
    """A file beside the target that holds `data`, safe on the disk, with the target's mode and attributes."""
    there = target.exists()
    if there:
        _writable(target)
    try:
        write_new(fresh, data, stat.S_IMODE(target.stat().st_mode) if there else None)
    except FileExistsError as error:
        raise blocked(target, error) from error  # not ours: it stays
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise blocked(target, error) from error
    try:
        if there:
            _take_after(target, fresh)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise blocked(target, error) from error


def _writable(target: Path) -> None:
    # A rename needs no leave of the file itself, yet who made it read-only meant it.
    if not os.access(target, os.W_OK):
        raise ConflictError(f"{target.name} is read-only.", "Nothing was changed; make it writable first")


def _take_after(target: Path, fresh: Path) -> None:
    """Owner where we may, mode, extended attributes; the creation time where the system lets it be set."""
    found = target.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(fresh, found.st_uid, found.st_gid)
    with suppress(OSError):
        fresh.chmod(stat.S_IMODE(found.st_mode))  # after the owner, which takes bits away
    now = fresh.stat()
    copied = getattr(shutil, "_copyxattr", None)
    if copied is not None:
        with suppress(OSError):
            copied(str(target), str(fresh))
    born = getattr(found, "st_birthtime", None)
    if sys.platform == "darwin" and born is not None:
        os.utime(fresh, (born, born))  # earlier than its birth: the birth moves there
    os.utime(fresh, ns=(now.st_atime_ns, now.st_mtime_ns))


def put(
    fresh: Path, target: Path, before: str | None, step: Callable[[str], None] = no_step,
    swap: Callable[[str, str], bool] = exchange,
) -> None:  # fmt: skip
    """The staged file takes the target's place, if that is still what was seen. Raises ChangedError.

    What was replaced then stands under the name of `fresh`, where the system can do that. Whatever is raised:
    a file left under that name may be the only copy of what somebody saved meanwhile.
    """
    try:
        if before is None:
            _create(fresh, target)
        elif not _exchange(fresh, target, before, step, swap):
            expect(target, before)
            os.replace(fresh, target)  # noqa: PTH105
    except OSError as error:
        raise blocked(target, error) from error
    sync_folder(target.parent)


def held(fresh: Path, before: str | None) -> bool:
    """Whether what was replaced is still what was seen: a program that had it open may have written late."""
    return before is None or hash_of(fresh) in (None, before)


def _create(fresh: Path, target: Path) -> None:
    try:
        os.link(fresh, target)  # fails where something is there, unlike a rename
    except FileExistsError as error:
        raise changed(target, there=True) from error
    except OSError:
        if os.path.lexists(target):
            raise changed(target, there=True) from None
        fresh.rename(target)  # a disk without hard links
        return
    fresh.unlink()


def _exchange(
    fresh: Path, target: Path, before: str, step: Callable[[str], None], swap: Callable[[str, str], bool]
) -> bool:
    """Swaps and looks at what came out; what was not expected goes back. False: this disk cannot swap."""
    ours = hash_of(fresh)
    try:
        if not swap(str(fresh), str(target)):
            return False
    except FileNotFoundError as error:
        raise changed(target, there=False) from error
    step("look")
    out = hash_of(fresh)
    if out == before:
        return True
    _swap_back(fresh, target, ours, out, step, swap)
    raise changed(target, there=True)


def _swap_back(
    fresh: Path, target: Path, inside: str | None, out: str | None, step: Callable[[str], None],
    swap: Callable[[str, str], bool],
) -> None:  # fmt: skip
    """What came out goes back in; what was saved over ours meanwhile goes in after it: the newest stands at the
    end. An older one that nothing else holds is left under the name of `fresh`."""
    for _ in range(TRIES):
        step("back")
        try:
            swap(str(fresh), str(target))
        except FileNotFoundError:  # deleted in that moment: ours was, not what somebody saved
            with suppress(ChangedError):
                _create(fresh, target)
                return
            continue
        came = hash_of(fresh)
        if came == inside:
            return
        inside, out = out, came
    raise ConflictError(
        f"Something keeps writing {target.name}.", "Look at it once that is over; kb recover finds every version"
    )


def take(target: Path, before: str, aside: Path, step: Callable[[str], None] = no_step) -> None:
    """The file stands under the name of `aside` afterwards, if it was still what was seen. Raises ChangedError;
    then a file left under that name is the only copy of what somebody saved meanwhile."""
    try:
        expect(target, before)
        _writable(target)
        step("aside")
        try:
            target.rename(aside)
        except FileNotFoundError as error:
            raise changed(target, there=False) from error
        step("look")
        if hash_of(aside) != before:
            _create(aside, target)
            raise changed(target, there=True)
    except OSError as error:
        raise blocked(target, error) from error
    sync_folder(target.parent)


def write_new(file: Path, data: bytes, mode: int | None = None) -> None:
    """Safe on the disk when it returns, and never readable by more people than `mode` says. The folder is there."""
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(file, how, 0o666 if mode is None else 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(descriptor)
    if mode is not None:
        with suppress(OSError):  # a disk that knows no modes
            file.chmod(mode)


def archive(source: Path, data: bytes, top: Path, path: str) -> None:
    """The bytes of `source` as `top/path`, for the same eyes only, and read again. Raises OSError, ConflictError."""
    make_folders(top.parent, f"{top.name}/{path}".rpartition("/")[0], like=source)
    kept = top / path
    write_new(kept, data, stat.S_IMODE(source.stat().st_mode) | stat.S_IRUSR | stat.S_IWUSR)
    sync_folder(kept.parent)
    if hash_of(kept) != digest(data):
        raise ConflictError(f"{path} could not be archived whole.", "Nothing was changed; look at the disk")


def make_folders(root: Path, folder: str, like: Path | None = None) -> None:
    """Those that are not there, safe on the disk. `like`: a file whose folders' modes they get, innermost first."""
    depth = folder.count("/") + 1 if folder else 0
    for number in range(1, depth + 1):
        made = root / "/".join(folder.split("/")[:number])
        try:
            made.mkdir()
        except FileExistsError:
            continue
        above = None if like is None or depth - number >= len(like.parents) else like.parents[depth - number]
        if above is not None:
            with suppress(OSError):
                made.chmod(stat.S_IMODE(above.stat().st_mode) & 0o777 | stat.S_IRWXU)
        sync_folder(made.parent)


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
