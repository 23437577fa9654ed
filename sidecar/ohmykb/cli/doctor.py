"""`kb doctor`: looks at the set-up, one check a line, each with how to mend it."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import ohmykb
from ohmykb import config as settings
from ohmykb import places, wiring
from ohmykb.cli.session import Session
from ohmykb.errors import ConflictError, KbError
from ohmykb.index.survey import survey
from ohmykb.search.present import Style, pad
from ohmykb.store import content, state
from ohmykb.store.connection import DatabaseError, library_version
from ohmykb.vault.lock import writer_lock
from ohmykb.vault.rules import Rules
from ohmykb.wiring import Vault

MEGABYTE: Final = 1 << 20
LITTLE_MB: Final = 500
TOO_LITTLE_MB: Final = 50
OLDEST_SQLITE: Final = (3, 44)
WATCHES_SHARE: Final = 0.5
CLOUDS: Final = {
    "OneDrive": "OneDrive",
    "Dropbox": "Dropbox",
    "Mobile Documents": "iCloud Drive",
    "iCloudDrive": "iCloud Drive",
    "Google Drive": "Google Drive",
    "GoogleDrive": "Google Drive",
}


@dataclass(frozen=True, slots=True)
class Check:
    check: str
    state: Literal["ok", "warn", "fail"]
    message: str
    fix: str = ""


def doctor(session: Session) -> int:
    checks = list(_checks(session))
    ok = all(one.state != "fail" for one in checks)
    session.show({"ok": ok, "checks": [asdict(one) for one in checks]}, _text)
    return 0 if ok else 1


def _checks(session: Session) -> Iterator[Check]:
    yield from _programs()
    try:
        vault = session.vault
    except KbError as error:
        yield Check("vault", "fail", error.message, error.fix)
        return
    yield Check("vault", "ok", str(vault.root))
    about: tuple[Callable[[Vault], Iterator[Check]], ...] = (
        _settings, _writable, _index, _sidecar, _locks, _watching, _disk, _place
    )  # fmt: skip
    for look in about:
        try:
            yield from look(vault)
        except KbError as error:
            yield Check(look.__name__.strip("_"), "fail", error.message, error.fix)
        except OSError as error:
            yield Check(look.__name__.strip("_"), "fail", f"{error.filename}: {error.strerror}", "Make it accessible")


def _programs() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", "ok", f"{version} ({sys.executable}), Oh My KB {ohmykb.__version__}")
    sqlite = library_version()
    old = tuple(map(int, sqlite.split(".")[:2])) < OLDEST_SQLITE
    yield Check("sqlite", "fail" if old else "ok", f"{sqlite} through apsw", "Install Oh My KB again" if old else "")


def _settings(vault: Vault) -> Iterator[Check]:
    config = settings.load(vault.root)
    remarks = [*config.warnings, *Rules.of(vault.root, config).warnings]
    for remark in remarks:
        yield Check("settings", "warn", remark, f"Mend {vault.root / settings.VAULT_FILE}")
    if not remarks:
        there = (vault.root / settings.VAULT_FILE).is_file()
        yield Check("settings", "ok", settings.VAULT_FILE if there else "defaults: there is no .kb/config.toml")
    device, this = config.write.device, settings.device_id()
    who = "this device" if device == this else f"device {device}" if device else "nobody unasked"
    yield Check("writing", "ok", f"mode {config.write.mode}, {who} (this device is {this})")


def _index(vault: Vault) -> Iterator[Check]:
    if not vault.index_file.is_file():
        yield Check("index", "warn", "there is none yet", "kb index, or kb serve")
        return
    try:
        db = wiring.reading(vault)
    except DatabaseError as error:
        yield Check("index", "fail", error.message, error.fix)
        return
    try:
        wrong = content.integrity(db)
        if wrong is not None:
            yield Check("index", "fail", wrong, "kb index --rebuild")
            return
        config = settings.load(vault.root)
        seen = survey(vault.root, db, config, Rules.of(vault.root, config))
    finally:
        db.close()
    size = vault.index_file.stat().st_size / MEGABYTE
    told = f"{seen.indexed} of {seen.on_disk} notes, {size:.0f} MB in {vault.index_file.parent}"
    yield Check("index", "warn" if seen.pending else "ok", told, "kb index" if seen.pending else "")


def _sidecar(vault: Vault) -> Iterator[Check]:
    found = wiring.running(vault)
    if found is None and _is_held(vault.sidecar_lock):
        left = wiring.announced(vault)
        who = f"process {left.pid}" if left is not None else "a process"
        yield Check("sidecar", "fail", f"{who} runs and does not answer", "End it, then: kb serve")
    elif found is None:
        yield Check("sidecar", "ok", "not running", "Start it: kb serve")
    elif found.version != ohmykb.__version__ or found.api != wiring.API:
        told = f"version {found.version}, this command is {ohmykb.__version__}"
        yield Check("sidecar", "fail", told, "Restart it: kb stop, then kb serve")
    else:
        yield Check("sidecar", "ok", f"process {found.pid} answers on port {found.port}")


def _locks(vault: Vault) -> Iterator[Check]:
    answers = wiring.running(vault) is not None
    left = wiring.announced(vault)
    held = not answers and _is_held(vault.sidecar_lock)
    if left is not None and not answers and not held:
        told = f"process {left.pid} was killed and left its discovery file"
        yield Check("discovery", "warn", told, "Harmless: the next kb serve replaces it")
    if not answers and not held and _is_held(vault.writer_lock):
        yield Check("lock", "warn", "another process writes the index at the moment", "Wait for it to end")
    folder = vault.state_folder
    if sys.platform != "win32" and folder.is_dir() and folder.stat().st_mode & 0o077:
        yield Check("state", "warn", f"others may look into {folder}", f"chmod 700 {folder}")


def _writable(vault: Vault) -> Iterator[Check]:
    for told in (wiring.unwritable(vault.state_folder), wiring.unwritable(vault.index_file.parent)):
        if told is not None:
            yield Check("writable", "fail", told.message, told.fix)
    for kept in state.set_aside(vault.state_file):
        yield Check("state", "warn", kept, "Keep it if it matters, else delete it")


def _is_held(lock: Path) -> bool:
    if not lock.exists():
        return False
    try:
        with writer_lock(lock):
            return False
    except ConflictError:
        return True


def _watching(vault: Vault) -> Iterator[Check]:
    limit_file = Path("/proc/sys/fs/inotify/max_user_watches")
    if not limit_file.is_file():
        return
    limit = int(limit_file.read_text())
    folders = 0
    for _, below, _ in os.walk(vault.root):
        below[:] = [name for name in below if not name.startswith(".")]
        folders += 1
    told = f"{folders} folders of at most {limit} that one user can watch"
    if folders > limit * WATCHES_SHARE:
        fix = "sudo sysctl fs.inotify.max_user_watches=524288, and in /etc/sysctl.conf to keep it"
        yield Check("watching", "warn", told, fix)
    else:
        yield Check("watching", "ok", told)


def _disk(vault: Vault) -> Iterator[Check]:
    place = Path(places.home("cache"))
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free // MEGABYTE
    state: Literal["ok", "warn", "fail"] = "fail" if free < TOO_LITTLE_MB else "warn" if free < LITTLE_MB else "ok"
    yield Check("disk", state, f"{free} MB free for the index", "Make room" if state != "ok" else "")
    if places.real(str(place)).startswith(str(vault.root) + os.sep):
        yield Check(
            "cache", "warn", "the index lies inside the vault; sync tools damage databases", "Move $OHMYKB_HOME"
        )


def _place(vault: Vault) -> Iterator[Check]:
    for part in vault.root.parts:
        for mark, service in CLOUDS.items():
            if mark in part:
                told = f"the vault is in {service}: files may be in the cloud only"
                yield Check("sync", "warn", told, "Keep the vault on this device always; run kb serve on one device")
                return
    if (vault.root / ".stfolder").exists():
        yield Check("sync", "ok", "Syncthing: its conflict copies are listed by kb problems")
    swapped = Path(str(vault.root).swapcase())
    if swapped.exists() and swapped.samefile(vault.root):
        yield Check("case", "ok", "this disk does not tell a from A: such names clash only elsewhere")


def _text(answer: "dict[str, object]", look: Style) -> str:
    lines = []
    checks = answer["checks"]
    assert isinstance(checks, list)  # noqa: S101 - made above
    width = max(len(one["check"]) for one in checks)
    for one in checks:
        state = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}[one["state"]]
        if one["state"] != "ok":
            state = look.bold(state)
        lines.append(f"{state}  {pad(one['check'], width)}  {one['message']}")
        if one["fix"]:
            lines.append(f"{' ' * (width + 8)}→ {one['fix']}")
    return "\n".join(lines) + "\n"
