"""Answers as text for people: the server and the command line print the same.

Plain, aligned by columns of a terminal (a Chinese character takes two), coloured only when asked.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category, east_asian_width

from ohmykb.search.probe import Answer

Json = dict[str, Any]

WIDEST = 110
NARROWEST = 40
LISTED = 40
"""Rows of a list before it is cut; `--json` has them all."""


@dataclass(frozen=True, slots=True)
class Style:
    """How wide to print, and whether in colour."""

    width: int = 100
    colour: bool = False

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.colour else text


PLAIN = Style()


def style(width: int, *, colour: bool) -> Style:
    """For a terminal of `width` columns; 0 where there is none."""
    return Style(min(max(width, NARROWEST), WIDEST) if width else PLAIN.width, colour)


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, width: int) -> str:
    return text + " " * max(width - columns(text), 0)


def clip(text: str, width: int) -> str:
    """Cut to `width` columns, with an ellipsis, and safe to print."""
    text = "".join(c if c.isprintable() else " " for c in text)
    if columns(text) <= width:
        return text
    kept, taken = [], 1
    for char in text:
        taken += columns(char)
        if taken > width:
            break
        kept.append(char)
    return "".join(kept) + "…"


def clip_path(path: str, width: int) -> str:
    """A path cut at its beginning: the name tells more."""
    path = "".join(c if c.isprintable() else " " for c in path)
    if columns(path) <= width:
        return path
    kept, taken = [], 1
    for char in reversed(path):
        taken += columns(char)
        if taken > width:
            break
        kept.append(char)
    return "…" + "".join(reversed(kept))


def probe_json(answer: Answer) -> Json:
    """An answer in the shape of the contract."""
    found: Json = {
        "query": answer.query,
        "mode": answer.mode,
        "verdict": answer.verdict,
        "took_ms": answer.took_ms,
        "results": [
            {
                "path": hit.path, "title": hit.title, "score": hit.score, "confidence": hit.confidence,
                "why": list(hit.why), "heading": hit.heading, "line": hit.line, "snippet": hit.snippet,
                "cite": hit.cite,
            }
            for hit in answer.results
        ],
    }  # fmt: skip
    if answer.degraded is not None:
        found["degraded"] = answer.degraded
    return found


VERDICTS = {
    "read": "worth opening",
    "glance": "a glance at the titles may help",
    "skip": "nothing here that answers",
}


def probe(answer: Json, look: Style = PLAIN) -> str:
    lines = []
    for number, hit in enumerate(answer["results"], 1):
        place = f"{hit['path']}:{hit['line']}"
        why = ", ".join(hit["why"])
        lines.append(f"{number}. {look.bold(clip(hit['title'], look.width - 4))}")
        facts = f"{place} · {hit['confidence']} {hit['score']:.2f} · {why}"
        lines.append(look.dim(f"   {clip(facts, look.width - 3)}"))
        if hit["snippet"]:
            lines.append(f"   {clip(hit['snippet'], look.width - 3)}")
    if lines:
        lines.append("")
    lines.append(f"{answer['verdict']}: {VERDICTS[answer['verdict']]}")
    if "degraded" in answer:
        lines.append(look.dim(f"({answer['degraded']})"))
    return _text(lines)


def query(answer: Json, look: Style = PLAIN) -> str:
    lines = [look.bold(answer["note"])]
    if not answer["neighbors"]:
        lines.append("  no neighbours")
    lines += _table(
        [
            (
                one["relation"] if one["hops"] == 1 else f"· {one['relation']}",
                one["title"] + (f" ({one['via']})" if one["via"] and one["hops"] == 1 else ""),
                one["path"],
            )
            for one in answer["neighbors"]
        ],
        look,
    )
    if answer["related"]:
        lines += ["", "related, through shared neighbours"]
        lines += _table([(f"{one['score']:.2f}", one["title"], one["path"]) for one in answer["related"]], look)
    return _text(lines)


def related(answer: Json, look: Style = PLAIN) -> str:
    if not answer["related"]:
        return _text([answer["note"], "  nothing that belongs with it and is not linked"])
    return _text([answer["note"], *_table([_tie(one) for one in answer["related"]], look)])


def _tie(one: Json) -> tuple[str, str, str]:
    near = "meaning" if one["nearness"] is not None else ""
    through = f"{len(one['shared'])} shared" if one["shared"] else ""
    return f"{one['score']:.2f} {' + '.join(filter(None, (near, through)))}", one["title"], one["path"]


def orphans(answer: Json, look: Style = PLAIN) -> str:
    lone, isolated = answer["orphans"], set(answer["isolated"])
    share = f"{answer['orphan_rate']:.0%}"
    lines = [f"{len(lone)} of {answer['notes']} notes ({share}) are linked from no other note"]
    lines += _cut([clip(f"  {path}{'  (no links at all)' if path in isolated else ''}", look.width) for path in lone])
    return _text(lines)


def unresolved(answer: Json, look: Style = PLAIN) -> str:
    found = answer["unresolved"]
    lines = [f"{len(found)} links lead nowhere" if len(found) != 1 else "1 link leads nowhere"]
    rows = [
        (
            one["source"] + (f":{one['line']}" if one["line"] else ""),
            one["raw"],
            one["suggestions"][0]["path"] if one["suggestions"] else "",
        )
        for one in found
    ]
    lines += _cut(_table(rows, look, (clip_path, clip, _cut_arrow)))
    return _text(lines)


def problems(answer: Json, look: Style = PLAIN) -> str:
    found = answer["problems"]
    lines = [f"{len(found)} problems" if len(found) != 1 else "1 problem"]
    for one in found[:LISTED]:
        where = one["path"] + (f":{one['line']}" if one["line"] else "")
        lines.append(f"  {look.bold(clip(where, look.width - 2))}")
        lines.append(f"    {clip(one['message'], look.width - 4)}")
    return _text(lines + _more(len(found)))


def _vectors(answer: Json) -> str:
    model = answer["model"]["id"]
    if model is None:
        return "vectors   none yet: probes go by words"
    missing = f", {answer['unencoded']} texts to go" if answer["unencoded"] else ""
    return f"vectors   {model}{missing}"


def status(answer: Json, look: Style = PLAIN) -> str:
    side = answer["sidecar"]
    lines = [
        f"notes     {answer['indexed']} of {answer['on_disk']} indexed"
        + (f", {answer['pending']} pending" if answer["pending"] else ""),
        f"problems  {answer['problems']}" + ("  (kb problems)" if answer["problems"] else ""),
        f"sidecar   {'running on port ' + str(side['port']) if side['running'] else 'not running (kb serve)'}",
        _vectors(answer),
        f"writing   {answer['write']['mode']}, {_writer(answer['write'])}",
    ]
    work = answer.get("work")
    if work and work["state"] != "ready":
        counted = f" {work['done']} of {work['total']}" if work["total"] else ""
        lines.append(f"now       {work['state']}{counted} {work['message']}".rstrip())
    if work and work["held"]:
        lines.append(f"waiting   {work['held']} files are missing; nothing is dropped before a second look agrees")
    lines += [f"note      {clip(note, look.width - 10)}" for note in answer.get("remarks", ())]
    return _text(lines)


def _writer(write: Json) -> str:
    if write["device"] is None:
        return "no device writes unasked"
    return "this device is the writer" if write["device"] == write["this_device"] else "another device is the writer"


def index(answer: Json, look: Style = PLAIN) -> str:  # noqa: ARG001 - one signature for all
    seconds = answer["duration_ms"] / 1000
    return _text(
        [
            f"{answer['notes']} notes, {answer['links']} links ({answer['unresolved']} lead nowhere)",
            f"{answer['tags']} tags, {answer['problems']} problems",
            f"{answer['changed']} changed, {answer['removed']} removed, in {seconds:.1f} s",
        ]
    )


def verify(answer: Json, look: Style = PLAIN) -> str:
    if answer["equal"]:
        return "The index equals the disk.\n"
    found = answer["differences"]
    lines = [f"The index differs from the disk in {len(found)} places:"]
    lines += [clip(f"  {one['path'] or 'index'}: {one['what']}", look.width) for one in found[:LISTED]]
    return _text([*lines, *_more(len(found)), "Mend it with: kb index --rebuild"])


def graph(answer: Json, look: Style = PLAIN) -> str:
    lines = [f"{len(answer['notes'])} notes, {len(answer['links'])} links, {len(answer['problems'])} problems"]
    most = sorted(answer["notes"], key=lambda one: (-one["backlinks"], one["path"]))[:10]
    lines += _table([(f"{one['backlinks']}", one["title"], one["path"]) for one in most if one["backlinks"]], look)
    return _text([*lines, "(--json gives the whole graph)"])


Cut = Callable[[str, int], str]


def _table(
    rows: Sequence[tuple[str, str, str]], look: Style, cuts: tuple[Cut, Cut, Cut] = (clip, clip, clip_path)
) -> list[str]:
    """Three columns, indented: the first two as wide as needed, within bounds; the last is cut."""
    room = look.width - 2
    first, second = (min(max((columns(row[number]) for row in rows), default=0), room // 3) for number in (0, 1))
    third = max(room - first - second - 4, 10)
    return [
        f"  {pad(cuts[0](one, first), first)}  {pad(cuts[1](two, second), second)}  {cuts[2](three, third)}".rstrip()
        for one, two, three in rows
    ]


def _cut_arrow(text: str, width: int) -> str:
    return f"→ {clip_path(text, width - 2)}" if text else ""


def _cut(lines: list[str]) -> list[str]:
    return lines[:LISTED] + _more(len(lines))


def _more(count: int) -> list[str]:
    return [f"  … and {count - LISTED} more (--json lists them all)"] if count > LISTED else []


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
