"""Which note a link should lead to, by which rule, and whether that is certain."""

from typing import Final, NamedTuple

from ohmykb.evolve.broken import Row
from ohmykb.evolve.past import Past
from ohmykb.evolve.plan import Candidate
from ohmykb.note import NotePath
from ohmykb.search.shelf import numbers, stem
from ohmykb.search.suggest import MOST, Names, Suggestion

RENAMED: Final = "renamed"
NONE: Final = "none"
BY_IDENTITY: Final = 1.0
BY_HISTORY: Final = 0.97
"""Between a name that differs in form only and an alias: a name is used again more often than it is misspelled so."""


class Verdict(NamedTuple):
    target: NotePath | None
    rule: str
    confidence: float
    candidates: tuple[Candidate, ...]
    reasons: tuple[str, ...]
    certain: bool = False


def judge(row: Row, past: Past, names: Names) -> Verdict | None:
    """None for a link that leads where it should."""
    known = _remembered(row, past)
    if known is not None and known.target == row.target:
        return None
    if known is None and row.target is not None:
        return None  # it leads somewhere, and nothing says that it led elsewhere
    if known is not None:
        return known
    found = names.suggest(row.link.linkpath, row.source)
    former = past.former(row.link.linkpath)
    candidates = [_candidate(one) for one in found]
    if former is not None and former.path != row.source:
        first = Candidate(NotePath(former.path), BY_HISTORY if former.only else 0.5, RENAMED)
        rest = [one for one in candidates if one.path != former.path]
        candidates = sorted([first, *rest], key=lambda one: -one.score)[:MOST]
    if not candidates:
        return Verdict(None, NONE, 0.0, (), ("No note has a name like this.",))
    best = candidates[0]
    why_not = _doubt(row, past, best, found)
    if not why_not and former is not None and former.path != best.path:
        why_not = f"{former.path} had this name once."
    reasons = (why_not,) if why_not else (_SURE[best.rule],)
    return Verdict(best.path, best.rule, best.score, tuple(candidates), reasons, certain=not why_not)


_SURE: Final = {
    "normalised": "The names differ only by width, dashes, quotes, spaces or case, and no other note is named so.",
    "alias": "The note that was linked is gone, and one note alone has its name as an alias.",
    "converted": "The note that was linked is gone, and one note alone has its name in the other script.",
}
_DOUBTS: Final = {
    RENAMED: "A note had this name, but whether the link meant it is not known.",
    "elsewhere": "A note of this name lies in another folder.",
    "letters": "The names differ by more than their form.",
    "begun": "One name is the beginning of the other.",
    "close": "The names differ by a character.",
    "alike": "The names are alike, no more.",
}


def _remembered(row: Row, past: Past) -> Verdict | None:
    """What is known of the very note the link led to."""
    moved = past.displaced.get(row.mark)
    if moved is not None:
        told = f"It led to what is now {moved.target}" + (f", and leads to {row.target}." if row.target else ".")
        return _known(moved.target, told)
    lost = past.lost.get(row.mark)
    if lost is None or lost.found is None or lost.found == row.source:
        return None
    told = f"It led to {lost.target}, whose text {lost.found} alone has now."
    found = _known(lost.found, told)
    if past.may_be(lost.target, lost.found, lost.at):
        return found
    return found._replace(certain=False, confidence=BY_HISTORY, reasons=(told, "Two notes of one form look so too."))


def _known(target: str, told: str) -> Verdict:
    path = NotePath(target)
    return Verdict(path, RENAMED, BY_IDENTITY, (Candidate(path, BY_IDENTITY, RENAMED),), (told,), certain=True)


def _doubt(row: Row, past: Past, best: Candidate, found: list[Suggestion]) -> str:
    """Why the best is not certain; empty where it is."""
    if best.rule in _DOUBTS:
        return _DOUBTS[best.rule]
    suggestion = next(one for one in found if one.path == best.path)
    if not suggestion.only:
        return "More than one file may be meant."
    if best.rule != "alias" and not _same_numbers(row.link.linkpath, best.path):
        return "The numbers in the names differ."
    if best.rule == "normalised":
        return ""
    if "/" in row.link.linkpath or row.mark not in past.lost:
        return "The link is not known to have led to a note."
    return ""


def _same_numbers(link: str, path: str) -> bool:
    return numbers(stem(link), series=False) == numbers(stem(path), series=False)


def _candidate(one: Suggestion) -> Candidate:
    return Candidate(NotePath(one.path), one.score, one.rule)
