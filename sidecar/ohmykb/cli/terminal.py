"""Everything that is printed: answers on stdout, progress and remarks on stderr."""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Final, TextIO

from ohmykb.cli.entry import write
from ohmykb.errors import KbError
from ohmykb.search.layout import Style, clip, columns, style

BAR: Final = 24
REDRAW_S: Final = 0.1

Json = dict[str, Any]


def look(*, everything: bool = False) -> Style:
    """Of this terminal; plain where stdout is none."""
    if not sys.stdout.isatty():
        return style(0, colour=False)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.platform == "win32"
    try:
        width = os.get_terminal_size(1).columns
    except OSError:
        width = 0
    return style(width or 80, colour=not plain, everything=everything)


def put(text: str) -> None:
    """On stdout, in UTF-8 wherever it goes."""
    write(text.encode("utf-8", "replace"))


def put_json(answer: Any) -> None:
    put(json.dumps(answer, ensure_ascii=False) + "\n")


def show(answer: Json, text: Callable[[Json, Style], str], *, as_json: bool, everything: bool = False) -> None:
    if as_json:
        put_json(answer)
    else:
        put(text(answer, look(everything=everything)))


def say(text: str) -> None:
    """A remark on stderr."""
    tell(f"kb: {text}")


def tell(text: str) -> None:
    """News on stderr, for whoever sits at the terminal."""
    sys.stderr.write(f"{text.encode(errors='replace').decode()}\n")
    sys.stderr.flush()


def complain(error: KbError, *, as_json: bool) -> None:
    """One sentence that says what to do."""
    fix = f" {error.fix}" + ("" if error.fix.endswith(("?", "…", ".")) else ".") if error.fix else ""
    say(error.message + fix)
    if as_json:
        put_json({"error": {"code": error.code, "message": error.message, "fix": error.fix}})


class Progress:
    """A bar on a terminal, nothing elsewhere. Called with (done, total, what)."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._on = stream.isatty()
        self._drawn = 0.0
        self._width = 0

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if not self._on or (now - self._drawn < REDRAW_S and done < total):
            return
        self._drawn = now
        full = BAR * done // total if total else 0
        line = f"{what} {'█' * full}{'░' * (BAR - full)} {done}/{total}" if total else f"{what} …"
        line = clip(line, 79)
        self._stream.write("\r" + line + " " * max(self._width - columns(line), 0))
        self._stream.flush()
        self._width = columns(line)

    def end(self) -> None:
        """Wipes the bar."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0
