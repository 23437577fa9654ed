"""A real `kb` for each test, or one sidecar for all tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecar_process import Kb, Sidecar, end_all, make_vault


def home_with_encoder(home: Path, cache: Path) -> Path:
    """The unpacked encoder as it lies there from the second start on."""
    (home / "cache").mkdir(parents=True)
    (home / "cache/models").symlink_to(cache / "models", target_is_directory=True)
    return home


@pytest.fixture
def kb(tmp_path: Path, encoder_cache: Path) -> Iterator[Kb]:
    found = Kb(make_vault(tmp_path / "vault"), home_with_encoder(tmp_path / "home", encoder_cache))
    yield found
    end_all(found)


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Iterator[Sidecar]:
    """One sidecar for all tests of a module that change nothing."""
    tmp = tmp_path_factory.mktemp("sidecar")
    found = Kb(make_vault(tmp / "vault"), home_with_encoder(tmp / "home", encoder_cache))
    living = found.serve()
    living.settled()
    living.encoded()
    yield living
    end_all(found)
