"""Two files change places in one step, where the system can: then nothing that was there is ever lost,
even when somebody saved between our last look and our write.

Linux: `renameat2(RENAME_EXCHANGE)`; macOS: `renamex_np(RENAME_SWAP)`; Windows: `ReplaceFileW`, which keeps
the creation time too. Elsewhere, and on disks that know none of it, the caller falls back to `os.replace`.
"""

import errno
import os
import sys
from functools import cache
from typing import Any, Final

HALF_WAY: Final = ".kept"
"""Ends the name that a replaced file has for a moment, on Windows."""
_AT_FDCWD: Final = -100
_EXCHANGE: Final = 2  # RENAME_EXCHANGE of linux/fs.h, RENAME_SWAP of sys/stdio.h


if sys.platform == "win32":

    def exchange(fresh: str, target: str) -> bool:
        """As below."""
        import ctypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kept = f"{fresh}{HALF_WAY}"
        if kernel.ReplaceFileW(
            ctypes.c_wchar_p(target), ctypes.c_wchar_p(fresh), ctypes.c_wchar_p(kept), 0, None, None
        ):
            os.replace(kept, fresh)  # noqa: PTH105
            return True
        number = ctypes.get_last_error()
        if os.path.exists(kept) and not os.path.exists(target):  # noqa: PTH110 - it stopped half way
            os.rename(kept, target)  # noqa: PTH104
        if number in (1, 50, 87):  # not supported on this disk
            return False
        raise ctypes.WinError(number)

else:

    def exchange(fresh: str, target: str) -> bool:
        """`fresh` stands at `target` afterwards and the other way round. False: it cannot be done here, nothing
        changed.

        Raises OSError where one of them is not there or may not be written.
        """
        rename = _rename()
        if rename is None:
            return False
        if rename(os.fsencode(fresh), os.fsencode(target)) == 0:
            return True
        import ctypes

        number = ctypes.get_errno()
        if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
            return False
        raise OSError(number, os.strerror(number), target)

    @cache
    def _rename() -> Any:
        import ctypes

        try:
            libc = ctypes.CDLL(None, use_errno=True)
            swap = libc.renamex_np if sys.platform == "darwin" else libc.renameat2
        except (OSError, AttributeError):
            return None
        if sys.platform == "darwin":
            return lambda one, other: swap(one, other, ctypes.c_uint(_EXCHANGE))
        return lambda one, other: swap(_AT_FDCWD, one, _AT_FDCWD, other, ctypes.c_uint(_EXCHANGE))
