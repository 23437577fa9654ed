"""Lines that stand all over a vault say nothing of a note."""

import pytest

from models.tiny import Tiny
from ohmykb.index.frames import FRAME, Frames
from trial import Trial

DAY = "# 2024-05-{:02}\n\n## Tasks 任务\n- [ ] mail\n\n## Log\n{}\n"


def test_lines_of_many_notes_are_left_out() -> None:
    days = [DAY.format(n, f"unlike {chr(97 + n)}") for n in range(FRAME)]
    frames = Frames(days)
    assert [frames.strip(day) for day in days] == [f"unlike {chr(97 + n)}" for n in range(FRAME)]


def test_lines_of_few_notes_stay() -> None:
    days = [DAY.format(n, "x") for n in range(FRAME - 1)]
    assert Frames(days).strip(days[0]) == days[0].strip()


def test_a_line_that_repeats_within_one_note_is_no_frame() -> None:
    assert Frames(["same\n" * 50]).strip("same") == "same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("## Day 1 of 30", "## Day 29 of 31"), ("a  b", " a b\t"), ("12:30", "09:05"),
        ("created 2024-05-01", "created 2025-11-30"), ("日期：2024年5月1日", "日期：2025年11月30日"),
        ("ISBN 9787111", "ISBN 9780201"),
    ],
)  # fmt: skip
def test_what_a_frame_fills_in_makes_no_difference(one: str, other: str) -> None:
    assert Frames([one] * FRAME).strip(f"{other}\nown words") == "own words"


def test_figures_that_were_noted_stay() -> None:
    """Of a log of measurements nothing would be left otherwise."""
    logs = [f"Temp {n}.{n}\n体重 {60 + n} kg" for n in range(2 * FRAME)]
    assert [Frames(logs).strip(log) for log in logs] == logs


@pytest.mark.parametrize(
    "log",
    ["Ran five kilometres", "Temp 21.3\nTemp 21.3", "# Run\nRan five kilometres", "- [x] swam", "Woke: 07:30 rested"],
)
def test_a_text_of_frame_alone_keeps_its_text(log: str) -> None:
    assert Frames([log] * (2 * FRAME)).strip(log) == log


@pytest.mark.parametrize(
    "template",
    [
        "# 2024-05-01\n\n## Tasks\n- [ ]\n- \n\n---\n## Log\n",
        "日期：2024-05-01\n## 任务\n- [ ] ",
        "Date: 2024-05-01\nMood:\n",
    ],
)
def test_of_a_template_that_nobody_filled_in_nothing_is_left(template: str) -> None:
    assert Frames([template] * FRAME).strip(template) == ""


def test_what_has_more_to_say_than_a_label_is_no_frame_for_its_date() -> None:
    said = [f"On 2024-05-{n:02} the bank raised the rate for deposits again" for n in range(1, 2 * FRAME)]
    whole = [f"{one}\nown words {one[11:13]}" for one in said]
    assert [Frames(whole).strip(one) for one in whole] == whole


def test_a_log_of_measurements_is_found_by_meaning(trial: Trial) -> None:
    trial.put({f"log/{n:02}.md": f"## Day {n}\n\nfever measured in the evening" for n in range(2 * FRAME)})
    trial.look()
    tiny = Tiny()
    trial.encode(tiny)
    assert sum("fever measured" in text for text in tiny.passages) == 2 * FRAME


def test_other_words_do(trial: Trial) -> None:
    assert Frames(["Day one"] * FRAME).strip("Day two") == "Day two"


def test_frames_are_not_encoded_and_still_found(trial: Trial) -> None:
    trial.put({f"daily/2024-05-{n:02}.md": DAY.format(n, f"walked to {name}") for n, name in enumerate(PLACES, 1)})
    trial.look()
    tiny = Tiny()
    trial.encode(tiny)
    assert not [text for text in tiny.passages if "Tasks" in text or "mail" in text]
    assert sum("walked to" in text for text in tiny.passages) == len(PLACES)
    assert len(trial.found("任务")) == len(PLACES)


PLACES = ["the pond", "a mill", "some church", "our school", "that market", "his barn"]
