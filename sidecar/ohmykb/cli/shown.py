"""What changes notes, as text for people: plans, the review queue, operations, what was found again."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from ohmykb.cli import diff
from ohmykb.search.layout import PLAIN, Style

Json = dict[str, Any]

MEGABYTE: Final = 1_000_000


def repair(answer: Json, look: Style = PLAIN) -> str:
    """One link a line under its note, what stands and what would stand there; links without a proposal are counted."""
    lines: list[str] = []
    proposed = [row for row in answer["plans"] if row["target"]]
    shown = proposed[: look.most]
    for source, rows in groupby(shown, key=lambda row: row["source"]):
        lines += [look.bold(line) for line in look.lines(source)]
        for row in rows:
            lines += _mend(row, look)
    if len(shown) < len(proposed):
        lines += look.lines(f"… and {len(proposed) - len(shown)} more (--all shows them)", 2)
    if lines:
        lines.append("")
    return _text(lines + _told(answer, look))


def _mend(row: Json, look: Style) -> list[str]:
    where = f"{row['line']}: " if row["line"] else ""
    how = "mended" if row["applied"] else "certain" if row["certain"] else f"likely {row['confidence']:.2f}"
    lines = look.lines(f"{where}{row['raw']} → {row['replacement']}", 2, 6)
    return lines + [look.dim(line) for line in look.lines(f"{row['rule']}, {how}", 6)]


def _told(answer: Json, look: Style) -> list[str]:
    rows = answer["plans"]
    lines: list[str] = []
    if answer["op"]:
        lines += look.lines(f"{_count(answer['applied'], 'link')} mended, as operation {answer['op']}")
        lines += look.lines(f"Take it back with: kb undo {answer['op']}")
    else:
        certain = sum(row["certain"] for row in rows)
        guesses = sum(row["target"] is not None and not row["certain"] for row in rows)
        if certain:
            lines += look.lines(f"{_count(certain, 'link')} can be mended for certain: kb repair --apply")
        if guesses:
            lines += look.lines(
                f"{_count(guesses, 'link')} may mean another note: kb repair --apply puts them to review"
            )
        if not (certain or guesses):
            lines.append("Nothing to mend.")
    if answer["queued"]:
        lines += look.lines(f"{_count(answer['queued'], 'suggestion')} to look at: kb review")
    unknown = sum(row["target"] is None for row in rows)
    if unknown:
        lines += look.lines(f"{_count(unknown, 'link')} to notes that are not there, with no proposal: kb unresolved")
    if answer.get("dead"):
        lines += look.lines(f"{_count(len(answer['dead']), 'link')} dead for long, left as written: kb unresolved")
    for one in answer.get("refused", ()):
        lines += look.lines(f"{one['path']}: {one['message']}", 0, 4)
    return lines


def relink(answer: Json, look: Style = PLAIN) -> str:
    """Links that could be made, under the note they would lead to."""
    lines: list[str] = []
    rows = sorted(answer["plans"], key=lambda row: (row["target"], -row["confidence"], row["source"]))
    for target, group in groupby(rows[: look.most], key=lambda row: row["target"]):
        lines += [look.bold(line) for line in look.lines(f"→ {target}")]
        for row in group:
            how = "made" if row["applied"] else "certain" if row["certain"] else f"likely {row['confidence']:.2f}"
            lines += look.lines(f"{row['source']}:{row['line']}: {row['raw']} → {row['replacement']}  ({how})", 2, 6)
    if look.most is not None and len(rows) > look.most:
        lines += look.lines(f"… and {len(rows) - look.most} more (--all shows them)", 2)
    if answer["applied"]:
        lines += ["", f"{_count(answer['applied'], 'link')} made. Take them back with: kb undo {answer['op']}"]
    elif rows:
        certain = sum(row["certain"] for row in rows)
        lines += ["", f"{_count(certain, 'link')} certain: kb relink --apply makes them, and puts the rest to review."]
    else:
        lines.append("Nobody speaks of these notes without linking to them.")
    if answer["queued"]:
        lines += look.lines(f"{_count(answer['queued'], 'suggestion')} to look at: kb review")
    for one in answer.get("refused", ()):
        lines += look.lines(f"{one['path']}: {one['message']}", 0, 4)
    return _text(lines)


def review(answer: Json, look: Style = PLAIN) -> str:
    lines: list[str] = []
    for one in answer["items"][: look.most]:
        facts = f"{one['kind']} · {one['confidence']:.2f}"
        lines += [look.bold(line) for line in look.lines(f"{one['id']}  {one['summary']}", 0, 10)]
        lines += [look.dim(line) for line in look.lines(facts, 2)]
        for reason in one["reasons"]:
            lines += look.lines(reason, 2, 4)
        lines += [*diff.show(one["diff"], look), ""]
    if not answer["items"]:
        return "Nothing waits for you.\n"
    lines += look.lines(
        f"{_count(answer['total'], 'proposal')} to decide. kb review accept|reject|snooze|keep-new ID …"
    )
    return _text(lines)


def decided(answer: Json, look: Style = PLAIN) -> str:
    """What became of the items that somebody decided on."""
    lines = look.lines(f"{answer['verb']}: {_count(answer['done'], 'proposal')}")
    if answer["op"]:
        lines += look.lines(f"Operation {answer['op']}. Take it back with: kb undo {answer['op']}")
    for one in answer.get("refused", ()):
        lines += look.lines(f"{one['path']}: {one['message']}", 0, 4)
    return _text(lines)


def history(answer: Json, look: Style = PLAIN) -> str:
    """Newest first."""
    lines: list[str] = []
    found = list(reversed(answer["operations"]))
    for one in found[: look.most]:
        undoes = one["undoes"]
        about = f"undoes {undoes if isinstance(undoes, str) else ', '.join(undoes)}" if undoes else one["state"]
        lines += [look.bold(line) for line in look.lines(f"{one['at'][:19].replace('T', ' ')}  {one['kind']}  {about}")]
        lines += [look.dim(line) for line in look.lines(one["id"], 2)]
        paths = [row["path"] for row in one["files"]]
        lines += look.lines(", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else ""), 2, 4)
    if look.most is not None and len(found) > look.most:
        lines += look.lines(f"… and {len(found) - look.most} more (--all shows them)", 2)
    for one in answer["problems"]:
        lines += look.lines(f"{one['op']}: {one['message']}", 0, 4)
    if not found:
        return "Nothing was changed by Oh My KB yet.\n"
    size = answer["size_bytes"] / MEGABYTE
    return _text([*lines, "", *look.lines(f"{_count(len(found), 'operation')}, {size:.1f} MB in .history")])


def undone(answer: Json, look: Style = PLAIN) -> str:
    back = ", ".join(row["path"] for row in answer["files"])
    return _text(
        [*look.lines(f"Undone: {back}", 0, 4), *look.lines(f"Operation {answer['op']}; kb undo of it does it again.")]
    )


def recovered(answer: Json, look: Style = PLAIN) -> str:
    lines: list[str] = []
    for number, one in enumerate(answer["found"], 1):
        when = f" of {one['at'][:19].replace('T', ' ')}" if one["at"] else ""
        place = f"{one['path']}:{one['line']}" if one["line"] else one["path"]
        lines += [look.bold(line) for line in look.lines(f"{number}. {place}  ({_WHERE[one['where']]}{when})", 0, 3)]
        for part in one["snippet"].split("\n"):
            lines += look.lines(part, 3)
    if answer.get("restored"):
        return _text([*look.lines(f"Brought back as {answer['restored']}, operation {answer['op']}.")])
    if not answer["found"]:
        lines += look.lines("It was found nowhere: not in a note, .history, a conflict copy, .trash or git.")
    else:
        lines += ["", *look.lines("Bring one back, beside what is there: kb recover TEXT --restore NUMBER")]
    if answer.get("cut"):
        lines += look.lines(answer["cut"])
    return _text(lines)


_WHERE: Final = {
    "note": "still in the note", "history": "archived version", "conflict-copy": "conflict copy",
    "trash": "trash", "versions": "Syncthing's versions", "git": "git",
}  # fmt: skip


def purged(answer: Json, look: Style = PLAIN) -> str:
    return _text(look.lines(f"{_count(answer['removed'], 'archived version')} of {answer['note']} removed for good."))


def copies(answer: Json, look: Style = PLAIN) -> str:
    lines: list[str] = []
    for one in answer["copies"][: look.most]:
        lines += [look.bold(line) for line in look.lines(one["copy"])]
        lines += look.lines(f"{one['state']}: {one['message']}", 2, 4)
        lines += [*diff.show(one["diff"], look), ""]
    if not answer["copies"]:
        return "There are no conflict copies.\n"
    if answer["op"]:
        return _text([*lines, *look.lines(f"Done, as operation {answer['op']}. Take it back: kb undo {answer['op']}")])
    return _text([*lines, *look.lines("Make one of a copy and its note: kb conflicts COPY --apply")])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"
