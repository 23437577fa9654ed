"""Unified diffs of notes, as `diff -u` writes them."""

from difflib import SequenceMatcher, unified_diff

from ohmykb.markdown.edits import Edit

CONTEXT = 2
"""Unchanged lines shown around a change."""


def unified(path: str, before: str | None, after: str | None) -> str:
    """None: the file is not there. A last line without its newline is marked as `diff` marks it."""
    old, new = _lines(before), _lines(after)
    named = unified_diff(
        old, new, "/dev/null" if before is None else path, "/dev/null" if after is None else path, n=CONTEXT
    )
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in named)


def _lines(text: str | None) -> list[str]:
    """Split at newlines only: what else Python takes for a line end is text."""
    if not text:
        return []
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.rpartition("\n")[2]] if text[-1] != "\n" else [])


def edits_between(before: str, after: str) -> list[Edit]:
    """Small edits that make `after` of `before`: whole lines are matched, then trimmed to what differs."""
    old, new = _lines(before), _lines(after)
    places = [0]
    for line in old:
        places.append(places[-1] + len(line))
    found = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found.append(_trimmed(before, places[i1], places[i2], "".join(new[j1:j2])))
    return found


def _trimmed(before: str, start: int, end: int, text: str) -> Edit:
    most = min(end - start, len(text))
    same = 0
    while same < most and before[start + same] == text[same]:
        same += 1
    last = 0
    while last < most - same and before[end - 1 - last] == text[len(text) - 1 - last]:
        last += 1
    # Neither half of what JavaScript counts as two, nor of a line end, is left outside.
    if same and before[start + same - 1] == "\r":
        same -= 1
    return Edit(start + same, end - last, text[same : len(text) - last])
