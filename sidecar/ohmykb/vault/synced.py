"""Whether something else than this machine's programs may change the vault: a sync service, another device."""

import json
from pathlib import Path
from typing import Final

from ohmykb.vault.operations import HISTORY

_MARKS: Final = (".stfolder", ".stversions", ".sync", ".dropbox", ".dropbox.cache", "_sync_.db", ".SeaDrive")
"""What Syncthing, Resilio, Dropbox and Seafile leave in a folder that they keep."""
_PLACES: Final = ("Dropbox", "OneDrive", "Mobile Documents", "CloudStorage", "Google Drive", "Nextcloud", "坚果云")
"""Folders that a service keeps as a whole (iCloud's is `Mobile Documents`)."""
_APP_SYNC: Final = ".obsidian/core-plugins.json"


def is_synced(root: Path, device: str) -> bool:
    """By what services leave behind, Obsidian's own Sync, and operations that another device did."""
    if any((root / mark).exists() for mark in _MARKS):
        return True
    if any(part.startswith(place) for part in root.parts for place in _PLACES):
        return True
    return _app_syncs(root) or _others_wrote(root, device)


def _app_syncs(root: Path) -> bool:
    try:
        plugins = json.loads((root / _APP_SYNC).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(plugins, dict) and plugins.get("sync") is True


def _others_wrote(root: Path, device: str) -> bool:
    """The id of an operation tells the device: `<time>-<4 hex of device>-<random>`."""
    try:
        names = [entry.name for entry in (root / HISTORY).iterdir()]
    except OSError:
        return False
    return any(len(parts := name.split("-")) == 3 and parts[1] != device[:4] for name in names)
