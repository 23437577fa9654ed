"""One git commit an operation, of exactly its files, where a person asked for it (`[write] git`).

Nothing of what the person prepared is touched: their index is left as it is but for these files, their hooks do not
run, and a file that they have staged themselves ends it. Git that fails is a remark, never an error: the
operation stands by itself, and `.history/` undoes it.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ohmykb.vault.consent import git_at_work
from ohmykb.vault.operations import Operation

TIMEOUT_S: Final = 20.0
AT_ONCE: Final = 50
"""Paths on one command line."""
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_EDITOR": ":", "LC_ALL": "C",
}  # fmt: skip
_OURS: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Set where we were started by a hook; they would lead to another repository."""
_SETTINGS: Final = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false",
    "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.safecrlf=false",
)  # fmt: skip


def commit(root: Path, op: Operation) -> str | None:
    """None when it is committed, or nothing differs for git; else a sentence on why it is not."""
    if op.state != "committed":
        return f"Operation {op.id} is not committed to git: it ended as {op.state}."
    try:
        return _commit(root, op)
    except FileNotFoundError:
        return "Not committed to git: git is not installed here."
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Not committed to git: {error}."


def _commit(root: Path, op: Operation) -> str | None:
    inside = _git(root, "rev-parse", "--is-inside-work-tree")
    if inside.returncode or inside.stdout.strip() != b"true":
        return "Not committed to git: the vault is in no repository."
    if git_at_work(root):
        return "Not committed to git: git is in the middle of something."
    paths = [one.path for one in op.files]
    ignored = set(_names(_git(root, "check-ignore", "-z", "--stdin", paths=paths)))
    tracked = set(_asked(root, paths, "ls-files", "-z", "--"))
    paths = [path for path in paths if path in tracked or (path not in ignored and (root / path).exists())]
    if not paths:
        return None
    staged = _asked(root, paths, "diff", "--cached", "--name-only", "--relative", "--no-renames", "-z", "--")
    if staged:
        return f"Not committed to git: you have staged {staged[0]} yourself."
    fresh = [path for path in paths if path not in tracked]
    if fresh:  # named only, so that `commit --only` knows them
        added = _git(root, "add", "--intent-to-add", paths=fresh)
        if added.returncode:
            return _why(added)
    subject = f"kb {op.kind}: {paths[0]}" if len(paths) == 1 else f"kb {op.kind}: {len(paths)} files"
    message = f"{subject}\n\nOperation: {op.id}\n"
    done = _git(root, "commit", "--quiet", "--no-verify", "--only", "-m", message, paths=paths)
    if not done.returncode:
        return None
    if fresh:
        _git(root, "rm", "--cached", "--quiet", "--force", paths=fresh)
    return None if b"nothing to commit" in done.stdout or b"no changes added" in done.stdout else _why(done)


def _asked(root: Path, paths: Sequence[str], *args: str) -> list[str]:
    """Names that git says about these paths, some at a time: a command line has an end."""
    found: list[str] = []
    for start in range(0, len(paths), AT_ONCE):
        found += _names(_git(root, *args, *paths[start : start + AT_ONCE]))
    return found


def _names(done: "subprocess.CompletedProcess[bytes]") -> list[str]:
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _why(done: "subprocess.CompletedProcess[bytes]") -> str:
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    said = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    return f"Not committed to git: {said or 'it did not say why'}."


def _git(root: Path, *args: str, paths: Sequence[str] = ()) -> "subprocess.CompletedProcess[bytes]":
    """`paths` are given on its input."""
    environment = {name: value for name, value in os.environ.items() if name not in _OURS} | _ENVIRONMENT
    if args[0] == "check-ignore":
        del environment["GIT_LITERAL_PATHSPECS"]  # it takes nothing else, and knows no such setting
    elif paths:
        args = (*args, "--pathspec-from-file=-", "--pathspec-file-nul")
    return subprocess.run(
        ["git", "-C", str(root), *_SETTINGS, *args], env=environment, input=b"\0".join(map(os.fsencode, paths)),
        capture_output=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
