"""The same reading by markdown-it-py: what the hand-made scanner is held to in tests and benches.

Nothing here shares logic with `scan`, `inline` or `regions`. Each deviation of the app from
CommonMark is one rule, one function.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import isStrSpace, normalizeReference
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.image import image as plain_image
from markdown_it.rules_inline.link import link as plain_link
from markdown_it.token import Token

from ohmykb.markdown.properties import parse_yaml, property_tags
from ohmykb.note import JSON

if TYPE_CHECKING:
    from markdown_it.ruler import RuleOptionsType


class RefLink(NamedTuple):
    kind: str
    raw: str
    linkpath: str
    subpath: str | None
    display: str
    line: int | None
    key: str | None = None


class RefTag(NamedTuple):
    name: str
    line: int | None


class RefHeading(NamedTuple):
    level: int
    text: str
    line: int


class Reference(NamedTuple):
    properties: dict[str, JSON]
    links: list[RefLink]
    tags: list[RefTag]
    headings: list[RefHeading]


_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FORBIDDEN = "\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\\[\\]\\\\\\s"
_TAG = re.compile(f"#([^{_FORBIDDEN}]+)")
_COMMENT_TAG = re.compile(
    f"(?:^|(?<=[\\s_*\\[])|(?<=(?<!\\\\)~~)|(?<=(?<!\\\\)==))#[^{_FORBIDDEN}]+(?:#[^{_FORBIDDEN}]+)*"
)
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]+:|//)", re.IGNORECASE)
_JS_SPACE = " \t\n\r\f\v\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))


# -- targets --------------------------------------------------------------------------------------


def _wiki_target(inner: str) -> tuple[str, str | None, str] | None:
    """`name#sub|shown`; a pipe in first place belongs to the name."""
    got = re.match(r"(.[^|]*?)(?:\\?\|(.*))?\Z", inner, re.DOTALL)
    if got is None or inner.startswith("\\|"):
        return None
    name, shown = got.group(1).strip(), (got.group(2) or "").strip()
    if not name:
        return None
    parts = [part.strip() for part in name.split("#")]
    sub = name.split("#", 1)[1].strip() if "#" in name else ""
    return parts[0], sub or None, shown or " > ".join(filter(None, parts))


def _markdown_target(href: str) -> tuple[str, str | None] | None:
    """A destination after unescaping; None for addresses."""
    if not href or _ADDRESS.match(href):
        return None
    path, _, sub = href.partition("#")
    with suppress(UnicodeDecodeError):
        path = unquote(path, errors="strict")
    with suppress(UnicodeDecodeError):
        sub = unquote(sub, errors="strict")
    path, sub = path.strip(), sub.strip()
    if not path and "#" not in href:
        return None
    return path, sub or None


# -- inline rules ---------------------------------------------------------------------------------


def _record(state: StateInline, kind: str, start: int, **more: object) -> None:
    token = state.push("kb", "", 0)
    token.meta = {"kind": kind, "start": start, **more}


def wikilink_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (markdown-it's signature)
    """`[[…]]` on one line; of several `[[` the last counts."""
    start = state.pos
    got = re.compile(r"(!?)\[\[((?:(?!\[\[|\]\])[^\n])*)\]\]").match(state.src, start, state.posMax)
    if got is None or got.group(2).startswith("["):
        return False
    target = _wiki_target(got.group(2))
    if target is None:
        return False
    if not silent:
        _record(state, "embed" if got.group(1) else "wikilink", start, raw=got.group(0), target=target)
    state.pos = got.end()
    return True


def link_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """CommonMark's link, remembered with its source."""
    start = state.pos
    if state.src[start] != "[" or state.src.startswith("[^", start):
        return False
    before = len(state.tokens)
    close = state.md.helpers.parseLinkLabel(state, start, True)  # noqa: FBT003
    if not plain_link(state, silent):
        return False
    if not silent:
        opened = next(t for t in state.tokens[before:] if t.type == "link_open")
        opened.meta = {"kind": "markdown", "start": start, "raw": state.src[start : state.pos],
                       "label": state.src[start + 1 : close]}  # fmt: skip
    return True


def image_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """CommonMark's image, remembered with its source."""
    start = state.pos
    if not state.src.startswith("![", start) or state.src.startswith("![^", start):
        return False
    before = len(state.tokens)
    close = state.md.helpers.parseLinkLabel(state, start + 1, False)  # noqa: FBT003
    if not plain_image(state, silent):
        # markdown-it does not fall back from a broken `(…)` to the label; CommonMark does.
        known = state.env.get("references", {}).get(normalizeReference(state.src[start + 2 : close]))
        if close < 0 or known is None or not state.src.startswith("(", close + 1):
            return False
        if not silent:
            _record(state, "embed", start, raw=state.src[start : close + 1], label=state.src[start + 2 : close],
                    href=known["href"])  # fmt: skip
        state.pos = close + 1
        return True
    if not silent:
        made = next(t for t in state.tokens[before:] if t.type == "image")
        made.meta = {"kind": "embed", "start": start, "raw": state.src[start : state.pos],
                     "label": state.src[start + 2 : close]}  # fmt: skip
    return True


def tag_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`#tag` at the start, after white space, or where a token has just ended."""
    src, pos = state.src, state.pos
    if src[pos] != "#":
        return False
    before = src[pos - 1] if pos else "\n"
    last = state.tokens[-1] if state.tokens and not silent and not state.pending else None
    # An entity is text, and so is a backslash that escapes nothing.
    fresh = last is not None and last.info != "entity" and not (last.info == "escape" and last.content == last.markup)
    cell = before == "|" and re.compile(r"[ \t]*\|").match(src, src.rfind("\n", 0, pos) + 1) is not None
    if not (
        before in _JS_SPACE
        or before in "_*["
        or (src[max(pos - 2, 0) : pos] in ("~~", "==") and src[max(pos - 3, 0) : max(pos - 2, 0)] != "\\")
        or cell
        or fresh
    ):
        return False
    got = _TAG.match(src, pos, state.posMax)
    if got is None:
        return False
    name = got.group(1)
    if before == "_":
        name = name.rstrip("_")
    if not name or re.fullmatch("[0-9]+", name):
        return False
    if not silent:
        _record(state, "tag", pos, name=name)
    state.pos = pos + 1 + len(name)
    return True


def maths_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`$…$` hugging its text, `$$…$$` anyhow."""
    src, pos = state.src, state.pos
    if src[pos] != "$":
        return False
    if src.startswith("$$", pos) and pos + 1 < state.posMax:
        at = src.find("$$", pos + 2, state.posMax)
        if not silent:
            if at >= 0:
                _record(state, "maths", pos)
            else:
                state.pending += "$$"
        state.pos = at + 2 if at >= 0 else pos + 2
        return True
    got = re.compile(r"\$(?![ \t\n]).*?(?<![ \t\n\\])\$(?![0-9])", re.DOTALL).match(src, pos, state.posMax)
    if got is None:
        return False
    if not silent:
        _record(state, "maths", pos)
    state.pos = got.end()
    return True


# -- block rules ----------------------------------------------------------------------------------


def _fenced(mark: str, kind: str):  # type: ignore[no-untyped-def]
    def rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        if state.is_code_block(start):
            return False
        pos, most = state.bMarks[start] + state.tShift[start], state.eMarks[start]
        line = state.src[pos:most]
        if not line.startswith(mark) or mark in line[2:]:
            return False
        if silent:
            return True
        after = start
        found = False
        while not found:
            after += 1
            if after >= end:
                break
            left, right = state.bMarks[after] + state.tShift[after], state.eMarks[after]
            if left < right and state.sCount[after] < state.blkIndent:
                break
            found = mark in state.src[left:right]
        token = state.push(kind, "", 0)
        token.map = [start, after + found]
        token.content = state.getLines(start, after + found, 0, True)  # noqa: FBT003
        state.line = after + found
        return True

    return rule


comment_rule = _fenced("%%", "kb_comment")
"""A `%%` block runs to the next line with `%%`."""
maths_block_rule = _fenced("$$", "kb_maths")
"""A `$$` block runs to the next line with `$$`."""


def rows_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Each row of a table is a world of its own, cells are not (`[[A|b]]` stays one link)."""
    if start + 1 >= end or state.is_code_block(start) or state.is_code_block(start + 1):
        return False
    if state.sCount[start + 1] < state.blkIndent:
        return False

    def line(at: int) -> str:
        return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]].strip()

    def cells(text: str) -> int:
        return len(re.sub(r"\A\||\|\Z", "", text.replace("\\|", "")).split("|"))

    head, rule = line(start), line(start + 1)
    if "|" not in head or "|" not in rule or not re.fullmatch(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?", rule):
        return False
    if cells(head) != cells(rule):
        return False
    terminators = [r for r in state.md.block.ruler.getRules("paragraph") if r is not rows_rule]
    if any(r(state, start, end, True) for r in terminators):  # noqa: FBT003
        return False
    if silent:
        return True
    at = start
    before, state.parentType = state.parentType, "paragraph"
    while at < end and not state.isEmpty(at):
        outer = at > start + 1 and state.sCount[at] - state.blkIndent <= 3
        if outer and any(r(state, at, end, True) for r in terminators):  # noqa: FBT003
            break
        state.push("paragraph_open", "p", 1)
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = line(at), [at, at + 1], []
        state.push("paragraph_close", "p", -1)
        at += 1
    state.parentType = before
    state.line = at
    return True


def footnote_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """`[^x]: text`, with what is indented below it."""
    if state.is_code_block(start):
        return False
    pos, most = state.bMarks[start] + state.tShift[start], state.eMarks[start]
    got = re.compile(r"\[\^[^\]\s]+\]:").match(state.src, pos, most)
    if got is None:
        return False
    if silent:
        return state.parentType != "paragraph" or state.sCount[start] < state.blkIndent
    pos = got.end()
    while pos < most and isStrSpace(state.src[pos]):
        pos += 1
    kept = state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType, state.blkIndent
    state.push("kb_note_open", "", 1)
    state.bMarks[start], state.tShift[start] = pos, 0
    state.sCount[start] = state.blkIndent + 4
    state.blkIndent += 4
    state.parentType = "footnote"
    state.md.block.tokenize(state, start, end)
    state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType, state.blkIndent = kept
    state.push("kb_note_close", "", -1)
    return True


def parser() -> MarkdownIt:
    """CommonMark with the app's rules."""
    md = MarkdownIt("commonmark", {"html": True, "maxNesting": 10_000})
    md.normalizeLink = lambda url: url  # type: ignore[method-assign]
    md.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    alt: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "comment", comment_rule, alt)
    md.block.ruler.before("fence", "maths", maths_block_rule, alt)
    md.block.ruler.before("reference", "note", footnote_rule, alt)
    md.block.ruler.before("code", "rows", rows_rule, {"alt": ["paragraph", "reference"]})
    md.inline.ruler.before("link", "wikilink", wikilink_rule)
    md.inline.ruler.before("link", "tag", tag_rule)
    md.inline.ruler.before("escape", "maths", maths_rule)
    md.inline.ruler.at("link", link_rule)
    md.inline.ruler.at("image", image_rule)
    return md


_PARSER: list[MarkdownIt] = []


def reference(text: str) -> Reference:
    """Links, tags and headings of a note, lines 1-based."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first = 1
    links: list[RefLink] = []
    tags: list[RefTag] = []
    headings: list[RefHeading] = []
    properties: dict[str, JSON] = {}
    front = _FRONTMATTER.match(text)
    if front is not None:
        properties, _ = parse_yaml(front.group(1))
        first += front.group(0).count("\n")
        text = text[front.end() :]
        for key, value in properties.items():
            _property_links(key, value, links)
        tags += [RefTag(name, None) for name in property_tags(properties)]
    else:
        text = text.removeprefix("\ufeff")
    if not _PARSER:
        _PARSER.append(parser())
    tokens = _PARSER[0].parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            words = " ".join(part.strip() for part in tokens[at + 1].content.split("\n"))
            headings.append(RefHeading(int(token.tag[1]), words.strip(), first + token.map[0]))
        elif token.type == "kb_comment" and token.map:
            for got in _COMMENT_TAG.finditer(token.content):
                line = first + token.map[0] + token.content.count("\n", 0, got.start())
                for name in got.group(0)[1:].split("#"):
                    if re.fullmatch("[0-9]+", name):
                        break
                    tags.append(RefTag(name, line))
        elif token.type == "inline" and token.map:
            _collect(token.children or [], token.content, first + token.map[0], 0, links, tags)
    return Reference(properties, links, tags, headings)


def _collect(
    tokens: Sequence[Token], content: str, line: int, shift: int, links: list[RefLink], tags: list[RefTag]
) -> None:
    for token in tokens:
        meta = token.meta
        if meta.get("kind") is not None:
            here = line + content.count("\n", 0, shift + meta["start"])
            if meta["kind"] == "tag":
                tags.append(RefTag(meta["name"], here))
            elif "target" in meta:
                path, sub, shown = meta["target"]
                links.append(RefLink(meta["kind"], meta["raw"], path, sub, shown, here))
            elif "label" in meta:
                aim = _markdown_target(str(meta.get("href") or token.attrs.get("href") or token.attrs.get("src") or ""))
                if aim is not None:
                    path, sub = aim
                    links.append(RefLink(meta["kind"], meta["raw"], path, sub, meta["label"], here))
        if token.children:
            _collect(token.children, content, line, shift + meta.get("start", 0) + 2, links, tags)


def _property_links(path: str, value: JSON, links: list[RefLink]) -> None:
    if isinstance(value, str):
        got = re.fullmatch(r"\s*(\[\[((?:(?!\]\])[^\n])*)\]\])\s*", value)
        target = _wiki_target(got.group(2)) if got else None
        if got and target:
            links.append(RefLink("property", got.group(1), target[0], target[1], target[2], None, path))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _property_links(f"{path}.{number}", item, links)
    elif isinstance(value, dict):
        for key, item in value.items():
            _property_links(f"{path}.{key}", item, links)
