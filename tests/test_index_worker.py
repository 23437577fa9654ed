"""The worker keeps the index in step, on a clock that the test holds: nothing here waits for time to pass."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from ohmykb import wiring
from ohmykb.errors import KbError, NoVaultError
from ohmykb.index.reconcile import Index, Outcome, Progress, silent
from ohmykb.index.worker import POLLED_EVERY_S, WATCHED_EVERY_S, Worker
from trial import Trial

DEBOUNCE, SETTLE = 0.2, 10.0
PATIENCE_S = 20


class HeldClock:
    """Stands still until told; counts how often the worker looked at it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asleep = 0.0
        self.looked = 0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        self.looked += 1
        return self.now + self.asleep


class Recorded(Index):
    """Tells which looks were taken, and fails when asked to."""

    calls: list[tuple[str, ...]]
    fail: list[Exception]

    def reconcile(self, progress: Progress = silent, *, agreed: frozenset[str] = frozenset()) -> Outcome:
        self.calls.append(("whole",))
        if self.fail:
            raise self.fail.pop()
        return super().reconcile(progress, agreed=agreed)

    def refresh(self, hints: object) -> Outcome:
        assert isinstance(hints, list)
        self.calls.append(tuple(hints))
        if self.fail:
            raise self.fail.pop()
        return super().refresh(hints)


class Bench:
    def __init__(self, root: Path, *, watching: bool = True) -> None:
        self.trial = Trial(root)
        self.trial.close()
        self.clock = HeldClock()
        self.calls: list[tuple[str, ...]] = []
        self.fail: list[Exception] = []
        self.told: list[Outcome] = []
        self.settings = 0
        self.gate: Callable[[], None] = lambda: None
        self.worker = Worker(
            self._open, self.clock, debounce_s=DEBOUNCE, settle_s=SETTLE,
            on_change=lambda _, outcome: self.told.append(outcome), on_settings=self._on_settings, watching=watching,
        )  # fmt: skip

    def _open(self) -> Index:
        made = wiring.open_index(self.trial.vault)
        index = Recorded(made.root, made.db, made._history, made.config, made.rules, self.clock)
        index.calls, index.fail = self.calls, self.fail
        return index

    def _on_settings(self, _: Index) -> None:
        self.settings += 1
        self.gate()

    def until(self, true: Callable[[], bool]) -> None:
        patience = threading.Event()
        ends = monotonic() + PATIENCE_S
        while not true():
            assert monotonic() < ends, (self.worker.work, self.calls)
            patience.wait(0.001)

    def looked(self) -> None:
        """Returns when the worker looked at the clock afresh and found nothing more to do."""
        before = self.clock.looked

        def again() -> bool:
            self.worker.pause(on=self.worker.paused)  # wakes it
            return self.clock.looked >= before + 2

        self.until(again)

    def after(self, seconds: float) -> None:
        self.clock.now += seconds
        self.worker.pause(on=self.worker.paused)

    def looks(self, count: int) -> None:
        self.until(lambda: self.worker.work.looks >= count and not self.worker.whole_due)

    def start(self) -> None:
        self.worker.start()
        self.looks(1)
        self.calls.clear()

    def paths(self) -> set[str]:
        db = wiring.reading(self.trial.vault)
        found = {row[0] for row in db.rows("SELECT path FROM files")}
        db.close()
        return found


@pytest.fixture
def bench(home: Path, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "vault")
    yield made
    made.worker.stop()


def test_a_whole_look_at_the_start(bench: Bench) -> None:
    bench.trial.put({"a.md": "x"})
    bench.worker.start()
    bench.looks(1)
    assert bench.calls == [("whole",)]
    assert bench.told[0].changed == {"a.md"}
    assert bench.worker.work.state == "ready"
    assert bench.paths() == {"a.md"}


def test_hints_wait_for_the_debounce_and_go_together(bench: Bench) -> None:
    bench.start()
    bench.trial.put({"a.md": "x", "b.md": "y"})
    bench.worker.hint(["a.md"])
    bench.looked()
    assert bench.calls == []
    assert bench.worker.waiting == 1
    bench.after(DEBOUNCE / 2)
    bench.worker.hint(["b.md", "a.md"])
    bench.after(DEBOUNCE * 0.6)
    bench.looked()
    assert bench.calls == []
    bench.after(DEBOUNCE)
    bench.until(lambda: bool(bench.told))
    bench.until(lambda: bench.worker.waiting == 0)
    assert bench.calls == [("a.md", "b.md")]
    assert bench.paths() == {"a.md", "b.md"}


def test_a_stream_of_hints_is_not_waited_out_for_ever(bench: Bench) -> None:
    bench.start()
    bench.trial.put({"a.md": "x"})
    for _ in range(40):
        bench.worker.hint(["a.md"])
        bench.clock.now += DEBOUNCE / 2
        if bench.calls:
            break
        bench.looked()
    assert bench.calls[0] == ("a.md",)


def test_an_overflow_brings_a_whole_look(bench: Bench) -> None:
    bench.start()
    bench.trial.put({"a.md": "x"})
    bench.worker.hint(["other.md"])
    assert bench.worker.ask_whole() == 2
    bench.looks(2)
    assert bench.calls == [("whole",)]
    assert bench.worker.waiting == 0
    assert bench.paths() == {"a.md"}


def test_settings_are_read_before_every_whole_look(bench: Bench) -> None:
    """Whoever asks for a look just changed them, perhaps; and where nothing watches, nobody tells."""
    bench.start()
    assert bench.settings == 1
    bench.worker.ask_whole()
    bench.looks(2)
    bench.after(WATCHED_EVERY_S + 1)
    bench.looks(3)
    assert bench.settings == 3


def test_a_look_asked_for_during_a_look_comes_after_it(bench: Bench) -> None:
    bench.start()
    entered, leave = threading.Event(), threading.Event()

    def gate() -> None:
        entered.set()
        assert leave.wait(PATIENCE_S)

    bench.gate = gate
    assert bench.worker.ask_whole() == 2
    assert entered.wait(PATIENCE_S)
    bench.gate = lambda: None
    assert bench.worker.ask_whole() == 3
    leave.set()
    bench.looks(3)
    assert bench.calls == [("whole",), ("whole",)]


def test_a_look_now_and_then(bench: Bench) -> None:
    bench.start()
    bench.after(WATCHED_EVERY_S - 1)
    bench.looked()
    assert bench.calls == []
    bench.after(2)
    bench.looks(2)
    bench.worker.watching(on=False)
    bench.after(POLLED_EVERY_S + 1)
    bench.looks(3)
    bench.after(POLLED_EVERY_S + 1)
    bench.looks(4)


def test_after_sleep_a_whole_look(bench: Bench) -> None:
    bench.start()
    bench.trial.put({"a.md": "x"})
    bench.looked()
    bench.clock.asleep += 600
    bench.worker.pause(on=False)
    bench.looks(2)
    assert bench.paths() == {"a.md"}
    bench.looked()
    assert bench.calls == [("whole",)]


def many(bench: Bench) -> set[str]:
    bench.trial.put({f"{number}.md": f"text {number}" for number in range(40)})
    bench.start()
    lost = {f"{number}.md" for number in range(20)}
    for path in lost:
        bench.trial.remove(path)
    return lost


def test_a_sudden_loss_is_believed_after_the_settle_time(bench: Bench) -> None:
    lost = many(bench)
    bench.worker.ask_whole()
    bench.looks(2)
    assert bench.worker.work.held == len(lost)
    assert lost <= bench.paths()
    bench.after(SETTLE / 2)
    bench.looked()
    assert lost <= bench.paths()
    bench.after(SETTLE)
    bench.looks(3)
    assert bench.worker.work.held == 0
    assert not lost & bench.paths()


def test_a_look_before_the_settle_time_believes_nothing(bench: Bench) -> None:
    lost = many(bench)
    bench.worker.ask_whole()
    bench.looks(2)
    bench.after(SETTLE / 2)
    bench.worker.ask_whole()  # an overflow, or somebody who asks again
    bench.looks(3)
    assert bench.worker.work.held == len(lost)
    assert lost <= bench.paths()
    bench.after(SETTLE)
    bench.looks(4)
    assert not lost & bench.paths()


def test_a_loss_among_hints_is_believed_after_the_settle_time(bench: Bench) -> None:
    lost = many(bench)
    bench.worker.hint(sorted(lost))
    bench.after(DEBOUNCE)
    bench.until(lambda: bench.worker.work.held == len(lost))
    assert lost <= bench.paths()
    bench.after(SETTLE)
    bench.looks(2)
    assert not lost & bench.paths()


def test_an_empty_vault_is_told_and_looked_at_no_more(bench: Bench) -> None:
    many(bench)
    lost = bench.paths()
    for path in sorted(lost):
        (bench.trial.root / path).unlink(missing_ok=True)
    bench.worker.ask_whole()
    bench.looks(2)
    bench.after(SETTLE)
    bench.looks(3)
    assert bench.worker.work.empty
    assert lost <= bench.paths()
    bench.after(SETTLE)
    assert bench.worker.work.looks == 3
    bench.trial.put(dict.fromkeys(lost, "back"))
    bench.worker.hint(sorted(lost))
    bench.after(DEBOUNCE)
    bench.looks(4)
    assert not bench.worker.work.held


def test_a_loss_that_ends_is_forgotten(bench: Bench) -> None:
    lost = many(bench)
    bench.worker.ask_whole()
    bench.looks(2)
    bench.trial.put(dict.fromkeys(lost, "back"))
    bench.after(SETTLE)
    bench.looks(3)
    assert bench.worker.work.held == 0
    assert lost <= bench.paths()
    for path in lost:
        bench.trial.remove(path)
    bench.worker.ask_whole()
    bench.looks(4)
    assert lost <= bench.paths()


def test_paused_nothing_is_done_until_resumed(bench: Bench) -> None:
    bench.start()
    bench.worker.pause(on=True)
    bench.trial.put({"a.md": "x"})
    bench.worker.hint(["a.md"])
    bench.worker.ask_whole()
    bench.after(100)
    bench.looked()
    assert bench.calls == []
    assert bench.worker.paused
    bench.worker.pause(on=False)
    bench.looks(2)
    assert bench.paths() == {"a.md"}


def test_paused_and_stopped_in_the_middle(bench: Bench) -> None:
    bench.start()
    bench.trial.put({f"{number}.md": "x" for number in range(600)})
    bench.gate = lambda: bench.worker.pause(on=True)
    bench.worker.ask_whole()
    bench.until(lambda: bench.worker.work.state == "paused")
    bench.worker.stop()
    assert bench.worker.work.state == "stopped"
    assert bench.worker.work.looks == 1
    bench.trial.reopen()
    assert bench.trial.counts()["pending"] > 0
    bench.trial.look()
    bench.trial.assert_true()
    bench.trial.close()


def test_what_was_just_written_is_seen_at_once(bench: Bench) -> None:
    bench.start()
    bench.trial.put({"a.md": "x", "dir/b.md": "y"})
    told = len(bench.told)
    outcome = bench.worker.see(["a.md", "dir/"])
    assert outcome.changed == {"a.md", "dir/b.md"}
    assert bench.told[told:] == [outcome]
    assert bench.calls == [("a.md", "dir/")]
    assert bench.paths() == {"a.md", "dir/b.md"}
    assert bench.worker.see(["a.md"]).touched() == set()
    assert bench.told[told:] == [outcome]


def test_seen_while_paused(bench: Bench) -> None:
    bench.start()
    bench.worker.pause(on=True)
    bench.trial.put({"a.md": "x", "b.md": "y"})
    bench.worker.hint(["b.md"])
    bench.after(100)
    assert bench.worker.see(["a.md"]).changed == {"a.md"}
    assert bench.paths() == {"a.md"}
    assert bench.worker.paused
    assert bench.calls == [("a.md",)]
    assert bench.worker.waiting == 1


def test_seen_while_a_look_is_paused_in_its_middle(bench: Bench) -> None:
    bench.start()
    bench.trial.put({f"{number}.md": "x" for number in range(600)})
    bench.gate = lambda: bench.worker.pause(on=True)
    bench.worker.ask_whole()
    bench.until(lambda: bench.worker.work.state == "paused")
    bench.trial.put({"new.md": "y"})
    assert bench.worker.see(["new.md"]).changed == {"new.md"}
    assert bench.worker.paused
    assert "new.md" in bench.paths()


def test_seen_before_the_first_look(bench: Bench) -> None:
    """A vault is built as a whole first: that is much the quicker way."""
    bench.trial.put({"a.md": "x", "b.md": "y"})
    bench.worker.start()
    assert bench.worker.see(["a.md"]).touched() == set()
    assert bench.calls == [("whole",), ("a.md",)]
    assert bench.paths() == {"a.md", "b.md"}


def test_what_seeing_raises_is_the_callers(bench: Bench) -> None:
    bench.start()
    bench.fail.append(RuntimeError("boom"))
    with pytest.raises(RuntimeError, match="boom"):
        bench.worker.see(["a.md"])
    assert bench.worker.work.state == "ready"
    bench.trial.put({"a.md": "x"})
    assert bench.worker.see(["a.md"]).changed == {"a.md"}


def test_nothing_is_seen_any_more_when_stopped(bench: Bench) -> None:
    bench.start()
    bench.worker.stop()
    with pytest.raises(KbError, match="being closed"):
        bench.worker.see(["a.md"])


def test_seen_from_several_threads(bench: Bench) -> None:
    bench.start()
    seen: list[Outcome] = []
    names = [f"{number}.md" for number in range(20)]
    bench.trial.put(dict.fromkeys(names, "x"))
    threads = [threading.Thread(target=lambda name=name: seen.append(bench.worker.see([name]))) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(path for outcome in seen for path in outcome.changed) == sorted(names)


def test_a_failure_is_told_and_another_look_follows(bench: Bench) -> None:
    bench.start()
    bench.trial.put({"a.md": "x"})
    bench.fail.append(RuntimeError("boom"))
    bench.worker.hint(["a.md"])
    bench.after(DEBOUNCE)
    bench.until(lambda: bench.worker.work.state == "failed")
    assert "boom" in bench.worker.work.message
    bench.after(POLLED_EVERY_S + 1)
    bench.looks(2)
    assert bench.worker.work.state == "ready"
    assert bench.paths() == {"a.md"}


def test_a_vault_that_is_away_is_told_in_words(bench: Bench) -> None:
    bench.trial.put({"a.md": "x"})
    bench.start()
    bench.trial.root.rename(bench.trial.root.with_name("away"))
    bench.worker.ask_whole()
    bench.until(lambda: bench.worker.work.state == "failed")
    assert "There is no folder" in bench.worker.work.message
    assert bench.paths() == {"a.md"}
    bench.trial.root.with_name("away").rename(bench.trial.root)
    bench.worker.ask_whole()
    bench.looks(2)
    assert bench.worker.work.state == "ready"


def test_an_index_that_cannot_be_opened_is_told(home: Path, tmp_path: Path) -> None:
    def fail() -> Index:
        raise NoVaultError("There is nothing.", "Look elsewhere")

    worker = Worker(
        fail,
        HeldClock(),
        debounce_s=1,
        settle_s=1,
        on_change=lambda *_: None,
        on_settings=lambda _: None,
        watching=True,
    )
    worker.start()
    worker.stop()
    assert (worker.work.state, worker.work.message) == ("failed", "There is nothing. Look elsewhere")


def test_stopped_before_it_started(bench: Bench) -> None:
    bench.worker.stop()
    assert bench.calls == []
