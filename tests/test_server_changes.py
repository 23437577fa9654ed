"""Long polls: what is remembered, how much, and who may wait."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from ohmykb.server.changes import Changes


def told(revision: int, paths: list[str], removed: list[str] | None = None, *, reset: bool = False) -> dict[str, Any]:
    return {"revision": revision, "paths": paths, "removed": removed or [], "reset": reset}


def test_what_changed_since() -> None:
    changes = Changes()
    changes.begin(5)
    changes.add(6, {"b", "a"}, set())
    changes.add(8, {"c"}, {"a"})
    assert changes.since(5) == told(8, ["a", "b", "c"], ["a"])
    assert changes.since(6) == told(8, ["a", "c"], ["a"])
    assert changes.since(7) == told(8, ["a", "c"], ["a"]), "revisions have gaps"
    assert changes.since(8) == told(8, [])
    assert changes.since(None) == told(8, [])


def test_gone_and_back_is_not_gone() -> None:
    changes = Changes()
    changes.add(1, set(), {"a"})
    changes.add(2, {"a"}, set())
    assert changes.since(0) == told(2, ["a"])


def test_what_is_not_remembered_is_said() -> None:
    changes = Changes()
    changes.begin(5)
    assert changes.since(4) == told(5, [], reset=True), "before this run"
    assert changes.since(6) == told(5, [], reset=True), "from another index"
    changes.begin(9)
    assert changes.since(5)["reset"], "made anew"


def test_memory_is_bounded() -> None:
    changes = Changes(remembered=10)
    for revision in range(1, 101):
        changes.add(revision, {f"{revision}-{number}" for number in range(4)}, set())
    assert changes.since(97)["reset"]
    assert len(changes.since(98)["paths"]) == 8
    changes.add(101, {str(number) for number in range(50)}, set())
    assert changes.since(100)["reset"], "one change larger than all that is kept"
    assert changes.since(101) == told(101, [])


def test_waiting_ends_with_news_and_with_closing() -> None:
    changes = Changes()
    changes.begin(1)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(changes.since, 1, 20)
        changes.add(2, {"a"}, set())
        assert waiting.result(5) == told(2, ["a"])
        waiting = pool.submit(changes.since, 2, 20)
        changes.close()
        assert waiting.result(5) == told(2, [])
    assert changes.since(2, 20) == told(2, []), "nobody waits any more"


def test_waiting_ends_with_time() -> None:
    changes = Changes()
    assert changes.since(0, 0.01) == told(0, [])
    assert changes.since(7, 20)["reset"], "there is something to say at once"


def test_too_many_waiters_are_answered_at_once() -> None:
    changes = Changes(waiters=2)
    together = Barrier(6)

    def wait() -> dict[str, Any]:
        together.wait()
        return changes.since(0, 20)

    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(wait) for _ in range(6)]
        at_once = [answer for answer in answers if answer in _first(answers, 4)]
        assert len(at_once) == 4
        changes.add(1, {"a"}, set())
        assert sorted(answer.result(5)["revision"] for answer in answers) == [0, 0, 0, 0, 1, 1]
    assert changes.since(1, 0.01) == told(1, []), "places are free again"


def _first(answers: list[Any], count: int) -> list[Any]:
    from concurrent.futures import as_completed

    done = []
    for answer in as_completed(answers, timeout=10):
        done.append(answer)
        if len(done) == count:
            break
    return done
