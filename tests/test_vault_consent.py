"""When nothing is written unasked."""

import os
import subprocess
from pathlib import Path

import pytest

from ohmykb.vault.consent import QUIET_S, busy, git_at_work, has_conflict_markers, is_below, may_apply_unasked

NOW = 1_800_000_000.0


def note(root: Path, name: str, data: bytes = b"text", age: float = 60) -> str:
    (root / name).write_bytes(data)
    os.utime(root / name, (NOW - age, NOW - age))
    return name


@pytest.mark.parametrize(
    "mode, device, allowed",
    [
        ("auto", "me", True), ("auto", "other", False), ("auto", None, False), ("suggest", "me", False),
        ("off", "me", False),
    ],
)  # fmt: skip
def test_only_in_auto_on_the_writer_device(mode: str, device: str | None, allowed: bool) -> None:
    assert may_apply_unasked(mode, device, "me") is allowed


def test_a_note_just_changed_is_left_alone(tmp_path: Path) -> None:
    for age, left in ((0, True), (QUIET_S - 1, True), (QUIET_S + 1, False), (-2, True), (-3600, False)):
        found = busy(tmp_path, [note(tmp_path, "a.md", age=age)], NOW)
        assert ("a.md" in found) is left, age
        assert all("a moment ago" in why for why in found.values())


def test_what_is_not_there_yet_is_not_busy(tmp_path: Path) -> None:
    assert busy(tmp_path, ["new.md"], NOW) == {}
    (tmp_path / "folder.md").mkdir()
    os.utime(tmp_path / "folder.md", (1, 1))
    assert "no plain file" in busy(tmp_path, ["folder.md"], NOW)["folder.md"]


CONFLICT = b"# A\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n"


@pytest.mark.parametrize(
    "data, found",
    [
        (CONFLICT, True),
        (CONFLICT.replace(b"\n", b"\r\n"), True),
        (CONFLICT[4:], True),
        (b"\xef\xbb\xbf" + CONFLICT[4:], True),
        (b"<<<<<<<\nmine\n=======\n>>>>>>>\n", True),
        (b"A heading\n=======\n", False),
        (b"> <<<<<<< quoted\n", False),
        (b"<<<<<<< alone\n", False),
        (b"", False),
    ],
)
def test_conflict_markers(tmp_path: Path, data: bytes, found: bool) -> None:
    assert has_conflict_markers(data) is found
    assert bool(busy(tmp_path, [note(tmp_path, "a.md", data)], NOW)) is found


@pytest.mark.parametrize(
    "name",
    ["index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"],
)
@pytest.mark.parametrize("where", ["vault", "above", "worktree", "submodule"])
def test_git_at_work(tmp_path: Path, name: str, where: str) -> None:
    root = tmp_path / "repo" / "vault"
    root.mkdir(parents=True)
    if where == "worktree":
        git = tmp_path / "main/.git/worktrees/vault"
        (root / ".git").write_text(f"gitdir: {git}\n", "utf-8")
    elif where == "submodule":
        git = tmp_path / "repo/.git/modules/vault"
        (root / ".git").write_text("gitdir: ../.git/modules/vault", "utf-8")
    else:
        git = (root if where == "vault" else root.parent) / ".git"
    git.mkdir(parents=True)
    assert not git_at_work(root)
    (git / name).write_bytes(b"")
    assert git_at_work(root)
    assert busy(root, [note(root, "a.md")], NOW) == {"a.md": "git is at work in the vault"}


def test_no_git_and_a_broken_one(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    assert not git_at_work(root)
    (root / ".git").write_bytes(b"\xff\xfe nonsense")
    assert not git_at_work(root)


def test_a_real_merge(tmp_path: Path) -> None:
    def git(*args: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
        subprocess.run(["git", "-C", str(tmp_path), *who, *args], check=False, capture_output=True)

    git("init", "-q")
    for branch, text in (("main", b"0"), ("other", b"1"), ("main", b"2")):
        git("checkout", "-q", *(() if branch == "main" else ("-b",)), branch)
        (tmp_path / "a.md").write_bytes(text)
        git("add", "-A")
        git("commit", "-qm", "x")
    assert not git_at_work(tmp_path)
    git("merge", "other")
    assert git_at_work(tmp_path)
    assert has_conflict_markers((tmp_path / "a.md").read_bytes())


def test_folders_with_a_role() -> None:
    assert is_below("raw/a.md", ("raw",))
    assert is_below("raw", ("raw",))
    assert not is_below("rawer/a.md", ("raw",))
    assert not is_below("wiki/raw/a.md", ("raw",))
    assert not is_below("a.md", ())


def test_a_second_name_and_no_plain_file(tmp_path: Path) -> None:
    note(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    assert "second name" in busy(tmp_path, ["a.md"], NOW)["a.md"]
    os.mkfifo(tmp_path / "pipe.md")
    assert "no plain file" in busy(tmp_path, ["pipe.md"], NOW)["pipe.md"]


def test_a_folder_that_is_a_repository_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "shared/.git").mkdir(parents=True)
    (tmp_path / "shared/.git/MERGE_HEAD").write_text("0" * 40)
    paths = [note(tmp_path, "a.md"), note(tmp_path, "shared/b.md")]
    assert list(busy(tmp_path, paths, NOW)) == ["shared/b.md"]
