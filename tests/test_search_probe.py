"""A probe's answer: its order, reasons, place, filters, citation and verdict; and what the retrieval trials ask."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohmykb.errors import UsageError
from ohmykb.search.asked import where_of
from ohmykb.search.probe import Hit
from trial import Trial


@pytest.fixture
def some(trial: Trial) -> Trial:
    trial.put(
        {
            "wiki/Funding Rate.md": "---\naliases: [资金费率, funding]\ntags: [crypto/perp]\ndate: 2024-05-01\n"
            "author: Ann Lee\n---\n# Funding Rate\n\nPaid every eight hours.\n\n## Sign\n\nPositive when longs pay.\n",
            "wiki/Basis.md": "# Basis\n\nThe basis and the funding rate move together.\n#crypto\n",
            "daily/2024-06-02.md": "Read about the funding rate today. [[Funding Rate]]\n",
            "daily/2023-01-01.md": "Old thoughts on funding.\n",
            "a/Same.md": "one of two #pair\n", "b/Same.md": "two of two #pair\n", "Other.md": "[[Basis]] unrelated\n",
        }
    )  # fmt: skip
    trial.look()
    return trial


def first(trial: Trial, query: str) -> Hit:
    return trial.probe(query).results[0]


@pytest.mark.parametrize(
    ("query", "path", "why"),
    [
        ("funding rate", "wiki/Funding Rate.md", "title"), ("资金费率", "wiki/Funding Rate.md", "alias"),
        ("crypto/perp", "wiki/Funding Rate.md", "tag"), ("Sign", "wiki/Funding Rate.md", "heading"),
        ("Ann Lee", "wiki/Funding Rate.md", "property"), ("daily", "daily/2023-01-01.md", "path"),
        ("longs pay", "wiki/Funding Rate.md", "text"),
    ],
)  # fmt: skip
def test_why(some: Trial, query: str, path: str, why: str) -> None:
    hit = first(some, query)
    assert hit.path == path
    assert why in hit.why


def test_the_place_that_answers(some: Trial) -> None:
    hit = first(some, "longs pay")
    assert (hit.line, hit.heading) == (13, "Sign")
    assert "Positive when longs pay." in hit.snippet
    assert "\n" not in hit.snippet
    assert (some.root / hit.path).read_text().splitlines()[hit.line - 1] == "Positive when longs pay."


def test_the_place_when_folding_changes_the_length(trial: Trial) -> None:
    trial.put({"a.md": "İİİİ e\u0301e\u0301e\u0301\nﬁrst line\nthe needle is here\nlast"})
    trial.look()
    hit = first(trial, "needle")
    assert (hit.line, hit.heading) == (3, None)
    assert "needle" in hit.snippet


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_the_line_whatever_the_line_ends(trial: Trial, ends: str) -> None:
    trial.put({"a.md": ends.join(["# One", "x", "# Two", "y", "the needle", "z"])})
    trial.look()
    hit = first(trial, "needle")
    assert (hit.line, hit.heading) == (5, "Two")


def test_a_heading_is_told_of_its_own_line(trial: Trial) -> None:
    trial.put({"a.md": "# One\n\n## Needle\n\ntext"})
    trial.look()
    hit = first(trial, "needle")
    assert (hit.line, hit.heading) == (3, "Needle")


def test_filters(some: Trial) -> None:
    assert set(some.found("funding")) >= {"wiki/Funding Rate.md", "wiki/Basis.md", "daily/2024-06-02.md"}
    assert some.found("funding", where=where_of("daily")) == ["daily/2024-06-02.md", "daily/2023-01-01.md"]
    assert set(some.found("funding", where=where_of("./daily/"))) == {"daily/2024-06-02.md", "daily/2023-01-01.md"}
    assert set(some.found("funding", where=where_of(None, "#Crypto"))) == {"wiki/Funding Rate.md", "wiki/Basis.md"}
    assert some.found("funding", where=where_of(None, "crypto/perp")) == ["wiki/Funding Rate.md"]
    assert some.found("funding", where=where_of(None, "crypt")) == []
    assert "daily/2023-01-01.md" not in some.found("funding", where=where_of(None, None, "2024-01-01"))
    assert "wiki/Funding Rate.md" not in some.found("funding", where=where_of(None, None, "2024-05-02"))
    assert some.found("funding", where=where_of("wiki", "crypto", "2024-05-01"))[0] == "wiki/Funding Rate.md"
    assert some.found("funding", where=where_of("wik")) == []
    assert some.found("!!", where=where_of("wiki")) == []


def test_a_folder_in_either_form_of_unicode(trial: Trial) -> None:
    trial.put({"e\u0301te\u0301/a.md": "needle #e\u0301te\u0301"})
    trial.look()
    for form in ("été", "e\u0301te\u0301"):
        assert trial.found("needle", where=where_of(form)) == ["e\u0301te\u0301/a.md"]
        assert trial.found("needle", where=where_of(None, form)) == ["e\u0301te\u0301/a.md"]


@pytest.mark.parametrize(
    "asked",
    [
        ("..", None, None), ("../x", None, None), ("/etc", None, None), ("a/../b", None, None), ("", None, None),
        ("a\x00b", None, None), (".git", None, None), (None, "", None), (None, "#", None), (None, None, "yesterday"),
        (None, None, "2024-13-01"), (None, None, ""),
    ],
)  # fmt: skip
def test_filters_that_make_no_sense(asked: tuple[str | None, str | None, str | None]) -> None:
    with pytest.raises(UsageError):
        where_of(*asked)


def test_verdicts(some: Trial) -> None:
    assert some.probe("funding rate").verdict == "read"
    for nonsense in ("qwxzvk plmokn", "量子纠缠退相干", "how do I bake sourdough bread at altitude"):
        assert some.probe(nonsense).verdict == "skip"
    assert some.probe("zzzz").results == ()


def test_an_empty_index_answers(trial: Trial) -> None:
    trial.look()
    answer = trial.probe("anything")
    assert (answer.verdict, answer.results) == ("skip", ())


@pytest.mark.parametrize("query", ["", " ", "\n\t"])
def test_an_empty_question_is_refused(trial: Trial, query: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        trial.probe(query)


def test_degraded_is_said_of_what_vectors_would_answer(some: Trial) -> None:
    assert some.prober.probe("funding", mode="token").degraded is None
    for mode in ("hybrid", "semantic"):
        degraded = some.prober.probe("funding", mode=mode).degraded
        assert degraded is not None


def test_the_number_of_answers(trial: Trial) -> None:
    trial.put({f"{number}.md": f"needle {number}" for number in range(250)})
    trial.look()
    for asked, given_ in ((-1, 1), (0, 1), (1, 1), (5, 5), (200, 200), (9999, 200)):
        assert len(trial.found("needle", n=asked)) == given_


def test_the_same_question_gets_the_same_answer(some: Trial) -> None:
    answers = [some.probe("funding rate crypto basis") for _ in range(3)]
    assert answers[0].results == answers[1].results == answers[2].results
    scores = [hit.score for hit in answers[0].results]
    assert scores == sorted(scores, reverse=True)


def test_backlinks_weigh_in(trial: Trial) -> None:
    trial.put({"a/x.md": "the needle", "b/x.md": "the needle"} | {f"n{n}.md": "[[b/x]]" for n in range(9)})
    trial.look()
    assert trial.found("needle") == ["b/x.md", "a/x.md"]


def test_search_only_notes_are_found(some: Trial) -> None:
    some.configure('[index]\nsearch_only = ["daily/"]\n')
    some.look()
    assert "daily/2023-01-01.md" in some.found("funding")


# --- citations

NAMES = st.sampled_from(
    ["Note", "note", "NOTE", "a b", "资金", "x.md", "v1.2", "é", "e\u0301", "A#1", "x|y", "[z]", "p^q", "fig.png"]
)
FOLDERS = st.sampled_from(["", "a/", "a/b/", "b/", "Note/", "资/", "a b/", "c#/"])
PATHS = st.tuples(FOLDERS, NAMES, st.sampled_from([".md", ".md", ".md", ".canvas"])).map("".join)


@settings(max_examples=60)
@given(st.lists(PATHS, min_size=2, max_size=8, unique=True), FOLDERS)
def test_a_citation_leads_to_this_very_note(
    tmp_path_factory: pytest.TempPathFactory, paths: list[str], source: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OHMYKB_HOME", str(tmp_path_factory.mktemp("home")))
        trial = Trial(tmp_path_factory.mktemp("vault"))
        card = '{"nodes":[{"type":"text","text":"needle"}]}'
        trial.put({path: card if path.endswith(".canvas") else "needle" for path in paths} | {"fig.png": "x"})
        trial.look()
        hits = trial.probe("needle").results
        assert {hit.path for hit in hits} == set(paths)
        trial.put({f"{source}citing.md": "\n\n".join(hit.cite for hit in hits)})
        trial.look()
        assert trial.targets(f"{source}citing.md") == [hit.path for hit in hits], [hit.cite for hit in hits]
        trial.close()


# --- the retrieval trials

AT_LEAST = {"keyword": ("r10", 1.0), "tag": ("r5", 0.95), "alias": ("r5", 0.95)}


def recall(relevant: set[str], paths: list[str], k: int) -> float:
    """As shared/retrieval/score.py counts it."""
    return len(relevant & set(paths[:k])) / min(k, len(relevant))


def test_retrieval(shared: Path, tmp_path: Path, trial_at: Callable[[Path], Trial]) -> None:
    shutil.copytree(shared / "retrieval/vault", tmp_path / "vault")
    trial = trial_at(tmp_path / "vault")
    trial.look()
    queries = [json.loads(line) for line in (shared / "retrieval/queries.jsonl").read_text("utf-8").splitlines()]
    scores: dict[str, list[float]] = {}
    skipped = []
    for query in queries:
        answer = trial.probe(query["query"], n=10)
        if query["type"] == "negative":
            skipped.append(answer.verdict == "skip")
        elif query["type"] in AT_LEAST:
            k = int(AT_LEAST[query["type"]][0][1:])
            paths = [hit.path for hit in answer.results]
            scores.setdefault(query["type"], []).append(recall(set(query["relevant"]), paths, k))
    assert scores.keys() == AT_LEAST.keys()
    for kind, found in scores.items():
        assert sum(found) / len(found) >= AT_LEAST[kind][1], kind
    assert sum(skipped) / len(skipped) >= 0.5
