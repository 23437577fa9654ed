"""A vault of real files with its real index, for tests of what lies between."""

import shutil
from pathlib import Path
from typing import Any

from ohmykb import config as kb_config
from ohmykb import wiring
from ohmykb.index.encode import Filler
from ohmykb.index.reconcile import Outcome
from ohmykb.index.verify import verify
from ohmykb.models.encoder import Encoder
from ohmykb.search import graph
from ohmykb.search.meaning import Meaning
from ohmykb.search.probe import Answer, Prober
from ohmykb.store.connection import Database
from ohmykb.store.fulltext import Where
from ohmykb.vault.rules import Rules


class Trial:
    """A vault of real files and its real index, as the wiring makes it."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.vault = wiring.find_vault(str(root), str(root))
        self.root = self.vault.root
        self.index = wiring.open_index(self.vault)
        self.prober = Prober(lambda: self.index.db)

    # --- files

    def put(self, files: dict[str, str | bytes] | None = None, **more: str) -> None:
        """Writes files; a value of text is written as UTF-8, without touching line ends."""
        for path, content in {**(files or {}), **more}.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def remove(self, path: str) -> None:
        target = self.root / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()

    def configure(self, text: str) -> None:
        """Writes `.kb/config.toml` and has the index use it, as the sidecar does."""
        self.put({".kb/config.toml": text})
        self.index.config = kb_config.load(self.root)
        self.index.rules = Rules.of(self.root, self.index.config)

    # --- the index

    def look(self) -> Outcome:
        return self.index.reconcile()

    def settle(self) -> Outcome:
        """Looks as often as it takes until nothing is held."""
        outcome = self.index.reconcile()
        if outcome.held:
            second = self.index.reconcile(agreed=outcome.held)
            assert not second.held
            outcome.removed |= second.removed
            outcome.changed |= second.changed
        return outcome

    def reopen(self) -> None:
        self.index.close()
        self.index = wiring.open_index(self.vault)
        self.prober.reset()

    def close(self) -> None:
        self.index.close()

    def encode(self, *encoders: Encoder) -> int:
        """Makes the missing vectors; how many texts that were."""
        return sum(self.filler(one).fill(self.index.db) for one in encoders)

    def filler(self, encoder: Encoder) -> Filler:
        return Filler(encoder, lambda job: job(self.index.db), excluded=lambda: self.index.config.agent.exclude)

    def understand(self, *encoders: Encoder) -> Meaning:
        """Makes the missing vectors and lets probes use them."""
        self.encode(*encoders)
        self.prober.meaning = Meaning(encoders)
        self.prober.meaning.refresh(self.index.db)
        return self.prober.meaning

    def differences(self) -> list[str]:
        found = verify(self.root, self.index.db, self.index.config, self.index.rules)
        return [f"{one.path}: {one.what}" for one in found]

    def assert_true(self) -> None:
        """The index equals the disk, and a rebuild elsewhere."""
        assert self.differences() == []

    # --- what it says

    def ids(self) -> dict[str, int]:
        return dict(self.index.db.rows("SELECT path, id FROM files"))

    def targets(self, source: str) -> list[str | None]:
        """Where the links of a note lead, in order."""
        return [
            row[0]
            for row in self.index.db.rows(
                "SELECT t.path FROM links l JOIN files s ON s.id = l.source LEFT JOIN files t ON t.id = l.target"
                " WHERE s.path = ? ORDER BY l.id",
                (source,),
            )
        ]

    def problems(self, path: str | None = None) -> list[tuple[str, str]]:
        """(path, code)."""
        found = graph.problems(self.index.db)["problems"]
        return [(one["path"], one["code"]) for one in found if path in (None, one["path"])]

    def graph(self) -> dict[str, Any]:
        return graph.graph(self.index.db)

    def counts(self) -> dict[str, Any]:
        return graph.counts(self.index.db)

    def probe(self, query: str, n: int = 50, where: Where = Where()) -> Answer:  # noqa: B008 - an immutable tuple
        return self.prober.probe(query, mode="token", n=n, where=where)

    def found(self, query: str, n: int = 50, where: Where = Where()) -> list[str]:  # noqa: B008 - as above
        return [hit.path for hit in self.probe(query, n, where).results]

    def dump(self) -> dict[str, list[Any]]:
        """Everything that answers are made of, keyed by path, ids left out."""
        return dump(self.index.db)


DUMPED = {
    "files": "SELECT path, kind, scope, name_key, hash FROM files",
    "notes": "SELECT f.path, n.title, n.type, n.domain, n.date, n.flags, n.properties, n.headings, n.blocks, t.text"
    " FROM notes n JOIN files f ON f.id = n.id LEFT JOIN texts t ON t.note = n.id",
    "aliases": "SELECT f.path, a.alias, a.key FROM aliases a JOIN files f ON f.id = a.note",
    "tags": "SELECT f.path, t.tag FROM tags t JOIN files f ON f.id = t.note",
    "links": "SELECT s.path, t.path, l.kind, l.raw, l.linkpath, l.subpath, l.display, l.line, l.start, l.key,"
    " l.name_key, l.subpath_found FROM links l JOIN files s ON s.id = l.source LEFT JOIN files t ON t.id = l.target",
    "chunks": 'SELECT f.path, c.start, c."end", c.line, c.heading, c.hash FROM chunks c JOIN files f ON f.id = c.note',
    "problems": "SELECT path, line, code, message, origin FROM problems",
    "sizes": "SELECT f.path, d.sz FROM words_docsize d JOIN files f ON f.id = d.id",
    "vocabulary": "SELECT term, doc, cnt FROM vocabulary",
}


def dump(db: Database) -> dict[str, list[Any]]:
    """Everything that answers are made of, keyed by path, ids left out."""
    return {name: sorted(db.rows(sql), key=repr) for name, sql in DUMPED.items()}
