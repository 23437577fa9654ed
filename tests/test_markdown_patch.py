"""Properties changed by line: all else keeps its bytes."""

import tarfile
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given

from ohmykb.markdown.edits import apply_edits
from ohmykb.markdown.patch import PatchError, add_to_list, remove_property, set_property
from ohmykb.markdown.scan import scan

NOTE = """---
# mine
title: "A: b"   # keep
tags: [x, 'y']
aliases:
  - 一
  - "two"

other:   value
text: >-
  folded
  lines
---
# Body
title: not this
"""


def patched(text: str, key: str, value: object) -> str:
    return apply_edits(text, set_property(text, key, value))  # type: ignore[arg-type]


def test_one_line_changes() -> None:
    assert patched(NOTE, "title", "New") == NOTE.replace('title: "A: b"   # keep', "title: New   # keep")
    assert patched(NOTE, "other", 3) == NOTE.replace("other:   value", "other: 3")
    assert patched(NOTE, "kb_id", "a1") == NOTE.replace("  lines\n---", "  lines\nkb_id: a1\n---")
    assert patched(NOTE, "text", "short") == NOTE.replace("text: >-\n  folded\n  lines\n", "text: short\n")
    assert patched(NOTE, "aliases", ["z"]) == NOTE.replace('aliases:\n  - 一\n  - "two"\n', "aliases:\n  - z\n")


def test_lists_grow_in_their_style() -> None:
    grown = apply_edits(NOTE, add_to_list(NOTE, "tags", ["x", "a, b", "新"]))
    assert grown == NOTE.replace("[x, 'y']", "[x, 'y', \"a, b\", 新]")
    grown = apply_edits(NOTE, add_to_list(NOTE, "aliases", ["three: 3"]))
    assert grown == NOTE.replace('  - "two"\n', '  - "two"\n  - "three: 3"\n')
    assert add_to_list(NOTE, "tags", ["x"]) == ()
    assert scan(apply_edits(NOTE, add_to_list(NOTE, "other", ["more"]))).properties["other"] == ["value", "more"]


def test_taken_out() -> None:
    assert apply_edits(NOTE, remove_property(NOTE, "aliases")) == NOTE.replace('aliases:\n  - 一\n  - "two"\n', "")
    assert remove_property(NOTE, "none") == ()


@pytest.mark.parametrize(
    "text", ["", "body\n", "\ufeffbody\r\nmore\r\n", "---\n---\nbody\n", "\ufeff---\r\na: 1\r\n---\r\nx"]
)
def test_line_ends_and_marks_stay(text: str) -> None:
    after = patched(text, "kb", "v")
    assert scan(after).properties["kb"] == "v"
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\n" in after.replace("\r\n", "")) == ("\r\n" not in text)
    assert apply_edits(after, remove_property(after, "kb")).replace("---\r\n---\r\n", "").replace("---\n---\n", "") in (
        text, text.replace("---\n---\n", ""),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["---\na: [\n---\n", "---\nx: {{title}}\n---\n"])
def test_what_cannot_be_read_is_not_written(text: str) -> None:
    with pytest.raises(PatchError):
        set_property(text, "a", 1)


VALUES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12),
    st.integers(), st.booleans(), st.none(),
    st.lists(st.text("ab, :#'\"[]{}-字", min_size=1, max_size=6), max_size=3),
)  # fmt: skip


@given(st.sampled_from(["title", "tags", "aliases", "other", "text", "new key"]), VALUES)
def test_any_value_reads_back(key: str, value: object) -> None:
    before = scan(NOTE).properties
    try:
        after = patched(NOTE, key, value)
    except PatchError:
        return
    now = scan(after).properties
    assert now.pop(key) == value
    before.pop(key, None)
    assert now == before
    assert after.endswith("---\n# Body\ntitle: not this\n")
    assert "# mine\n" in after


# --- attacks

HARD = """---\r
# about
title : 'it''s'   # one\r
"quoted key": [a, 'b',
  c, ] # two
tags: []  # none [yet]
aliases: 甲, 乙 # names

# before
list:   # three
- "x"
- "y" # last

  # within
num: 0x10
when: 2024-01-02
text: |+
  # no comment
  body

nested:
    deep: [1, {k: v}]
    more: "l1
      l2"
anchor: &a v
again: *a
empty:
---
# Body
"""


def grown(text: str, key: str, *items: str) -> str:
    return apply_edits(text, add_to_list(text, key, items))


@pytest.mark.parametrize("old, new, key, value", [
    ("title : 'it''s'   # one\r\n", "title : New   # one\r\n", "title", "New"),
    ("title : 'it''s'   # one\r\n", "title :   # one\r\n", "title", None),
    ("title : 'it''s'   # one\r\n", "title : # one\r\n  - a\r\n  - b\r\n", "title", ["a", "b"]),
    ("tags: []  # none [yet]", "tags: [a]  # none [yet]", "tags", ["a"]),
    ("\"quoted key\": [a, 'b',\n  c, ] # two", '"quoted key": [d, 1, true, null, "e, f"] # two', "quoted key",
     ["d", 1, True, None, "e, f"]),
    ("aliases: 甲, 乙 # names", "aliases: 丙 # names", "aliases", "丙"),
    ("num: 0x10", 'num: "16"', "num", "16"),
    ("when: 2024-01-02", "when: 2024-01-03", "when", "2024-01-03"),
    ("text: |+\n  # no comment\n  body\n", "text: x\n", "text", "x"),
    ("    deep: [1, {k: v}]\n    more: \"l1\n      l2\"", '{"a": [1, "b: c"]}', "nested", {"a": [1, "b: c"]}),
    ("again: *a", "again: b", "again", "b"),
    ("empty:\n", "empty:\r\n  - \"[[A]]\"\n", "empty", ["[[A]]"]),
])  # fmt: skip
def test_only_the_value_is_replaced(old: str, new: str, key: str, value: object) -> None:
    assert HARD.count(old) == 1
    if key == "again":  # it stands where it is anchored
        with pytest.raises(PatchError):
            patched(HARD, key, value)
    elif key == "nested":
        assert patched(HARD, key, value) == HARD.replace("nested:\n" + old, "nested: " + new)
    else:
        assert patched(HARD, key, value) == HARD.replace(old, new)


def test_comments_within_a_value_are_not_lost() -> None:
    with pytest.raises(PatchError, match="comments"):
        patched(HARD, "list", ["z"])
    with pytest.raises(PatchError, match="comments"):
        patched("---\nt: [a, # one\n  b]\n---\n", "t", ["z"])
    with pytest.raises(PatchError):
        patched(HARD, "anchor", "w")
    assert patched("---\nt: # head\n  - a#b\n---\n", "t", 1) == "---\nt: 1 # head\n---\n"
    assert patched("---\nt: >- # head\n  a\n---\n", "t", 1) == "---\nt: 1 # head\n---\n"


def test_lists_grow_where_they_end() -> None:
    assert grown(HARD, "quoted key", "d") == HARD.replace("  c, ]", "  c, d, ]")
    assert grown(HARD, "tags", "#New", "new") == HARD.replace("tags: []  #", 'tags: ["#New"]  #')
    assert grown(HARD, "aliases", "乙", "丙") == HARD.replace(
        "aliases: 甲, 乙 # names", "aliases: # names\r\n  - 甲\r\n  - 乙\r\n  - 丙"
    )
    assert grown(HARD, "list", "z") == HARD.replace('- "y" # last\n', '- "y" # last\n- "z"\r\n')
    assert grown("---\nt: ['a', 'b']\n---\n", "t", "it's") == "---\nt: ['a', 'b', 'it''s']\n---\n"
    assert grown("---\nt:\n    -   a\n---\n", "t", "b") == "---\nt:\n    -   a\n    -   b\n---\n"
    assert grown("---\ntags: x\n---\n", "tags", "X") == "---\ntags: x\n---\n"
    assert grown("body", "tags", "a", "b") == "---\ntags:\n  - a\n  - b\n---\nbody"
    with pytest.raises(PatchError):
        grown(HARD, "nested", "x")


def test_taken_out_whole() -> None:
    for key, lines in {
        "text": "text: |+\n  # no comment\n  body\n",
        "list": 'list:   # three\n- "x"\n- "y" # last\n',
        "title": "title : 'it''s'   # one\r\n",
        "nested": 'nested:\n    deep: [1, {k: v}]\n    more: "l1\n      l2"\n',
        "empty": "empty:\n",
    }.items():
        assert apply_edits(HARD, remove_property(HARD, key)) == HARD.replace(lines, "")
    with pytest.raises(PatchError):
        remove_property(HARD, "anchor")


@pytest.mark.parametrize("text, why", [
    ("---\na: 1\na: 2\n---\n", "twice"),
    ("---\nb: {c: 1, c: 2}\n---\n", "twice"),
    ("---\n{a: 1}\n---\n", "braces"),
    ("---\n- a\n---\n", "cannot be read"),
    ("---\ntext\n---\n", "cannot be read"),
    ("---\nx: {{date}}\n---\n", "template"),
    ("---\nx: <% tp.date %>\ny: [\n---\n", "cannot be read"),
    ("---\na: 1\n...\n---\n", "touching"),
])  # fmt: skip
def test_what_is_not_certain_is_refused(text: str, why: str) -> None:
    with pytest.raises(PatchError, match=why):
        set_property(text, "k", 1)


def test_every_line_end_and_indent() -> None:
    assert patched("---\ra: 1\r---\rx", "k", ["v"]) == "---\ra: 1\rk:\r  - v\r---\rx"
    assert patched("---\n  a: 1\n---\n", "k", ["v"]) == "---\n  a: 1\n  k:\n    - v\n---\n"
    assert patched("---\n---\n", "k", "v") == "---\nk: v\n---\n"
    assert patched("---\nno end\n", "k", "v") == "---\nk: v\n---\n---\nno end\n"
    assert patched("a\r\nb", "true", "v") == '---\r\n"true": v\r\n---\r\na\r\nb'
    assert set_property("---\na: 1\n---\n", "a", 1) == ()
    assert patched("---\na: 1\n---\n", "a", True) == "---\na: true\n---\n"


SIGNS = st.text(
    st.sampled_from("ab 文😀:#-?,[]{}&*!|>'\"%@`~=<.0_\\\n\t\r\x00\x85\u00a0\u2028\u3000\ufeff"), max_size=8
)
WORDS = st.sampled_from([
    "yes", "No", "on", "y", "null", "~", "true", ".inf", "-.INF", ".nan", "1", "1.0", "1e3", "0x1f", "0o7", "0b1",
    "1_0", "012", "+1", "12:30", "1:2:3", "2024-01-02", "2024-01-02T03:04:05Z", "<<", "=", "---", "...",
    "- a", "? a", "[[A]]",
    "#t", "a #b", "a: b", "a:", "{{x}}", "<% x %>", "'", '"', "''",
])  # fmt: skip
ANY = st.recursive(
    SIGNS | WORDS | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SIGNS | WORDS, inner, max_size=2),
    max_leaves=5,
)
TEXTS = st.sampled_from([NOTE, HARD, "\ufeff" + HARD.replace("\r\n", "\n"), NOTE.replace("\n", "\r\n"), "body", ""])
KEYS = st.sampled_from(["title", "tags", "aliases", "list", "text", "nested", "quoted key", "other", "empty", "new"])


def same(one: object, other: object) -> bool:
    return repr(one) == repr(other)


@given(TEXTS, KEYS | SIGNS | WORDS, ANY)
def test_any_key_and_value_reads_back_and_the_rest_stays(text: str, key: str, value: object) -> None:
    before = scan(text)
    try:
        after = patched(text, key, value)
    except PatchError:
        return
    now = scan(after)
    assert same(now.properties[key], value)
    others = {name: one for name, one in before.properties.items() if name != key}
    assert same(others, {name: one for name, one in now.properties.items() if name != key})
    assert after[now.body :] == text[before.body or text.startswith("\ufeff") :]
    if key not in before.properties:
        less = apply_edits(after, remove_property(after, key))
        assert less.replace("---\n---\n", "") == text.replace("---\n---\n", "")


@given(WORDS | SIGNS)
def test_older_readers_take_text_for_text(value: str) -> None:
    text = patched("---\na: 1\n---\n", "k", value)
    read = yaml.safe_load(text[4:-4])["k"]
    assert read == value or value[:4] == "2024" or value.count(":") > 0


@given(TEXTS, KEYS, st.lists(SIGNS | WORDS, max_size=3))
def test_a_list_grows_by_what_it_lacks(text: str, key: str, items: list[str]) -> None:
    try:
        after = grown(text, key, *items)
    except PatchError:
        return
    now = scan(after).properties.get(key) or []
    assert not items or isinstance(now, list) or after == text
    assert grown(after, key, *items) == after


@pytest.mark.parametrize("vault", ["jacky-garden", "kepano-vault", "zh-knowledge-garden"])
def test_every_note_of_a_public_vault(shared: Path, vault: str) -> None:
    count: Counter[str] = Counter()
    with tarfile.open(shared / "vaults" / f"{vault}.tar.gz") as packed:
        for member in packed:
            file = packed.extractfile(member) if member.name.endswith(".md") else None
            if file is None:
                continue
            text = file.read().decode("utf-8", "replace")
            before = scan(text)
            if before.problems:
                with pytest.raises(PatchError):
                    set_property(text, "kb_id", "x")
                count["unreadable"] += 1
                continue
            try:
                after = patched(text, "kb_id", "文: x")
            except PatchError:
                count["refused"] += 1
                continue
            lower, longer = after.count("\n") - text.count("\n"), len(after) - len(text)
            assert scan(after).links == [
                link
                if link.kind == "property"
                else link._replace(start=link.start + longer, line=(link.line or 0) + lower)
                for link in before.links
            ]
            back = apply_edits(after, remove_property(after, "kb_id"))
            assert text in (back, back.replace("---\n---\n", "", 1), back.replace("---\r\n---\r\n", "", 1))
            more = grown(text, "tags", "kb/新")
            assert scan(grown(more, "aliases", "别 名")).properties["aliases"]
            count["changed"] += 1
            for key in before.properties:
                try:
                    less = apply_edits(text, remove_property(text, key))
                    assert list(scan(less).properties) == [name for name in before.properties if name != key]
                    count["taken out"] += 1
                except PatchError:
                    count["not taken out"] += 1
    print(vault, dict(count))
    assert count["refused"] <= 0.01 * count["changed"]
    assert count["not taken out"] <= 0.01 * count["taken out"]
