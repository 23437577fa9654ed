"""One base for every failure a person may see."""


class KbError(Exception):
    """A failed operation. `str(error)` is one sentence for a person; `fix` says what to do."""

    code = "error"

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageError(KbError):
    """The request itself is wrong (a bad parameter, a path outside the vault)."""

    code = "usage"


class NotFoundError(KbError):
    """The named note is not there."""

    code = "not-found"


class AmbiguousError(KbError):
    """The name fits several notes."""

    code = "ambiguous"


class NoVaultError(KbError):
    """No vault was named, and none was found here."""

    code = "no-vault"


class NotReadyError(KbError):
    """The answer is not there yet; asking again helps."""

    code = "not-ready"


class ConflictError(KbError):
    """A file or a process is in the way; nothing was changed."""

    code = "conflict"
