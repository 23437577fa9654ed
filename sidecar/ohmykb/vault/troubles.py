"""The Problems a look at the disk can find, in the words people read."""

from ohmykb.note import Problem

CLOUD_ONLY = Problem(None, "cloud-only", "The text is in the cloud only. Download the file to have it indexed.")
NESTED_VAULT = Problem(
    None,
    "nested-vault",
    "This folder is a vault of its own, indexed as a part of this one; `[index] exclude` leaves it out.",
)
NOT_A_FILE = Problem(None, "not-a-file", "A pipe, socket or device, not a file; it is skipped.")
NAME_NOT_UTF8 = Problem(None, "name-not-utf8", "The name is not UTF-8; it is skipped. Rename it.")
SYMLINK_BROKEN = Problem(None, "symlink-broken", "A symbolic link that leads nowhere.")
SYMLINK_ROUND = Problem(None, "symlink-loop", "A symbolic link that leads back to itself.")
SYMLINK_OUT = Problem(
    None,
    "symlink-out",
    "A symbolic link out of the vault; it is not followed. "
    "`[vault] follow_symlinks = true` in .kb/config.toml follows such links.",
)


def symlink_inside(target: str, *, loop: bool) -> Problem:
    code = "symlink-loop" if loop else "symlink-inside"
    where = target or "the vault itself"
    return Problem(None, code, f"A symbolic link to {where}, which is seen there; it is not followed.")


def symlink_loop(target: str) -> Problem:
    return Problem(None, "symlink-loop", f"A symbolic link to {target}, which leads back here; it is not followed.")


def conflict_copy_of(original: str) -> Problem:
    return Problem(
        None,
        "conflict-copy",
        f"A sync tool kept this as another version of {original!r}: it is searchable, but not in the graph. "
        "Merge the two and delete it.",
    )


def folder_unreadable(reason: str | None) -> Problem:
    return Problem(None, "unreadable", f"The folder cannot be read: {reason}.")


def name_not_portable(wrong: str) -> Problem:
    return Problem(
        None,
        "name-not-portable",
        f"The name {wrong}: Windows and some sync services cannot hold it. Rename it.",
    )


def name_case(others: str) -> Problem:
    return Problem(
        None,
        "name-case",
        f"Differs only in case from {others}: one of them is lost on Windows and macOS. Rename it.",
    )


def name_normalization(others: str) -> Problem:
    return Problem(
        None,
        "name-normalization",
        f"Another name here looks the same, written in other code points: {others}. Rename it.",
    )
