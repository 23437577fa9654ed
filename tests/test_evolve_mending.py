"""Threads share the hand that mends: one plans while another asks, queues or takes back."""

from concurrent.futures import ThreadPoolExecutor

from ohmykb import wiring
from ohmykb.evolve.mending import Mending
from trial import Trial

NOTES = 300


def test_plans_and_the_queue_at_once(trial: Trial) -> None:
    trial.put({f"{n}.md": f"[[note {n}]] [[gone {n}]]" for n in range(NOTES)})
    trial.put({f"note {n}.md": "x" for n in range(NOTES)})
    trial.look()
    for n in range(NOTES):
        trial.move(f"note {n}.md", f"other {n}.md")
    trial.look()

    def plan(mending: Mending) -> int:
        with wiring.reading(trial.vault) as db:
            return mending.queue(mending.plan(db).mends)

    def ask(mending: Mending) -> int:
        return len(mending.review.open(1e12)) + len(mending.review.rejected("repair", undone=True))

    with wiring.mending(trial.vault, trial.index) as mending, ThreadPoolExecutor(4) as pool:
        planned = [pool.submit(plan, mending) for _ in range(8)]
        asked = [pool.submit(ask, mending) for _ in range(1500)]
        assert {one.result() for one in planned} == {NOTES}
        assert max(one.result() for one in asked) == NOTES
