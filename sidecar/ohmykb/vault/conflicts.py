"""Copies that sync tools leave beside a note when two devices changed it.

| tool | name of the copy of `x.md` | certain |
|---|---|---|
| Syncthing | `x.sync-conflict-20240101-120000-ABCDEFG.md` | by itself |
| Dropbox | `x (Ann's conflicted copy 2024-01-01).md`, `x (Ann 的冲突副本 2024-01-01).md`, … | by itself |
| Obsidian Sync | `x (Conflicted copy device 202401011200).md` | by itself |
| OneDrive | `x-DESKTOP-ABC1234.md` | only with `x.md` beside it |
| iCloud | `x 2.md` | never: `Chapter 2` beside `Chapter` is a book |

So iCloud's copies stay ordinary notes; `numbered_copy` names the original for whoever compares texts.
OneDrive appends the name of the computer; only the names that Windows itself gives are recognised.
"""

import re
from collections.abc import Callable, Collection, Iterable

_SYNCTHING = re.compile(r"(.+)\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}(\.[^.]*)?", re.DOTALL)
# Dropbox, Nextcloud, Seafile and Obsidian Sync. Dropbox's `(Case Conflict)` is left out on purpose: that is
# two names, not two versions.
_BRACKETED = re.compile(
    r"(.+?) ?[(（][^()（）]*"
    r"(?:conflicted copy|SFConflict|(?:冲突|衝突)的?(?:副本|複本|复件|文件|檔案|拷貝))"
    r"[^()（）]*[)）](\.[^.]*)?",
    re.IGNORECASE | re.DOTALL,
)
_COMPUTER = r"-(?:DESKTOP|LAPTOP|WIN|MINIWINPC)-[A-Z0-9]{6,11}(?:-\d+)?"
_ONEDRIVE = re.compile(rf"(.+){_COMPUTER}(\.[^.]*)?", re.DOTALL)
_NUMBERED = re.compile(r"(.+) [2-9](\.[^.]*)?", re.DOTALL)


def conflict_copy(name: str, beside: Callable[[str], bool] | None = None) -> str | None:
    """The name of the file that `name` is a sync-conflict copy of, or None.

    `beside` tells whether a file of that name is in the same folder; without it OneDrive is not judged.
    """
    if _may_say_it(name):
        found = _SYNCTHING.fullmatch(name) or _BRACKETED.fullmatch(name)
        if found:
            return found[1] + (found[2] or "")
    if beside is not None and _may_be_onedrive(name):
        found = _ONEDRIVE.fullmatch(name)
        if found and beside(found[1] + (found[2] or "")):
            return found[1] + (found[2] or "")
    return None


def copies_of(names: Collection[str], listing: Iterable[str]) -> list[str]:
    """The names of `listing` that are OneDrive copies if one of `names` is there."""
    return [
        name
        for name in listing
        if _may_be_onedrive(name)
        and (found := _ONEDRIVE.fullmatch(name)) is not None
        and found[1] + (found[2] or "") in names
    ]


def numbered_copy(name: str) -> str | None:
    """`x.md` for `x 2.md`: what iCloud (and Finder) would call a copy. A hint, never a judgement."""
    found = _NUMBERED.fullmatch(name)
    return found[1] + (found[2] or "") if found else None


def may_hold_copies(names: str) -> bool:
    """Whether any of the names in `names` is worth asking `conflict_copy` about; nearly always none is."""
    return _may_say_it(names) or _may_be_onedrive(names)


def _may_say_it(name: str) -> bool:
    return "onflict" in name or "ONFLICT" in name or "冲突" in name or "衝突" in name


def _may_be_onedrive(name: str) -> bool:
    return "-DESKTOP-" in name or "-LAPTOP-" in name or "-WIN-" in name or "-MINIWINPC-" in name
