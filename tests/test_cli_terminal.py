"""Progress: on a terminal, and nowhere else."""

import io

from ohmykb.cli.terminal import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    bar = Progress(stream)
    bar(0, 0, "looking")
    bar(1, 4, "too soon to draw again")
    bar(4, 4, "reading")
    drawn = stream.getvalue()
    assert drawn.startswith("\rlooking …")
    assert "too soon" not in drawn
    assert "█" * 24 + " 4/4" in drawn
    bar.end()
    assert stream.getvalue().endswith("\r")
    assert stream.getvalue().rsplit("\r", 2)[1].strip() == ""


def test_nothing_elsewhere() -> None:
    stream = io.StringIO()
    bar = Progress(stream)
    bar(1, 2, "reading")
    bar.end()
    assert stream.getvalue() == ""
