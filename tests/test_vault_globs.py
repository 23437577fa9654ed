import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohmykb.config import glob_fault
from ohmykb.vault.globs import Globs

CASES = [
    # pattern, covered, not covered
    ("archive", ["archive/a.md", "x/archive/b/c.md", "archive"], ["archive.md", "my archive/a.md"]),
    ("archive/", ["archive/a.md", "x/archive/b.md"], ["archive", "x/archive"]),
    ("/archive", ["archive/a.md"], ["x/archive/a.md"]),
    ("a/b", ["a/b", "a/b/c.md"], ["x/a/b", "a/x/b"]),
    ("*.excalidraw.md", ["a.excalidraw.md", "x/y.excalidraw.md"], ["a.md", "excalidraw.md"]),
    ("a/*", ["a/b.md", "a/b/c.md"], ["a", "b/a"]),
    ("a/*.md", ["a/b.md"], ["a/b/c.md", "b.md"]),
    ("a/**", ["a/b.md", "a/b/c.md"], ["a", "x/a/b.md"]),
    ("a/**/z.md", ["a/z.md", "a/b/z.md", "a/b/c/z.md"], ["z.md", "a/b/zz.md"]),
    ("**/z.md", ["z.md", "a/z.md"], ["zz.md"]),
    ("**", ["a", "a/b.md"], []),
    ("20??", ["2024/a.md"], ["202/a.md", "20/4/a.md"]),
    ("[0-9]*.md", ["1x.md"], ["x1.md"]),
    ("[!0-9]*.md", ["x1.md"], ["1x.md"]),
    ("[^a].md", ["b.md"], ["a.md"]),
    ("[]a].md", ["].md", "a.md"], ["b.md"]),
    ("[z-a].md", [], ["a.md", "z.md", "-.md"]),
    (r"\[x\].md", ["[x].md"], ["x.md"]),
    (r"[\]x].md", ["].md", "x.md"], ["\\.md"]),
    (r"\!x", ["!x"], ["x"]),
    ("日记/", ["日记/2024.md"], ["日记.md"]),
    ("Archive", ["Archive/a"], ["archive/a"]),
    ("a.md", ["a.md"], ["axmd", "a.md.bak"]),
    ("cafe\u0301", ["caf\u00e9/a.md"], []),
    ("a b/c+d(1)", ["a b/c+d(1)/x"], ["a b/ccd1/x"]),
]


@pytest.mark.parametrize("pattern, covered, free", CASES)
def test_a_pattern(pattern: str, covered: list[str], free: list[str]) -> None:
    globs = Globs([pattern])
    assert [path for path in covered + free if globs.match(path)] == covered


def test_several_and_none() -> None:
    assert not Globs([])
    assert not Globs([]).match("a.md")
    globs = Globs(["a", "b/"])
    assert globs
    assert globs.match("a")
    assert globs.match("b/c")
    assert not globs.match("c")


def test_the_last_pattern_that_fits_decides() -> None:
    globs = Globs(["clips/", "!clips/keep.md", "clips/keep.md/"])
    assert globs.match("clips/a.md")
    assert not globs.match("clips/keep.md")
    assert not Globs(["!a"]).match("b")


BROKEN = ["", "/", "!", "!/", "a//b", "[", "a[b", "a\\", "[!]", "[]", r"a\/b", "[a/b]"]


@pytest.mark.parametrize("pattern", BROKEN)
def test_what_cannot_be_parsed(pattern: str) -> None:
    assert glob_fault(pattern)
    with pytest.raises(ValueError):
        Globs([pattern])


@given(st.text("ab/*?[]!^-\\é中{}()|&~.#\n", max_size=12), st.text("ab/é中[]-!^.", max_size=8))
def test_every_pattern_is_refused_or_works(pattern: str, path: str) -> None:
    if glob_fault(pattern) is None:
        Globs([pattern]).match(path)


names = st.text(alphabet="abA.-", min_size=1, max_size=3).filter(lambda name: name.strip("."))
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
marks = ["*", "**", "?", "[ab]", "[!a]", "[a-c]", "[^b]*", r"[\]b]", r"[a\-c]", "*a", "a*", "?b", r"\*", r"\a"]
pieces = st.one_of(names, st.sampled_from(marks))
patterns = st.tuples(
    st.sampled_from(["", "/"]), st.lists(pieces, min_size=1, max_size=3), st.sampled_from(["", "/"])
).map(lambda parts: parts[0] + "/".join(parts[1]) + parts[2])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("git"):
        pytest.skip("git is the reference for globs, and is not installed")
    folder = tmp_path_factory.mktemp("globs")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@settings(max_examples=150, deadline=None)
@given(pattern=patterns, tried=st.lists(paths, min_size=1, max_size=20, unique=True))
def test_git_agrees(repository: Path, pattern: str, tried: list[str]) -> None:
    (repository / ".git/info/exclude").write_text(pattern + "\n")
    answer = subprocess.run(
        ["git", "-C", repository, "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(tried),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode in (0, 1), answer.stderr
    ignored = set(filter(None, answer.stdout.split("\0")))
    globs = Globs([pattern])
    assert {path for path in tried if globs.match(path)} == ignored
