"""One commit an operation, and nothing of the person's own work touched."""

import subprocess
from pathlib import Path

import pytest

from never_lost import DEVICE, Ticking
from ohmykb.note import NotePath
from ohmykb.vault.commit import commit
from ohmykb.vault.door import Door
from ohmykb.vault.operations import Change, Operation
from ohmykb.vault.replace import digest


class Repo:
    def __init__(self, top: Path, root: Path) -> None:
        self.top, self.root = top, root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "commit.gpgsign", "true")  # would ask for a key
        (top / ".gitignore").write_text(".history/\nprivate/\n", "utf-8")
        for name in ("a.md", "b.md", "own.md"):
            (root / name).write_text("old\n", "utf-8")
        self.git("add", "-A")
        self.git("-c", "commit.gpgsign=false", "commit", "-qm", "first")
        hook = top / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch hooked\nexit 1\n", "utf-8")
        hook.chmod(0o755)

    def git(self, *args: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self.top), "-c", "core.quotepath=off", *args], check=True, capture_output=True, text=True
        ).stdout

    def write(self, **files: str | None) -> Operation:
        """`folder__note` stands for `folder/note.md`."""
        changes = []
        for name, text in files.items():
            path = name.replace("__", "/") + ".md"
            file = self.root / path
            before = digest(file.read_bytes()) if file.exists() else None
            changes.append(Change(NotePath(path), before, None if text is None else text.encode()))
        return Door(self.root, DEVICE, Ticking(), lambda *_: None).apply(changes, kind="trial", decider="test")

    def last(self) -> list[str]:
        """What the last commit changed."""
        return sorted(self.git("show", "--name-status", "--format=", "HEAD").split("\n")[:-1])

    def count(self) -> int:
        return int(self.git("rev-list", "--count", "HEAD"))


@pytest.fixture(params=["vault", "above"])
def repo(tmp_path: Path, request: pytest.FixtureRequest) -> Repo:
    top = tmp_path / "repo"
    return Repo(top, top if request.param == "vault" else top / "my vault")


def test_exactly_its_files(repo: Repo) -> None:
    (repo.root / "own.md").write_text("staged\n", "utf-8")
    repo.git("add", "-A")
    (repo.root / "own.md").write_text("and more\n", "utf-8")
    (repo.root / "untracked.md").write_text("x", "utf-8")
    before = repo.git("status", "--porcelain")
    op = repo.write(a="new\n", b=None, 新__笔记="made\n")
    assert commit(repo.root, op) is None
    inside = "" if repo.root == repo.top else "my vault/"
    assert repo.last() == [f"A\t{inside}新/笔记.md", f"D\t{inside}b.md", f"M\t{inside}a.md"]
    assert op.id in repo.git("log", "-1", "--format=%B")
    assert repo.git("status", "--porcelain") == before
    assert not (repo.top / "hooked").exists()


def test_what_the_person_staged_is_theirs(repo: Repo) -> None:
    (repo.root / "a.md").write_text("half of it\n", "utf-8")
    repo.git("add", "-A")
    before = repo.git("diff", "--cached")
    said = commit(repo.root, repo.write(a="new\n", made="x"))
    assert said is not None
    assert "staged a.md yourself" in said
    assert repo.count() == 1
    assert repo.git("diff", "--cached") == before


def test_ignored_files_are_left_out(repo: Repo) -> None:
    assert commit(repo.root, repo.write(private__a="x")) is None
    assert repo.count() == 1
    assert commit(repo.root, repo.write(private__a="y", a="new\n")) is None
    assert [line.rpartition("/")[2].rpartition("\t")[2] for line in repo.last()] == ["a.md"]


def test_an_undo_is_a_commit_too(repo: Repo) -> None:
    op = repo.write(a="new\n", made="x")
    assert commit(repo.root, op) is None
    back = Door(repo.root, DEVICE, Ticking(), lambda *_: None).undo([op.id])
    assert commit(repo.root, back) is None
    assert repo.count() == 3
    assert repo.git("diff", "HEAD~2", "HEAD") == ""
    assert commit(repo.root, back) is None  # nothing differs
    assert repo.count() == 3


def test_git_that_fails_is_a_remark(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.top / ".git/MERGE_HEAD").write_text("x", "utf-8")
    assert "in the middle" in (commit(repo.root, repo.write(a="1")) or "")
    (repo.top / ".git/MERGE_HEAD").unlink()
    repo.git("config", "--unset", "user.email")
    monkeypatch.setenv("HOME", str(repo.top))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    repo.git("config", "user.useConfigOnly", "true")
    before = repo.git("status", "--porcelain")
    said = commit(repo.root, repo.write(fresh="x"))
    assert said is not None
    assert said.startswith("Not committed to git")
    assert repo.git("diff", "--cached") == ""
    assert before in repo.git("status", "--porcelain")
    monkeypatch.setenv("PATH", "")
    assert "not installed" in (commit(repo.root, repo.write(a="2")) or "")
    assert (repo.root / "a.md").read_text("utf-8") == "2"


def test_no_repository(tmp_path: Path) -> None:
    door = Door(tmp_path, DEVICE, Ticking(), lambda *_: None)
    op = door.apply([Change(NotePath("a.md"), None, b"x")], kind="trial", decider="test")
    assert "no repository" in (commit(tmp_path, op) or "")


def test_before_the_first_commit_and_a_thousand_files(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, value in (("user.name", "A"), ("user.email", "a@example.org")):
        subprocess.run(["git", "-C", str(tmp_path), "config", name, value], check=True)
    changes = [Change(NotePath(f"{'很长的名字' * 8} {number}.md"), None, b"x") for number in range(1000)]
    op = Door(tmp_path, DEVICE, Ticking(), lambda *_: None).apply(changes, kind="trial", decider="test")
    assert commit(tmp_path, op) is None
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "ls-tree", "-r", "--name-only", "HEAD"], check=True, capture_output=True
    )
    assert listed.stdout.count(b"\n") == 1000
