"""What would change: proposals, each with its rule and whether it is certain. Nothing here writes."""

from dataclasses import dataclass, field

from ohmykb.markdown.edits import Edit
from ohmykb.note import NotePath


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that a broken link may mean."""

    path: NotePath
    score: float
    """0 to 1."""
    rule: str


@dataclass(frozen=True, slots=True)
class Mend:
    """One link that could be written otherwise."""

    source: NotePath
    line: int | None
    """1-based; None in a canvas."""
    raw: str
    """The exact source slice as it stands."""
    linkpath: str
    subpath: str | None
    replacement: str
    """What would stand in its place; `raw` itself where no note can be proposed."""
    target: NotePath | None
    """The note it would lead to."""
    rule: str
    confidence: float
    certain: bool
    edits: tuple[Edit, ...]
    """The whole change, in the decoded text of `source` whose bytes have the hash `seen`."""
    seen: str
    """sha256 hex of the source's bytes that this was planned on."""
    candidates: tuple[Candidate, ...] = ()
    """At most three, the best first; `target` is the first of them unless a rename names it."""
    reasons: tuple[str, ...] = ()
    """Sentences: why this, or why it is not certain."""
    written: tuple[str, str | None] | None = None
    """linkpath and subpath as the replacement reads; None where there are no edits."""

    @property
    def key(self) -> str:
        """Names the proposal over time: a rejected one does not come back."""
        return "\0".join((self.source, self.linkpath, self.subpath or "", self.target or ""))


@dataclass(frozen=True, slots=True)
class Plan:
    mends: tuple[Mend, ...] = ()
    dead: tuple[Mend, ...] = field(default=())
    """Broken for longer than the grace time, and nothing to propose: the text stays as it is."""
