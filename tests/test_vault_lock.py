import subprocess
import sys
from pathlib import Path

import pytest

from ohmykb.errors import ConflictError
from ohmykb.vault.lock import writer_lock

HOLD = """
import sys
from pathlib import Path
from ohmykb.vault.lock import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "new folder/writer.lock"
    with writer_lock(path):
        with pytest.raises(ConflictError, match="writes this vault's index") as caught, writer_lock(path):
            pass
        assert "kb stop" in caught.value.fix
    with writer_lock(path), pytest.raises(ConflictError, match="serves it"), writer_lock(path, "serves it"):
        pass


def test_a_failure_frees_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writer_lock(tmp_path / "x"):
        raise ZeroDivisionError
    with writer_lock(tmp_path / "x"):
        pass


def test_a_killed_process_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "writer.lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ConflictError), writer_lock(path):
            pass
        other.kill()
    with writer_lock(path):
        pass
