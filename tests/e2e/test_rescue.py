"""A lost sentence is found wherever it once stood; conflict copies become one with their note where that is certain."""

import os
import subprocess
from pathlib import Path

import pytest
from sidecar_process import Kb
from test_writing import bytes_of, moved, put

LOST = "那句话写着：资金费率每八小时结算一次"


def git(vault: Path, *args: str) -> None:
    subprocess.run(
        ["git", "-C", str(vault), "-c", "user.name=t", "-c", "user.email=t@t", *args], check=True, capture_output=True
    )


@pytest.fixture(params=["alone", "sidecar"])
def any_kb(request: pytest.FixtureRequest, kb: Kb) -> Kb:
    kb.run("index", "--no-vectors")
    if request.param == "sidecar":
        kb.serve("--no-vectors").settled()
    return kb


def test_a_lost_sentence(any_kb: Kb) -> None:
    kb = any_kb
    put(kb, "day.md", f"# Day\n\n{LOST} in [[Funding rate]]\nkept\n")
    kb.run("index", "--no-vectors")
    moved(kb, "Funding rate.md", "Rate.md")
    kb.json("repair", "--apply")
    put(kb, "day.md", "# Day\n\nkept\n")
    put(kb, ".trash/old.md", f"x\n{LOST}\n")
    put(kb, "day.sync-conflict-20240101-120000-ABCDEFG.md", f"{LOST} once more\n")
    found = kb.json("recover", LOST)["found"]
    assert {one["where"] for one in found} == {"history", "trash", "conflict-copy"}
    number = next(n for n, one in enumerate(found, 1) if one["where"] == "history")
    assert found[number - 1]["path"] == "day.md"
    assert found[number - 1]["line"] == 3
    before = bytes_of(kb.vault)
    done = kb.json("recover", LOST, "--restore", str(number))
    assert done["restored"].startswith("day (recovered 20")
    assert (kb.vault / done["restored"]).read_text("utf-8") == f"# Day\n\n{LOST} in [[Funding rate]]\nkept\n"
    now = bytes_of(kb.vault)
    assert now.pop(done["restored"])
    assert now == before
    kb.run("undo", done["op"])
    assert bytes_of(kb.vault) == before


def test_out_of_git(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    put(kb, "笔记/gone.md", f"{LOST}\n")
    git(kb.vault, "init", "-q")
    git(kb.vault, "add", "-A")
    git(kb.vault, "commit", "-qm", "one")
    (kb.vault / "笔记/gone.md").unlink()
    git(kb.vault, "commit", "-qam", "two")
    (one,) = kb.json("recover", LOST)["found"]
    assert (one["where"], one["path"]) == ("git", "笔记/gone.md")
    assert kb.json("recover", LOST, "--restore", "1")["restored"] == "笔记/gone.md"


def test_a_folded_search_and_nothing(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    put(kb, "Day.md", "Some   WORDS\nof mine\n")
    assert kb.json("recover", "some words of mine")["found"][0]["where"] == "note"
    assert kb.json("recover", "never was there")["found"] == []
    assert "too short" in kb.json("recover", "x", code=2)["error"]["message"]


def test_a_pipe_among_the_notes(kb: Kb) -> None:
    os.mkfifo(kb.vault / "pipe.md")
    put(kb, "day.md", f"{LOST}\n")
    kb.run("index", "--no-vectors")
    assert [one["path"] for one in kb.json("recover", LOST)["found"]] == ["day.md"]


COPY = "Perpetuals.sync-conflict-20240101-120000-ABCDEFG.md"


def test_copies(any_kb: Kb) -> None:
    kb = any_kb
    original = (kb.vault / "Perpetuals.md").read_text("utf-8")
    put(kb, COPY, original)
    kb.run("index", "--no-vectors")
    (one,) = kb.json("conflicts")["copies"]
    assert (one["state"], one["original"]) == ("identical", "Perpetuals.md")
    put(kb, COPY, original + "more from the phone\n")
    kb.run("index", "--no-vectors")
    assert kb.json("conflicts")["copies"][0]["state"] == "contained"
    crlf = original.replace("\n", "\r\n").encode()
    (kb.vault / "Perpetuals.md").write_bytes(crlf)
    kb.run("index", "--no-vectors")
    assert kb.json("conflicts")["copies"][0]["state"] != "contained", "the note's line ends are its own"
    put(kb, "Perpetuals.md", original)
    kb.run("index", "--no-vectors")
    done = kb.json("conflicts", COPY, "--apply")
    assert (kb.vault / "Perpetuals.md").read_text("utf-8") == original + "more from the phone\n"
    assert not (kb.vault / COPY).exists()
    kb.run("undo", done["op"])
    assert (kb.vault / "Perpetuals.md").read_text("utf-8") == original
    assert (kb.vault / COPY).exists()
    put(kb, COPY, original.replace("A swap without an end.", "Their words.") + "x\n")
    put(kb, "Perpetuals.md", original.replace("A swap without an end.", "My words."))
    kb.run("index", "--no-vectors")
    (one,) = kb.json("conflicts")["copies"]
    assert one["state"] == "conflicting"
    assert "Their words." in one["conflicts"][0]["theirs"]
    assert "Nothing was changed" in kb.json("conflicts", COPY, "--apply", code=4)["error"]["fix"]


def test_merged_from_git(kb: Kb) -> None:
    original = (kb.vault / "Perpetuals.md").read_text("utf-8")
    git(kb.vault, "init", "-q")
    git(kb.vault, "add", "-A")
    git(kb.vault, "commit", "-qm", "one")
    put(kb, COPY, original + "more from the phone\n")
    put(kb, "Perpetuals.md", original.replace("# Perpetuals", "# Perpetuals!"))
    kb.run("index", "--no-vectors")
    (one,) = kb.json("conflicts")["copies"]
    assert one["state"] == "mergeable"
    assert one["ancestor"].startswith("git commit")
    kb.json("conflicts", COPY, "--apply")
    merged = (kb.vault / "Perpetuals.md").read_text("utf-8")
    assert merged == original.replace("# Perpetuals", "# Perpetuals!") + "more from the phone\n"
