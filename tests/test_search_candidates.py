"""Whatever a plain substring search finds, a probe finds: through files, the index and the question."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ohmykb.markdown.words import fold, tokens
from ohmykb.store.fulltext import Where
from trial import Trial

NOTES = 5
LETTERS = st.sampled_from("abcABCxyz019éÉñßøÅıİſΑαяЯ资金费率資費永续合約的ＡＢ１２ｶﾞカガ한국ไทยก้ा𠀀😀👍🏽")
GAPS = st.sampled_from(
    ["", "", "", " ", " ", "\n", ".", ",", "，", "。", "-", "_", "/", "'", "\u200b", "(", "#", "*", "：", "\t"]
)
TEXTS = st.lists(st.tuples(st.text(LETTERS, min_size=1, max_size=5), GAPS), min_size=1, max_size=10).map(
    lambda parts: "".join(a + b for a, b in parts)
)


@pytest.fixture(scope="module")
def standing_trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OHMYKB_HOME", str(tmp_path_factory.mktemp("home")))
        return Trial(tmp_path_factory.mktemp("vault"))


@settings(max_examples=150)
@given(st.lists(TEXTS, min_size=NOTES, max_size=NOTES), st.integers(0, NOTES - 1), st.data())
def test_what_a_substring_search_finds(
    standing_trial: Trial, texts: list[str], source: int, data: st.DataObject
) -> None:
    trial = standing_trial
    start = data.draw(st.integers(0, len(texts[source]) - 1))
    end = data.draw(st.integers(start + 1, min(len(texts[source]), start + 12)))
    query = texts[source][start:end]
    check(trial, texts, query)


def check(trial: Trial, texts: list[str], query: str) -> None:
    trial.put({f"{number}.md": text for number, text in enumerate(texts)})
    trial.settle()
    wanted = " ".join(fold(query).split())
    if not tokens(query):
        return
    holding = {f"{number}.md" for number, text in enumerate(texts) if wanted in fold(text)}
    found = set(trial.found(query, n=200))
    missed = {text for number, text in enumerate(texts) if f"{number}.md" in holding - found}
    assert not missed, (query, tokens(query), missed)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("资金费率是每八小时结算一次的。", "率"),
        ("资金费率", "金费"),
        ("资金费率", "资"),
        ("资金费率。", "率"),
        ("看BTC资金", "c资"),
        ("看BTC资金", "BTC"),
        ("看BTC资金", "tc资金"),
        ("資金費率", "资金费率"),
        ("资金费率", "資金費率"),
        ("ＢＴＣ　１２３", "btc 123"),
        ("btc 123", "ＢＴＣ１２３"[:3]),
        ("café", "cafe"),
        ("cafe", "Café"),
        ("cafe\u0301 noir", "café"),
        ("straße", "aße"),
        ("İstanbul", "stanbul"),
        ("naïveté", "aivet"),
        ("database", "tabas"),
        ("database", "b"),
        ("ab", "b"),
        ("x1y2", "1y"),
        ("foo bar", "oo ba"),
        ("a.b.c", "b.c"),
        ("привет мир", "риве"),
        ("привет", "т"),
        ("Ελλάδα", "λλά"),
        ("한국어", "국"),
        ("ภาษาไทย", "ษาไ"),
        ("カタカナ", "タカ"),
        ("ｶﾀｶﾅ", "カタ"),
        ("😀👍", "👍"),
        ("x😀y", "x😀y"),
        ("𠀀𠀁", "𠀁"),
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "996fb92427ae"),
        ("x" * 60 + "needle" + "y" * 60, "needle"),
        ("a_b-c", "b-c"),
        ("don't", "n't"),
        ("C++ and C#", "C++"),
        ("1,234.56", "34.5"),
        ("中文English混排", "文English混"),
        ("中文English混排", "lish混"),
        ("你好，世界", "好，世"),
        ("https://example.com/a?b=c", "ple.com/a?b"),
        ("第1章", "1章"),
        ("第1章", "第1"),
        ("10月", "0月"),
        ("A股", "a股"),
        ("々〇", "〇"),
        ("①②", "②"),
    ],
)
def test_found(trial: Trial, text: str, query: str) -> None:
    trial.put({"it.md": f"before\n{text}\nafter", "other.md": "nothing of it, 无关"})
    trial.look()
    assert "it.md" in trial.found(query)


@pytest.mark.parametrize("where", ["title", "alias", "tag", "heading", "property", "path", "canvas"])
@pytest.mark.parametrize("word", ["unmistakable", "资金费率", "misTAKab", "金费"])
def test_found_wherever_it_stands(trial: Trial, where: str, word: str) -> None:
    whole = "unmistakable" if word.isascii() else "资金费率"
    trial.put(
        {
            "title": {f"a {whole}.md": ""}, "alias": {"a.md": f"---\naliases: [{whole}]\n---\n"},
            "tag": {"a.md": f"#x/{whole}"}, "heading": {"a.md": f"# {whole}"},
            "property": {"a.md": f"---\nauthor: {whole}\n---\n"}, "path": {f"dir {whole}/a.md": ""},
            "canvas": {"a.canvas": f'{{"nodes":[{{"type":"text","text":"{whole}"}}]}}'},
        }[where]
        | {f"other{number}.md": f"other {number}" for number in range(30)}
    )  # fmt: skip
    trial.look()
    found = trial.probe(word)
    assert len(found.results) == 1
    if where not in ("title", "canvas"):
        assert where in found.results[0].why


@pytest.mark.parametrize(
    "query", ["zjfl", "zijin", "zijinfeilv", "ZJFL", "zi jin", "jinfei", "jfl", "zijinfei", "feilv"]
)
def test_pinyin_finds_names(trial: Trial, query: str) -> None:
    trial.put(
        {"概念/资金费率.md": "内容", "b.md": "---\naliases: [資金費率表]\n---\n", "zz.md": "资金费率 in the text only"}
    )
    trial.look()
    assert {"概念/资金费率.md", "b.md"} <= set(trial.found(query))


def test_pinyin_of_a_character_with_two_readings(trial: Trial) -> None:
    trial.put({"银行.md": "", "重庆.md": "", "长大.md": ""})
    trial.look()
    for query, path in (("yinhang", "银行.md"), ("chongqing", "重庆.md"), ("cq", "重庆.md"), ("zhangda", "长大.md")):
        assert trial.found(query)[:1] == [path]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "*",
        "(",
        ")",
        "NEAR",
        "AND",
        "OR",
        "NOT",
        ":",
        "^",
        "-",
        "NEAR(a b)",
        '"a',
        'a"b',
        "a*",
        "*a",
        "a:b",
        "body:word",
        "{name} : word",
        "a AND",
        "AND a",
        "a - b",
        "^word",
        "word^2",
        "a + b",
        "'",
        "''; DROP TABLE files; --",
        "\\",
        "%",
        "_",
        "a\x00b",
        "\x00",
        "\ud83d",
        "\ue000zjfl",
        "{sound} : x",
        "..",
        "...",
        "!?",
        "，。",
        "😀",
        "\u200b",
        "\ufeff",
        "[[x]]",
        "#tag",
        "[[",
        "word " * 500,
        "资" * 3000,
        "x" * 5000,
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "\n",
        " \t x",
        " ".join(chr(c) for c in range(0x4E00, 0x4F00)),
        "\u202eabc",
        "é" * 100,
        "ﷺ",
        "ǆ",
        "İ",
        "\x1f",
        "a\x1fb",
    ],
)
def test_no_query_breaks(trial: Trial, query: str) -> None:
    trial.put({"a.md": "word AND near * (x) ^y - a:b 资金 😀 x\x1fy", "b.md": "# a\nword word"})
    trial.look()
    if not query.strip():
        return
    answer = trial.probe(query)
    assert answer.verdict in ("read", "glance", "skip")
    for hit in answer.results:
        assert 0 <= hit.score <= 1
        assert hit.line >= 1
        assert hit.why


@settings(max_examples=200)
@given(st.text(max_size=30), st.sampled_from([Where(), Where("a"), Where(None, "t"), Where(None, None, "2024-01-01")]))
@example('"', Where())
def test_no_text_breaks(standing_trial: Trial, query: str, where: Where) -> None:
    if query.strip():
        standing_trial.prober.probe(query, where=where)


def test_signs_without_words_are_looked_for_to_the_letter(trial: Trial) -> None:
    trial.put({"a.md": "an arrow --> here", "b.md": "none", "c.md": "(ノಠ益ಠ)ノ !!??"})
    trial.look()
    assert trial.found("-->") == ["a.md"]
    assert trial.found("!!??") == ["c.md"]


def test_a_word_in_every_note_and_a_rare_one(trial: Trial) -> None:
    trial.put({f"{number}.md": f"common text {number}" for number in range(300)} | {"rare.md": "common unicorn"})
    trial.look()
    assert trial.found("unicorn") == ["rare.md"]
    assert trial.found("common unicorn", n=5)[0] == "rare.md"
    assert len(trial.found("common", n=200)) == 200


def test_more_words_hold_a_part_than_are_tried(trial: Trial) -> None:
    """Beyond the limit of expansions the answers are as many as asked for all the same."""
    trial.put({f"{number}.md": f"q{number:03}zebra{number:03}q" for number in range(150)})
    trial.look()
    assert len(trial.found("zebra", n=20)) == 20
    assert trial.found("zebra149q") == ["149.md"]


def test_new_words_are_found_in_parts(trial: Trial) -> None:
    trial.put({"a.md": "first"})
    trial.look()
    assert trial.found("irs") == ["a.md"]
    trial.put({"b.md": "hippopotamus"})
    trial.look()
    assert trial.found("popot") == ["b.md"]


def test_after_a_rebuild_parts_are_found(trial: Trial, trial_at: Callable[[Path], Trial]) -> None:
    trial.put({"a.md": "hippopotamus"})
    trial.look()
    assert trial.found("popot") == ["a.md"]
    trial.reopen()
    assert trial.found("popot") == ["a.md"]


def test_a_part_that_very_many_words_hold(trial: Trial) -> None:
    trial.put(
        {f"{number}.md": " ".join(f"a{number}x{count}zebra{count}" for count in range(15)) for number in range(100)}
    )
    trial.look()
    assert len(trial.found("zebra", n=100)) == 100
    assert len(trial.found("zeb ebr", n=100)) == 100
