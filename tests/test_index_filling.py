"""The encoder's thread beside a real worker: it keeps up, gives way, says what is wrong, and always ends."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from models.tiny import Tiny
from ohmykb import wiring
from ohmykb.clock import SystemClock
from ohmykb.errors import KbError
from ohmykb.index.filling import FillingThread
from ohmykb.index.reconcile import Index
from ohmykb.index.worker import Worker
from ohmykb.models.encoder import Encoder, EncoderUnavailableError
from ohmykb.search.meaning import Meaning
from ohmykb.store import vectors
from ohmykb.store.connection import Database

PATIENCE_S = 20


@dataclass
class House:
    """A vault with its worker and its encoder's thread, as the sidecar has them."""

    vault: wiring.Vault
    encoders: list[Encoder]
    meaning: Meaning = field(default_factory=Meaning)
    moved: threading.Condition = field(default_factory=threading.Condition)
    refreshed: int = 0
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.readers = wiring.readers(self.vault)
        self.worker = Worker(
            self.open, SystemClock(), debounce_s=0.01, settle_s=0.05, watching=True,
            on_change=lambda _index, _outcome: self.filling.nudge(), on_settings=lambda _: None,
        )  # fmt: skip
        self.filling = FillingThread(self.readers.get, self.wanted, self.worker.do, self.after)

    def open(self) -> Index:
        return wiring.open_index(self.vault)

    def wanted(self) -> Sequence[Encoder]:
        self.meaning.use(self.encoders)
        return self.encoders

    def after(self, db: Database) -> None:
        self.meaning.refresh(db)
        with self.moved:
            self.refreshed += 1
            self.moved.notify_all()

    def start(self) -> None:
        self.worker.start()
        self.filling.start()

    def until(self, true: Callable[[], Any]) -> None:
        """Waits for the thread to come to a point where `true` holds."""
        until = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < until, (self.filling.state, [arm.encoder.id for arm in self.meaning.arms])
            with self.moved:
                self.moved.wait(0.02)

    def serve(self, *ids: str) -> None:
        self.until(lambda: [arm.encoder.id for arm in self.meaning.arms] == [*ids])

    def write(self, name: str, text: str) -> None:
        (self.vault.root / name).write_text(text, "utf-8")
        self.worker.hint([name])

    def holds(self, path: str, encoder: int = 0) -> bool:
        """Whether the arm has the names of the note at `path`."""
        db = wiring.reading(self.vault)
        note = db.value("SELECT id FROM files WHERE path = ?", (path,))
        db.close()
        return len(self.meaning.arms) > encoder and note in self.meaning.arms[encoder].names.placed.notes

    def end(self) -> None:
        self.filling.ask_stop()
        self.worker.stop()
        self.filling.join()


@pytest.fixture
def house(home: Path, tmp_path: Path) -> Iterator[Callable[..., House]]:
    made: list[House] = []

    def make(*encoders: Encoder, notes: int = 12) -> House:
        root = tmp_path / "vault"
        root.mkdir(exist_ok=True)
        for number in range(notes):
            (root / f"{number}.md").write_text(f"# Of {chr(97 + number) * 3}\n\nbody {chr(97 + number) * 4}", "utf-8")
        made.append(House(wiring.find_vault(str(root), str(root)), list(encoders)))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_vectors_follow_the_text(house: Callable[..., House]) -> None:
    one = house(Tiny())
    one.start()
    one.serve("tiny")
    one.until(lambda: len(one.meaning.arms[0].names.placed.notes) == 12)
    one.write("new.md", "# New\n\nnew words")
    one.until(lambda: one.holds("new.md"))
    assert one.filling.state.fault is None
    assert one.filling.first is one.encoders[0]


def test_before_there_is_an_index_it_waits(house: Callable[..., House]) -> None:
    """It gave up for good: after another process had held the vault for a while there were never any vectors."""
    one = house(Tiny())
    one.filling.start()
    one.until(lambda: "kb index" in (one.filling.state.fault or ""))
    one.worker.start()
    one.serve("tiny")


def test_the_quick_one_first_whenever_something_changes(house: Callable[..., House]) -> None:
    """A note written while a slow encoder is at work had to wait for hours."""
    quick, fine = Tiny("quick"), Tiny("fine", batch=1)
    one = house(quick, fine)
    reached, go_on = threading.Event(), threading.Event()

    def slowly(_: Sequence[str]) -> None:
        if len(fine.passages) == 2:
            reached.set()
            go_on.wait(PATIENCE_S)

    fine.before = slowly
    one.start()
    assert reached.wait(PATIENCE_S)
    before = len(fine.passages)
    one.write("new.md", "# New\n\nnew words")
    one.until(lambda: one.filling._todo)
    at_hand: list[int] = []

    def note(_: Sequence[str]) -> None:
        at_hand.append(sum("New" in text for text in quick.passages))

    fine.before = note
    go_on.set()
    one.until(lambda: one.holds("new.md"))
    assert at_hand.count(0) <= 1, "at the most the batch that was under way"
    one.serve("quick", "fine")
    assert any("New" in text for text in quick.passages)
    assert len(fine.passages) > before
    one.until(lambda: one.holds("new.md", 1))


def test_a_fault_is_said_and_the_other_encoder_goes_on(house: Callable[..., House]) -> None:
    quick, fine = Tiny("quick"), Tiny("fine")
    fine.fault = EncoderUnavailableError("The endpoint is down.", "Start it.")
    one = house(quick, fine)
    one.start()
    one.until(lambda: one.filling.state.fault and one.meaning.arms)
    assert one.filling.state.fault == "The endpoint is down. Start it."
    one.serve("quick")
    one.write("new.md", "# New\n\nnew words")
    one.until(lambda: one.holds("new.md"))
    fine.fault = None
    one.filling.nudge()
    one.serve("quick", "fine")
    one.until(lambda: len(one.meaning.arms[1].names.placed.notes) == 13)


def test_what_an_engine_raises_does_not_end_the_thread(house: Callable[..., House]) -> None:
    tiny = Tiny()
    broken = iter([RuntimeError("the engine broke"), MemoryError()])

    def fail(_: Sequence[str]) -> None:
        for error in broken:
            raise error

    tiny.before = fail
    one = house(tiny)
    one.start()
    one.until(lambda: "engine broke" in (one.filling.state.fault or ""))
    one.filling.nudge()
    one.until(lambda: "MemoryError" in (one.filling.state.fault or ""))
    one.filling.nudge()
    one.serve("tiny")
    one.until(lambda: one.filling.state.fault is None)


def test_after_a_fault_slots_used_again_are_not_stale(house: Callable[..., House]) -> None:
    """Batches stored before the fault were forgotten: old vectors stood for new texts."""
    tiny = Tiny(batch=2)
    one = house(tiny)
    one.start()
    one.serve("tiny")
    one.until(lambda: len(one.meaning.arms[0].names.placed.notes) == 12 and not one.filling.state.fault)

    def fail_later(_: Sequence[str]) -> None:
        if "a batch" in "".join(tiny.passages):
            raise EncoderUnavailableError("It is down.", "Start it.")

    tiny.before = fail_later
    for number in range(6):
        (one.vault.root / f"{number}.md").write_text(
            f"# Now {chr(97 + number) * 2}\n\na batch {chr(97 + number)}", "utf-8"
        )
    one.worker.hint([f"{number}.md" for number in range(6)])
    one.until(lambda: one.filling.state.fault)
    from test_search_meaning import assert_in_step

    db = wiring.reading(one.vault)
    vectors.load_extension(db)
    assert_in_step(db, one.meaning.arms[0])
    db.close()


def test_a_change_of_encoder_while_it_runs(house: Callable[..., House]) -> None:
    old, new = Tiny("old"), Tiny("new", 32)
    one = house(old)
    one.start()
    one.serve("old")
    one.until(lambda: len(one.meaning.arms[0].names.placed.notes) == 12)
    seen: list[list[str]] = []
    new.before = lambda _: seen.append([arm.encoder.id for arm in one.meaning.arms])
    one.encoders = [new]
    one.filling.nudge(settings=True)
    one.serve("new")
    assert seen
    assert all(ids == ["old"] for ids in seen), "it served to the end"
    assert one.worker.do(lambda db: [s.encoder for s in vectors.sets(db)]) in (["new"], ["old", "new"])
    one.filling.nudge()
    one.write("new.md", "# New\n\nnew words")
    one.until(lambda: one.holds("new.md"))
    assert one.worker.do(lambda db: [s.encoder for s in vectors.sets(db)]) == ["new"]


@pytest.mark.parametrize("paused", [False, True])
def test_it_ends_while_its_vectors_wait_to_be_stored(house: Callable[..., House], paused: bool) -> None:
    """Paused, the worker takes no jobs: ending waited for the thread, the thread for the worker, for ever."""
    tiny = Tiny()
    one = house(tiny)
    reached = threading.Event()

    def hold(_: Sequence[str]) -> None:
        if len(tiny.passages) == 4:
            one.worker.pause(on=paused)
            reached.set()

    tiny.before = hold
    one.start()
    assert reached.wait(PATIENCE_S)
    ended = threading.Event()
    threading.Thread(target=lambda: (one.end(), ended.set()), daemon=True).start()
    assert ended.wait(PATIENCE_S)
    assert not one.filling._thread.is_alive()


def test_it_ends_where_the_index_cannot_be_opened(house: Callable[..., House]) -> None:
    """What was asked of a worker that failed to open was never answered."""
    first = house(Tiny())
    first.start()
    first.serve("tiny")
    first.end()
    second = house(Tiny())
    asked = threading.Event()

    def refuse() -> Index:
        asked.wait(PATIENCE_S)
        raise KbError("Another process writes.", "Wait.")

    second.worker._open = refuse
    second.filling.start()
    second.worker.start()
    second.serve("tiny")
    asked.set()
    second.filling.ask_stop()
    second.filling.join()
    assert not second.filling._thread.is_alive()


def test_an_encoder_that_hangs_does_not_hold_the_end(house: Callable[..., House]) -> None:
    tiny = Tiny()
    one = house(tiny)
    reached, released = threading.Event(), threading.Event()

    def hang(_: Sequence[str]) -> None:
        reached.set()
        released.wait(60)

    tiny.before = hang
    one.start()
    assert reached.wait(PATIENCE_S)
    ended = threading.Event()
    threading.Thread(target=lambda: (one.end(), ended.set()), daemon=True).start()
    assert ended.wait(PATIENCE_S)
    released.set()
