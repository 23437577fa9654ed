"""Whatever a person, an editor or a sync tool does to the files, and whenever the sidecar is killed: what
the running process ends with equals the disk, and equals an index made afresh elsewhere."""

import shutil
import signal
import sys
import tempfile
import threading
import unicodedata
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sidecar_process import Kb, Sidecar

from ohmykb import config as kb_config
from ohmykb import wiring
from ohmykb.index.verify import verify
from ohmykb.store.connection import DatabaseError
from ohmykb.vault.rules import Rules
from trial import Trial, dump

pytestmark = pytest.mark.e2e

ENDS_S = 8
"""How long the watcher may take to have told everything."""
QUICK = "[index]\nsettle_s = 0\ndebounce_ms = 20\n"

NAMES = [
    "note",
    "Note",
    "a b",
    "资金费率",
    "emoji 🍀",
    "é",
    unicodedata.normalize("NFD", "é"),
    "v1.2",
    "x#1",
    "[z]",
    "index",
]
KEPT = "kept.md"
FOLDERS = ["", "a", "a/b", "B", "b", "资料", "🍀 Garden", "a b/c"]
ENDINGS = [".md", ".md", ".md", ".md", ".canvas", ".png", ".txt", ".MD"]
COPIES = [".sync-conflict-20240101-120000-ABCDEFG", "-DESKTOP-ABC1234", " (conflicted copy 2024-01-01)"]
EXCLUDES = ["", 'exclude = ["a/"]', 'exclude = ["B/", "*.txt"]', 'search_only = ["资料/", "b/"]', "max_file_mb = 0.001"]

names = st.sampled_from(NAMES)
folders = st.sampled_from(FOLDERS)
endings = st.sampled_from(ENDINGS)
links = st.builds(
    "{}[[{}{}{}]]".format,
    st.sampled_from(["", "!", "- "]),
    st.sampled_from(["", "", "a/", "a/b/", "./", "../", "/"]),
    st.sampled_from([*NAMES, "note.md", "note.png", "note.canvas", "资金费率|shown", "nowhere", ""]),
    st.sampled_from(["", "", "#Head", "#Head#Deep", "#^b1", "#nowhere"]),
)
pieces = st.one_of(
    links,
    st.sampled_from(
        ["# Head", "## Deep", "text ^b1", "#tag/sub", "#标签", "资金费率是多少", "plain words here", "`[[code]]`"]
    ),
)
properties = st.sampled_from(
    [
        "",
        "",
        "---\naliases: [资金, Al]\ntags: [x]\ntype: idea\n---\n",
        "---\nbroken: [\n---\n",
        '---\nup: "[[note]]"\n---\n',
    ]
)
texts = st.builds(lambda head, body: head + "\n\n".join(body) + "\n", properties, st.lists(pieces, max_size=4))


class Truth(RuleBasedStateMachine):
    """Operations are drawn against what lies on the disk at the moment."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="kb-truth-"))
        self.root = (self.place / "vault").resolve()
        self.outside = self.place / "outside"
        self.outside.mkdir()
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("OHMYKB_HOME", str(self.place / "home"))
        self.kb = Kb(self.root, self.place / "home")
        self.sidecar: Sidecar | None = None
        self.steps = 0

    @initialize(text=texts)
    def begin(self, text: str) -> None:
        (self.root / ".kb").mkdir(parents=True)
        (self.root / ".kb/config.toml").write_text(QUICK)
        for number, folder in enumerate(FOLDERS):
            for name in NAMES[number % 3 :: 3]:
                linked = " ".join(
                    f"[[{other}{name}#{part}]]" for other in ("", "a/", "B/") for part in ("Head", "nowhere")
                )
                self.write(self.root / folder / f"{name}.md", f"{text}\n{linked} #t{number}\n")
        self.write(self.root / KEPT, "a vault with nothing in it is an unmounted drive, and nothing is dropped")
        self.sidecar = self.kb.serve()

    # --- what lies there

    def there(self) -> list[str]:
        return sorted(
            path.relative_to(self.root).as_posix()
            for path in self.root.rglob("*")
            if path.is_file() and ".kb" not in path.parts
        )

    def some(self, number: int) -> Path | None:
        found = [path for path in self.there() if path != KEPT]
        return self.root / found[number % len(found)] if found else None

    def write(self, path: Path, text: str) -> None:
        for above in path.relative_to(self.root).parents:
            if (self.root / above).is_file():
                return
        if path.is_dir():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    # --- what happens

    @rule(folder=folders, name=names, ending=endings, text=texts)
    def create(self, folder: str, name: str, ending: str, text: str) -> None:
        self.write(self.root / folder / (name + ending), text)

    @rule(number=st.integers(0, 99), text=texts)
    def edit(self, number: int, text: str) -> None:
        if path := self.some(number):
            path.write_text(text)

    @rule(number=st.integers(0, 99), text=texts)
    def save_atomically(self, number: int, text: str) -> None:
        if path := self.some(number):
            fresh = path.with_name(".saving~")
            fresh.write_text(text)
            fresh.replace(path)

    @rule(number=st.integers(0, 99), text=texts)
    def append(self, number: int, text: str) -> None:
        if path := self.some(number):
            with path.open("a") as file:
                file.write(text)

    @rule(number=st.integers(0, 99), folder=folders, name=names, ending=endings)
    def rename(self, number: int, folder: str, name: str, ending: str) -> None:
        path, target = self.some(number), self.root / folder / (name + ending)
        if (
            path
            and not target.is_dir()
            and not any((self.root / f).is_file() for f in target.relative_to(self.root).parents)
        ):
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

    @rule(number=st.integers(0, 99), folder=folders, name=names, text=texts)
    def rename_and_edit(self, number: int, folder: str, name: str, text: str) -> None:
        self.rename(number, folder, name, ".md")
        self.write(self.root / folder / f"{name}.md", text)

    @rule(one=st.integers(0, 99), other=st.integers(0, 99))
    def swap(self, one: int, other: int) -> None:
        a, b = self.some(one), self.some(other)
        if a and b and a != b:
            held = a.with_name(".held")
            a.rename(held)
            b.rename(a)
            held.rename(b)

    @rule(number=st.integers(0, 99), name=st.sampled_from(["a", "B", "b", "资料", "new place", "deep/er"]))
    def rename_folder(self, number: int, name: str) -> None:
        found = [path for path in sorted(self.root.iterdir()) if path.is_dir() and path.name != ".kb"]
        target = self.root / name
        if found and not target.exists() and (path := found[number % len(found)]) not in target.parents:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    @rule(number=st.integers(0, 99))
    def delete(self, number: int) -> None:
        if path := self.some(number):
            path.unlink()

    @rule(number=st.integers(0, 99))
    def move_out(self, number: int) -> None:
        path = self.some(number)
        if path:
            if path.parent != self.root and number % 2:
                path = path.parent
            path.rename(self.outside / f"{self.steps} {path.name}")
            self.steps += 1

    @precondition(lambda self: any(self.outside.iterdir()))
    @rule(number=st.integers(0, 99), folder=folders)
    def move_in(self, number: int, folder: str) -> None:
        found = sorted(self.outside.iterdir())
        path = found[number % len(found)]
        target = self.root / folder / path.name.partition(" ")[2]
        if not target.exists() and not any((self.root / f).is_file() for f in target.relative_to(self.root).parents):
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    @rule(number=st.integers(0, 99), copy=st.sampled_from(COPIES), text=texts)
    def conflict_copy(self, number: int, copy: str, text: str) -> None:
        if path := self.some(number):
            path.with_name(f"{path.stem}{copy}{path.suffix}").write_text(text)

    @rule(folder=st.sampled_from(["burst", "a/burst", "B"]), text=texts)
    def burst(self, folder: str, text: str) -> None:
        for number in range(200):
            self.write(self.root / folder / f"b{number % 17}/n{number}.md", f"[[n{number + 1}]] {text}")

    @rule(folder=st.sampled_from(["burst", "a/burst", "B", "a"]))
    def remove_folder(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    @rule(lines=st.sampled_from(EXCLUDES))
    def configure(self, lines: str) -> None:
        (self.root / ".kb/config.toml").write_text(f"{QUICK}{lines}\n")

    @rule()
    def kill_and_restart(self) -> None:
        assert self.sidecar is not None
        self.sidecar.end(signal.SIGKILL)
        self.sidecar = self.kb.serve()

    @rule()
    def the_watcher_saw_it_all(self) -> None:
        """True without anybody asking for a look, a moment later."""
        patience = threading.Event()
        ends = monotonic() + ENDS_S
        while differences := self.differences():
            assert monotonic() < ends, differences
            patience.wait(0.05)

    @rule()
    def a_look_tells_the_truth(self) -> None:
        assert self.sidecar is not None
        self.sidecar.settled()
        assert self.differences() == []
        assert self.dump() == self.rebuilt()

    # --- what is true

    def differences(self) -> list[Any]:
        vault = wiring.find_vault(str(self.root), str(self.root))
        try:
            db = wiring.reading(vault)
        except DatabaseError as error:
            return [str(error)]
        try:
            config = kb_config.load(self.root)
            return list(verify(self.root, db, config, Rules.of(self.root, config)))
        finally:
            db.close()

    def dump(self) -> dict[str, list[Any]]:
        db = wiring.reading(wiring.find_vault(str(self.root), str(self.root)))
        try:
            return dump(db)
        finally:
            db.close()

    def rebuilt(self) -> dict[str, list[Any]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OHMYKB_HOME", tempfile.mkdtemp(dir=self.place))
            trial = Trial(self.root)
            trial.look()
            try:
                return trial.dump()
            finally:
                trial.close()

    def teardown(self) -> None:
        try:
            if self.sidecar is not None and sys.exc_info()[0] is None:
                self.the_watcher_saw_it_all()
                self.a_look_tells_the_truth()
                assert self.sidecar.end() == 0
        finally:
            for process in self.kb.processes:
                process.kill()
                process.communicate()
            self.patch.undo()
            shutil.rmtree(self.place, ignore_errors=True)


def test_truth() -> None:
    run_state_machine_as_test(Truth, settings=settings(max_examples=8, stateful_step_count=25))  # type: ignore[no-untyped-call]


@pytest.mark.slow
def test_truth_for_long() -> None:
    run_state_machine_as_test(Truth, settings=settings(max_examples=150, stateful_step_count=60))  # type: ignore[no-untyped-call]


# --- by hand: what a machine seldom draws


def test_killed_while_it_indexes(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for number in range(3000):
        path = root / f"d{number % 30}/n{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[[n{number + 1}]] #t{number % 9} word{number} 资金费率\n" * 20)
    kb = Kb(root, tmp_path / "home")
    for _ in range(4):
        sidecar = kb.serve()
        sidecar.get("/status")
        sidecar.end(signal.SIGKILL)
    sidecar = kb.serve()
    sidecar.settled()
    assert kb.json("verify") == {"equal": True, "differences": []}
    assert sidecar.get("/status")["indexed"] == 3000
    assert sidecar.get("/probe?q=ord2999&mode=token")["results"][0]["path"] == "d29/n2999.md"
    assert sidecar.end() == 0


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_very_many_files_at_once(tmp_path: Path, count: int) -> None:
    (tmp_path / "vault").mkdir()
    kb = Kb(tmp_path / "vault", tmp_path / "home")
    sidecar = kb.serve()
    for number in range(count):
        path = kb.vault / f"d{number % 100}/n{number}.md"
        if number < 100:
            path.parent.mkdir()
        path.write_text(f"[[n{number + 1}]]")
    sidecar.settled()
    status = sidecar.get("/status")
    assert (status["on_disk"], status["indexed"]) == (count, count)
    (kb.vault / "d7").rename(kb.vault / "e7")
    sidecar.settled()
    assert sidecar.get("/notes?path=n7")["path"] == "e7/n7.md"
    assert kb.json("verify") == {"equal": True, "differences": []}
    assert sidecar.end() == 0


@pytest.mark.parametrize("how", [[], ["--no-watch"]], ids=["watched", "unwatched"])
def test_settings_changed_just_before_a_look(tmp_path: Path, how: list[str]) -> None:
    (tmp_path / "vault/a").mkdir(parents=True)
    (tmp_path / "vault/a/x.md").write_text("needle")
    (tmp_path / "vault/.kb").mkdir()
    kb = Kb(tmp_path / "vault", tmp_path / "home")
    sidecar = kb.serve(*how)
    sidecar.settled()
    for lines, found in (('exclude = ["a/"]', []), ("", ["a/x.md"])):
        (kb.vault / ".kb/config.toml").write_text(QUICK + lines)
        sidecar.settled()
        assert [hit["path"] for hit in sidecar.get("/probe?q=needle&mode=token")["results"]] == found
    assert sidecar.end() == 0


def watched_until(sidecar: Sidecar, query: str, paths: list[str]) -> None:
    """Nobody asks for a look: what the watcher tells is enough."""
    patience = threading.Event()
    ends = monotonic() + ENDS_S

    def found() -> list[str]:
        return [hit["path"] for hit in sidecar.get(f"/probe?q={query}&mode=token")["results"]]

    while found() != paths:
        assert monotonic() < ends, found()
        patience.wait(0.02)


def test_a_folder_moved_out_made_anew_and_both_deleted(tmp_path: Path) -> None:
    """watchdog 7.1 goes on watching what moved out, under its old name."""
    (tmp_path / "vault/a/b").mkdir(parents=True)
    (tmp_path / "vault/a/b/x.md").write_text("needle")
    kb = Kb(tmp_path / "vault", tmp_path / "home")
    sidecar = kb.serve()
    sidecar.settled()
    (kb.vault / "a").rename(tmp_path / "out")
    watched_until(sidecar, "needle", [])
    (kb.vault / "a/b").mkdir(parents=True)
    (kb.vault / "a/b/y.md").write_text("needle")
    watched_until(sidecar, "needle", ["a/b/y.md"])
    shutil.rmtree(kb.vault / "a")
    watched_until(sidecar, "needle", [])
    shutil.rmtree(tmp_path / "out")
    (kb.vault / "z.md").write_text("needle")
    watched_until(sidecar, "needle", ["z.md"])
    assert sidecar.end() == 0
    assert sidecar.process.stderr is not None
    assert sidecar.process.stderr.read() == b""
