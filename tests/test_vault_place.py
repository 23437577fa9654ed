"""Only what lies in the open, inside the vault, is a place to write."""

from pathlib import Path

import pytest

from ohmykb.errors import UsageError
from ohmykb.vault.place import locate


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "..", "../a.md", "a/../../b.md", "/etc/x.md", "a//b.md", "a/", "a\\b.md", ".a.md", ".git/config",
        ".history/x/before/a.md", ".kb/config.toml", ".obsidian/app.json", ".trash/a.md", "x/.hidden/a.md", "a\0b.md",
        "a/./b.md", "\ud800.md",
    ],
)  # fmt: skip
def test_no_place(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError) as error:
        locate(tmp_path, path)
    assert error.value.fix


def test_no_link_leads_anywhere_else(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for folder in ("vault/.history/op", "vault/open", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "outside/a.md").write_bytes(b"theirs")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside/a.md")
    (root / "dangling.md").symlink_to(tmp_path / "outside/new.md")
    (root / "hidden").symlink_to(".history")
    (root / "inside").symlink_to("open")
    for path in ("out/a.md", "out/new/a.md", "out.md", "dangling.md", "hidden/op/op.json", "hidden/a.md"):
        with pytest.raises(UsageError):
            locate(root, path)
    assert locate(root, "inside/a.md") == root / "inside/a.md"


def test_a_vault_that_is_itself_behind_a_link_or_hidden(tmp_path: Path) -> None:
    (tmp_path / ".real").mkdir()
    (tmp_path / "link").symlink_to(".real")
    for root in (tmp_path / "link", tmp_path / ".real"):
        assert locate(root, "深/笔记 b.md").parent == root / "深"
