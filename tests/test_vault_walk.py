"""Real folders with everything that turns up in vaults; every look must judge as the walk does."""

import os
import socket
import stat
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohmykb.config import Config, IndexSettings, VaultSettings
from ohmykb.errors import NoVaultError
from ohmykb.note import NotePath, Scope
from ohmykb.vault.rules import Rules
from ohmykb.vault.stamp import cloud_only
from ohmykb.vault.walk import Entry, FileKind, Walk, examine, kin, look, walk, walk_folder

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names or files")
FOLLOW = Config(vault=VaultSettings(follow_symlinks=True))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def put(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)


def seen(root: Path, config: Config | None = None) -> tuple[dict[str, Scope], dict[str, str]]:
    """Scopes and problem codes by path, after `look` and `walk_folder` said the same as `walk`."""
    config = config or Config()
    rules = Rules.of(root, config)
    whole = walk(root, rules, config)
    for entry in whole.entries:
        assert look(root, entry.path, rules) == entry
    judged = {path for path, problem in whole.problems.items() if not problem.code.startswith("name-")}
    for path in judged:
        entry_, problem = examine(root, path, rules)
        if not (root / path).is_dir() or (root / path).is_symlink():
            assert problem == whole.problems[path]
        assert entry_ in (None, *whole.entries)
    for folder in {entry.path.rpartition("/")[0] for entry in whole.entries}:
        prefix = folder + "/" if folder else ""
        part = walk_folder(root, folder, rules, config)
        assert sorted(part.entries) == sorted(e for e in whole.entries if e.path.startswith(prefix))
    assert len({entry.path for entry in whole.entries}) == len(whole.entries)
    return (
        {entry.path: entry.scope for entry in whole.entries},
        {path: problem.code for path, problem in whole.problems.items()},
    )


def plain_walk(root: Path) -> Walk:
    return walk(root, Rules(Config()), Config())


def test_kinds_scopes_and_stamps(root: Path) -> None:
    put(root, "a.md", "b/c.MD", "b/日记 🍀.md", "b/d.canvas", "b/e.Canvas", "f.png", "g", "h.md.bak")
    (root / "empty").mkdir()
    found = {entry.path: entry for entry in plain_walk(root).entries}
    kinds = {path: entry.kind.name for path, entry in found.items()}
    assert kinds == {
        "a.md": "NOTE",
        "b/c.MD": "NOTE",
        "b/日记 🍀.md": "NOTE",
        "b/d.canvas": "CANVAS",
        "b/e.Canvas": "CANVAS",
        "f.png": "OTHER",
        "g": "OTHER",
        "h.md.bak": "OTHER",
    }
    status = (root / "a.md").stat()
    assert found[NotePath("a.md")] == Entry(
        NotePath("a.md"),
        FileKind.NOTE,
        Scope.GRAPH,
        (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino),  # type: ignore[arg-type]
    )
    assert seen(root)[1] == {}


def test_hidden_is_invisible(root: Path) -> None:
    put(root, "a.md", ".obsidian/app.json", ".trash/b.md", ".kb/config.toml", "x/.git/c.md", "x/.d.md", "x/e.md")
    assert seen(root) == ({"a.md": Scope.GRAPH, "x/e.md": Scope.GRAPH}, {})
    rules = Rules(Config())
    for path in (".trash/b.md", "x/.d.md", "x/.git/c.md", "", "/etc/passwd", "../vault/a.md", "x//e.md", "x", "no"):
        assert look(root, path, rules) is None
        assert walk_folder(root, ".trash", rules, Config()).entries == []


def test_excluded_is_a_target_and_has_no_problems(root: Path) -> None:
    put(root, "a.md", "archive/b.md", "archive/c?.md", "clips/d.md")
    (root / "archive/e.md").symlink_to("nowhere")
    put(root, "archive/.obsidian/x")
    config = Config(index=IndexSettings(exclude=("archive/",), search_only=("clips",)))
    scopes, problems = seen(root, config)
    assert scopes == {
        "a.md": Scope.GRAPH,
        "archive/b.md": Scope.TARGET,
        "archive/c?.md": Scope.TARGET,
        "clips/d.md": Scope.SEARCH,
    }
    assert problems == {}


def test_conflict_copies(root: Path) -> None:
    sync, onedrive = "x/a.sync-conflict-20240101-120000-ABCDEFG.md", "x/a-DESKTOP-ABC1234.md"
    put(root, "x/a.md", sync, onedrive, "x/Chapter.md", "x/Chapter 2.md")
    scopes, problems = seen(root)
    assert [path for path, scope in scopes.items() if scope is Scope.SEARCH] == sorted(
        (sync, onedrive), key=list(scopes).index
    )
    assert problems == dict.fromkeys((sync, onedrive), "conflict-copy")
    (root / "x/a.md").unlink()
    assert seen(root)[0][onedrive] is Scope.GRAPH
    assert kin(root, ["x/a.md", "x/b.md", "gone/a.md"]) == {onedrive}


# --- links


@posix
def test_links(root: Path, tmp_path: Path) -> None:
    put(root, "a/b.md", "c.md")
    put(tmp_path, "outside/d.md", "outside/sub/e.md", "outside.md")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside.md")
    (root / "twice").symlink_to(root / "a")
    (root / "twice.md").symlink_to("c.md")
    (root / "a/up").symlink_to(root)
    (root / "broken.md").symlink_to("nowhere.md")
    (root / "round.md").symlink_to("round.md")
    (root / "above").symlink_to(tmp_path)
    inside = {"a/b.md": Scope.GRAPH, "c.md": Scope.GRAPH}
    common = {
        "twice": "symlink-inside",
        "twice.md": "symlink-inside",
        "a/up": "symlink-loop",
        "broken.md": "symlink-broken",
        "round.md": "symlink-loop",
    }
    out = {"out": "symlink-out", "out.md": "symlink-out", "above": "symlink-out"}
    assert seen(root) == (inside, common | out)
    assert "follow_symlinks" in plain_walk(root).problems[NotePath("out")].message
    followed = dict.fromkeys(("out/d.md", "out/sub/e.md", "out.md"), Scope.GRAPH)
    assert seen(root, FOLLOW) == (inside | followed, common | {"above": "symlink-loop"})
    assert look(root, "twice/b.md", Rules(FOLLOW)) is None
    assert look(root, "out/d.md", Rules(Config())) is None
    assert walk_folder(root, "out", Rules(Config()), Config()).entries == []


@posix
def test_folders_outside_that_link_to_each_other(root: Path, tmp_path: Path) -> None:
    put(tmp_path, "one/1.md", "two/2.md")
    (tmp_path / "one/to two").symlink_to(tmp_path / "two")
    (tmp_path / "two/to one").symlink_to(tmp_path / "one")
    (tmp_path / "two/home").symlink_to(root)
    (root / "in").symlink_to(tmp_path / "one")
    scopes, problems = seen(root, FOLLOW)
    assert set(scopes) == {"in/1.md", "in/to two/2.md"}
    assert problems == {"in/to two/to one": "symlink-loop", "in/to two/home": "symlink-inside"}


@posix
def test_a_vault_that_is_a_link_itself(root: Path, tmp_path: Path) -> None:
    put(root, "a/b.md")
    (root / "again").symlink_to(root / "a")
    (tmp_path / "door").symlink_to(root)
    assert seen(tmp_path / "door") == ({"a/b.md": Scope.GRAPH}, {"again": "symlink-inside"})


# --- what is no file, or cannot be seen


@posix
def test_pipes_sockets_and_devices(root: Path) -> None:
    put(root, "a.md")
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(root)  # the name of a socket must be short
        try:
            server.bind("socket.md")
        finally:
            os.chdir(here)
    assert seen(root) == ({"a.md": Scope.GRAPH}, {"pipe.md": "not-a-file", "socket.md": "not-a-file"})


@posix
def test_a_folder_that_cannot_be_listed(root: Path) -> None:
    put(root, "a.md", "shut/b.md")
    deep = root / "deep"
    if os.geteuid() == 0:
        # Root may list everything; but no one can list a folder whose path is too long.
        deep.mkdir()
        descriptor = os.open(deep, os.O_RDONLY)
        for _ in range(20):
            os.mkdir("n" * 250, dir_fd=descriptor)
            below = os.open("n" * 250, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        os.close(descriptor)
    else:
        (root / "shut").chmod(0)
    try:
        found = plain_walk(root)
    finally:
        (root / "shut").chmod(0o700)
    assert not found.complete
    (unreadable,) = found.unreadable
    assert unreadable.endswith("/")
    assert found.problems[NotePath(unreadable[:-1])].code == "unreadable"
    assert "a.md" in {entry.path for entry in found.entries}


def test_no_vault(root: Path, tmp_path: Path) -> None:
    put(root, "a.md", "x/b.md")
    gone = tmp_path / "gone"
    for bad in (gone, root / "a.md"):
        with pytest.raises(NoVaultError):
            plain_walk(bad)
        with pytest.raises(NoVaultError):  # an unmounted drive must not look like deleted notes
            look(bad, "a.md", Rules(Config()))
        with pytest.raises(NoVaultError):
            look(bad, "x/b.md", Rules(Config()))
        with pytest.raises(NoVaultError):
            walk_folder(bad, "x", Rules(Config()), Config())
    assert walk_folder(root, "gone", Rules(Config()), Config()) == Walk()


def test_a_nested_vault(root: Path) -> None:
    put(root, "a.md", "sub/.obsidian/app.json", "sub/b.md", ".obsidian/app.json")
    assert seen(root) == (dict.fromkeys(("a.md", "sub/b.md"), Scope.GRAPH), {"sub": "nested-vault"})


# --- names


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8(root: Path) -> None:
    put(root, "日记/a.md")
    base = os.fsencode(root)
    for name in (b"/caf\xe9.md", b"/\xb0\xa1.md"):
        Path(os.fsdecode(base + name)).write_text("x")
    Path(os.fsdecode(base + b"/\xff")).mkdir()
    Path(os.fsdecode(base + b"/\xff/b.md")).write_text("x")
    scopes, problems = seen(root)
    assert set(scopes) == {"日记/a.md"}
    assert problems == dict.fromkeys((r"caf\xe9.md", r"\xb0\xa1.md", r"\xff"), "name-not-utf8")
    assert look(root, os.fsdecode(b"caf\xe9.md"), Rules(Config())) is None


@pytest.mark.skipif(sys.platform != "linux", reason="other disks take these for one name")
def test_names_that_some_disks_take_for_one(root: Path) -> None:
    put(root, "x/Note.md", "x/note.md", "x/NOTE.md", "x/other.md", "Y/a.md", "y/a.md", "straße.md", "STRASSE.md")
    put(root, "é.md", unicodedata.normalize("NFD", "é.md"))
    scopes, problems = seen(root)
    assert len(scopes) == 10
    assert problems == {
        **dict.fromkeys(("x/Note.md", "x/note.md", "x/NOTE.md", "Y", "y", "straße.md", "STRASSE.md"), "name-case"),
        **dict.fromkeys(("é.md", unicodedata.normalize("NFD", "é.md")), "name-normalization"),
    }


@posix
def test_names_that_are_not_portable(root: Path) -> None:
    bad = ["a:b.md", "q?.md", "s*.md", 'd"q.md', "<x>.md", "p|q.md", "b\\c.md", "t\tb.md", "dot.", "space ", "n\nl.md"]
    bad += ["CON", "con.md", "Nul.txt", "com1.md", "LPT9.md", "aux.tar.gz"]
    good = ["console.md", "com.md", "com10.md", "nul l.md", "#1 [x] ^y.md", "a..b.md", " lead.md", "🍀.md", "C++.md"]
    put(root, *bad, *good)
    put(root, "folder?/a.md")
    scopes, problems = seen(root)
    assert set(scopes) == {*bad, *good, "folder?/a.md"}
    assert problems == dict.fromkeys([*bad, "folder?"], "name-not-portable")


def test_a_problem_of_content_comes_before_one_of_the_name(root: Path) -> None:
    put(root, "a?.sync-conflict-20240101-120000-ABCDEFG.md")
    assert set(seen(root)[1].values()) == {"conflict-copy"}


# --- the cloud


def test_icloud_placeholders(root: Path) -> None:
    put(root, ".a.md.icloud", "x/.资料.canvas.icloud", "x/.b.md.icloud", "x/b.md", ".icloud", "..icloud", ".git.icloud")
    scopes, problems = seen(root)
    assert scopes == {
        "a.md": Scope.TARGET,
        "x/资料.canvas": Scope.TARGET,
        "x/b.md": Scope.GRAPH,
        "git": Scope.TARGET,
    }
    assert problems == dict.fromkeys(("a.md", "x/资料.canvas", "git"), "cloud-only")


def test_cloud_flags() -> None:
    class Found:
        st_flags = 0
        st_file_attributes = 0

    for name, flag in (
        ("st_flags", stat.UF_HIDDEN),
        ("st_flags", 0x40000000),
        ("st_file_attributes", stat.FILE_ATTRIBUTE_ARCHIVE),
        ("st_file_attributes", stat.FILE_ATTRIBUTE_OFFLINE),
        ("st_file_attributes", 0x400000),
    ):
        found = Found()
        setattr(found, name, flag)
        expected = flag not in (stat.UF_HIDDEN, stat.FILE_ATTRIBUTE_ARCHIVE)
        assert cloud_only(found) is expected  # type: ignore[arg-type]
    assert not cloud_only(os.stat(__file__))  # noqa: PTH116


# --- any tree

parts = st.sampled_from(["a", "A", "b.md", "B.md", "c.canvas", ".h", "é", "e\u0301", "x?", "clips", "con", "d.MD"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(parts, min_size=1, max_size=4), max_size=12))
def test_looking_and_walking_agree(tmp_path_factory: pytest.TempPathFactory, tree: list[list[str]]) -> None:
    root = tmp_path_factory.mktemp("tree")
    made = set()
    for path in tree:
        file = root.joinpath(*path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue  # a file where a folder is to be, or the reverse
        made.add("/".join(path))
    scopes, _ = seen(root, Config(index=IndexSettings(search_only=("clips",))))
    assert set(scopes) == {path for path in made if "/." not in f"/{path}"}
