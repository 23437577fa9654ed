"""The place in a note that answers: its line, the heading above it, and a few words around."""

import json
from typing import NamedTuple

from ohmykb.search.question import Question
from ohmykb.search.score import Judged

BEFORE, AFTER = 40, 120
"""Characters shown around the place."""
PLACES = 200
"""Occurrences looked at."""


class Snippet(NamedTuple):
    line: int
    heading: str | None
    text: str


def cut(question: Question, judged: Judged, near: int | None = None) -> Snippet:
    """The whole question where it stands; else where the nearest chunk begins (`near`, for a note found by its
    meaning); else the densest place of its rare terms; else the beginning."""
    text = _with_line_feeds(judged.found.text)
    folded = _with_line_feeds(judged.text)
    body = _body(folded)
    place = folded.find(question.folded, body) if question.folded else -1
    if place < 0 and near is not None:
        place = min(near, len(folded))
    if place < 0:
        place = _densest(question, folded, body)
    if place < 0:  # only the properties answer, if anything does
        place = max(folded.find(question.folded), _densest(question, folded, 0), 0) or body
    if len(folded) != len(text):  # composed or lower-cased to another length: the line still holds
        line = folded.count("\n", 0, place)
        place = min(sum(len(before) + 1 for before in text.split("\n", line)[:line]), len(text))
    line = text.count("\n", 0, place) + 1
    return Snippet(line, _heading(judged.found.headings, line), _around(text, place))


def _body(text: str) -> int:
    """Where the text after the properties begins: a place in them says little."""
    end = text.find("\n---", 3) if text.startswith("---") else -1
    after = text.find("\n", end + 4) if end >= 0 else -1
    return after + 1 if after >= 0 else 0


def _with_line_feeds(text: str) -> str:
    """Of the same length, and every line ends in a line feed, as lines are counted everywhere."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def _densest(question: Question, folded: str, body: int) -> int:
    hits: list[tuple[int, float, str]] = []
    for term in question.terms:
        place = folded.find(term.text, body)
        while place >= 0 and len(hits) < PLACES:
            hits.append((place, term.weight, term.text))
            place = folded.find(term.text, place + 1)
    hits.sort()
    best, best_weight = -1, 0.0
    for number, (start, _, _) in enumerate(hits):
        seen: dict[str, float] = {}
        for place, weight, text in hits[number : number + 40]:
            if place > start + BEFORE + AFTER:
                break
            seen[text] = weight
        weight = sum(seen.values())
        if weight > best_weight + 1e-9:
            best, best_weight = start, weight
    return best


def _heading(headings: str, line: int) -> str | None:
    above = [row for row in json.loads(headings) if row[2] <= line]
    return str(above[-1][1]) if above else None


def _around(text: str, place: int) -> str:
    start = max(text.rfind("\n", 0, place) + 1, place - BEFORE)
    end = min(start + BEFORE + AFTER, len(text))
    piece = " ".join(text[start:end].split())
    return ("…" if start and text[start - 1] != "\n" else "") + piece + ("…" if end < len(text) else "")
