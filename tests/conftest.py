"""What every test may ask for: a home of its own, the shared test data, and a vault with its index."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ohmykb.models.bundled import BundledEncoder
from trial import Trial

settings.register_profile(
    "kb", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("kb")

REPO = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data: `$OHMYKB_SHARED`, else `../shared` beside the repository."""
    folder = Path(os.environ.get("OHMYKB_SHARED", REPO.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared test data at {folder}: set OHMYKB_SHARED")
    return folder


@pytest.fixture(scope="session")
def encoder_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which the bundled encoder lies unpacked."""
    folder = tmp_path_factory.mktemp("cache")
    BundledEncoder(folder).warm()
    return folder


@pytest.fixture(scope="session")
def bundled(encoder_cache: Path) -> BundledEncoder:
    return BundledEncoder(encoder_cache)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`$OHMYKB_HOME` of this test alone."""
    folder = tmp_path / "home"
    monkeypatch.setenv("OHMYKB_HOME", str(folder))
    monkeypatch.delenv("OHMYKB_VAULT", raising=False)
    return folder


@pytest.fixture
def trial(home: Path, tmp_path: Path) -> Iterator[Trial]:
    """An empty vault with its index."""
    made = Trial(tmp_path / "vault")
    yield made
    made.close()


@pytest.fixture
def trial_at(home: Path) -> Iterator[Callable[[Path], Trial]]:
    """Makes a Trial of a folder that is there."""
    made: list[Trial] = []

    def make(root: Path) -> Trial:
        made.append(Trial(root))
        return made[-1]

    yield make
    for one in made:
        one.close()
