"""A file's bytes as text, read so that what is hashed, stamped and indexed is one state of the file."""

import errno
import os
import stat
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ohmykb.config import MEGABYTE, Config
from ohmykb.errors import KbError
from ohmykb.note import Problem, Stamp
from ohmykb.vault import troubles
from ohmykb.vault.decode import decode
from ohmykb.vault.stamp import CAN_BE_AWAY, cloud_only, stamp_of

_TRIES = 4
# O_NONBLOCK: a pipe named x.md must not hang us. O_NOFOLLOW: a link put in place of the file since the walk.
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)

# A file written again within one tick of the clock that stamps files keeps its stamp. Linux ticks every
# 1-10 ms; a disk whose times are whole seconds (FAT, HFS+, some network disks) every 1-2 s.
_TICK_NS = 20_000_000
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


class FileText(NamedTuple):
    text: str
    """Decoded; a byte order mark stays as its first character."""
    sha256: str
    """Hex, of the bytes."""
    stamp: Stamp
    """Of exactly these bytes; `ctime_ns` is -1, equal to no stamp of a walk, when the file is so fresh that
    it could change again without its stamp showing it."""
    problems: tuple[Problem, ...]


class Unreadable(KbError):  # noqa: N818 - a state of the file, carried to whoever records it
    """The file is there, and its text cannot be had."""

    code = "unreadable"

    def __init__(self, path: str, problem: Problem) -> None:
        super().__init__(f"{path}: {problem.message}")
        self.problem = problem

    @property
    def changing(self) -> bool:
        """It was written while we read; trying again later helps."""
        return self.problem.code == "changing"


class VanishedError(KbError):
    """The file is not there any more."""

    code = "not-found"


def read(root: Path, path: str, config: Config) -> FileText:
    """The text of a file of the vault. Raises Unreadable with the Problem to record, or VanishedError."""
    flags = _FLAGS if config.vault.follow_symlinks else _FLAGS | _NO_FOLLOW
    limit = config.limit
    try:
        descriptor = os.open(f"{root}/{path}", flags)
        try:
            data, found = _bytes(descriptor, path, limit)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise VanishedError(f"{path} is not there any more.") from error
    except OSError as error:
        raise Unreadable(path, _problem(error)) from error
    stamp = stamp_of(found)
    tick = _COARSE_TICK_NS if stamp.ctime_ns % _SECOND_NS == 0 else _TICK_NS
    if 0 <= time.time_ns() - max(stamp.ctime_ns, stamp.mtime_ns) < tick:
        stamp = stamp._replace(ctime_ns=-1)
    text, problems = decode(data)
    return FileText(text, sha256(data, usedforsecurity=False).hexdigest(), stamp, problems)


def _bytes(descriptor: int, path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """All bytes of one state of the file, and its stat."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        raise Unreadable(path, troubles.NOT_A_FILE)
    if CAN_BE_AWAY and cloud_only(found):
        raise Unreadable(path, troubles.CLOUD_ONLY)
    for _ in range(_TRIES):
        if found.st_size > limit:
            raise Unreadable(path, _too_big(found.st_size, limit))
        data = os.read(descriptor, found.st_size + 1)
        if len(data) < found.st_size:  # some disks give large files in parts
            data = _rest(descriptor, data, found.st_size + 1)
        after = os.fstat(descriptor)
        if (
            len(data) == after.st_size
            and after.st_mtime_ns == found.st_mtime_ns
            and after.st_ctime_ns == found.st_ctime_ns
        ):
            return data, after
        found = after
        os.lseek(descriptor, 0, os.SEEK_SET)
    raise Unreadable(path, Problem(None, "changing", "Something keeps writing this file; it is read again later."))


def _rest(descriptor: int, data: bytes, most: int) -> bytes:
    parts = [data]
    size = len(data)
    while size < most and (part := os.read(descriptor, most - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _too_big(size: int, limit: int) -> Problem:
    return Problem(
        None,
        "too-big",
        f"The file has {size / MEGABYTE:.1f} MB, more than the {limit / MEGABYTE:g} MB that are read. "
        "`[index] max_file_mb` in .kb/config.toml raises the limit.",
    )


def _problem(error: OSError) -> Problem:
    if error.errno == errno.ELOOP:
        return troubles.SYMLINK_OUT
    if isinstance(error, PermissionError):
        return Problem(None, "unreadable", "You may not read this file, or another program has locked it.")
    return Problem(None, "unreadable", f"The file cannot be read: {error.strerror}.")
