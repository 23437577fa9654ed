"""Two devices, each with a sidecar and a home of its own, over folders that a script keeps in step as sync tools do."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecar_process import Kb, Sidecar, end_all, make_vault

from conftest import home_with_encoder


class Pair:
    """What lies in one folder comes to lie in the other; what both changed becomes a conflict copy."""

    def __init__(self, one: Kb, other: Kb) -> None:
        self.folders = one.vault, other.vault
        self.known: dict[str, bytes] = {}

    def sync(self) -> None:
        mine, theirs = (self._files(folder) for folder in self.folders)
        for path in sorted({*mine, *theirs, *self.known}):
            was, a, b = self.known.get(path), mine.get(path), theirs.get(path)
            if a == b:
                continue
            if a != was and b != was and a is not None and b is not None:
                name = Path(path)
                aside = str(name.with_name(f"{name.stem}.sync-conflict-20240101-120000-ABCDEFG{name.suffix}"))
                for folder in self.folders:
                    self._put(folder, aside, b)
                self._put(self.folders[1], path, a)
            elif b == was:
                self._put(self.folders[1], path, a)
            else:
                self._put(self.folders[0], path, b)
        self.known = self._files(self.folders[0])

    @staticmethod
    def _files(folder: Path) -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    @staticmethod
    def _put(folder: Path, path: str, data: bytes | None) -> None:
        file = folder / path
        if data is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(".syncing.tmp")
        beside.write_bytes(data)
        beside.replace(file)


@pytest.fixture
def devices(tmp_path: Path, encoder_cache: Path) -> Iterator[tuple[Kb, Kb, Pair]]:
    one = Kb(make_vault(tmp_path / "one"), home_with_encoder(tmp_path / "home-one", encoder_cache))
    (one.vault / ".stfolder").mkdir()
    writer = one.json("status")["write"]["this_device"]
    (one.vault / ".kb").mkdir()
    (one.vault / ".kb/config.toml").write_text(f'[write]\nmode = "auto"\ndevice = "{writer}"\n', "utf-8")
    shutil.copytree(one.vault, tmp_path / "other")
    other = Kb(tmp_path / "other", home_with_encoder(tmp_path / "home-other", encoder_cache))
    yield one, other, Pair(one, other)
    end_all(one)
    end_all(other)


def started(kb: Kb) -> Sidecar:
    sidecar = kb.serve("--no-vectors")
    sidecar.settled()
    return sidecar


def lines(*vaults: Path) -> set[str]:
    return {
        line
        for vault in vaults
        for path in vault.rglob("*.md")
        for line in path.read_text("utf-8").splitlines()
        if line
    }


def test_a_rename_that_arrives_is_not_mended_twice(devices: tuple[Kb, Kb, Pair]) -> None:
    one, other, pair = devices
    pair.sync()
    first, second = started(one), started(other)
    (other.vault / "Funding rate.md").rename(other.vault / "Rate.md")
    second.settled()
    assert [row["certain"] for row in other.json("repair", "Perpetuals.md")["plans"]] == [True]
    pair.sync()
    first.settled()
    second.settled()
    assert not (one.vault / ".history").exists(), "the writer waits: the other may be rewriting the links"
    assert not (other.vault / ".history").exists(), "only the writer device writes unasked"
    done = one.json("repair", "--apply")
    assert done["applied"] == 2
    pair.sync()
    second.settled()
    assert "[[Rate#Missing]]" in (other.vault / "Perpetuals.md").read_text("utf-8")
    assert other.json("repair", "--apply")["applied"] == 0
    pair.sync()
    for kb in devices[:2]:
        assert [op["id"] for op in kb.json("history")["operations"]] == [done["op"]]
        assert not list(kb.vault.glob("*sync-conflict*"))
        assert kb.json("verify")["equal"]


def test_both_write_before_the_sync(devices: tuple[Kb, Kb, Pair]) -> None:
    one, other, pair = devices
    pair.sync()
    first, second = started(one), started(other)
    (one.vault / "Funding rate.md").rename(one.vault / "Rate.md")
    first.settled()
    one.json("repair", "--apply")
    note = other.vault / "Perpetuals.md"
    note.write_text(note.read_text("utf-8") + "a line from the other device\n", "utf-8")
    before = lines(one.vault, other.vault)
    pair.sync()
    pair.sync()
    first.settled()
    second.settled()
    held = lines(one.vault) | {
        line for path in (one.vault / ".history").rglob("*.md") for line in path.read_text("utf-8").splitlines()
    }
    assert before <= held
    (copy,) = one.json("conflicts")["copies"]
    assert copy["state"] == "mergeable", "the archive knows the version that both come of"
    one.json("conflicts", copy["copy"], "--apply")
    assert (one.vault / "Perpetuals.md").read_text("utf-8") == (
        "# Perpetuals\n\nA swap without an end. [[Rate#Missing]] #crypto/swaps\na line from the other device\n"
    )
