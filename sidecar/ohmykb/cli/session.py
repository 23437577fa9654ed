"""What one command works with: its arguments, the vault, and whoever answers for it."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from ohmykb import places, wiring
from ohmykb.cli import client
from ohmykb.cli.client import Client
from ohmykb.cli.terminal import Json, Progress, say, show
from ohmykb.errors import NoVaultError
from ohmykb.index.reconcile import Outcome
from ohmykb.search.asked import pending
from ohmykb.search.layout import Style
from ohmykb.store.connection import Database, DatabaseError, NewerDatabaseError, snapshot
from ohmykb.wiring import BusyError, Vault


@dataclass
class Session:
    args: Namespace
    lacking: str | None = None
    """What answers lack, where the index was asked alone."""

    @cached_property
    def vault(self) -> Vault:
        """Raises NoVaultError."""
        here = ""
        if not (self.args.vault or os.environ.get("OHMYKB_VAULT")):
            try:
                here = os.getcwd()  # noqa: PTH109 - a string is asked for
            except OSError as error:
                raise NoVaultError("The folder you are in is gone.", "Name the vault: kb --vault DIR …") from error
            if places.find_vault(None, here) is None:
                raise NoVaultError(
                    "There is no vault here: no folder from here upwards has .obsidian or .kb in it.",
                    "If this folder is to be one: kb --vault . index. Else name yours: kb --vault DIR …",
                )
        return wiring.find_vault(self.args.vault, here)

    @cached_property
    def sidecar(self) -> Client | None:
        return client.find(self.vault)

    def show(self, answer: Json, text: Callable[[Json, Style], str]) -> None:
        show(answer, text, as_json=self.args.json, everything=getattr(self.args, "all", False))

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
            left = pending(db)
            if left:
                say(f"The index is half made, {left} notes are to go. Finishing it first.")
                self._finish()
                left = pending(db)
            if left:
                self.lacking = f"the index is half made: {left} notes are to go"
                say(f"{self.lacking[:1].upper()}{self.lacking[1:]}. Finish it with: kb index")
            with snapshot(db):
                yield db
        finally:
            db.close()

    def _finish(self) -> None:
        try:
            self.build()
        except (BusyError, DatabaseError) as error:
            say(f"{error.message} {error.fix}".strip())

    def build(self, *, rebuild: bool = False, with_vectors: bool = False) -> tuple[Outcome, Json]:
        """Brings the index up to date, alone; returns what changed, and the numbers of the index."""
        from ohmykb.cli.indexing import build

        progress = Progress()
        try:
            return build(self.vault, progress, rebuild=rebuild, with_vectors=with_vectors)
        finally:
            progress.end()

    def note(self, name: str) -> str:
        """A note as named here: `[[a link]]`, `Note#heading`, or a file of this machine inside the vault."""
        if name.startswith("[[") and name.endswith("]]"):
            return name
        if os.path.isabs(name) or os.path.isfile(name):  # noqa: PTH113, PTH117
            inside = os.path.relpath(os.path.realpath(name), self.vault.root).replace(os.sep, "/")
            if not inside.startswith("../"):
                return inside
        return name.partition("#")[0].strip() or name
