"""Properties: what YAML says as the app resolves it, and the quick reader held to the loader."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohmykb.markdown.properties import aliases, parse, parse_plain, parse_yaml, property_tags, searchable, title
from ohmykb.markdown.scan import scan
from ohmykb.note import JSON, Heading

KEYS = [
    "a",
    "key",
    "title",
    "date created",
    "a.b",
    "x-1",
    "true",
    "null",
    "1",
    "é",
    "中文",
    "_x",
    "y",
    "no",
    "key ",
    "<<",
]
VALUES = [
    "", "x", "a b", "yes", "no", "true", "True", "null", "~", "1", "-1", "+1", "012", "0o17", "0x1F", "1.5",
    ".5", "1e3", "-.5", "1_000", "2024-01-01", "2024-01-01T10:00", "12:30", "12:30:00", "'q'", "\"q\"",
    "\"q\\n\"", "'it''s'", "\"a\" b", "[a, b]", "[]", "[a]", "[1, true, x]", "[\"a\", \"b\"]", "[\"a\", b]",
    "[[A]]", "\"[[A|b]]\"", "{a: 1}", "{{x}}", "<% x %>", "#c", "x #c", "x#c", "a: b", "a:b", "a:", "- x",
    "-x", "-", "&a", "*a", "!x", "|", ">", "%x", "@x", "`x`", "? x", "x, y", "[a,b,]", "[,a]", "[a: b]",
    "[a:b]", "[ a ,  b ]", ".inf", ".nan", "---", "...", "00", "-0", "1.", "“x”", "http://x.y/z",
    "\"unclosed", "[unclosed", "x]", "a\"b", "\\x", "=", "1e999", "999999999999999999999999999999", "[#a]",
    "[a #b]", "[- a]", "[-1]", "[?a]", "x\u00a0y", "a\tb", "\u0007", "''", "\"\"", "[\"\"]", "a\u2028b",
    "!!str 1", "😀", "[😀, b]",
]  # fmt: skip
line = st.one_of(
    st.tuples(st.sampled_from(KEYS), st.sampled_from([": ", ":", ":  "]), st.sampled_from(VALUES)).map("".join),
    st.tuples(st.sampled_from(["- ", "  - ", "   - ", "-", "\t- ", "  "]), st.sampled_from(VALUES)).map("".join),
    st.sampled_from(["", "# c", " ", "  x", "\t", "...", "a:", "b:"]),
)


@settings(max_examples=1500)
@given(st.lists(line, max_size=5).map("\n".join))
def test_the_quick_reader_says_what_the_loader_says(source: str) -> None:
    plain = parse_plain(source)
    if plain is not None:
        loaded, problems = parse_yaml(source)
        assert repr(plain) == repr(loaded)  # 1, True and 1.0 are equal but not alike
        assert problems == []


@pytest.mark.parametrize(
    "source, value",
    [
        ("2024-05-26", "2024-05-26"),
        ("2024-05-26T10:00:00", "2024-05-26T10:00:00"),
        ("yes", "yes"),
        ("off", "off"),
        ("12:30", "12:30"),
        ("012", 12),
        ("1_000", "1_000"),
        ("0x1F", 31),
        ("1.5", 1.5),
        (".inf", ".inf"),
        ("TRUE", True),
        ("~", None),
        ("{a: [1, 2024-01-01]}", {"a": [1, "2024-01-01"]}),
        ("[802.11]", [802.11]),
        ("|\n  a\n  b", "a\nb\n"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(source: str, value: JSON) -> None:
    found, problems = parse(f"k: {source}\n")
    assert found == {"k": value}
    assert problems == []


def test_broken_properties_are_a_problem_with_its_line_and_lose_no_link() -> None:
    found = scan('---\na: 1\nb: "open\n---\n[[A]] #t\n')
    assert found.properties == {}
    assert [(p.code, p.line) for p in found.problems] == [("bad-yaml", 4)] or found.problems[0].line in (3, 4)
    assert "line" in found.problems[0].message
    assert [k.linkpath for k in found.links] == ["A"]
    assert [t.name for t in found.tags] == ["t"]


@pytest.mark.parametrize(
    "value", ["{{title}}", "{{date:YYYY-MM-DD}}", "<% tp.date.now() %>: <% x %>", "[[{{x}}]]: {{y}}"]
)
def test_templates_are_a_problem_and_no_crash(value: str) -> None:
    found = scan(f"---\nx: {value}\n---\n[[A]]\n")
    assert [k.linkpath for k in found.links] == ["A"]
    for problem in found.problems:
        assert problem.code == "bad-yaml"
        assert "template" in problem.message


def test_only_the_block_at_the_very_top_counts() -> None:
    assert scan("\n---\na: 1\n---\n").properties == {}
    assert scan("---\na: 1\n---\n---\nb: 2\n---\n").properties == {"a": 1}
    assert scan("---\na: 1\n").properties == {}
    assert scan("---\n---\nx").properties == {}


def test_properties_that_are_no_mapping_are_a_problem() -> None:
    assert [p.code for p in scan("---\n- a\n- b\n---\n").problems] == ["bad-yaml"]
    assert scan("---\n# nothing\n---\n").problems == []


@pytest.mark.parametrize(
    "value, expected",
    [
        ("journal", ["journal"]),
        (["a", "#b/c", 2024, "2024", "y2024", None, True, "中文", "two words", "x,y"], ["a", "b/c", "y2024", "中文"]),
        ("a, b", []),  # oracle: yaml_tags_with_two_values_on_one_line
        ("a b", []),
        ([802.11], []),
        (None, []),
        ({"a": 1}, []),
    ],
)
def test_tags_of_the_properties(value: JSON, expected: list[str]) -> None:
    assert property_tags({"tags": value, "tag": "singular", "Tags": "capital"}) == expected


def test_aliases() -> None:
    assert aliases({"aliases": ["A", " B ", None, 7, "C, D"], "alias": "no"}) == ["A", "B", "7", "C, D"]
    assert aliases({"aliases": "A, B"}) == ["A", "B"]
    assert aliases({"aliases": None}) == []
    assert aliases({}) == []


def test_title() -> None:
    one, two = Heading(1, "One", 1, 0), Heading(2, "Two", 2, 9)
    assert title({"title": " T "}, [one], "name") == "T"
    assert title({"title": 7}, [one], "name") == "One"
    assert title({"title": ""}, [two, one], "name") == "name"
    assert title({}, [], "name") == "name"


def test_searchable_holds_keys_and_values() -> None:
    text = searchable({"author": "Ann", "n": [1, "x"], "deep": {"inner": True, "list": [{"k": "v"}]}, "empty": None})
    assert text.split("\n") == ["author Ann", "n 1 x", "deep inner true", "deep list", "deep list k v", "empty"]


def test_property_links_have_line_and_place() -> None:
    text = '---\nup: "[[A]]"\nlist:\n  - "[[B|b]]"\n  - see [[C]]\n  - deep: "[[A]]"\n---\n'
    found = [(k.raw, k.linkpath, k.display, k.key, k.line, k.start) for k in scan(text).links]
    assert found == [
        ("[[A]]", "A", "A", "up", 2, text.index("[[A")),
        ("[[B|b]]", "B", "b", "list.0", 4, text.index("[[B")),
        ("[[A]]", "A", "A", "list.2.deep", 6, text.rindex("[[A")),
    ]
