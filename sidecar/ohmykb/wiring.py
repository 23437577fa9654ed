"""Builds the objects of one vault: the only place that reads the settings and puts rooms together."""

from dataclasses import dataclass
from pathlib import Path

from ohmykb import config as settings
from ohmykb import places
from ohmykb.clock import SystemClock
from ohmykb.errors import NoVaultError
from ohmykb.index.reconcile import Index
from ohmykb.store import bulk, files
from ohmykb.store.connection import DamagedError, Readers, open_writer
from ohmykb.store.schema import INDEX_MIGRATIONS, STATE_MIGRATIONS
from ohmykb.vault.rules import Rules


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault and where its things lie on this device."""

    root: Path
    key: str

    @property
    def index_file(self) -> Path:
        return Path(places.home("cache"), self.key, "index.db")

    @property
    def state_file(self) -> Path:
        return Path(places.home("state"), self.key, "state.db")

    @property
    def discovery_file(self) -> Path:
        return Path(places.discovery_file(self.key))


def find_vault(explicit: str | None, start: str) -> Vault:
    """The vault meant here. Raises NoVaultError."""
    found = places.find_vault(explicit, start)
    if found is None:
        raise NoVaultError("There is no vault here.", "Name one: kb --vault DIR …, or set OHMYKB_VAULT")
    root = Path(found)
    if not root.is_dir():
        raise NoVaultError(f"{found} is not a folder.", "Name the folder of your vault: kb --vault DIR …")
    root = Path(places.real(found))
    return Vault(root, places.vault_key(found))


def open_index(vault: Vault) -> Index:
    """The writing side. The caller holds the writer's lock."""
    config = settings.load(vault.root)
    try:
        db = open_writer(vault.index_file, INDEX_MIGRATIONS)
    except DamagedError:
        drop_index(vault)
        db = open_writer(vault.index_file, INDEX_MIGRATIONS)
    bulk.make_indexes(db)
    files.settle_recipe(db)
    history = open_writer(vault.state_file, STATE_MIGRATIONS)
    return Index(vault.root, db, history, config, Rules.of(vault.root, config), SystemClock())


def drop_index(vault: Vault) -> None:
    """Deletes the index: it is derived, and made anew."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{vault.index_file}{suffix}").unlink(missing_ok=True)


def readers(vault: Vault) -> Readers:
    return Readers(vault.index_file, len(INDEX_MIGRATIONS))
