"""What a stat tells about a file: its stamp, and whether its content is on this disk at all."""

import os
import stat
import sys
from functools import partial
from typing import TYPE_CHECKING, cast

from ohmykb.note import Stamp

if TYPE_CHECKING:
    from collections.abc import Callable

# macOS: the file is a placeholder of the file provider; reading it downloads it (sys/stat.h).
_SF_DATALESS = 0x40000000
# Windows: FILE_ATTRIBUTE_OFFLINE | RECALL_ON_OPEN | RECALL_ON_DATA_ACCESS (winnt.h).
_RECALL = 0x1000 | 0x40000 | 0x400000

# Past the named tuple's own constructor, which is Python and four times as slow: one for every file there is.
_stamp = cast("Callable[[tuple[int, int, int, int]], Stamp]", partial(tuple.__new__, Stamp))

if sys.platform == "win32":

    def stamp_of(found: os.stat_result) -> Stamp:
        """Without the inode: a folder listing of Windows does not know it."""
        return _stamp((found.st_size, found.st_mtime_ns, found.st_ctime_ns, 0))

else:

    def stamp_of(found: os.stat_result) -> Stamp:
        return _stamp((found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


CAN_BE_AWAY = sys.platform in {"win32", "darwin"}
"""Whether this system can tell that a file is in the cloud only."""


def cloud_only(found: os.stat_result) -> bool:
    """Whether reading the file would download it first."""
    flags = getattr(found, "st_flags", 0) & _SF_DATALESS
    attributes = getattr(found, "st_file_attributes", 0) & _RECALL
    return bool(flags or attributes)


if sys.platform == "win32":

    def is_junction(item: "os.DirEntry[str]") -> bool:
        """A folder of Windows that stands for another one (`DirEntry.is_junction` is Python 3.12)."""
        return item.stat(follow_symlinks=False).st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT

else:

    def is_junction(item: "os.DirEntry[str]") -> bool:  # noqa: ARG001 - only Windows has them
        return False
