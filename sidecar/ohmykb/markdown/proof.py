"""The proof before a write: read again, the changed text says the same but for what was to change."""

from collections.abc import Mapping, Sequence

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.scan import scan
from ohmykb.note import Heading, Link, Scan

Target = tuple[str, str | None]
"""linkpath, subpath."""


def proves(before: Scan, after: str, expected: Mapping[int, Target]) -> str | None:
    """None when the links at these places of `before.links` lead where they should and all else is as it was; else
    a sentence."""
    now = scan(after)
    said = _links(before.links, now.links, expected)
    if said is not None:
        return said
    changed = [before.links[at] for at in expected]
    if [(tag.name, tag.line) for tag in before.tags] != [(tag.name, tag.line) for tag in now.tags]:
        return "a tag would change"
    if [(one.id, one.line) for one in before.blocks] != [(one.id, one.line) for one in now.blocks]:
        return "a block id would change"
    if len(before.headings) != len(now.headings) or not all(
        _same_heading(old, new, changed) for old, new in zip(before.headings, now.headings, strict=True)
    ):
        return "a heading would change"
    own = {(link.key or "").partition(".")[0] for link in changed if link.kind == "property"}
    if {key: value for key, value in before.properties.items() if key not in own} != {
        key: value for key, value in now.properties.items() if key not in own
    } or list(before.properties) != list(now.properties):
        return "a property would change"
    return None


def proves_canvas(before: str, after: str, changed: Mapping[tuple[str, str | None, str], Target]) -> str | None:
    """The same for a canvas; `changed` maps (linkpath, subpath, raw) to where such links now lead."""
    old, new = scan_canvas(before), scan_canvas(after)
    if new.problems or len(old.links) != len(new.links):
        return "the canvas would be broken"
    for one, other in zip(old.links, new.links, strict=True):
        if (other.linkpath, other.subpath) != changed.get((one.linkpath, one.subpath, one.raw), one[2:4]):
            return f"{one.raw} would not lead where it should"
    return None


def _links(old: Sequence[Link], new: Sequence[Link], expected: Mapping[int, Target]) -> str | None:
    if len(old) != len(new):
        return "the note would have other links"
    for at, (one, other) in enumerate(zip(old, new, strict=True)):
        if at in expected:
            if (other.kind, other.linkpath, other.subpath, other.line) != (one.kind, *expected[at], one.line):
                return f"{one.raw} would not lead where it should"
        elif one._replace(start=0) != other._replace(start=0):
            return f"{one.raw} would change too"
    return None


def _same_heading(old: Heading, new: Heading, changed: Sequence[Link]) -> bool:
    if (old.level, old.line) != (new.level, new.line):
        return False
    return old.text == new.text or any(link.raw in old.text for link in changed)
