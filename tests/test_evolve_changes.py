"""Mends become bytes only where the note is as it was seen, and nothing else in it would change."""

from dataclasses import replace
from hashlib import sha256

import pytest

from ohmykb.config import load
from ohmykb.errors import ConflictError
from ohmykb.evolve.changes import changes
from ohmykb.evolve.plan import Mend
from ohmykb.evolve.repair import plan_repairs
from ohmykb.markdown.edits import Edit
from ohmykb.vault.consent import RefusedError
from ohmykb.vault.operations import Change
from trial import Trial

TEXT = (
    "\ufeff---\nup: \"[[A-B]]\"\nlist:\n  - '[[C  D|its]]' # kept\n---\r\n"
    "[[A-B]] `[[A-B]]` [[A-B#h]]\r\n\r\n![[c  d]] #tag ^id\n"
)


@pytest.fixture
def vault(trial: Trial) -> Trial:
    trial.put({"a.md": TEXT, "b.md": "[[A-B]]", "x/A–B.md": "", "C D.md": ""})
    trial.look()
    return trial


def mends(vault: Trial) -> list[Mend]:
    found = plan_repairs(vault.index.db, vault.index._history, vault.root, load(vault.root)).mends
    assert all(one.certain for one in found)
    return list(found)


def carry_out(vault: Trial, todo: list[Mend]) -> list[Change]:
    return changes(todo, vault.root, load(vault.root))


def test_all_mends_of_a_note_are_one_change(vault: Trial) -> None:
    first, second = carry_out(vault, mends(vault))
    wanted = (
        TEXT.replace("[[A-B", "[[A–B").replace("`[[A–B]]`", "`[[A-B]]`").replace("C  D", "C D").replace("c  d", "C D")
    )
    assert (first.path, first.before) == ("a.md", sha256(TEXT.encode()).hexdigest())
    assert first.after == wanted.encode()
    assert (second.path, second.after) == ("b.md", "[[A–B]]".encode())


def test_some_of_them(vault: Trial) -> None:
    (change,) = carry_out(vault, [one for one in mends(vault) if one.subpath])
    assert change.after == TEXT.replace("[[A-B#h]]", "[[A–B#h]]").encode()


def test_a_note_that_changed_or_went_is_a_conflict(vault: Trial) -> None:
    todo = mends(vault)
    vault.put({"a.md": TEXT + " "})
    with pytest.raises(ConflictError, match=r"a\.md"):
        carry_out(vault, todo)
    vault.remove("a.md")
    with pytest.raises(ConflictError, match=r"a\.md"):
        carry_out(vault, todo)


def test_what_is_not_proved_is_refused(vault: Trial) -> None:
    mend = next(one for one in mends(vault) if one.source == "b.md")
    for bad in (
        replace(mend, edits=()),
        replace(mend, edits=(Edit(0, 7, "[[C D]]"),)),
        replace(mend, edits=(Edit(0, 7, "[[A–B]] [[C D]]"),)),
        replace(mend, edits=(Edit(0, 7, "[[A–B]] #new"),)),
        replace(mend, edits=(*mend.edits, Edit(2, 5, "C D"))),
        replace(mend, edits=(Edit(0, 70, "[[A–B]]"),)),
    ):
        with pytest.raises(RefusedError):
            carry_out(vault, [bad])


def test_a_place_that_is_not_certain_is_not_written(trial: Trial) -> None:
    trial.put({"a.md": "---\nup: '[[A-B|over\n  two lines]]'\n---\n", "A–B.md": ""})
    trial.look()
    (mend,) = plan_repairs(trial.index.db, trial.index._history, trial.root, load(trial.root)).mends
    assert (mend.certain, mend.edits, mend.target) == (False, (), "A–B.md")
    with pytest.raises(RefusedError):
        carry_out(trial, [mend])
