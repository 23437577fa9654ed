"""Links mended, taken back, decided and written by the other hand, in the real process and alone."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sidecar_process import Kb, Sidecar, select_a_moment


def put(kb: Kb, path: str, text: str) -> None:
    file = kb.vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


def bytes_of(vault: Path) -> dict[str, bytes]:
    """Every visible file."""
    return {
        str(path.relative_to(vault)): path.read_bytes()
        for path in sorted(vault.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(vault).parts)
    }


def age(kb: Kb, seconds: float = 3600) -> None:
    """As if nobody had touched the vault for so long."""
    for path in kb.vault.rglob("*.md"):
        then = path.stat().st_mtime - seconds
        os.utime(path, (then, then))


def links(kb: Kb, source: str) -> list[tuple[str, str | None]]:
    return [(row["raw"], row["target"]) for row in kb.json("graph")["links"] if row["source"] == source]


@pytest.fixture(params=["alone", "sidecar"])
def any_kb(request: pytest.FixtureRequest, kb: Kb) -> Kb:
    """The command alone, and with a sidecar running."""
    kb.run("index", "--no-vectors")
    if request.param == "sidecar":
        kb.serve("--no-vectors").settled()
    return kb


def moved(kb: Kb, old: str, new: str) -> None:
    (kb.vault / new).parent.mkdir(parents=True, exist_ok=True)
    (kb.vault / old).rename(kb.vault / new)
    kb.run("index", "--no-vectors")


def test_a_rename_outside_obsidian_keeps_its_links(any_kb: Kb) -> None:
    kb = any_kb
    before = bytes_of(kb.vault)
    moved(kb, "Funding rate.md", "terms/Funding 资金费率.md")
    shown = kb.json("repair")
    assert {row["rule"] for row in shown["plans"] if row["certain"]} == {"renamed"}
    assert shown["op"] is None
    assert not any(row["applied"] for row in shown["plans"])
    done = kb.json("repair", "--apply")
    assert done["applied"] == 2, "bad.md, whose properties cannot be read, is never written"
    assert (kb.vault / "Perpetuals.md").read_text("utf-8") == (
        "# Perpetuals\n\nA swap without an end. [[Funding 资金费率#Missing]] #crypto/swaps\n"
    )
    assert (kb.vault / "folder/Perpetual.md").read_text("utf-8").startswith("---\nrelated: '[[Funding 资金费率]]'\n")
    assert bytes_of(kb.vault)["bad.md"] == before["bad.md"]
    assert dict(links(kb, "Perpetuals.md"))["[[Funding 资金费率#Missing]]"] == "terms/Funding 资金费率.md"
    assert kb.json("verify")["equal"]
    kb.run("undo", done["op"])
    now = bytes_of(kb.vault)
    assert now.pop("terms/Funding 资金费率.md") == before.pop("Funding rate.md")
    assert now == before
    assert kb.json("verify")["equal"]
    kinds = [(one["kind"], one["state"], one["undoes"]) for one in kb.json("history")["operations"]]
    assert kinds == [("repair", "committed", None), ("undo", "committed", done["op"])]


def test_a_second_undo_and_an_edit_in_between(any_kb: Kb) -> None:
    kb = any_kb
    moved(kb, "Funding rate.md", "Rate.md")
    op = kb.json("repair", "--apply")["op"]
    kb.run("undo", op)
    again = kb.json("undo", op, code=2)
    assert "undone already" in again["error"]["message"]
    op = kb.json("repair", "--apply")["op"]
    put(kb, "Perpetuals.md", (kb.vault / "Perpetuals.md").read_text("utf-8") + "my own line\n")
    before = bytes_of(kb.vault)
    refused = kb.json("undo", op, code=4)
    assert "Perpetuals.md" in refused["error"]["message"]
    assert bytes_of(kb.vault) == before


def test_everything_since_a_time(any_kb: Kb) -> None:
    kb = any_kb
    before = bytes_of(kb.vault)
    moved(kb, "Funding rate.md", "Rate.md")
    kb.json("repair", "--apply")
    moved(kb, "Perpetuals.md", "Swaps.md")
    kb.json("repair", "--apply")
    moved(kb, "Swaps.md", "Perpetuals.md")
    moved(kb, "Rate.md", "Funding rate.md")
    answer = kb.json("undo", "--since", "1h")
    assert len(answer["undoes"]) == 2
    assert bytes_of(kb.vault) == before


def test_suggestions_wait_for_a_decision(any_kb: Kb) -> None:
    kb = any_kb
    put(kb, "typo.md", "See [[Perpetuls]], [[Fundng rate]] and [[Nowhere to be found]].\n")
    done = kb.json("repair", "typo.md", "--apply")
    assert (done["applied"], done["queued"]) == (0, 2)
    assert (kb.vault / "typo.md").read_text("utf-8").startswith("See [[Perpetuls]]")
    items = kb.json("review")["items"]
    assert {one["target"] for one in items} == {"Perpetuals.md", "Funding rate.md"}
    assert all("-See [[Perpetuls]]" in one["diff"] for one in items)
    one, other = sorted(items, key=lambda item: str(item["target"]))
    assert kb.json("review", "reject", one["id"])["done"] == 1
    accepted = kb.json("review", "accept", other["id"])
    assert accepted["done"] == 1
    assert (kb.vault / "typo.md").read_text("utf-8") == (
        "See [[Perpetuals]], [[Fundng rate]] and [[Nowhere to be found]].\n"
    )
    assert kb.json("repair", "typo.md", "--apply")["queued"] == 0, "a rejected proposal does not come back"
    assert kb.json("review")["items"] == []
    kb.run("undo", accepted["op"])
    assert (kb.vault / "typo.md").read_text("utf-8").startswith("See [[Perpetuls]]")


def test_retarget_snooze_and_leave(any_kb: Kb) -> None:
    kb = any_kb
    put(kb, "typo.md", "[[Perpetuls]] [[Fundng rate]]\n")
    kb.json("repair", "--apply")
    ids = {item["target"]: item["id"] for item in kb.json("review")["items"]}
    kb.run("review", "retarget", ids["Perpetuals.md"], "--to", "folder/Perpetual")
    assert "[[Perpetual]]" in (kb.vault / "typo.md").read_text("utf-8")
    kb.run("review", "snooze", ids["Funding rate.md"], "--days", "3")
    assert kb.json("review")["items"] == []
    put(kb, "later.md", "[[Perpetul]]\n")
    kb.json("repair", "later.md", "--apply")
    (item,) = kb.json("review")["items"]
    kb.run("review", "keep-new", item["id"])
    assert kb.json("repair", "later.md")["plans"] == []


def test_what_must_not_be_written(any_kb: Kb) -> None:
    kb = any_kb
    put(kb, "kept.md", "---\nkb_protect: true\n---\n[[Funding rate]]\n")
    moved(kb, "Funding rate.md", "Rate.md")
    kb.json("repair", "--apply")
    assert (kb.vault / "kept.md").read_text("utf-8").endswith("[[Funding rate]]\n")


def test_purge_asks(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    moved(kb, "Funding rate.md", "Rate.md")
    op = kb.json("repair", "--apply")["op"]
    assert "--yes" in kb.json("purge", "Perpetuals.md", code=2)["error"]["fix"]
    assert kb.json("purge", "Perpetuals.md", "--yes") == {"note": "Perpetuals.md", "removed": 1}
    assert not list(kb.vault.glob(f".history/{op}/before/Perpetuals.md"))
    assert "purged" in kb.json("undo", op, code=4)["error"]["message"]


def test_purge_finds_what_a_note_was_called(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    moved(kb, "Funding rate.md", "Rate.md")
    kb.json("repair", "--apply")
    moved(kb, "Perpetuals.md", "Swaps.md")
    assert kb.json("purge", "Swaps.md", "--yes") == {"note": "Swaps.md", "removed": 1}
    assert not list(kb.vault.glob(".history/*/before/Perpetuals.md"))


# --- the plugin's hand


@pytest.fixture
def living(kb: Kb) -> Sidecar:
    sidecar = kb.serve("--no-vectors")
    sidecar.settled()
    (kb.vault / "Funding rate.md").rename(kb.vault / "Rate 率.md")
    sidecar.settled()
    return sidecar


def prepared(sidecar: Sidecar) -> Any:
    plan = sidecar.ask("/repair", "POST", {"note": "Perpetuals.md"})[1]["plan"]
    status, answer = sidecar.ask(f"/plans/{plan}/prepare", "POST")
    assert status == 200, answer
    return answer


def written(kb: Kb, file: Any) -> bytes:
    """As the plugin does: the edits applied in UTF-16 units."""
    units = (kb.vault / file["path"]).read_bytes().decode().encode("utf-16-le")
    for edit in sorted(file["edits"], key=lambda one: -one["start"]):
        units = units[: 2 * edit["start"]] + edit["text"].encode("utf-16-le") + units[2 * edit["end"] :]
    return units.decode("utf-16-le").encode()


def test_the_plugin_writes(kb: Kb, living: Sidecar) -> None:
    before = (kb.vault / "Perpetuals.md").read_bytes()
    answer = prepared(living)
    (file,) = answer["files"]
    assert (kb.vault / "Perpetuals.md").read_bytes() == before
    assert (kb.vault / ".history" / answer["op"] / "before/Perpetuals.md").read_bytes() == before
    after = written(kb, file)
    assert hashlib.sha256(after).hexdigest() == file["after"]
    early = living.ask(f"/operations/{answer['op']}/commit", "POST")
    assert early[0] == 409
    (kb.vault / "Perpetuals.md").write_bytes(after)
    status, op = living.ask(f"/operations/{answer['op']}/commit", "POST")
    assert (status, op["state"], op["hand"]) == (200, "committed", "plugin")
    status, _ = living.ask(f"/operations/{answer['op']}/undo", "POST", {})
    assert status == 200
    assert (kb.vault / "Perpetuals.md").read_bytes() == before
    living.end()
    assert kb.json("verify")["equal"]


def test_the_person_writes_in_between(kb: Kb, living: Sidecar) -> None:
    answer = prepared(living)
    (kb.vault / "Perpetuals.md").write_text("all new\n", "utf-8")
    status, said = living.ask(f"/operations/{answer['op']}/commit", "POST")
    assert (status, said["error"]["code"]) == (409, "conflict")
    assert (kb.vault / "Perpetuals.md").read_text("utf-8") == "all new\n"
    assert living.ask(f"/operations/{answer['op']}/abandon", "POST")[0] == 409
    states = [one["state"] for one in living.get("/operations")["operations"]]
    assert states == ["conflict"]


def test_abandoned(kb: Kb, living: Sidecar) -> None:
    answer = prepared(living)
    status, op = living.ask(f"/operations/{answer['op']}/abandon", "POST")
    assert (status, op["state"]) == (200, "dropped")
    assert living.ask("/plans/0000000000000000/apply", "POST")[0] == 404
    assert living.ask("/operations/20260101T000000000Z-aaaa-bbbb/commit", "POST")[0] == 404


def test_obsidian_is_closed_between_prepare_and_commit(kb: Kb, living: Sidecar) -> None:
    answer = prepared(living)
    (file,) = answer["files"]
    (kb.vault / "Perpetuals.md").write_bytes(written(kb, file))
    living.end(9)
    assert [one["state"] for one in kb.json("history")["operations"]] == ["prepared"]
    kb.serve("--no-vectors").settled()
    assert [one["state"] for one in kb.json("history")["operations"]] == ["committed"]


def test_a_restart_before_obsidian_wrote(kb: Kb, living: Sidecar) -> None:
    answer = prepared(living)
    (file,) = answer["files"]
    before = (kb.vault / "Perpetuals.md").read_bytes()
    after = written(kb, file)
    living.end(9)
    again = kb.serve("--no-vectors")
    again.settled()
    (kb.vault / "Perpetuals.md").write_bytes(after)
    status, op = again.ask(f"/operations/{answer['op']}/commit", "POST")
    assert (status, op["state"]) == (200, "committed")
    kb.run("undo", op["id"])
    assert (kb.vault / "Perpetuals.md").read_bytes() == before


# --- unasked


def configure(kb: Kb, mode: str, device: str) -> None:
    (kb.vault / ".kb").mkdir(exist_ok=True)
    (kb.vault / ".kb/config.toml").write_text(f'[write]\nmode = "{mode}"\ndevice = "{device}"\n', "utf-8")


def until(true: Any) -> None:
    for _ in range(1500):
        if true():
            return
        select_a_moment()
    raise AssertionError("it does not come")


def test_mended_unasked_on_the_writer_device(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    configure(kb, "auto", kb.json("status")["write"]["this_device"])
    age(kb)
    kb.serve("--no-vectors").settled()
    (kb.vault / "Funding rate.md").rename(kb.vault / "Rate.md")
    until(lambda: "[[Rate#Missing]]" in (kb.vault / "Perpetuals.md").read_text("utf-8"))
    (op,) = kb.json("history")["operations"]
    assert op["decider"] == "policy"


def test_one_note_in_the_way_does_not_keep_the_others(kb: Kb) -> None:
    put(kb, "shut.md", "[[Funding rate]]\n")
    kb.run("index", "--no-vectors")
    configure(kb, "auto", kb.json("status")["write"]["this_device"])
    age(kb)
    os.link(kb.vault / "shut.md", kb.vault / "shut.txt")
    kb.serve("--no-vectors").settled()
    (kb.vault / "Funding rate.md").rename(kb.vault / "Rate.md")
    until(lambda: "[[Rate#Missing]]" in (kb.vault / "Perpetuals.md").read_text("utf-8"))
    assert (kb.vault / "shut.md").read_text("utf-8") == "[[Funding rate]]\n"


def test_each_operation_a_commit_of_git(kb: Kb) -> None:
    def git(*args: str) -> str:
        done = subprocess.run(["git", "-C", str(kb.vault), *args], check=True, capture_output=True)
        return done.stdout.decode()

    git("init", "-q")
    for key in ("name", "email"):
        git("config", f"user.{key}", "t@t")
    git("add", "-A")
    git("commit", "-qm", "one")
    kb.run("index", "--no-vectors")
    device = kb.json("status")["write"]["this_device"]
    moved(kb, "Funding rate.md", "Rate.md")
    (kb.vault / ".kb").mkdir(exist_ok=True)
    (kb.vault / ".kb/config.toml").write_text(f'[write]\ngit = true\ndevice = "{device}"\n', "utf-8")
    op = kb.json("repair", "--apply")["op"]
    assert op in git("log", "-1", "--format=%B")
    kb.run("undo", op)
    assert git("log", "-1", "--format=%s").startswith("kb undo")
    assert "Perpetuals" not in git("status", "--porcelain")


@pytest.mark.parametrize(("mode", "device"), [("suggest", "me"), ("auto", "00000000"), ("off", "me")])
def test_never_unasked_elsewhere(kb: Kb, mode: str, device: str) -> None:
    kb.run("index", "--no-vectors")
    configure(kb, mode, kb.json("status")["write"]["this_device"] if device == "me" else device)
    age(kb)
    before = (kb.vault / "Perpetuals.md").read_bytes()
    sidecar = kb.serve("--no-vectors")
    sidecar.settled()
    (kb.vault / "Funding rate.md").rename(kb.vault / "Rate.md")
    if mode == "off":
        sidecar.settled()
        assert sidecar.get("/review")["items"] == []
    else:
        until(lambda: len(sidecar.get("/review")["items"]) >= 1)
    assert (kb.vault / "Perpetuals.md").read_bytes() == before
    assert not (kb.vault / ".history").exists()


def test_not_while_git_works(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    configure(kb, "auto", kb.json("status")["write"]["this_device"])
    (kb.vault / ".git").mkdir()
    (kb.vault / ".git/MERGE_HEAD").write_text("0" * 40)
    age(kb)
    sidecar = kb.serve("--no-vectors")
    sidecar.settled()
    (kb.vault / "Funding rate.md").rename(kb.vault / "Rate.md")
    sidecar.settled()
    assert sidecar.ask("/repair", "POST", {})[1]["plans"]
    assert not (kb.vault / ".history").exists()


def test_what_people_see(kb: Kb) -> None:
    kb.run("index", "--no-vectors")
    put(kb, "typo.md", "[[Perpetuls]]\n")
    moved(kb, "Funding rate.md", "Rate.md")
    assert "can be mended for certain: kb repair --apply" in kb.run("repair").stdout
    said = kb.run("repair", "--apply").stdout
    assert "Take it back with: kb undo" in said
    assert "- [[Perpetuls]]\n" in kb.run("review").stdout.replace("  ", "")
    assert "MB in .history" in kb.run("history").stdout
    assert json.loads(kb.run("history", "--json").stdout)["operations"]
