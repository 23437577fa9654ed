"""Which texts get a vector, when, and from whom."""

from collections.abc import Sequence

import pytest

from models.tiny import Tiny
from ohmykb.index.encode import Filler, drop_others
from ohmykb.models.bundled import BundledEncoder
from ohmykb.models.encoder import EncoderUnavailableError
from ohmykb.store import vectors
from trial import Trial


def body(number: int) -> str:
    """Words of one note alone: lines that differ in digits only would be frame."""
    return f"body of {chr(97 + number) * 3}"


LONG = "\n\n".join(f"## Part {n}\n\n" + f"sentence {n} of some length. " * 40 for n in range(6))


def stored(trial: Trial, number: int = 1) -> dict[bytes, int | None]:
    return dict(trial.index.db.rows("SELECT hash, slot FROM encoded WHERE set_id = ?", (number,)))


def unencoded(trial: Trial, number: int = 1) -> int:
    return vectors.unencoded(trial.index.db, number)


def test_names_and_chunks_get_vectors(trial: Trial) -> None:
    trial.put({"a.md": "---\naliases: [阿尔法]\n---\n# Alpha\n\nwords", "b.md": LONG})
    trial.look()
    tiny = Tiny()
    done = trial.encode(tiny)
    assert "a | Alpha | 阿尔法" in tiny.passages
    assert any(text.startswith("Alpha\n") and "words" in text for text in tiny.passages)
    assert done == len(tiny.passages) == trial.counts()["chunks"] + 2 == trial.counts()["vectors"]
    assert (unencoded(trial), trial.encode(tiny)) == (0, 0)


@pytest.mark.parametrize("name", ["a.md", "folder/LOUD.MD", "v1.md.md"])
def test_any_spelling_of_the_ending(trial: Trial, name: str) -> None:
    trial.put({name: "words"})
    trial.look()
    trial.encode(Tiny())
    assert unencoded(trial) == 0


def test_what_moves_is_not_encoded_again(trial: Trial) -> None:
    trial.put({"a.md": "# T\n\n" + LONG})
    trial.look()
    tiny = Tiny()
    trial.encode(tiny)
    before = stored(trial)
    tiny.passages.clear()
    trial.put({"a.md": "# T\n\n## New part\n\nan unheard-of text\n\n" + LONG})
    trial.look()
    trial.encode(tiny)
    assert len(tiny.passages) <= 2, "the new chunk, and one it may share"
    assert {digest: slot for digest, slot in stored(trial).items() if digest in before}.items() <= before.items()
    tiny.passages.clear()
    trial.move("a.md", "folder/a.md")
    trial.settle()
    assert trial.encode(tiny) == 0


def test_a_text_in_two_notes_is_encoded_once(trial: Trial) -> None:
    text = "# Same\n\nthe very same words"
    trial.put({"a/Same.md": text, "b/Same.md": text})
    trial.look()
    tiny = Tiny()
    assert trial.encode(tiny) == 2
    assert sorted(tiny.passages) == ["Same", "Same\n" + text]
    meaning = trial.understand(tiny)
    assert len(meaning.arms[0].chunks.placed.notes) == 2


def test_another_title_encodes_the_chunks_again(trial: Trial) -> None:
    trial.put({"a.md": "# One\n\nwords"})
    trial.look()
    tiny = Tiny()
    trial.encode(tiny)
    tiny.passages.clear()
    trial.put({"a.md": "---\ntitle: Two\n---\n# One\n\nwords"})
    trial.look()
    trial.encode(tiny)
    assert any(text.startswith("Two\n") for text in tiny.passages)
    assert "a | Two" in tiny.passages


def test_nothing_to_encode_is_looked_at_once(trial: Trial) -> None:
    frame = "Mood:"
    trial.put({f"{name}.md": frame for name in "abcdef"})
    trial.look()
    tiny = Tiny()
    trial.encode(tiny)
    assert sorted(tiny.passages) == list("abcdef"), "only the names"
    assert unencoded(trial) == 0
    assert list(stored(trial).values()).count(None) == 6
    assert trial.encode(tiny) == 0


def test_slots_are_used_again(trial: Trial) -> None:
    tiny = Tiny()
    rows = set()
    for turn in range(8):
        for name in "abc":
            trial.put({f"{name}.md": f"turn {turn} of {name}"})
        trial.look()
        trial.encode(tiny)
        rows.add(trial.index.db.value("SELECT count(*) FROM vectors_1"))
    assert rows == {6}
    trial.remove("c.md")
    trial.settle()
    trial.put({"d.md": "after c"})
    trial.look()
    trial.encode(tiny)
    assert trial.index.db.value("SELECT count(*) FROM vectors_1") == 6
    trial.assert_true()


SECRETS = {
    "Private.md": "---\nkb_private: true\naliases: [hush]\n---\n# Secret title\n\nsecret words",
    "hidden/Excluded.md": "# Secret place\n\nsecret place words",
    "Open.md": "# Open\n\nopen words",
}


@pytest.mark.parametrize("symmetric", [True, False])
def test_private_notes_stay_here(trial: Trial, symmetric: bool) -> None:
    trial.put({**SECRETS, ".kb/config.toml": '[agent]\nexclude = ["hidden/"]\n'})
    trial.configure('[agent]\nexclude = ["hidden/"]\n')
    trial.look()
    remote, here = Tiny("far", remote=True, symmetric=symmetric), Tiny("near", symmetric=symmetric)
    trial.encode(here, remote)
    given = "\n".join([*remote.passages, *remote.queries])
    assert "open words" in given
    assert not [word for word in ("ecret", "hush", "Private", "Excluded") if word in given]
    assert "secret words" in "\n".join(here.passages)
    assert trial.filler(remote).fill(trial.index.db) == 0, "and it is not tried again"
    assert {one.encoder: one.state for one in vectors.sets(trial.index.db)} == {"near": "serving", "far": "serving"}


def test_a_note_that_turns_private_while_encoding(trial: Trial) -> None:
    trial.put({f"{n}.md": f"# Note {n}\n\n{body(n)}" for n in range(20)})
    trial.look()
    remote = Tiny("far", remote=True)

    def turn(_: Sequence[str]) -> None:
        remote.before = lambda _: None
        trial.put({f"{n}.md": f"---\nkb_private: true\n---\n# Note {n}\n\nsecret {n}" for n in range(20)})
        trial.look()

    remote.before = turn
    trial.encode(remote)
    assert not [text for text in remote.passages if "secret" in text]


def test_edits_while_encoding_never_mix_texts(trial: Trial) -> None:
    """A text is looked up, its note changes, its place holds something else: it was stored under the wrong key."""
    trial.put({f"{n}.md": f"# Note {n}\n\n" + f"{body(n)} " * 5 for n in range(12)})
    trial.look()
    tiny = Tiny(batch=2)

    def shift(_: Sequence[str]) -> None:
        tiny.before = lambda _: None
        trial.put({f"{n}.md": f"# Note {n}\n\nbefore {chr(97 + n)}\n\n" + f"{body(n)} " * 5 for n in range(0, 12, 2)})
        trial.put({f"{n}.md": "" for n in range(1, 12, 4)})
        trial.remove("11.md")
        trial.settle()

    tiny.before = shift
    trial.encode(tiny)
    trial.encode(tiny)
    assert unencoded(trial) == 0
    assert_as_afresh(trial, tiny)


def assert_as_afresh(trial: Trial, encoder: Tiny | BundledEncoder) -> None:
    """Every vector is the one that its text gets when it is encoded now."""
    db = trial.index.db
    again = trial.filler(encoder)
    again._count_frames(db)
    todo = vectors.wanted(db, 0, 10_000)
    rows = {row.hash: row for row in again._encode(db, list({one.hash: one for one in todo}.values()))}
    found = stored(trial)
    assert rows.keys() <= found.keys()
    for digest, row in rows.items():
        slot = found[digest]
        if row.vector is None:
            assert slot is None
        else:
            vector = trial.index.db.value("SELECT vector FROM vectors_1 WHERE rowid = ?", (slot,))
            assert vector == row.vector.tobytes()


def test_it_goes_on_where_it_was_stopped(trial: Trial) -> None:
    trial.put({f"{n}.md": f"# Note {n}\n\n{body(n)}" for n in range(20)})
    trial.look()
    tiny = Tiny()
    left = iter([True, True, True])
    half = Filler(tiny, lambda job: job(trial.index.db), going=lambda: next(left, False))
    half.fill(trial.index.db)
    some = len(tiny.passages)
    assert 0 < some < 40
    assert trial.counts()["vectors"] == some
    assert vectors.sets(trial.index.db)[0].state == vectors.BUILDING
    trial.reopen()
    trial.encode(tiny)
    assert len(tiny.passages) == 40, "none twice"
    assert vectors.sets(trial.index.db)[0].state == vectors.SERVING
    trial.assert_true()
    assert_as_afresh(trial, tiny)


def test_what_was_done_before_a_fault_is_kept(trial: Trial) -> None:
    trial.put({f"{n}.md": body(n) for n in range(10)})
    trial.look()
    tiny = Tiny()

    def fail_later(_: Sequence[str]) -> None:
        if len(tiny.passages) >= 8:
            tiny.fault = EncoderUnavailableError("It is down.", "Start it.")

    tiny.before = fail_later
    with pytest.raises(EncoderUnavailableError):
        trial.encode(tiny)
    assert trial.counts()["vectors"] == 8
    tiny.fault, tiny.before = None, lambda _: None
    trial.encode(tiny)
    assert len(tiny.passages) == 20


def test_the_encoder_is_asked_before_the_writer_waits(trial: Trial) -> None:
    """An endpoint that hangs when asked for its length must not hold the index's one writer."""
    trial.put({"a.md": "words"})
    trial.look()
    asked: list[str] = []

    class Slow(Tiny):
        @property
        def dim(self) -> int:  # type: ignore[override]
            asked.append("writing" if writing else "free")
            return 24

        @dim.setter
        def dim(self, value: int) -> None:
            pass

    writing = False

    def write(job):  # type: ignore[no-untyped-def]
        nonlocal writing
        writing = True
        try:
            return job(trial.index.db)
        finally:
            writing = False

    Filler(Slow(), write).fill(trial.index.db)
    assert "writing" not in asked


def test_another_length_under_the_same_name(trial: Trial) -> None:
    trial.put({"a.md": "words"})
    trial.look()
    trial.encode(Tiny(dim=8))
    trial.encode(Tiny(dim=16))
    (one,) = vectors.sets(trial.index.db)
    assert (one.dim, one.state, trial.counts()["vectors"]) == (16, "serving", 2)


def test_means_of_questions_are_learnt_once(trial: Trial) -> None:
    trial.put({f"{n}.md": f"# Title {n}\n\n{body(n)}" for n in range(30)})
    trial.look()
    tiny = Tiny(symmetric=False)
    trial.encode(tiny)
    assert len(tiny.queries) == 30
    trial.put({"0.md": "# Title 0\n\nother words"})
    trial.look()
    trial.encode(tiny)
    assert len(tiny.queries) == 30, "one more text changes little"
    trial.put({f"{n}.md": f"# Other {n}\n\nother {body(n)}" for n in range(30)})
    trial.look()
    trial.encode(tiny)
    assert len(tiny.queries) == 60


def test_sets_that_nobody_asks_for_are_dropped(trial: Trial) -> None:
    trial.put({"a.md": "words"})
    trial.look()
    trial.encode(Tiny("one"), Tiny("two"))
    drop_others(trial.index.db, ["two"])
    assert [one.encoder for one in vectors.sets(trial.index.db)] == ["two"]
    trial.assert_true()


def test_a_rebuild_keeps_the_vectors(trial: Trial) -> None:
    from ohmykb.store import bulk

    trial.put({"a.md": "# A\n\nwords", "b.md": LONG})
    trial.look()
    tiny = Tiny()
    trial.encode(tiny)
    bulk.empty(trial.index.db)
    trial.look()
    assert trial.encode(tiny) == 0


def test_with_the_real_encoder(trial: Trial, bundled: BundledEncoder) -> None:
    trial.put({"资金费率.md": "# 资金费率\n\n永续合约每八小时结算一次。", "b.md": LONG, "空.md": ""})
    trial.look()
    trial.encode(bundled)
    assert unencoded(trial) == 0
    assert_as_afresh(trial, bundled)
