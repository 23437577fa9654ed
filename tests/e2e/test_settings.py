"""Every setting there is, over HTTP: it can be read, changed and taken back, and a wrong value is told in words.

The settings are taken from the dataclasses of config.py, so that none can be forgotten.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from sidecar_process import Kb, Sidecar, end_all, make_vault

from ohmykb.config import Config, Local, load, settings_dict

FILE = "# mine\n[future] # later\nx = 1\n\n[search] # how\n# why\nfine = ''\n\n[index]\nexclude = ['a'] # tail\n"
SECTIONS = [part.name for part in fields(Config) if is_dataclass(part.default) and not isinstance(part.default, Local)]
KEYS = [(section, part.name) for section in SECTIONS for part in fields(getattr(Config(), section))]


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sidecar, Path]]:
    tmp = tmp_path_factory.mktemp("settings")
    found = Kb(make_vault(tmp / "vault"), tmp / "home")
    sidecar = found.serve("--no-vectors")
    sidecar.settled()
    yield sidecar, found.vault
    end_all(found)


@pytest.fixture
def file(living: tuple[Sidecar, Path]) -> Path:
    path = living[1] / ".kb/config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(FILE, "utf-8")
    return path


def values(kind: Any, default: Any) -> list[Any]:
    """Values of a setting's type, other than its default."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        own = {part.name: values(hints[part.name], part.default)[0] for part in fields(kind)}
        return [own]
    if get_origin(kind) is Literal:
        return [choice for choice in get_args(kind) if choice != default]
    if kind is bool:
        return [not default]
    if kind in (int, float):
        return [default + 1]
    if get_origin(kind) is tuple:
        return [["made"], ["made", "资料/x"]]
    return ["0a1b2c3d"]


def wrong(kind: Any) -> list[Any]:
    found: list[Any] = [{"x": 1}, -1, [3], [" ", ""], "", " "]
    if get_origin(kind) is Literal and "" in get_args(kind):
        found.remove("")
    return found


def kind_of(section: str, key: str) -> Any:
    return get_type_hints(type(getattr(Config(), section)))[key]


def patch(sidecar: Sidecar, body: Any) -> tuple[int, Any]:
    return sidecar.ask("/settings", "PATCH", body)


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_a_setting_there_and_back(living: tuple[Sidecar, Path], file: Path, section: str, key: str) -> None:
    sidecar, root = living
    default = getattr(getattr(Config(), section), key)
    for value in values(kind_of(section, key), default):
        status, answer = patch(sidecar, {section: {key: value}})
        assert (status, answer.get(section, answer).get(key)) == (200, value)
        assert settings_dict(load(root))[section][key] == value
        for line in ("# mine", "[future] # later", "[search] # how", "# why", "[index]"):
            assert line in file.read_text("utf-8").splitlines()
        places = [file.read_text("utf-8").index(part) for part in ("# mine", "[future]", "[search]", "[index]")]
        assert places == sorted(places)
    assert patch(sidecar, {section: {key: None}})[0] == 200
    assert getattr(getattr(load(root), section), key) == default


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_a_wrong_value_is_told_and_changes_nothing(
    living: tuple[Sidecar, Path], file: Path, section: str, key: str
) -> None:
    for value in wrong(kind_of(section, key)):
        status, answer = patch(living[0], {section: {key: value}})
        assert status == 400, value
        error = answer["error"]
        assert f"{section}.{key}" in error["message"], error
        assert error["message"].endswith(".")
        assert file.read_text("utf-8") == FILE


def test_what_is_read_can_be_sent_back(living: tuple[Sidecar, Path], file: Path) -> None:
    sidecar, root = living
    before = load(root)
    assert patch(sidecar, settings_dict(before))[0] == 200
    assert load(root) == before


def test_what_the_readme_shows_can_be_sent(living: tuple[Sidecar, Path], file: Path) -> None:
    sidecar, root = living
    assert patch(sidecar, {"roles": {"raw": "raw"}})[1]["roles"]["raw"] == ["raw"], "a name or a list"
    globs = ["templates/", "*.excalidraw.md", "!archive/keep.md", "/archive/", "[0-9]*.md"]
    assert patch(sidecar, {"index": {"exclude": globs}})[1]["index"]["exclude"] == globs
    for body, word in (
        ({"nothing": {}}, "nothing"),
        ({"search": {"nothing": 1}}, "nothing"),
        ({"search": 1}, "search"),
    ):
        status, answer = patch(sidecar, body)
        assert status == 400
        assert word in answer["error"]["message"]
    assert load(root).index.exclude == tuple(globs)
