"""From mends to what the files are to become: read again, refused when they changed, proved as a whole."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from ohmykb.config import Config
from ohmykb.errors import ConflictError
from ohmykb.evolve.plan import Mend
from ohmykb.evolve.relink.mentions import proves as proves_links
from ohmykb.evolve.relink.plan import MENTION
from ohmykb.evolve.sheet import Rewriting, Sheet
from ohmykb.markdown.edits import apply_edits
from ohmykb.note import Link, NotePath
from ohmykb.vault.consent import RefusedError
from ohmykb.vault.operations import Change
from ohmykb.vault.read import VanishedError


def changes(mends: Iterable[Mend], root: Path, config: Config) -> list[Change]:
    """One change a note, in order of path.

    Raises ConflictError for a note that is not as it was when the mends were planned, RefusedError for a
    mend that cannot be carried out, Unreadable.
    """
    ordered = sorted(mends, key=lambda mend: mend.source)
    return [
        _change(source, list(group), root, config) for source, group in groupby(ordered, key=lambda mend: mend.source)
    ]


def _change(source: NotePath, mends: list[Mend], root: Path, config: Config) -> Change:
    try:
        sheet = Sheet(root, source, config)
    except VanishedError as error:
        raise ConflictError(f"{source} is not there any more.", "Plan again") from error
    if sheet.refusal:
        raise RefusedError(f"{source}: {sheet.refusal}")
    for mend in mends:
        if mend.seen != sheet.sha256:
            raise ConflictError(f"{source} changed since the repair was planned; nothing was written.", "Plan again")
    added = [mend for mend in mends if mend.rule == MENTION]
    if added:
        if len(added) < len(mends):
            raise RefusedError(f"{source}: links are mended and made one after the other.")
        return _with_links(source, added, sheet)
    rewritings = []
    for mend in mends:
        if mend.written is None or not mend.edits:
            raise RefusedError(f"{source}: {mend.raw} cannot be written anew. {' '.join(mend.reasons)}".strip())
        rewritings.append(Rewriting(_found(sheet, mend), mend.replacement, mend.written))
    edits = {edit for mend in mends for edit in mend.edits}
    why_not = sheet.proved(rewritings, edits)
    if why_not is not None:
        raise RefusedError(f"{source} is left as it is: written so, {why_not}.")
    after = apply_edits(sheet.text, sorted(edits)).encode()
    return Change(source, sheet.sha256, after)


def _with_links(source: NotePath, mends: list[Mend], sheet: Sheet) -> Change:
    """Words made links, where they stand."""
    edits = sorted({edit for mend in mends for edit in mend.edits})
    expected = [mend.linkpath for mend in sorted(mends, key=lambda one: one.edits[0].start)]
    if not proves_links(sheet.scan, sheet.text, edits, expected):
        raise RefusedError(f"{source} is left as it is: written so, it would say something else.")
    return Change(source, sheet.sha256, apply_edits(sheet.text, edits).encode())


def _found(sheet: Sheet, mend: Mend) -> Link:
    """The link that the edits of a mend stand in."""
    if sheet.is_canvas:
        return Link("embed", mend.raw, mend.linkpath, mend.subpath, "", None, -1)
    at = mend.edits[0].start
    for link in sheet.scan.links:
        if link.raw == mend.raw and (link.start <= at <= link.start + len(link.raw) or link.start < 0):
            return link
    raise RefusedError(f"{mend.source}: {mend.raw} does not stand where it did.")
