"""A real `kb` for each test, or one sidecar for all tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecar_process import Kb, Sidecar, end_all, make_vault


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Kb]:
    found = Kb(make_vault(tmp_path / "vault"), tmp_path / "home")
    yield found
    end_all(found)


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    """One sidecar for all tests of a module that change nothing."""
    tmp = tmp_path_factory.mktemp("sidecar")
    found = Kb(make_vault(tmp / "vault"), tmp / "home")
    living = found.serve()
    living.settled()
    yield living
    end_all(found)
