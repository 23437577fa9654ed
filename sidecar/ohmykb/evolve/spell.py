"""How a link must be written to lead to another note, in the manner it was written.

Whatever is spelled here was asked of the resolver first: it leads from that source to that target.
"""

from posixpath import relpath
from typing import Final

from ohmykb.index.resolve import Resolver
from ohmykb.note import Link, NotePath

BREAKS_A_WIKILINK: Final = frozenset("#^[]|\\")


def spell(
    link: Link, source: NotePath, source_id: int, target: NotePath, target_id: int, resolver: Resolver
) -> str | None:
    """The linkpath (decoded) in the style of `link`; None where its kind cannot name the target.

    A bare name stays bare where that leads to the target, else it becomes the path from the vault's top;
    paths stay paths and relative ones relative; `.md` stays where it stood. A card of a canvas takes the
    exact path.
    """
    if is_card(link):
        return target
    for written in _in_style(link.linkpath, source, target):
        if is_wiki(link) and (not BREAKS_A_WIKILINK.isdisjoint(written) or written != written.strip()):
            continue
        if resolver.resolve(written, source, source_id) == target_id:
            return written
    return None


def is_card(link: Link) -> bool:
    """A file card of a canvas: its whole text is a path."""
    return link.kind == "embed" and link.line is None and link.raw == link.linkpath


def is_wiki(link: Link) -> bool:
    """Written in double brackets, as against a Markdown destination."""
    return link.kind in ("wikilink", "property") or link.raw.startswith("![[")


def _in_style(linkpath: str, source: str, target: str) -> list[str]:
    """What to try, the best first."""
    plain = target[:-3] if target.lower().endswith(".md") else target
    spelled = [target, plain] if linkpath.lower().endswith(".md") else [plain, target]
    if linkpath.startswith(("./", "../")):
        near = [_relative(one, source, linkpath) for one in spelled]
        return [*near, *spelled]
    if linkpath.startswith("/"):
        return ["/" + one for one in spelled] + spelled
    if "/" in linkpath:
        return spelled
    return [*(one.rsplit("/", 1)[-1] for one in spelled), *spelled]


def _relative(path: str, source: str, before: str) -> str:
    folder = source.rpartition("/")[0]
    found = relpath(path, folder or ".")
    return found if found.startswith("../") or not before.startswith(".") else "./" + found
