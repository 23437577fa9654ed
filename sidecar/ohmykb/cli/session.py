"""What one command works with: its arguments, the vault, and whoever answers for it."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from ohmykb import wiring
from ohmykb.cli import client
from ohmykb.cli.client import Client
from ohmykb.cli.terminal import Json, Progress, say, show
from ohmykb.index.reconcile import Outcome
from ohmykb.search.present import Style
from ohmykb.store.connection import Database, DatabaseError, NewerDatabaseError, snapshot
from ohmykb.wiring import Vault


@dataclass
class Session:
    args: Namespace

    @cached_property
    def vault(self) -> Vault:
        """Raises NoVaultError."""
        return wiring.find_vault(self.args.vault, os.getcwd())  # noqa: PTH109 - a string is asked for

    @cached_property
    def sidecar(self) -> Client | None:
        return client.find(self.vault)

    def show(self, answer: Json, text: Callable[[Json, Style], str]) -> None:
        show(answer, text, as_json=self.args.json)

    @contextmanager
    def index(self) -> Iterator[Database]:
        """A view of the index itself. It is made first where there is none yet."""
        try:
            db = wiring.reading(self.vault)
        except NewerDatabaseError:
            raise
        except DatabaseError as error:
            say(f"{error.message} Making it first; later it is only kept in step.")
            self.build()
            db = wiring.reading(self.vault)
        try:
            with snapshot(db):
                yield db
        finally:
            db.close()

    def build(self, *, rebuild: bool = False, with_vectors: bool = False) -> tuple[Outcome, Json]:
        """Brings the index up to date, alone; returns what changed, and the numbers of the index."""
        from ohmykb.cli.indexing import build

        progress = Progress()
        try:
            return build(self.vault, progress, rebuild=rebuild, with_vectors=with_vectors)
        finally:
            progress.end()

    def note(self, name: str) -> str:
        """A note as named here: a path of this machine inside the vault becomes the vault's own."""
        if os.path.isabs(name):  # noqa: PTH117
            inside = os.path.relpath(os.path.realpath(name), self.vault.root).replace(os.sep, "/")
            if not inside.startswith("../"):
                return inside
        return name
