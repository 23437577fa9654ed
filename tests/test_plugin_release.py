"""The plugin and the sidecar are one product: one version, and the files the directory's checks look at."""

import json
import re
from pathlib import Path

import ohmykb

REPO = Path(__file__).resolve().parents[1]
PLUGIN = REPO / "obsidian-plugin"


def read(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text("utf-8"))
    return found


def test_one_version() -> None:
    manifest = read(REPO / "manifest.json")
    assert manifest == read(PLUGIN / "manifest.json"), "the root's copy is what the directory reads"
    assert manifest["version"] == ohmykb.__version__ == read(PLUGIN / "package.json")["version"]
    versions = read(REPO / "versions.json")
    assert versions[str(manifest["version"])] == manifest["minAppVersion"]


def test_the_manifest_is_as_the_directory_wants_it() -> None:
    manifest = read(REPO / "manifest.json")
    assert set(manifest) <= {
        "id", "name", "version", "minAppVersion", "description", "author", "authorUrl", "fundingUrl", "isDesktopOnly",
    }  # fmt: skip
    assert re.fullmatch(r"[a-z-]+", str(manifest["id"]))
    assert not re.search(r"obsi|-?sidian|plugin", f"{manifest['id']} {manifest['name']}", re.IGNORECASE)
    description = str(manifest["description"])
    assert len(description) <= 250
    assert description.endswith(".")
    assert re.fullmatch(r"\d+\.\d+\.\d+", str(manifest["version"]))
    assert manifest["isDesktopOnly"] is True


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (PLUGIN / "package-lock.json").read_text("utf-8")


def test_nothing_of_the_interface_is_set_as_html() -> None:
    for source in (PLUGIN / "src").rglob("*.ts"):
        text = source.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML", text), source
        assert not re.search(r"eslint-disable", text), source
