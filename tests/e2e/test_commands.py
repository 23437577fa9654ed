"""The command line as a person or a script meets it: answers, exit codes, and the two ways to an answer."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import apsw
import pytest
from sidecar_process import KB, NOTES, Kb

QUICK = [
    ("probe", "funding rate", "--mode", "token"),
    ("probe", "资金费率", "-n", "2", "--mode", "token"),
    ("probe", "swap", "--mode", "token", "--in", "folder/", "--tag", "crypto", "--since", "2020-01-01"),
    ("probe", "Lonely", "孤独", "--in", "./folder", "--mode", "token"),
    ("query", "Perpetuals"),
    ("query", "Funding rate.md", "--hops", "2", "-n", "5"),
    ("orphans",),
    ("unresolved",),
]
VOLATILE = ("took_ms",)


@pytest.mark.parametrize("args", QUICK, ids=" ".join)
def test_the_quick_way_says_what_the_long_way_says(kb: Kb, args: tuple[str, ...]) -> None:
    """With a sidecar, through the full command line (an argument it alone knows), and without one."""
    sidecar = kb.serve()
    sidecar.settled()
    answers = []
    for more in ((), (f"--vault={kb.vault}",)):
        text = kb.run(*args, *more).stdout
        answer = json.loads(kb.run(*args, "--json", *more).stdout)
        answers.append((text, {**answer, **dict.fromkeys(set(VOLATILE) & set(answer))}))
    sidecar.end()
    text = kb.run(*args).stdout
    answer = kb.json(*args)
    answers.append((text, {**answer, **dict.fromkeys(set(VOLATILE) & set(answer))}))
    assert answers[0] == answers[1] == answers[2]


def test_status_differs_only_in_the_sidecar(kb: Kb) -> None:
    kb.run("index")
    alone = kb.json("status")
    assert alone["sidecar"] == {"running": False, "port": None}
    sidecar = kb.serve()
    sidecar.settled()
    served = kb.json("status")
    assert served["sidecar"] == {"running": True, "port": sidecar.port}
    for key in ("on_disk", "indexed", "pending", "unencoded", "problems", "model", "write"):
        assert alone[key] == served[key], key


def test_status_is_honest_without_a_sidecar(kb: Kb) -> None:
    assert kb.json("status")["pending"] == len(NOTES), "nothing is indexed, nothing is made by asking"
    assert not list((kb.home / "cache").rglob("index.db"))
    kb.run("index")
    assert kb.json("status")["pending"] == 0
    (kb.vault / "Perpetuals.md").write_text("changed", "utf-8")
    (kb.vault / "New.md").write_text("new", "utf-8")
    found = kb.json("status")
    assert (found["on_disk"], found["indexed"], found["pending"]) == (6, 4, 2)


def test_index_counts(kb: Kb) -> None:
    first = kb.json("index")
    assert first["changed"] == first["notes"] == 5
    assert first["links"] == first["resolved"] + first["unresolved"]
    assert first["embeds"] == 1
    assert first["removed"] == 0
    assert first["vectors"] >= first["notes"]
    assert first["duration_ms"] > 0
    (kb.vault / "folder/Perpetual.md").unlink()
    (kb.vault / "Perpetuals.md").write_text("changed", "utf-8")
    second = kb.json("index")
    assert (second["changed"], second["removed"], second["notes"]) == (1, 1, 4)
    third = kb.json("index", "--rebuild", "--no-vectors")
    assert (third["changed"], third["removed"], third["notes"]) == (4, 0, 4)
    assert kb.json("verify")["equal"]


def test_a_sudden_loss_is_believed_at_the_second_look(kb: Kb) -> None:
    for number in range(30):
        (kb.vault / f"{number}.md").write_text("x", "utf-8")
    (kb.vault / ".kb").mkdir()
    (kb.vault / ".kb/config.toml").write_text("[index]\nsettle_s = 0.2\n", "utf-8")
    kb.run("index")
    for number in range(30):
        (kb.vault / f"{number}.md").unlink()
    done = kb.run("index", "--json")
    assert "30 files are missing" in done.stderr
    assert json.loads(done.stdout)["removed"] == 30


def test_verify_finds_a_difference(kb: Kb) -> None:
    kb.run("index")
    (kb.vault / "Perpetuals.md").write_text("changed behind its back", "utf-8")
    answer = kb.json("verify", code=1)
    assert not answer["equal"]
    assert {one["path"] for one in answer["differences"]} >= {"Perpetuals.md"}


def test_a_question_makes_the_index_first_and_says_so(kb: Kb) -> None:
    done = kb.run("probe", "swap", "--json")
    assert "no index" in done.stderr
    assert json.loads(done.stdout)["results"][0]["path"] == "Perpetuals.md"
    assert kb.run("probe", "swap").stderr == ""


@pytest.mark.parametrize(
    ("args", "code", "name"),
    [
        (("query", "Nobody"), 2, "not-found"),
        (("query", "../x"), 2, "usage"),
        (("probe", " "), 2, "usage"),
        (("probe", "a", "--mode", "best"), 2, "usage"),
        (("probe", "a", "-n", "0"), 2, "usage"),
        (("probe", "a", "--since", "soon"), 2, "usage"),
        (("probe", "a", "--in", "../b"), 2, "usage"),
        (("probe", "a", "--what"), 2, "usage"),
        (("nonsense",), 2, "usage"),
        (("index", "--rebuild", "--pause"), 2, "usage"),
    ],
)
def test_errors_are_sentences_with_codes(kb: Kb, args: tuple[str, ...], code: int, name: str) -> None:
    """The same with and without a sidecar."""
    kb.run("index")
    for served in (False, True):
        if served:
            kb.serve().settled()
        done = kb.run(*args, "--json", code=code)
        error = json.loads(done.stdout)["error"]
        assert error["code"] == name
        assert set(error) == {"code", "message", "fix"}
        assert done.stderr.startswith("kb: ")
        assert done.stderr.count("\n") == 1
        assert kb.run(*args, code=code).stdout == ""


def test_an_ambiguous_name(kb: Kb) -> None:
    (kb.vault / "other").mkdir()
    (kb.vault / "other/Perpetual.md").write_text("twin", "utf-8")
    assert kb.json("query", "Perpetual", code=2)["error"]["code"] == "ambiguous"
    assert kb.json("query", "other/Perpetual")["note"] == "other/Perpetual.md"


def test_a_note_by_its_place_on_this_machine(kb: Kb) -> None:
    assert kb.json("query", str(kb.vault / "Perpetuals.md"))["note"] == "Perpetuals.md"


def test_no_vault(kb: Kb, tmp_path: Path) -> None:
    for vault in ("", str(tmp_path / "missing")):
        done = subprocess.run(
            [*KB, "status", "--json"], cwd=tmp_path, env={**kb.env, "OHMYKB_VAULT": vault},
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 3
        assert json.loads(done.stdout)["error"]["code"] == "no-vault"


def test_init_makes_a_vault_of_this_device(kb: Kb, tmp_path: Path) -> None:
    root = tmp_path / "新的 vault"
    answer = kb.json("init", str(root))
    assert answer["notes"] > 30
    assert (root / ".obsidian").is_dir()
    assert (root / ".gitignore").is_file()
    status = kb.json("status", "--vault", str(root))
    assert status["write"]["mode"] == "auto"
    assert status["write"]["device"] == status["write"]["this_device"]
    assert kb.json("init", str(root), code=1)["error"]["code"] == "not-empty"


def test_options_stand_before_or_after_the_command(kb: Kb) -> None:
    kb.run("index")
    expected = kb.run("orphans", "--json").stdout
    assert kb.run("--json", "orphans").stdout == expected
    assert kb.run("--vault", str(kb.vault), "orphans", "--json", env={"OHMYKB_VAULT": ""}).stdout == expected
    assert kb.run("orphans", "--json", f"--vault={kb.vault}", env={"OHMYKB_VAULT": ""}).stdout == expected
    assert kb.json("probe", "Lonely", "-n", "1", "孤独")["query"] == "Lonely 孤独"


def test_a_sidecar_of_another_version(kb: Kb) -> None:
    """An upgrade under a running sidecar: the same API is used with a remark, another one is refused."""
    sidecar = kb.serve()
    sidecar.settled()
    text = kb.discovery.read_text("utf-8")
    said = json.loads(text)
    kb.discovery.write_text(json.dumps({**said, "version": "0.0.1"}), "utf-8")
    done = kb.run("probe", "swap", "--json")
    assert "version 0.0.1" in done.stderr
    assert "kb stop" in done.stderr
    assert json.loads(done.stdout)["results"]
    kb.discovery.write_text(json.dumps({**said, "api": 99, "version": "9.0"}), "utf-8")
    done = kb.run("probe", "swap", code=1)
    assert "9.0" in done.stderr
    assert "kb stop" in done.stderr
    checks = {one["check"]: one["state"] for one in kb.json("doctor", code=1)["checks"]}
    assert checks["sidecar"] == "fail"
    assert kb.json("stop")["stopped"] == sidecar.said["pid"]


def test_a_discovery_file_that_leads_elsewhere(kb: Kb) -> None:
    """Whatever stands in it, the command line answers by itself."""
    kb.run("index")
    sidecar = kb.serve()
    text = kb.discovery.read_text("utf-8")
    sidecar.end()
    place = next((kb.home / "state").iterdir()) / "sidecar.json"
    for content in ("", "{", text, text.replace(sidecar.token, "0" * 64), '"port": x, "token": y', "\x00" * 100):
        place.write_text(content, "utf-8")
        assert kb.json("probe", "swap")["results"], content


def test_doctor(kb: Kb) -> None:
    answer = kb.json("doctor")
    assert answer["ok"]
    assert all(one["state"] in ("ok", "warn", "fail") for one in answer["checks"])
    (kb.vault / ".kb").mkdir()
    (kb.vault / ".kb/config.toml").write_text("[index]\nexclude = 3\n", "utf-8")
    done = kb.run("doctor", code=1)
    assert "FAIL" in done.stdout
    assert "index.exclude" in done.stdout


def test_a_closed_pipe_is_no_error(kb: Kb) -> None:
    kb.run("index")
    for served in (False, True):
        if served:
            kb.serve().settled()
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [*KB, "probe", "swap"],
            env=kb.env, stdout=write, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        os.close(write)
        assert (done.returncode, done.stderr) == (0, b"")


def test_the_unforeseen_is_a_sentence(kb: Kb) -> None:
    """A folder where the database should be: nobody foresaw it, and nobody sees a traceback."""
    kb.run("index")
    place = next((kb.home / "cache").rglob("index.db"))
    place.unlink()
    for left in place.parent.iterdir():
        left.unlink()
    (place / "folder").mkdir(parents=True)
    done = kb.run("index", "--json", code=1)
    assert json.loads(done.stdout)["error"]["message"]
    shutil.rmtree(place)
    kb.run("index")


def test_nothing_is_said_about_commands_to_come(kb: Kb) -> None:
    text = kb.run("--help").stdout
    for later in ("upsert", "mcp", "hook"):
        assert later not in text


def test_help_and_version(kb: Kb) -> None:
    assert kb.run().stdout == kb.run("help").stdout == kb.run("--help").stdout
    assert "--since" in kb.run("help", "probe").stdout
    assert kb.run("version").stdout == kb.run("--version").stdout
    assert "Did you mean probe?" in kb.run("prob", "x", code=2).stderr
    assert "-n should be a whole number from 1 to 200, not 0." in kb.run("probe", "x", "-n", "0", code=2).stderr


def test_a_note_as_people_name_it(kb: Kb) -> None:
    kb.run("index")
    for served in (False, True):
        if served:
            kb.serve().settled()
        for words in (("Funding", "rate"), ("[[Funding rate#Missing|x]]",), ("Funding rate#Missing",)):
            assert kb.json("query", *words)["note"] == "Funding rate.md"
        assert "Did you mean Funding rate.md?" in kb.run("query", "资金费率", code=2).stderr
        done = subprocess.run(
            [*KB, "query", "Perpetual.md", "--json"], cwd=kb.vault / "folder", env=kb.env,
            capture_output=True, encoding="utf-8", check=True,
        )  # fmt: skip
        assert json.loads(done.stdout)["note"] == "folder/Perpetual.md"


def test_nothing_to_be_found_there(kb: Kb) -> None:
    kb.run("index")
    for served in (False, True):
        if served:
            kb.serve().settled()
        assert "no folder nowhere" in kb.json("probe", "swap", "--in", "nowhere")["degraded"]
        assert "no tag #none" in kb.json("probe", "swap", "--tag", "none")["degraded"]


def test_a_half_made_index_is_finished_first(kb: Kb) -> None:
    kb.run("index")
    db = apsw.Connection(str(next((kb.home / "cache").rglob("index.db"))))
    db.execute("UPDATE files SET hash = NULL WHERE path = 'Perpetuals.md'")
    db.close()
    done = kb.run("orphans", "--json")
    assert "1 notes are to go" in done.stderr
    assert "degraded" not in json.loads(done.stdout)
    assert kb.run("orphans").stderr == ""


def test_answers_say_that_changes_wait(kb: Kb) -> None:
    kb.serve().settled()
    assert "degraded" not in kb.json("query", "Perpetuals")
    kb.run("index", "--pause")
    (kb.vault / "New.md").write_text("[[gone]]", "utf-8")
    for _ in range(100):
        if "degraded" in kb.json("orphans"):
            break
        time.sleep(0.05)
    for args in (("probe", "swap"), ("query", "Perpetuals"), ("related", "Perpetuals"), ("orphans",), ("unresolved",)):
        assert "paused" in kb.json(*args)["degraded"]
        assert "paused" in kb.run(*args).stdout


def test_nowhere_to_write(kb: Kb) -> None:
    kb.run("index")
    for served in (False, True):
        if served:
            kb.serve().settled()
        for more in ((), ("--json",)):
            with Path("/dev/full").open("wb") as full:
                done = subprocess.run(
                    [*KB, "status", *more], env=kb.env, stdout=full, stderr=subprocess.PIPE, check=False
                )
            assert done.returncode == 1
            assert done.stderr.startswith(b"kb: The answer cannot be written")
            assert done.stderr.count(b"\n") == 1
            closed = subprocess.run(
                ["sh", "-c", 'exec "$@" >&-', "sh", *KB, "status", *more], env=kb.env, capture_output=True, check=False
            )
            assert (closed.returncode, closed.stderr) == (0, b"")


def test_the_folder_is_gone(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    for vault, code in ((str(kb.vault), 0), ("", 3)):
        done = subprocess.run(
            ["sh", "-c", 'mkdir -p "$0"; cd "$0" && rmdir "$0" && exec "$@"', str(tmp_path / "gone"), *KB, "status"],
            env={**kb.env, "OHMYKB_VAULT": vault}, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "crash" not in done.stderr
