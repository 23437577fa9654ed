"""Vaults for the benchmarks: made once by the shared generator, kept in `.bench/`."""

import os
import random
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("OHMYKB_SHARED", REPO.parent / "shared"))
KEPT = Path(os.environ.get("OHMYKB_BENCH", REPO / ".bench"))


def synthetic(notes: int) -> Path:
    """A vault of so many notes, half English and a third Chinese, about five links a note."""
    folder = KEPT / f"vault-{notes}"
    if not folder.is_dir():
        generator = SHARED / "tools" / "gen_vault.py"
        if not generator.is_file():
            sys.exit(f"{generator} is not there: set OHMYKB_SHARED to the folder of shared test data.")
        KEPT.mkdir(exist_ok=True)
        subprocess.run([sys.executable, str(generator), str(folder), str(notes)], check=True)
    return folder


def home() -> None:
    """Keeps the index and state of benchmarks apart from the user's own."""
    os.environ["OHMYKB_HOME"] = str(KEPT / "home")


def sample(items: list[str], count: int) -> list[str]:
    """The same few every time."""
    return random.Random(7).sample(items, min(count, len(items)))
