"""One process at a time: one writes an index, one sidecar serves a vault."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ohmykb.errors import ConflictError


@contextmanager
def writer_lock(path: Path, what: str = "writes this vault's index") -> Iterator[None]:
    """Holds the lock file `path` (its folder is made); raises ConflictError at once when another has it.

    The system frees it when the process ends, however it ends. `what` completes "Another process …".
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    # Not bound to a thread: the one that stops need not be the one that started.
    lock = FileLock(path, blocking=False, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ConflictError(f"Another process {what}.", "Wait for it to end, or stop it with `kb stop`.") from error
    try:
        yield
    finally:
        lock.release()
