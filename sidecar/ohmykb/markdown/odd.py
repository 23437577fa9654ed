"""Odd lines: read by themselves and character by character, in place of what a quick look found there."""

from ohmykb.markdown.holes import Body, UnsureError
from ohmykb.markdown.inline import Inline
from ohmykb.note import Link, Tag

MOST = 40
"""With more odd lines than this the careful way is as quick, and its time is linear."""

_CLOSERS = {"`": "`", "$": "$", "<": ">"}


def read_alone(body: Body, links: list[Link], tags: list[Tag]) -> tuple[list[Link], list[Tag]]:
    """The links and tags of the body, those of the odd lines read anew."""
    source, seen, start, first, odd, _ = body
    inline = Inline(source, {})
    right = count = 0
    for place in sorted(odd):
        if place < right:
            continue  # its line is read already
        left = seen.rfind("\n", 0, place) + 1
        right = seen.find("\n", place)
        if right < 0:
            right = len(seen)
        count += 1
        if count > MOST:
            raise UnsureError
        inline.links, inline.tags = [], []
        inline.read(left, right)
        if inline.cut or _begun_above(seen, left, right) or _goes_on(source, seen, right, inline.loose):
            raise UnsureError
        number = first + source.count("\n", 0, left)
        low, high = start + left, start + right
        links = [link for link in links if not low <= link.start < high]
        tags = [tag for tag in tags if not low <= tag.start < high]
        for p, end, kind, (path, sub, shown) in inline.links:
            links.append(Link(kind, source[p:end], path, sub, shown, number, start + p))
        tags += [Tag(name, number, start + p) for name, p in inline.tags]
    return sorted(links, key=lambda link: link.start), sorted(tags, key=lambda tag: tag.start)


def _begun_above(seen: str, left: int, right: int) -> bool:
    """Whether a link that ends on this line may have been opened further up its paragraph."""
    if seen.find("](", left, right) < 0:
        return False
    depth = 0
    for c in seen[max(seen.rfind("\n\n", 0, left), 0) : left]:
        if c == "[":
            depth += 1
        elif c == "]" and depth:
            depth -= 1
    return depth > 0


def _goes_on(source: str, seen: str, right: int, loose: set[str]) -> bool:
    """Whether something that is opened on this line may be closed further down its paragraph."""
    for sign in loose:
        below = seen.find("](", right) if sign == "[" else source.find(_CLOSERS[sign], right)
        if below >= 0 and seen.find("\n\n", right, below) < 0:
            return True
    return False
