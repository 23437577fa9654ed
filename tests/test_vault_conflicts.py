import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohmykb.vault.conflicts import conflict_copy, copies_of, numbered_copy


@pytest.mark.parametrize(
    "name, original",
    [
        ("x.sync-conflict-20240101-120000-ABCDEFG.md", "x.md"),
        ("资金 费率.sync-conflict-20240101-120000-AB2DEFG.md", "资金 费率.md"),
        ("v1.2 plan.sync-conflict-20240101-120000-ABCDEFG.md", "v1.2 plan.md"),
        ("x.sync-conflict-20240101-120000-ABCDEFG", "x"),
        ("x (Ann's conflicted copy 2024-01-01).md", "x.md"),
        ("x (Ann's conflicted copy 2024-01-01) (1).md", None),
        ("x (conflicted copy 2024-01-01 120000).md", "x.md"),
        ("x (Ann 的冲突副本 2024-01-01).md", "x.md"),
        ("x（Ann 的冲突副本 2024-01-01）.md", "x.md"),
        ("x (Ann 的衝突複本 2024-01-01).md", "x.md"),
        ("x (Conflicted copy laptop 202401011200).md", "x.md"),
        ("x (SFConflict ann@example.org 2024-01-01-12-00-00).md", "x.md"),
        ("x (2) (Conflicted copy pixel 202401011200).md", "x (2).md"),
        # Not copies: notes about conflicts.
        ("sync-conflict.md", None),
        ("conflicted copy.md", None),
        ("How to solve a conflicted copy (2024).md", None),
        ("资金冲突（冲突解决）.md", None),
        ("x (Case Conflict).md", None),
        ("x.sync-conflict-2024-ABCDEFG.md", None),
        ("x.md", None),
    ],
)
def test_names_that_say_it(name: str, original: str | None) -> None:
    assert conflict_copy(name) == original


def test_onedrive_only_beside_the_original() -> None:
    name = "x-DESKTOP-ABC1234.md"
    assert conflict_copy(name) is None
    assert conflict_copy(name, lambda other: other == "x.md") == "x.md"
    assert conflict_copy(name, lambda _: False) is None
    assert conflict_copy("x-LAPTOP-ABC12345-2.md", lambda _: True) == "x.md"
    assert conflict_copy("x-MYPC.md", lambda _: True) is None
    assert copies_of({"x.md"}, ["x.md", name, "y-DESKTOP-ABC1234.md", "x-DESKTOP-ABC1234.txt"]) == [name]


def test_icloud_is_a_hint_and_no_judgement() -> None:
    assert numbered_copy("Chapter 2.md") == "Chapter.md"
    assert conflict_copy("Chapter 2.md", lambda _: True) is None
    assert numbered_copy("Chapter 12.md") is None
    assert numbered_copy("Chapter.md") is None


letters = st.characters(exclude_characters="/\0()（）", exclude_categories=["Cs"])
stems = st.text(letters, min_size=1, max_size=12)


@given(stems, st.sampled_from([".md", ".canvas", ""]))
def test_the_original_of_a_copy_is_found(stem: str, extension: str) -> None:
    for mark in (".sync-conflict-20240101-120000-ABCDEFG", " (Ann's conflicted copy 2024-01-01)"):
        if extension:
            assert conflict_copy(stem + mark + extension) == (stem + extension)


@given(stems)
def test_no_name_breaks_it(name: str) -> None:
    conflict_copy(name, lambda _: True)
    numbered_copy(name)
