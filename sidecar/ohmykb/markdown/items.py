"""List items and tasks, as the app's cache lists them. Not part of a scan: few callers want them."""

from ohmykb.markdown.properties import split
from ohmykb.markdown.regions import layout
from ohmykb.note import ListItem


def list_items(text: str) -> list[ListItem]:
    """All items in order. `end` is where the item's own first text ends, its children left out."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    body = 1 if text.startswith("\ufeff") else 0
    block = split(text, body)
    if block is not None:
        body = block[2]
    return [
        ListItem(mark.line + 1, mark.start, mark.end, mark.parent + 1 if mark.parent >= 0 else mark.parent, mark.task)
        for mark in layout(text, body, items=True).items
    ]
