"""The quick way's own reading of the command line, and that it stays quick."""

import subprocess
import sys
from pathlib import Path

import pytest

from ohmykb.cli import entry

READ = {
    ("probe", "a", "b"): ("/api/v1/probe?q=a%20b", None, False),
    ("probe", "--json", "资"): ("/api/v1/probe?q=%E8%B5%84", None, True),
    ("--vault", "v", "probe", "a&b=c"): ("/api/v1/probe?q=a%26b%3Dc", "v", False),
    ("probe", "-n", "3", "a", "--in", "./x/"): ("/api/v1/probe?n=3&in=x&q=a", None, False),
    ("query", "a.md", "--hops", "2"): ("/api/v1/query?hops=2&note=a.md", None, False),
    ("status", "--vault", "v", "--json"): ("/api/v1/status?", "v", True),
    ("query", "a", "b"): ("/api/v1/query?note=a%20b", None, False),
    ("orphans",): ("/api/v1/orphans?", None, False),
}


@pytest.mark.parametrize("argv", READ, ids=" ".join)
def test_the_usual_is_read(argv: tuple[str, ...]) -> None:
    assert entry._read(list(argv)) == READ[argv]


@pytest.mark.parametrize(
    "argv",
    [
        (), ("--help",), ("probe",), ("probe", "--help"), ("probe", "a", "--what"), ("probe", "a", "-n"),
        ("probe", "a", "--vault=v"), ("probe", "a", "--mode", "--json"), ("index",), ("orphans", "a"),
        ("query", "[[a]]"), ("query", "a#b"), ("orphans", "--all"),
        ("-n", "3", "probe", "a"), ("query", "a", "--mode", "token"), ("serve",), ("probe", "--", "a"),
        ("probe", "a", "--in", ""),
    ],
)  # fmt: skip
def test_the_unusual_goes_the_long_way(argv: tuple[str, ...]) -> None:
    assert entry._read(list(argv)) is None


def test_bytes_that_are_no_text_are_passed_on() -> None:
    assert entry._encode("\udcff~") == "%FF~"


def test_no_sidecar_is_no_answer(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    assert entry._find(str(tmp_path)) is None
    assert not entry.quick(["probe", "a", "--vault", str(tmp_path)])


def test_it_imports_next_to_nothing() -> None:
    """What is here counts in every question; see tests/bench/bench_cli.py for the time."""
    code = "import sys; before = set(sys.modules); import ohmykb.cli.entry; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": str(Path(entry.__file__).parents[2])})  # fmt: skip
    assert set(done.stdout.split()) <= {"_socket", "ohmykb", "ohmykb.cli", "ohmykb.cli.entry", "ohmykb.places"} | {
        "os", "os.path", "stat", "_stat", "posixpath", "genericpath", "_collections_abc"
    }, done.stderr  # fmt: skip


def test_the_unforeseen(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry._crashed(RuntimeError("boom 资"), ["status", "--json"]) == 1
    told = capsys.readouterr()
    assert "Traceback" not in told.out + told.err
    assert "crash.log" in told.err
    assert '"code": "crash"' in told.out
    assert "boom 资" in (home / "state" / "crash.log").read_text("utf-8")
