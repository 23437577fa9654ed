"""Vectors in memory stay those of the texts in the index, whatever happens to the notes."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tiny import Tiny
from ohmykb.models.bundled import BundledEncoder
from ohmykb.models.encoder import Encoder, EncoderMissingError, EncoderUnavailableError
from ohmykb.search.meaning import Arm, Meaning
from ohmykb.search.space import centre, pack
from ohmykb.store import vectors
from ohmykb.store.connection import Database, open_reader
from ohmykb.store.schema import INDEX_MIGRATIONS
from trial import Trial

TEXTS = [
    "资金费率每八小时结算一次", "the funding rate is paid", "可转债转股价下修", "convertible bonds are bonds",
    "bees swarm in may", "蜜蜂五月分蜂", "sourdough wants time", "a chain of a bike", "", "owls cough pellets up",
]  # fmt: skip


def assert_in_step(db: Database, arm: Arm) -> None:
    """Every row of the arm is the stored vector of that text, centred with the arm's own means."""
    placed = vectors.placed(db, arm.stored.id)
    for space, now, mean in zip((arm.names, arm.chunks), placed, arm.means, strict=True):
        for field, there, here in zip(now._fields, space.placed, now, strict=True):
            assert there.tolist() == here.tolist(), field
        if not len(now.slots):
            continue
        slots, raw = vectors.read(db, arm.stored.id, arm.stored.dim, np.unique(now.slots))
        by_slot = dict(zip(slots.tolist(), raw, strict=True))
        expected = centre(np.array([by_slot[int(slot)] for slot in now.slots]), now.languages, mean)
        np.testing.assert_allclose(space.units[now.slots], expected, atol=1e-6)
        assert (space.bits == pack(expected)).all()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove", "rename", "private"]), st.integers(0, 5), st.integers(0, len(TEXTS) - 1),
        st.booleans(), st.booleans(),
    ),
    max_size=25,
)  # fmt: skip


@given(steps=STEPS)
@settings(max_examples=25)
def test_in_step_after_any_edits(trial: Trial, steps: list[tuple[str, int, int, bool, bool]]) -> None:
    """Each step may be encoded, refreshed, both or neither; in the end a fresh Meaning says the same."""
    tiny = Tiny()
    meaning = Meaning([tiny])
    for old in trial.root.glob("*.md"):
        old.unlink()
    for kind, number, text, encoded, refreshed in steps:
        path = f"{number}.md"
        there = (trial.root / path).exists()
        if kind == "put" or not there:
            trial.put(
                {path: f"# {TEXTS[text]}\n\n{TEXTS[text]} {number % 2}\n\n## More\n\n{TEXTS[-text]}\n" * (1 + text)}
            )
        elif kind == "remove":
            trial.remove(path)
        elif kind == "rename":
            trial.move(path, f"{number + 1}.md")
        else:
            trial.put({path: "---\nkb_private: true\n---\n" + TEXTS[text]})
        trial.settle()
        if encoded:
            trial.encode(tiny)
        if refreshed:
            meaning.refresh(trial.index.db)
            for arm in meaning.arms:
                assert_in_step(trial.index.db, arm)
    trial.encode(tiny)
    meaning.refresh(trial.index.db)
    fresh = Meaning([tiny])
    fresh.refresh(trial.index.db)
    assert len(meaning.arms) == len(fresh.arms)
    for arm, other in zip(meaning.arms, fresh.arms, strict=True):
        assert_in_step(trial.index.db, arm)
        assert arm.names.placed.slots.tolist() == other.names.placed.slots.tolist()
        assert arm.chunks.placed.slots.tolist() == other.chunks.placed.slots.tolist()


WORDS = [
    "apple",
    "river",
    "stone",
    "candle",
    "window",
    "garden",
    "hammer",
    "violin",
    "pepper",
    "saddle",
    "basket",
    "ladder",
    "mirror",
    "pencil",
    "rocket",
    "tunnel",
    "walnut",
    "zipper",
    "anchor",
    "bottle",
    "camera",
    "dragon",
    "engine",
    "feather",
    "guitar",
    "helmet",
    "island",
    "jacket",
    "kettle",
    "lantern",
    "magnet",
    "needle",
    "orange",
    "parrot",
    "quiver",
    "ribbon",
    "school",
    "temple",
    "umbrella",
    "valley",
]


def many(trial: Trial, count: int = 40) -> None:
    trial.put({f"{n}.md": f"# On {WORDS[n]}s\n\nall about the {WORDS[n]}" for n in range(count)})
    trial.look()


class Far:
    """The real encoder, as if it stood elsewhere."""

    id, remote, symmetric = "far", True, True

    def __init__(self, real: BundledEncoder) -> None:
        self.dim, self.batch = real.dim, real.batch
        self.encode_queries, self.encode_passages, self.warm = real.encode_queries, real.encode_passages, real.warm


def test_a_slot_that_is_used_again_is_read_again(trial: Trial) -> None:
    many(trial)
    tiny = Tiny()
    meaning = trial.understand(tiny)
    before = meaning.arms[0]
    trial.put({"3.md": "# Another\n\nquite another text"})
    trial.look()
    trial.encode(tiny)
    meaning.refresh(trial.index.db)
    after = meaning.arms[0]
    assert len(after.units) == len(before.units), "slots were used again"
    assert after.means is before.means, "and little was read"
    assert_in_step(trial.index.db, after)
    found = trial.prober.probe("quite another text", mode="semantic").results[0]
    assert (found.path, found.why) == ("3.md", ("title", "heading", "text", "semantic"))


def test_a_slot_that_another_process_used_again(trial: Trial) -> None:
    """Nobody told this one that `kb index` ran meanwhile."""
    many(trial)
    tiny = Tiny()
    meaning = trial.understand(tiny)
    trial.put({"3.md": "# Another\n\nquite another text"})
    trial.look()
    trial.encode(Tiny())
    meaning.refresh(trial.index.db)
    assert_in_step(trial.index.db, meaning.arms[0])


def test_much_that_is_new_takes_the_means_anew(trial: Trial) -> None:
    many(trial)
    tiny = Tiny()
    meaning = trial.understand(tiny)
    before = meaning.arms[0]
    trial.put({f"{n}.md": f"# 标题{chr(0x4E10 + n)}\n\n正文{chr(0x5E10 + n)}" for n in range(40)})
    trial.look()
    trial.encode(tiny)
    meaning.refresh(trial.index.db)
    assert meaning.arms[0].means[0][1].any(), "there were no Chinese ones before"
    assert not before.means[0][1].any()
    assert_in_step(trial.index.db, meaning.arms[0])


def test_a_question_under_way_keeps_what_it_began_with(trial: Trial) -> None:
    many(trial)
    tiny = Tiny()
    meaning = trial.understand(tiny)
    arm = meaning.arms[0]
    asked = arm.ask("the stone")
    before = arm.chunks.nearest(asked, 5)
    for turn in range(3):
        trial.put({f"{n}.md": f"# New {turn}\n\nnew {chr(97 + n) * 4} {turn}" for n in range(turn + 1, turn + 3)})
        trial.look()
        trial.encode(tiny)
        meaning.refresh(trial.index.db)
        after = arm.chunks.nearest(asked, 5)
        assert (after.notes.tolist(), after.cosines.tolist()) == (before.notes.tolist(), before.cosines.tolist())


def test_questions_while_it_is_refreshed(trial: Trial) -> None:
    """On two threads: every answer is whole, and the last sees the last text."""
    many(trial)
    tiny = Tiny()
    meaning = trial.understand(tiny)
    found: list[str] = []
    faults: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        db = open_reader(trial.vault.index_file, len(INDEX_MIGRATIONS))
        try:
            from ohmykb.search.probe import Prober

            prober = Prober(lambda: db, meaning)
            while not done.is_set():
                found.append(prober.probe("the stone", mode="hybrid").results[0].path)
        except BaseException as error:  # noqa: BLE001 - told by the test
            faults.append(error)
        finally:
            db.close()

    asking = threading.Thread(target=ask)
    asking.start()
    for turn in range(12):
        trial.put({f"extra {turn}.md": f"turn {chr(97 + turn) * 3}", f"{turn + 5}.md": f"edited {chr(97 + turn) * 3}"})
        if turn:
            trial.remove(f"extra {turn - 1}.md")
        trial.settle()
        trial.encode(tiny)
        meaning.refresh(trial.index.db)
    done.set()
    asking.join(30)
    assert not faults
    assert set(found) == {"2.md"}
    assert_in_step(trial.index.db, meaning.arms[0])


def test_two_encoders_side_by_side(trial: Trial, bundled: BundledEncoder) -> None:
    many(trial, 12)
    tiny = Tiny()
    meaning = trial.understand(bundled, tiny)
    assert [arm.encoder.id for arm in meaning.arms] == [bundled.id, tiny.id]
    assert [arm.stored.dim for arm in meaning.arms] == [512, 24]
    for arm in meaning.arms:
        assert_in_step(trial.index.db, arm)
    assert trial.prober.probe("the stone", mode="semantic").results[0].path == "2.md"


def test_the_old_serves_until_the_new_is_whole(trial: Trial) -> None:
    many(trial)
    old, new = Tiny("old"), Tiny("new", 32)
    meaning = trial.understand(old)
    meaning.use([new])
    meaning.refresh(trial.index.db)
    left = iter([True] * 6)
    half = trial.filler(new)
    half.going = lambda: next(left, False)
    half.fill(trial.index.db)
    meaning.refresh(trial.index.db)
    assert [arm.encoder.id for arm in meaning.arms] == ["old"]
    trial.encode(new)
    meaning.refresh(trial.index.db)
    assert [(arm.encoder.id, arm.stored.dim) for arm in meaning.arms] == [("new", 32)]
    meaning.use([])
    meaning.refresh(trial.index.db)
    assert meaning.arms == ()


def test_after_a_restart_the_old_serves_until_the_new_is_whole(trial: Trial) -> None:
    old, half, new = Tiny("old"), Tiny("half"), Tiny("new", 16)
    begun(trial, old, half)
    meaning = trial.prober.meaning = Meaning([new])
    meaning.reopen = {"old": old, "half": half}.__getitem__
    meaning.refresh(trial.index.db)
    assert [arm.encoder.id for arm in meaning.arms] == ["old"], "a set that never served does not begin now"
    old.fault = EncoderUnavailableError("The endpoint is down.", "Start it.")
    answer = trial.prober.probe("资金费率")
    assert answer.degraded is not None
    assert "The endpoint is down." in answer.degraded
    assert answer.results[0].path == "a.md", "by words"
    old.fault = None
    trial.encode(new)
    meaning.refresh(trial.index.db)
    assert [arm.encoder.id for arm in meaning.arms] == ["new"]
    assert meaning.lost is None


def test_an_old_encoder_that_is_gone_is_said_until_the_new_is_whole(trial: Trial) -> None:
    old, new = Tiny("old"), Tiny("new", 16)
    begun(trial, old)
    meaning = trial.prober.meaning = Meaning([new])

    def gone(name: str) -> Encoder:
        raise EncoderMissingError(f"{name} is gone.", "New vectors are being made.")

    meaning.reopen = gone
    meaning.refresh(trial.index.db)
    answer = trial.prober.probe("资金费率")
    assert answer.degraded is not None
    assert "old is gone. New vectors are being made." in answer.degraded
    assert answer.results[0].path == "a.md"
    assert trial.probe("资金费率").degraded is None, "words lack nothing"
    trial.encode(new)
    meaning.refresh(trial.index.db)
    assert trial.prober.probe("资金费率").degraded is None


def test_while_one_that_is_wanted_cannot_be_had_the_old_serves(trial: Trial) -> None:
    old = Tiny("old")
    begun(trial, old)
    meaning = Meaning()
    meaning.reopen = {"old": old}.__getitem__
    meaning.use([], whole=False)
    meaning.refresh(trial.index.db)
    assert [arm.encoder.id for arm in meaning.arms] == ["old"]
    meaning.use([])
    meaning.refresh(trial.index.db)
    assert meaning.arms == ()


def begun(trial: Trial, served: Tiny, *others: Tiny) -> None:
    """One set that serves; of the others the first batch."""
    trial.put({f"{name}.md": text for name, text in zip("abcdefgh", TEXTS, strict=False)})
    trial.look()
    trial.encode(served)
    for one in others:
        filler = trial.filler(one)
        filler.going = lambda one=one: not one.passages  # type: ignore[misc]
        filler.fill(trial.index.db)


def test_a_quick_one_serves_while_a_fine_one_is_added(trial: Trial) -> None:
    many(trial)
    quick, fine = Tiny("quick"), Tiny("fine")
    meaning = trial.understand(quick)
    meaning.use([quick, fine])
    left = iter([True] * 6)
    half = trial.filler(fine)
    half.going = lambda: next(left, False)
    half.fill(trial.index.db)
    meaning.refresh(trial.index.db)
    assert [arm.encoder.id for arm in meaning.arms] == ["quick"], "half a set would rank half the notes"
    trial.encode(fine)
    meaning.refresh(trial.index.db)
    assert [arm.encoder.id for arm in meaning.arms] == ["quick", "fine"]


def test_where_none_is_whole_the_half_serves(trial: Trial) -> None:
    many(trial)
    tiny = Tiny()
    left = iter([True] * 15)
    half = trial.filler(tiny)
    half.going = lambda: next(left, False)
    half.fill(trial.index.db)
    meaning = Meaning([tiny])
    meaning.refresh(trial.index.db)
    assert len(meaning.arms) == 1


def test_a_note_without_vectors_is_not_punished(trial: Trial, bundled: BundledEncoder) -> None:
    """It was: the note just written came last, though it held the question to the letter."""
    many(trial)
    trial.understand(bundled)
    trial.put({"new.md": "the zyzzyva weevil is new"})
    trial.look()
    answer = trial.prober.probe("zyzzyva weevil")
    assert answer.results[0].path == "new.md"
    assert answer.results[0].score > 0.5


def test_private_notes_hold_their_own_with_a_remote_encoder(trial: Trial, bundled: BundledEncoder) -> None:
    for name, head in (("open", ""), ("private", "---\nkb_private: true\n---\n")):
        trial.put({f"{name}.md": f"{head}# {name}\n\nbees swarm when the queen is old"})
    many(trial)
    trial.understand(bundled, Far(bundled))
    hits = trial.prober.probe("why do bees leave the hive", mode="semantic").results[:2]
    assert {hit.path for hit in hits} == {"open.md", "private.md"}
    scores = sorted(hit.score for hit in hits)
    assert scores[1] - scores[0] < 0.2


def test_another_length_than_stored_is_said(trial: Trial) -> None:
    many(trial)
    trial.understand(Tiny(dim=24))
    meaning = Meaning([Tiny(dim=32)])
    meaning.refresh(trial.index.db)
    with pytest.raises(EncoderUnavailableError, match="32 numbers a vector, and 24"):
        meaning.arms[0].ask("words")
    trial.prober.meaning = meaning
    answer = trial.prober.probe("the stone")
    assert answer.results[0].path == "2.md"
    assert answer.degraded is not None
    assert "kb index --rebuild" in answer.degraded


def test_a_set_made_anew_under_the_number_of_the_old(trial: Trial) -> None:
    many(trial)
    tiny = Tiny(dim=24)
    meaning = trial.understand(tiny)
    tiny.dim = 32
    trial.encode(tiny)
    assert [one.id for one in vectors.sets(trial.index.db)] == [meaning.arms[0].stored.id]
    meaning.refresh(trial.index.db)
    assert meaning.arms[0].stored.dim == 32
    assert_in_step(trial.index.db, meaning.arms[0])


def test_an_empty_vault(trial: Trial, tmp_path: Path) -> None:
    trial.look()
    assert trial.understand(Tiny()).arms == ()
    assert trial.prober.probe("words").degraded
