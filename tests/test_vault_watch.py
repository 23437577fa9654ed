"""A real watcher on real files. No test waits for a fixed time: each change is followed by a file of its own,
and once that one is told, all that came before it has been."""

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ohmykb.vault.watch import Watcher, WatchError, is_watched, told_as, watch_error

linux = pytest.mark.skipif(sys.platform != "linux", reason="about the kernel's inotify")
SECONDS = 20
OVERFLOW = "overflow"


class Told:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.queue: queue.Queue[tuple[str, ...] | str] = queue.Queue()
        self.watcher = Watcher(root, self.queue.put, lambda: self.queue.put(OVERFLOW))
        self.marks = 0

    def until(self, wanted: Callable[[tuple[str, ...] | str], bool]) -> list[tuple[str, ...] | str]:
        found = []
        while True:
            found.append(self.queue.get(timeout=SECONDS))
            if wanted(found[-1]):
                return found

    def paths(self) -> list[tuple[str, ...] | str]:
        """What was told since the last call, in order, without repetitions."""
        self.marks += 1
        mark = f"mark {self.marks}"
        (self.root / mark).write_text("x")
        found = self.until(lambda told: told == (mark,))
        return list(dict.fromkeys(told for told in found if "mark" not in told[0]))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "x").mkdir(parents=True)
    (folder / "a.md").write_text("a")
    return folder


@pytest.fixture
def told(root: Path) -> Iterator[Told]:
    told = Told(root)
    told.watcher.start()
    yield told
    told.watcher.stop()


def test_what_editors_do(root: Path, told: Told) -> None:
    (root / "x/b.md").write_text("new")
    assert told.paths() == [("x/b.md",)]
    (root / "a.md").write_text("changed")
    assert told.paths() == [("a.md",)]
    (root / ".a.md.tmp").write_text("saved whole")
    (root / ".a.md.tmp").replace(root / "a.md")
    assert told.paths() == [("a.md",)]
    (root / "a.md").rename(root / "x/a.md")
    assert told.paths() == [("a.md", "x/a.md")]
    (root / "x/a.md").unlink()
    assert told.paths() == [("x/a.md",)]


@linux
def test_our_own_reads_are_not_told(root: Path, told: Told) -> None:
    for _ in range(20):
        (root / "a.md").read_text()
    list(os.walk(root))
    assert told.paths() == []


def test_in_and_out_of_the_vault(root: Path, told: Told, tmp_path: Path) -> None:
    (tmp_path / "out.md").write_text("x")
    (tmp_path / "out.md").rename(root / "in.md")
    assert told.paths() == [("in.md",)]
    os.link(root / "in.md", root / "hard link.md")  # made, never written
    assert told.paths() == [("hard link.md",)]
    (root / "in.md").rename(tmp_path / "out.md")
    told.until(lambda told: told == ("in.md",))
    (tmp_path / "folder/deep").mkdir(parents=True)
    (tmp_path / "folder/deep/c.md").write_text("x")
    (tmp_path / "folder").rename(root / "folder")
    assert ("folder/",) in told.paths()
    (root / "folder/deep/c.md").write_text("y")
    assert told.paths() == [("folder/deep/c.md",)]


def test_folders(root: Path, told: Told) -> None:
    (root / "n/e/w").mkdir(parents=True)
    (root / "n/e/w/b.md").write_text("x")
    assert ("n/",) in told.paths()
    (root / "n").rename(root / "m")
    assert told.paths() == [("n/", "m/")]
    (root / "m/e/w/b.md").write_text("y")
    assert told.paths() == [("m/e/w/b.md",)]
    shutil.rmtree(root / "m")
    assert ("m/",) in told.paths()


@linux
def test_files_that_come_before_the_watch_on_their_folder(root: Path, told: Told) -> None:
    script = "for n in $(seq 50); do mkdir -p d$n/e && echo x > d$n/e/f.md; done"
    subprocess.run(["sh", "-c", script], cwd=root, check=True)
    found = told.paths()
    hinted = {path for paths in found for path in paths if path.endswith("/")}
    named = {path for paths in found for path in paths}
    for number in range(1, 51):
        assert {f"d{number}/", f"d{number}/e/", f"d{number}/e/f.md"} & hinted or f"d{number}/e/f.md" in named


def test_hidden_files_are_not_told_but_settings_are(root: Path, told: Told) -> None:
    for path in (".git/objects/aa/1", ".trash/t.md", ".obsidian/workspace.json", "x/.obsidian/app.json"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("{}")
    assert told.paths() == [(".obsidian/app.json",)]  # the folder came, and it may be in it
    (root / ".obsidian/app.json").write_text("{}")
    assert told.paths() == [(".obsidian/app.json",)]
    (root / ".kb").mkdir()
    assert told.paths() == [(".kb/config.toml",)]
    (root / ".kb/config.toml").write_text("")
    assert told.paths() == [(".kb/config.toml",)]
    (root / "a.md").rename(root / ".trash/a.md")
    assert told.paths() == [("a.md",)]
    (root / ".trash/a.md").rename(root / "a.md")
    assert told.paths() == [("a.md",)]
    (root / ".trash").rename(root / "restored")
    assert ("restored/",) in told.paths()
    (root / "restored/t.md").write_text("y")
    assert told.paths() == [("restored/t.md",)]


@linux
def test_names_that_are_not_utf8_are_not_told(root: Path, told: Told) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.md")).write_text("x")
    assert told.paths() == []


def test_the_vault_itself_moves_or_goes(root: Path, told: Told, tmp_path: Path) -> None:
    root.rename(tmp_path / "elsewhere")
    told.until(lambda told: told == OVERFLOW)
    (tmp_path / "elsewhere").rename(root)
    told.until(lambda told: told == OVERFLOW)
    shutil.rmtree(root)
    told.until(lambda told: told == OVERFLOW)


def test_a_vault_that_is_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(root)
    told = Told(tmp_path / "door")
    told.watcher.start()
    try:
        (root / "a.md").write_text("x")
        assert told.paths() == [("a.md",)]
    finally:
        told.watcher.stop()


def test_stop_and_start_again(root: Path) -> None:
    told = Told(root)
    told.watcher.stop()
    for _ in range(2):
        told.watcher.start()
        (root / "a.md").write_text("x")
        assert told.paths() == [("a.md",)]
        told.watcher.stop()
        told.watcher.stop()
    with contextlib.suppress(queue.Empty):
        while True:
            told.queue.get_nowait()
    (root / "a.md").write_text("y")
    assert told.queue.empty()


def test_no_vault(tmp_path: Path) -> None:
    with pytest.raises(WatchError, match="cannot be watched"):
        Told(tmp_path / "gone").watcher.start()


WATCH = """
import json, os, sys
from pathlib import Path
from ohmykb.vault.watch import Watcher, WatchError
def say(*what):
    os.write(1, (json.dumps(what) + "\\n").encode())
watcher = Watcher(Path(sys.argv[1]), lambda paths: say("dirty", *paths), lambda: say("overflow"))
try:
    watcher.start()
except WatchError as error:
    say("error", error.message, error.fix)
    sys.exit()
say("started")
for line in sys.stdin:
    say("trouble", watcher.trouble and watcher.trouble.message)
watcher.stop()
"""


def answer(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout is not None
    line: list[str] = json.loads(process.stdout.readline())
    return line


def watch_in_process(root: Path, before: str = "") -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WATCH, str(root)]
    if before:
        command = ["unshare", "-Ur", "sh", "-c", before + ' && exec "$@"', "sh", *command]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@linux
def test_an_overflow_is_told_and_the_watches_hold_after_it(root: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 70_000:
        pytest.skip("the kernel's queue is too long here to be filled")
    with watch_in_process(root) as process:
        assert answer(process) == ["started"]
        process.send_signal(signal.SIGSTOP)  # nobody reads the queue
        for number in range(limit // 2 + 100):
            (root / f"{number}.md").write_text("x")
        (root / "late").mkdir()
        process.send_signal(signal.SIGCONT)
        while answer(process)[0] != "overflow":
            pass
        (root / "late/b.md").write_text("x")
        while answer(process) != ["dirty", "late/b.md"]:
            pass
        process.kill()


def limited(count: int) -> str:
    """Lets a child have so many watches only: the limit belongs to a user namespace."""
    before = f"echo {count} > /proc/sys/user/max_inotify_watches"
    if sys.platform != "linux" or not shutil.which("unshare"):
        pytest.skip("no user namespaces here to lower the limit of watches in")
    if subprocess.run(["unshare", "-Ur", "sh", "-c", before], check=False, capture_output=True).returncode:
        pytest.skip("no right to a user namespace to lower the limit of watches in")
    return before


def test_too_many_folders_to_watch(root: Path) -> None:
    for number in range(20):
        (root / f"d{number}").mkdir()
    with watch_in_process(root, limited(10)) as process:
        kind, message, fix = answer(process)
        assert kind == "error"
        assert "more folders" in message
        assert "fs.inotify.max_user_watches" in fix


def test_watches_that_run_out_later(root: Path) -> None:
    with watch_in_process(root, limited(10)) as process:
        assert answer(process) == ["started"]
        for number in range(20):
            (root / f"d{number}").mkdir()
        while answer(process)[0] != "overflow":
            pass
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        while (said := answer(process))[0] != "trouble":
            pass
        assert "more folders" in said[1]
        process.stdin.close()


@linux
def test_hidden_folders_take_no_watches(root: Path) -> None:
    for number in range(50):
        (root / f".git/objects/{number:02x}").mkdir(parents=True)
    with watch_in_process(root, limited(10)) as process:
        assert answer(process) == ["started"]
        process.kill()


@linux
def test_no_descriptor_left_to_watch_with(root: Path) -> None:
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    told = Told(root)
    Told(root).watcher.stop()
    held = []
    try:
        import watchdog.observers.inotify

        assert watchdog.observers.inotify  # imported while there are descriptors
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open(root, os.O_RDONLY))
        with pytest.raises(WatchError, match="no more programs") as caught:
            told.watcher.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held:
            os.close(descriptor)
    assert "max_user_instances" in caught.value.fix


def test_what_is_told_as_what() -> None:
    assert told_as("a.md", is_folder=False) == "a.md"
    assert told_as("日记", is_folder=True) == "日记/"
    assert told_as(".obsidian", is_folder=True) == ".obsidian/app.json"
    assert told_as(".kb", is_folder=True) == ".kb/config.toml"
    assert told_as("x/.kb", is_folder=True) is None
    assert told_as("x/.a.md.icloud", is_folder=False) == "x/a.md"
    assert told_as(".a.md.icloud", is_folder=False) == "a.md"
    assert told_as("..a.md.icloud", is_folder=False) is None
    assert told_as(".icloud", is_folder=False) is None
    assert is_watched("x/y")
    assert is_watched(".kb")
    assert not is_watched(".obsidian/plugins")
    assert not is_watched("x/.git/objects")
    assert watch_error(OSError(5, "Input/output error")).fix
