"""The scanner against what the real app reported: 62 notes dumped from its cache, and its link maps
of the whole vault. Data: ../shared/oracle (obsidian-tasks, MIT)."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.items import list_items
from ohmykb.markdown.properties import property_tags
from ohmykb.markdown.scan import scan
from ohmykb.note import Link

Dump = dict[str, Any]

STALE = {
    # The note has the link and the dump has not: it was made before the link was added (README of the oracle).
    "How To/Find tasks in notes with particular tag.md",
}


@pytest.fixture(scope="module")
def oracle(shared: Path) -> Path:
    return shared / "oracle" / "obsidian-tasks"


@pytest.fixture(scope="module")
def dumps(oracle: Path) -> dict[str, Dump]:
    found = {p.stem: json.loads(p.read_text("utf-8")) for p in sorted((oracle / "metadata").glob("*.json"))}
    assert len(found) > 50
    return found


def each(dumps: dict[str, Dump], key: str) -> Iterator[tuple[str, str, list[Any]]]:
    for name, dump in dumps.items():
        rows = dump["cachedMetadata"].get(key) or []
        yield name, dump["fileContents"], list(rows.values()) if isinstance(rows, dict) else rows


def place(row: Any, text: str) -> tuple[int, int]:
    """Line (1-based) and offset in code points; the app counts UTF-16 units."""
    start = row["position"]["start"]
    units = text.encode("utf-16-le")[: 2 * start["offset"]]
    return start["line"] + 1, len(units.decode("utf-16-le"))


def whole(link: Link) -> str:
    return link.linkpath + (f"#{link.subpath}" if link.subpath else "")


@pytest.mark.parametrize("key, kinds", [("links", {"wikilink", "markdown"}), ("embeds", {"embed"})])
def test_links_and_embeds_with_display_text_and_place(dumps: dict[str, Dump], key: str, kinds: set[str]) -> None:
    for name, text, rows in each(dumps, key):
        app = [(r["original"], r["link"], r["displayText"], *place(r, text)) for r in rows]
        we = [(k.raw, whole(k), k.display, k.line, k.start) for k in scan(text).links if k.kind in kinds]
        assert we == app, name


def test_property_links_with_key_line_and_place(dumps: dict[str, Dump]) -> None:
    seen = 0
    for name, text, rows in each(dumps, "frontmatterLinks"):
        app = [(r["original"], r["link"], r["displayText"], r["key"]) for r in rows]
        found = [k for k in scan(text).links if k.kind == "property"]
        assert [(k.raw, whole(k), k.display, k.key) for k in found] == app, name
        for link in found:
            assert text[link.start : link.start + len(link.raw)] == link.raw, name
            assert link.line == 1 + text.count("\n", 0, link.start), name
        seen += len(rows)
    assert seen


def test_tags_of_the_text(dumps: dict[str, Dump]) -> None:
    for name, text, rows in each(dumps, "tags"):
        app = [(r["tag"][1:], *place(r, text)) for r in rows]
        assert [(t.name, t.line, t.start) for t in scan(text).tags if t.start >= 0] == app, name


def test_tags_of_the_properties(dumps: dict[str, Dump]) -> None:
    for name, dump in dumps.items():
        found = scan(dump["fileContents"])
        assert ["#" + t for t in property_tags(found.properties)] == (dump["parseFrontMatterTags"] or []), name
        if dump["cachedMetadata"].get("tags") or dump["cachedMetadata"].get("frontmatter"):
            assert ["#" + t.name for t in found.tags] == dump["getAllTags"], name


def test_headings(dumps: dict[str, Dump]) -> None:
    for name, text, rows in each(dumps, "headings"):
        app = [(r["level"], r["heading"], *place(r, text)) for r in rows]
        assert [tuple(h) for h in scan(text).headings] == [(a, b, c, d) for a, b, c, d in app], name


def test_blocks(dumps: dict[str, Dump]) -> None:
    for name, text, rows in each(dumps, "blocks"):
        assert [b.id for b in scan(text).blocks] == [r["id"] for r in rows], name


def test_properties(dumps: dict[str, Dump]) -> None:
    for name, dump in dumps.items():
        found = scan(dump["fileContents"])
        assert found.properties == (dump["cachedMetadata"].get("frontmatter") or {}), name
        assert found.problems == [], name


def test_list_items(dumps: dict[str, Dump]) -> None:
    for name, text, rows in each(dumps, "listItems"):
        app = []
        for row in rows:
            line, start = place(row, text)
            end = place({"position": {"start": row["position"]["end"]}}, text)[1]
            app.append((line, start, end, row["parent"], row.get("task")))
        we = [
            # The app writes -1 for a list that begins on its line 0, since there is no -0.
            (i.line, i.start, i.end, i.parent - 1 if i.parent > 0 else (i.parent + 1 or -1), i.task)
            for i in list_items(text)
        ]
        assert we == app, name


def test_link_maps_of_the_whole_vault(oracle: Path) -> None:
    vault = oracle / "vault"
    resolved = json.loads((oracle / "resolvedLinks.json").read_text("utf-8"))
    unresolved = json.loads((oracle / "unresolvedLinks.json").read_text("utf-8"))
    find = resolver(vault)
    wrong = []
    for source in resolved:
        text = (vault / source).read_text("utf-8")
        links = scan_canvas(text).links if source.endswith(".canvas") else scan(text).links
        hit: Counter[str] = Counter()
        miss: Counter[str] = Counter()
        for link in links:
            target = source if not link.linkpath else find(link.linkpath)
            if target is None:
                miss[link.linkpath] += 1
            else:
                hit[target] += 1
        if (dict(hit), dict(miss)) != (resolved[source], unresolved[source]):
            wrong.append(source)
    assert len(resolved) > 100
    assert set(wrong) == STALE


def resolver(vault: Path) -> Any:
    """Enough for a vault without duplicate names; the real one is the index's."""
    names: dict[str, list[str]] = defaultdict(list)
    for path in vault.rglob("*"):
        if path.is_file():
            names[path.name.lower()].append(path.relative_to(vault).as_posix())

    def find(linkpath: str) -> str | None:
        for wanted in (linkpath.lower(), linkpath.lower() + ".md"):
            hits = [p for p in names.get(wanted.rsplit("/", 1)[-1], []) if ("/" + p.lower()).endswith("/" + wanted)]
            if hits:
                return min(hits, key=len)
        return None

    return find
