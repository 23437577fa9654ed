"""The note that somebody means: by its path, or by a name as in a link."""

from ohmykb.errors import AmbiguousError, NotFoundError, UsageError
from ohmykb.note import Scope
from ohmykb.search.suggest import Names
from ohmykb.store import files, fulltext
from ohmykb.store.connection import Database
from ohmykb.store.files import NOTE


def find_note(db: Database, name: str) -> tuple[int, str]:
    """(id, path) of the note meant: a path, or a name as in a link, its brackets and heading allowed.

    Raises NotFoundError, AmbiguousError, UsageError (a path that leads out of the vault).
    """
    if not name.strip() or name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
        raise UsageError(f"{name!r} is not a path in the vault.", "Give a path from the vault's top, or a name")
    name = name.encode(errors="replace").decode()  # a shell may hand over half characters
    if name.startswith("[[") and name.endswith("]]"):
        name = name[2:-2].split("|")[0].split("#")[0].strip()
    for spelled in (name, name + ".md"):
        row = files.by_path(db, spelled)
        if row is not None and row.kind == NOTE and row.scope <= Scope.SEARCH:
            return row.id, row.path
    key = files.path_key(name)
    key = key.removesuffix(".md")
    notes = [(n, p) for n, p, kind in files.named(db, files.name_key(name)) if kind == NOTE]
    found = [(n, p) for n, p in notes if fulltext.holds(db, n)]
    exact = [(n, p) for n, p in found if files.path_key(p)[:-3] == key]
    ending = [(n, p) for n, p in found if files.path_key(p)[:-3].endswith("/" + key)]
    for group in (exact, ending):
        if len(group) == 1:
            return group[0]
        if group:
            some = ", ".join(sorted(path for _, path in group)[:3])
            raise AmbiguousError(f"{name!r} may be {len(group)} notes: {some}.", "Give the whole path")
    likely = [one.path for one in Names(db).suggest(name)]
    meant = f"Did you mean {' or '.join(likely)}?" if likely else "Look for it: kb probe " + repr(name)
    raise NotFoundError(f"There is no note {name!r}.", meant)
