"""Answers as text for people: the server and the command line print the same.

Plain, aligned by columns of a terminal (a Chinese character takes two), coloured only when asked.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ohmykb.search.layout import PLAIN, WIDEST, clean, columns
from ohmykb.search.layout import Style as Style
from ohmykb.search.layout import pad as pad  # for doctor
from ohmykb.search.probe import Answer

Json = dict[str, Any]

SHARED: Final = 5
"""Neighbours of the same type or domain that are shown as text."""


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
        lines.append(f"{number}. {look.bold(look.cut(hit['title'], 3))}")
        facts = f"{place} · {hit['confidence']} {hit['score']:.2f} · {why} · {hit['cite']}"
        lines += [look.dim(line) for line in look.lines(facts, 3)]
        if hit["snippet"]:
            lines.append(f"   {look.cut(hit['snippet'], 3)}")
    if lines:
        lines.append("")
    lines += look.lines(f"{answer['verdict']}: {_advice(answer)}")
    return _text(lines + _degraded(answer, look))


def _advice(answer: Json) -> str:
    if answer["verdict"] != "skip":
        return VERDICTS[answer["verdict"]]
    if answer["results"]:
        return "nothing certain; the nearest notes are above"
    return "nothing here so far" if "degraded" in answer else VERDICTS["skip"]


def _degraded(answer: Json, look: Style) -> list[str]:
    return [look.dim(line) for line in look.lines(f"({answer['degraded']})")] if "degraded" in answer else []


def query(answer: Json, look: Style = PLAIN) -> str:
    """One row a note, its relations joined; those that only share a type or domain are last, and few."""
    ties: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    shared: dict[str, list[str]] = {}
    for one in answer["neighbors"]:
        titles[one["path"]] = one["title"]
        if one["relation"] in ("type", "domain"):
            shared.setdefault(one["path"], []).append(f"{one['relation']} {one['via']}")
        elif one["hops"] == 2:
            ties.setdefault(one["path"], []).append(f"through {_name(one['via'])}")
        else:
            ties.setdefault(one["path"], []).append(one["relation"] + (f" {one['via']}" if one["via"] else ""))
    few = [path for path in shared if path not in ties]
    rows = [(", ".join(ties[path]), titles[path], path) for path in ties]
    rows += [(", ".join(shared[path]), titles[path], path) for path in few[:SHARED]]
    lines = [*(look.bold(line) for line in look.lines(answer["note"])), *_table(rows, look)]
    if len(few) > SHARED:
        lines += look.lines(f"… and {len(few) - SHARED} more of the same type or domain (--json)", 2)
    if not rows:
        lines.append("  no neighbours")
    if answer["related"]:
        lines += ["", "related, and not linked (kb related)"]
        lines += _table([_tie(one) for one in answer["related"]], look)
    return _text(lines + _degraded(answer, look))


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def related(answer: Json, look: Style = PLAIN) -> str:
    lines = look.lines(answer["note"])
    if answer["related"]:
        lines += _table([_tie(one) for one in answer["related"]], look)
    else:
        lines += look.lines("nothing that belongs with it and is not linked", 2)
    return _text(lines + _degraded(answer, look))


def _tie(one: Json) -> tuple[str, str, str]:
    near = "meaning" if one["nearness"] is not None else ""
    through = f"{len(one['shared'])} shared" if one["shared"] else ""
    return f"{one['score']:.2f} {' + '.join(filter(None, (near, through)))}", one["title"] or "", one["path"]


def orphans(answer: Json, look: Style = PLAIN) -> str:
    lone, isolated = answer["orphans"], set(answer["isolated"])
    share = f"{answer['orphan_rate']:.0%}"
    lines = look.lines(f"{len(lone)} of {answer['notes']} notes ({share}) are linked from no other note")
    for path in lone[: look.most]:
        lines += look.lines(f"{path}{'  (no links at all)' if path in isolated else ''}", 2, 4)
    return _text(lines + _more(len(lone), look) + _degraded(answer, look))


def unresolved(answer: Json, look: Style = PLAIN) -> str:
    """One link a line, as grep prints."""
    found = answer["unresolved"]
    lines = [f"{len(found)} links lead nowhere" if len(found) != 1 else "1 link leads nowhere"]
    for one in found[: look.most]:
        where = one["source"] + (f":{one['line']}" if one["line"] else "")
        meant = f" → {one['suggestions'][0]['path']}" if one["suggestions"] else ""
        lines += look.lines(f"{where}: {one['raw']}{meant}", 0, 4)
    return _text(lines + _more(len(found), look) + _degraded(answer, look))


def problems(answer: Json, look: Style = PLAIN) -> str:
    found = answer["problems"]
    lines = [f"{len(found)} problems" if len(found) != 1 else "1 problem"]
    for one in found[: look.most]:
        where = one["path"] + (f":{one['line']}" if one["line"] else "")
        if look.width:
            lines += [look.bold(line) for line in look.lines(where)]
            lines += look.lines(one["message"], 4)
        else:
            lines += look.lines(f"{where}: {one['message']}")
    return _text(lines + _more(len(found), look) + _degraded(answer, look))


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
    lines += [f"note      {note}" for note in answer.get("remarks", ())]
    return _text(line for long in lines for line in look.lines(long, 0, 10))


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
            f"{answer['changed']} files changed, {answer['removed']} removed, in {seconds:.1f} s",
        ]
    )


def verify(answer: Json, look: Style = PLAIN) -> str:
    if answer["equal"]:
        return "The index equals the disk.\n"
    found = answer["differences"]
    lines = [f"The index differs from the disk in {len(found)} places:"]
    for one in found[: look.most]:
        lines += look.lines(f"{one['path'] or 'index'}: {one['what']}", 2, 4)
    return _text([*lines, *_more(len(found), look), "Mend it with: kb index --rebuild"])


def graph(answer: Json, look: Style = PLAIN) -> str:
    lines = [f"{len(answer['notes'])} notes, {len(answer['links'])} links, {len(answer['problems'])} problems"]
    most = sorted(answer["notes"], key=lambda one: (-one["backlinks"], one["path"]))[:10]
    lines += _table([(f"{one['backlinks']}", one["title"], one["path"]) for one in most if one["backlinks"]], look)
    return _text([*lines, "(--json gives the whole graph)", *_degraded(answer, look)])


def _table(rows: Sequence[tuple[str, str, str]], look: Style) -> list[str]:
    """Three columns, indented, the last a path; a row too long for the terminal takes more lines."""
    room = look.width - 2 if look.width else 3 * WIDEST
    first, second = (min(max((columns(row[number]) for row in rows), default=0), room // 3) for number in (0, 1))
    found = []
    for row in rows:
        one, two, path = map(clean, row)
        line = f"  {pad(one, first)}  {pad(two, second)}  {path}"
        if not look.width or columns(line) <= look.width:
            found.append(line)
        else:
            found += look.lines(f"{one}  {two}", 2, 6)
            found += [look.dim(part) for part in look.lines(path, 6)]
    return found


def _more(count: int, look: Style) -> list[str]:
    if look.most is None or count <= look.most:
        return []
    return look.lines(f"… and {count - look.most} more (--all shows them)", 2)


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
