"""Links written anew in their own style: cases of `markdown/rewrite/retarget.md`, and any name at all."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.markdown.rewrite import has_words, is_wiki, retarget, with_display
from ohmykb.markdown.scan import scan
from ohmykb.note import Link

CASES = Path(__file__).parent / "markdown" / "rewrite" / "retarget.md"


def cases() -> Iterator[tuple[str, str, str]]:
    for block in re.findall(r"(?ms)^\.\n(.*?)^\.$", CASES.read_text("utf-8")):
        for line in block.splitlines():
            old, target, new = line.split(" => ")
            yield old, target, new


def link_of(text: str) -> Link:
    """The outermost link of a line."""
    return max(scan(text).links, key=lambda link: len(link.raw))


@pytest.mark.parametrize("old, target, new", list(cases()))
def test_a_link_is_led_elsewhere_in_its_style(old: str, target: str, new: str) -> None:
    link = link_of(old)
    assert link.raw == old
    name, hash_, sub = target.replace("\\#", "\0").partition("#")  # `\\#` is a hash in the name itself
    name = name.replace("\0", "#")
    made = retarget(link, name, sub if hash_ else None)
    assert made == (None if new == "-" else new)
    if made is not None:
        read = link_of(made)
        assert (read.kind, read.linkpath, read.subpath, read.raw) == (link.kind, name, sub or None, made)


LINKS = [old for old, _, _ in cases()]
SIGNS = " #^[]|\\/%&'\"()<>`$*_~:;.-?!{}=+@\n\u00a0\u3000文a"
NAMES = st.text(st.sampled_from(SIGNS) | st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.sampled_from(LINKS), NAMES, st.none() | NAMES)
def test_whatever_is_handed_out_reads_back(old: str, name: str, sub: str | None) -> None:
    link = link_of(old)
    made = retarget(link, name, sub)
    if made is None or "\n" in made:
        return
    read = link_of(made)
    assert (read.raw, read.kind, read.linkpath, read.subpath) == (made, link.kind, name, sub or None)
    assert read.display == link.display or not has_words(link)


@given(st.sampled_from(LINKS))
def test_led_where_it_leads_it_is_as_it_was(old: str) -> None:
    link = link_of(old)
    assert retarget(link, link.linkpath, link.subpath) == old
    if link.subpath is not None and (other := retarget(link, "文 x", link.subpath)) is not None:
        assert other.partition("#")[2] == old.partition("#")[2]


def test_a_link_by_reference_is_left() -> None:
    (link,) = scan("[t][r]\n\n[r]: A.md\n").links
    assert retarget(link, "B.md", None) is None


@pytest.mark.parametrize("old, display, bar, new", [
    ("[[Alias]]", "Alias", "|", "[[Note|Alias]]"),
    ("[[Alias]]", "Alias", "\\|", "[[Note\\|Alias]]"),
    ("[[Alias#H]]", "Alias > H", "|", "[[Note#H|Alias > H]]"),
    ("[[Alias|words]]", "Alias", "|", "[[Note|words]]"),
    ("[[Alias\\|words]]", "Alias", "\\|", "[[Note\\|words]]"),
    ("[[Alias]]", "a|b", "|", None),
    ("[[Alias]]", "", "|", None),
    ("[[|x]]", "|x", "|", None),
    ("![[Alias]]", "Alias", "|", "![[Note]]"),
    ("[Alias](Alias)", "Alias", "|", "[Alias](Note)"),
])  # fmt: skip
def test_an_alias_is_still_shown(old: str, display: str, bar: str, new: str | None) -> None:
    assert with_display(link_of(old), "Note", display, bar) == new


def test_brackets_at_the_start_make_no_wikilink() -> None:
    assert not is_wiki(link_of("[[x] y](z.md)"))
    assert not is_wiki(link_of("![[x] y](z.png)"))
    assert is_wiki(link_of("![[x]]"))
