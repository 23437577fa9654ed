"""Names that clash with others in their folder, told anew when one there appears or vanishes: nothing
about the file itself changes by that, so that no look at it alone would tell."""

import os
from collections.abc import Iterable
from pathlib import Path

from ohmykb.note import Problem, Scope
from ohmykb.store import notes
from ohmykb.store.connection import Database
from ohmykb.vault.names import name_problems
from ohmykb.vault.rules import Rules
from ohmykb.vault.walk import examine


def clashes(root: Path, db: Database, rules: Rules, paths: Iterable[str]) -> dict[str, Problem | None]:
    """What a walk would say now of all names beside `paths` that clash, or did so far."""
    found: dict[str, Problem | None] = {}
    for folder in sorted({path.rpartition("/")[0] for path in paths}):
        prefix = folder + "/" if folder else ""
        now: dict[str, Problem] = {}
        for name, problem in name_problems(_names(root / folder)):
            now.setdefault(prefix + name, problem)
        for path in [*now, *notes.clashing(db, folder)]:
            found[path] = None if _out(rules, path) else examine(root, path, rules)[1] or now.get(path)
    return found


def _names(folder: Path) -> list[str]:
    try:
        listing = os.listdir(folder)  # noqa: PTH208 - names, not paths
    except OSError:
        return []
    return [name for name in listing if name[0] != "." and name.encode(errors="ignore").decode() == name]


def _out(rules: Rules, path: str) -> bool:
    return Scope.TARGET in (rules.scope(path), rules.scope(path + "/"))
