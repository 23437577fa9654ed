"""One note or canvas as it is on disk now, and the edits that write some of its links anew, proved."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ohmykb.config import Config
from ohmykb.evolve.refusals import is_protected
from ohmykb.markdown.edits import Edit, apply_edits
from ohmykb.markdown.link_edits import canvas_edits, link_edit
from ohmykb.markdown.proof import proves, proves_canvas
from ohmykb.markdown.scan import scan
from ohmykb.note import Link, Scan
from ohmykb.vault.consent import is_below
from ohmykb.vault.read import Unreadable, VanishedError, read

Target = tuple[str, str | None]
"""linkpath and subpath, decoded."""


class Rewriting(NamedTuple):
    """One link to be written anew."""

    link: Link
    """As it stands in this text."""
    new_raw: str
    written: Target


class Sheet:
    """Raises VanishedError, Unreadable."""

    def __init__(self, root: Path, path: str, config: Config) -> None:
        found = read(root, path, config)
        self.path = path
        self.text = found.text
        self.sha256 = found.sha256
        self.is_canvas = path.lower().endswith(".canvas")
        self.scan: Scan = scan("" if self.is_canvas else found.text)
        self.refusal = _refusal(path, config, [*found.problems, *self.scan.problems], self.scan)
        """Why it must not be written; empty where it may."""
        self._places: dict[tuple[str, int | None], list[Link]] | None = None

    def find(self, link: Link) -> Link | None:
        """A link of the index in this text: at its line, else the first that is written so.

        Each call gives another one of several alike.
        """
        if self.is_canvas:
            return link
        if self._places is None:
            self._places = {}
            for one in self.scan.links:
                self._places.setdefault((one.raw, one.line), []).append(one)
        alike = self._places.get((link.raw, link.line))
        if not alike:
            alike = next((links for (raw, _), links in self._places.items() if raw == link.raw and links), None)
        return alike.pop(0) if alike else None

    def edits(self, one: Rewriting) -> tuple[Edit, ...] | None:
        """None where its place is not certain."""
        if self.is_canvas:
            return canvas_edits(self.text, one.link, *one.written)
        return link_edit(self.text, one.link, one.new_raw, self.scan.body)

    def proved(self, rewritings: Sequence[Rewriting], edits: Iterable[Edit]) -> str | None:
        """None when the text after the edits says the same but for these links; else why it would not."""
        try:
            after = apply_edits(self.text, sorted(set(edits)))
        except ValueError:
            return "the changes would overlap"
        if self.is_canvas:
            changed = {(one.link.linkpath, one.link.subpath, one.link.raw): one.written for one in rewritings}
            return proves_canvas(self.text, after, changed)
        return proves(self.scan, after, self._expected(rewritings))

    def in_table(self, link: Link) -> bool:
        """Whether a bar stands in its line outside of links: one in the link would part cells."""
        start = self.text.rfind("\n", 0, max(link.start, 0)) + 1
        end = self.text.find("\n", max(link.start, 0))
        line = self.text[start : end if end >= 0 else None]
        for other in self.scan.links:
            if other.line == link.line:
                line = line.replace(other.raw, "")
        return "|" in line

    def _expected(self, rewritings: Sequence[Rewriting]) -> Mapping[int, Target]:
        places = {id(link): number for number, link in enumerate(self.scan.links)}
        return {places[id(one.link)]: one.written for one in rewritings}


def sheet_of(root: Path, path: str, config: Config) -> "Sheet | str":
    """The sheet, or why there is none."""
    try:
        return Sheet(root, path, config)
    except (Unreadable, VanishedError) as error:
        return error.message


def _refusal(path: str, config: Config, problems: Iterable[object], scanned: Scan) -> str:
    codes = {getattr(problem, "code", "") for problem in problems}
    if "bad-yaml" in codes:
        return "Its properties cannot be read, so it is not written."
    if "not-utf8" in codes:
        return "It is not UTF-8 text, so it is not written."
    if is_below(path, config.roles.raw):
        return "It lies in a folder for raw material, which is only added to."
    if is_protected(scanned.properties):
        return "It is protected (kb_protect), so it is not written."
    return ""
