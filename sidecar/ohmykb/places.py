"""Where things lie on this device.

Only `os` and `sys` are imported: the quick path of the command line stands on this module and has
no time for more.
"""

import os
import sys

APP = "oh-my-kb"


def home(kind: str) -> str:
    """The folder for `kind` ∈ config, cache, state: `$OHMYKB_HOME/<kind>`, else the platform's user dir."""
    root = os.environ.get("OHMYKB_HOME")
    if root:
        return os.path.join(os.path.abspath(root), kind)  # noqa: PTH100, PTH118 - no pathlib here
    user = os.path.expanduser("~")  # noqa: PTH111
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or user + r"\AppData\Local"
        return "\\".join((local, APP, kind.capitalize()))
    if sys.platform == "darwin":
        library = {"config": "Application Support", "cache": "Caches", "state": "Application Support"}
        return "/".join((user, "Library", library[kind], APP, kind))
    variable, default = {
        "config": ("XDG_CONFIG_HOME", ".config"),
        "cache": ("XDG_CACHE_HOME", ".cache"),
        "state": ("XDG_STATE_HOME", ".local/state"),
    }[kind]
    return "/".join((os.environ.get(variable) or f"{user}/{default}", APP))


def real(path: str) -> str:
    """The one absolute spelling of a path, links followed."""
    return os.path.realpath(path)


def vault_key(root: str) -> str:
    """First 16 hex of sha256 of the NFC real path with `/`, lower-cased on Windows."""
    found = real(root)
    if sys.platform == "win32":
        found = found.replace("\\", "/").lower()
    if not found.isascii():
        import unicodedata

        found = unicodedata.normalize("NFC", found)
    return _sha256(found.encode("utf-8", "surrogateescape"))[:16]


def find_vault(explicit: str | None, start: str) -> str | None:
    """`--vault`, else `$OHMYKB_VAULT`, else the nearest parent of `start` with `.obsidian/` or `.kb/`."""
    named = explicit or os.environ.get("OHMYKB_VAULT")
    if named:
        return named
    here = os.path.abspath(start)  # noqa: PTH100
    while True:
        if os.path.isdir(here + "/.obsidian") or os.path.isdir(here + "/.kb"):  # noqa: PTH112
            return here
        above = os.path.dirname(here)  # noqa: PTH120
        if above == here:
            return None
        here = above


def discovery_file(key: str) -> str:
    """`<state>/<vault-key>/sidecar.json`."""
    return os.path.join(home("state"), key, "sidecar.json")  # noqa: PTH118


def _sha256(data: bytes) -> str:
    # The interpreter's own module: `hashlib` would load OpenSSL, a tenth of an interpreter start.
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]  # 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]  # 3.11
        except ImportError:
            from hashlib import sha256
    return str(sha256(data).hexdigest())
