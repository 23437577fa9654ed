"""Since when a link is broken is kept while it is, also when its note moves."""

from ohmykb.store import broken_since
from trial import Trial


def test_since_when_a_link_is_broken(trial: Trial) -> None:
    trial.put({"s.md": "[[a]] [[b]] [[c]]", "c.md": "x"})
    trial.look()
    history, db = trial.index._history, trial.index.db
    broken_since.follow(history, db, 10.0)
    trial.put({"a.md": "", "r.md": "[[b]]"})
    trial.move("s.md", "dir/s.md")
    trial.look()
    broken_since.follow(history, db, 20.0)
    assert broken_since.first_seen(history) == {("dir/s.md", "b"): 10.0, ("r.md", "b"): 20.0}
    trial.remove("a.md")
    trial.look()
    broken_since.follow(history, db, 30.0)
    assert broken_since.first_seen(history)["dir/s.md", "a"] == 30.0
