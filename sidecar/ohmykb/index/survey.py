"""How far the index is behind the disk, without changing either."""

from pathlib import Path
from typing import NamedTuple

from ohmykb.config import Config
from ohmykb.index.diff import compare
from ohmykb.note import Scope
from ohmykb.store import files
from ohmykb.store.connection import Database
from ohmykb.store.files import NOTE
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import walk


class Survey(NamedTuple):
    on_disk: int
    """Notes that take part, as they lie there now."""
    pending: int
    """Of these, those whose text as it is now is not in the index."""

    @property
    def indexed(self) -> int:
        return self.on_disk - self.pending


def survey(root: Path, db: Database | None, config: Config, rules: Rules) -> Survey:
    """Walks the vault and lays it beside what was recorded; `db` None: nothing was."""
    seen = walk(root, rules, config)
    known = files.manifest(db) if db is not None else {}
    diff = compare(seen.entries, known, seen.unreadable)
    unread = [entry for _, entry in diff.unread] + diff.new
    return Survey(
        sum(entry.kind == NOTE and entry.scope <= Scope.SEARCH for entry in seen.entries),
        sum(entry.kind == NOTE and entry.scope <= Scope.SEARCH for entry in unread),
    )
