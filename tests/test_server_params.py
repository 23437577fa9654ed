"""Parameters and bodies: what is taken, and the sentence for what is not."""

import re

import pytest

from ohmykb.config import Config, settings_dict
from ohmykb.errors import UsageError
from ohmykb.server import shapes
from ohmykb.server.params import DAY, FOLDER, INSIDE, Param, check, read_query

PARAMS = (
    Param("q", "text", required=True, pattern=r"\S"),
    Param("n", "how many", "integer", default=5, low=1, high=9),
    Param("mode", "how", default="a", choices=("a", "b")),
    Param("path", "a path", pattern=INSIDE),
)


def test_defaults_are_filled_in() -> None:
    assert read_query("q=x", PARAMS) == {"q": "x", "n": 5, "mode": "a", "path": None}
    assert read_query("n=9&q=%E8%B5%84+x&mode=b&path=a/b.md", PARAMS) == {
        "q": "资 x",
        "n": 9,
        "mode": "b",
        "path": "a/b.md",
    }


@pytest.mark.parametrize(
    "query",
    [
        "", "q=", "q=%20", "q=x&q=y", "q=x&no=1", "q=x&n=", "q=x&n=0", "q=x&n=10", "q=x&n=1e0", "q=x&n=%D9%A3",
        "q=x&n=" + "9" * 5000, "q=x&mode=A", "q=%FF", "q=x&" + "&".join("a=1" for _ in range(200)),
    ],
)  # fmt: skip
def test_everything_else_is_told(query: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_query(query, PARAMS)
    assert caught.value.message.endswith(".")
    assert caught.value.fix


@pytest.mark.parametrize(
    "path", ["a", "a.md", " a", "a/b c/资.md", "..a", "a..", "...", "a/.b", ".hidden.md", "-", "\n"]
)
def test_paths_inside(path: str) -> None:
    assert re.search(INSIDE, path)


@pytest.mark.parametrize(
    "path", ["", "/", "/a", "\\a", "..", ".", "../a", "a/..", "a/../b", "a\\..\\b", "a//b", "./a", "a/"]
)
def test_paths_that_may_lead_out(path: str) -> None:
    assert not re.search(INSIDE, path)


def test_folders_and_days() -> None:
    for folder in ("a", "a/b", "资 料/b.c"):
        assert re.search(FOLDER, folder)
    for folder in ("", "/a", "a/", ".a", "a/../b", "a\\b", "a\x00"):
        assert not re.search(FOLDER, folder)
    assert re.search(DAY, "2025-12-31")


def test_bodies() -> None:
    assert check({"index": {"debounce_ms": 5.0}}, shapes.SETTINGS_PATCH) == {"index": {"debounce_ms": 5}}
    assert check({"index": {"exclude": None}}, shapes.SETTINGS_PATCH) == {"index": {"exclude": None}}
    assert check({}, shapes.SETTINGS_PATCH) == {}
    wrong = [
        [], {"x": 1}, {"index": 1}, {"index": {"x": 1}}, {"index": {"exclude": "a"}}, {"index": {"exclude": [1]}},
        {"index": {"exclude": ["["]}}, {"index": {"exclude": [""]}}, {"index": {"exclude": ["!"]}},
        {"index": {"settle_s": -1}}, {"index": {"settle_s": True}}, {"index": {"debounce_ms": 1.5}},
        {"write": {"mode": "all"}}, {"write": {"device": " "}}, {"roles": {"raw": "../raw"}},
        {"roles": {"raw": ["../x"]}}, {"vault": {"follow_symlinks": "yes"}},
    ]  # fmt: skip
    for body in wrong:
        with pytest.raises(UsageError):
            check(body, shapes.SETTINGS_PATCH)
    with pytest.raises(UsageError):
        check({}, shapes.STOP_BODY)


def test_globs_that_pass_are_globs() -> None:
    """What the API takes, the settings take."""
    from ohmykb.config import glob_fault

    pattern = shapes.GLOBS["items"]["pattern"]
    for glob in (
        "archive/",
        "*.excalidraw.md",
        "!archive/keep.md",
        "/top",
        "a/**/b",
        "!!",
        "资料/",
        "[0-9]*.md",
        "[!a]",
        "[]x]",
        "a\\[b",
    ):
        assert re.search(pattern, glob), glob
        assert glob_fault(glob) is None
    for glob in ("", "!", "/", "!/", "a//b", "[a", "a\\", "a\n", "[]", "[!]", "[!]]a/[", "[a/b]"):
        assert not re.search(pattern[:-1] + r"\Z", glob), glob


def test_every_setting_can_be_read_and_changed() -> None:
    known = {name: set(section) for name, section in settings_dict(Config()).items()}
    for shape in (shapes.SETTINGS, shapes.SETTINGS_PATCH):
        assert {name: set(one["properties"]) for name, one in shape["properties"].items()} == known
    unchanged = {name: dict.fromkeys(section) for name, section in known.items()}
    assert check(unchanged, shapes.SETTINGS_PATCH) == unchanged
    given = {"search": {"encoder": "none", "fine": "http", "sentence_transformers": {"model": "a/b"}}}
    assert check(given, shapes.SETTINGS_PATCH) == given
