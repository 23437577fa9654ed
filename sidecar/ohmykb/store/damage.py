"""What happens to database files, in words: damage, a full disk, a place that cannot be written to."""

from pathlib import Path

import apsw

from ohmykb.errors import KbError


class DatabaseError(KbError):
    """The database cannot be used as it is."""

    code = "database"


class NewerDatabaseError(DatabaseError):
    """A later version of Oh My KB made this database."""

    code = "database-newer"


class DamagedError(DatabaseError):
    """The file is not a sound database."""

    code = "database-damaged"

    def __init__(self, path: str, why: str) -> None:
        what = "index" if Path(path).name.startswith("index") else "memory of this device for the vault"
        super().__init__(
            f"The {what} is damaged ({path}: {why}).",
            "Run: kb index --rebuild" if what == "index" else "Restart: kb stop, then kb serve. It is then set aside",
        )
        self.path = path


class DiskFullError(DatabaseError):
    """Nothing can be written for now."""

    code = "disk-full"

    def __init__(self) -> None:
        super().__init__("The disk is full; make room, it goes on by itself.")


class UnwritableError(DatabaseError):
    """The place of the database cannot be written to."""

    code = "database-unwritable"

    def __init__(self, path: str, why: str) -> None:
        what = "index" if Path(path).name.startswith("index") else "memory of this device"
        super().__init__(
            f"The {what} cannot be written to {path}: {why}.",
            "Make it writable, or set OHMYKB_HOME to a folder that is",
        )


DAMAGE = (apsw.CorruptError, apsw.NotADBError)
UNWRITABLE = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.IOError)
CUT_SHORT = frozenset({apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_CORRUPTFS})
"""Of the errors of reading and writing: the file is shorter than it says of itself, or cannot be read in it."""
TOLD = (*DAMAGE, *UNWRITABLE, apsw.FullError)
"""What happens to files, as against mistakes of ours."""


def is_damage(error: apsw.Error) -> bool:
    return isinstance(error, DAMAGE) or getattr(error, "extendedresult", 0) in CUT_SHORT


def told(error: apsw.Error, path: str) -> DatabaseError:
    """An error of SQLite as a person is told of it."""
    if is_damage(error):
        return DamagedError(path, str(error))
    if isinstance(error, apsw.FullError):
        return DiskFullError()
    return UnwritableError(path, str(error))
