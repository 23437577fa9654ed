"""A vault with every odd file there is: nothing crashes, each says what is wrong with it, the rest is
indexed, and no byte of anybody's file changes."""

import hashlib
import json
import os
import sys
import tarfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest

from ohmykb.index.draft import note_date
from trial import Trial

NFD = unicodedata.normalize("NFD", "Déjà vu é")
SURROGATE = r"\ud83d"
CONTROL = "".join(map(chr, range(1, 32))) + "\x7f\x85\u2028\u2029\ufeff\u200b\ufffe"

ODD: dict[str, tuple[bytes, str | None]] = {
    "broken yaml.md": (b"---\na: [1\nb: }\n---\nbody [[good]] #odd\n", "yaml"),
    "template yaml.md": (b"---\ntitle: {{title}}\ndate: <% tp %>\n---\nbody [[good]] {{x}} <% y %>\n", "yaml"),
    "unclosed yaml.md": (b"---\na: 1\nbody [[good]]\n", None),
    "duplicate keys.md": (b"---\na: 1\na: 2\n---\nbody [[good]]\n", "any"),
    "tabs in yaml.md": (b"---\na:\n\t- 1\n---\nbody [[good]]\n", "yaml"),
    "yaml list.md": (b"---\n- a\n- b\n---\nbody [[good]]\n", "any"),
    "yaml scalar.md": (b"---\njust words\n---\nbody [[good]]\n", "any"),
    "yaml bomb.md": (
        b"---\na: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(98, 107))
        + b"---\nbody [[good]]\n",
        "any",
    ),
    "yaml deep.md": (b"---\na: " + b"[" * 3000 + b"]" * 3000 + b"\n---\nbody [[good]]\n", "any"),
    "yaml types.md": (
        b"---\ntags: [802.11, null, true, {a: b}, [c]]\naliases: {a: b}\ntitle: 2024-01-01\ntype: [x]\ndomain: {y: z}\n"
        b"big: 1" + b"0" * 5000 + b"\nnan: .nan\ninf: .inf\ndate: 2024-13-99\nwhen: 2024-02-30\nbin: !!binary aGk=\n"
        b"set: !!set {a, b}\n? [complex]\n: key\n---\nbody [[good]]\n",
        "any",
    ),
    "yaml surrogate.md": (f'---\ntitle: "{SURROGATE}"\ntype: ["{SURROGATE}x"]\n---\nbody [[good]]\n'.encode(), "any"),
    "python tag.md": (b"---\na: !!python/object/apply:os.system ['echo hi']\n---\nbody [[good]]\n", "any"),
    "no yaml.md": (b"body [[good]]\n", None),
    "two blocks.md": (b"---\na: 1\n---\n---\nb: 2\n---\nbody [[good]]\n", None),
    "empty yaml.md": (b"---\n---\nbody [[good]]\n", None),
    "crlf.md": (b"---\r\ntags: [odd]\r\n---\r\nbody [[good]]\r\n# Two\r\n", None),
    "cr.md": (b"body [[good]]\r# Two\rmore\r", None),
    "bom.md": (b"\xef\xbb\xbf---\ntags: [odd]\n---\nbody [[good]]\n", None),
    "tabs.md": (b"\tcode [[not]]\n\nbody [[good]]\t#odd\n-\titem\n", None),
    "nul.md": (b"body [[good]] \0\0 after\n", "nul-bytes"),
    "gbk.md": ("正文内容在这里，中文的笔记 [[good]]。".encode("gbk"), "not-utf8"),
    "latin1.md": ("body café déjà [[good]]".encode("latin-1"), "not-utf8"),
    "utf16.md": ("body [[good]]".encode("utf-16"), "not-utf8"),
    "random.md": (hashlib.shake_256(b"x").digest(5000) + b"\nbody [[good]]\n", "not-utf8"),
    "surrogate bytes.md": (b"body [[good]] \xed\xa0\xbd\n", "not-utf8"),
    "percent.md": (b"body [[good]] [x](%ED%A0%80.md) [y](a%00b.md) [z](%FF) &#xD800; &#0;\n", None),
    "long line.md": (b"body [[good]] " + b"x" * 100_000 + b"needlework " + b"y z " * 30_000, None),
    "long chinese line.md": (("正文[[good]]" + "资金费率" * 25_000).encode(), None),
    "long cyrillic word.md": (("body [[good]] " + "я" * 40_000).encode(), None),
    "brackets.md": (b"body [[good]]\n" + b"[[" * 30_000 + b"\n" + b"[" * 30_000 + b"](" * 10_000, None),
    "backticks.md": (b"body [[good]]\n" + b" `" * 1 + b" ".join(b"`" * (n % 50 + 1) for n in range(3000)), None),
    "stars.md": (b"body [[good]]\n" + b"*a _b " * 20_000, None),
    "quotes.md": (b"body [[good]]\n" + b"> " * 20_000 + b"\n" + b"- " * 5_000 + b"x\n", None),
    "comments.md": (b"body [[good]]\n" + b"<!-- " * 20_000 + b"\n" + b"%%" * 3, None),
    "maths.md": (b"body [[good]]\n" + b"$a " * 20_000 + b"$$" * 9, None),
    "table.md": (b"body [[good]]\n\n" + b"\n".join(cell * 2000 + b"|" for cell in (b"|a", b"|-", b"|[[b\\|c]]")), None),
    "headings.md": (b"body [[good]]\n" + b"".join(b"#" * (n % 8) + b" h%d\n" % n for n in range(3000)), None),
    "many tags.md": (b"body [[good]]\n" + b" ".join(b"#t%d" % n for n in range(5000)), None),
    "control.md": (f"body [[good]] {CONTROL}".encode(), None),
    "empty.md": (b"", None),
    "only bom.md": (b"\xef\xbb\xbf", None),
    "only dashes.md": (b"---", None),
    "zero width.md": ("body [[good]] #zero\u200bwidth a\u00a0b".encode(), None),
    "emoji 🍀👨‍👩‍👧.md": ("body [[good]] 🍀👨‍👩‍👧 #🍀".encode(), None),
    f"{NFD}.md": (b"body [[good]]\n", None),
    'reserved <>:"|?*\\.md': (b"body [[good]]\n", "name-not-portable"),
    "CON.md": (b"body [[good]]\n", "name-not-portable"),
    "brackets [x] #1 ^2.md": (b"body [[good]]\n", None),
    "line\nbreak.md": (b"body [[good]]\n", "name-not-portable"),
    "trailing .md": (b"body [[good]]\n", None),
    " leading.md": (b"body [[good]]\n", None),
    ".md.md": (b"hidden\n", None),
    "Case.md": (b"body [[good]]\n", "name-case"),
    "case.md": (b"body [[good]]\n", "name-case"),
    "UPPER.MD": (b"body [[good]]\n", None),
    "x" * 250 + ".md": (b"body [[good]]\n", None),
    "a.sync-conflict-20240101-120000-ABCDEFG.md": (b"body [[good]]\n", "conflict-copy"),
    "broken.canvas": (b'{"nodes": [', "bad-canvas"),
    "list.canvas": (b"[1, 2]", "bad-canvas"),
    "odd.canvas": (
        json.dumps({"nodes": [1, None, {"type": "file", "file": 3}, {"type": "text", "text": [1]}]}).encode(),
        None,
    ),
    "surrogate.canvas": (
        b'{"nodes":[{"type":"text","text":"card \\ud83d [[good]] \\u0000"},{"type":"file","file":"\\udc00.md"}]}',
        "any",
    ),
    "deep.canvas": (b"[" * 100_000, "bad-canvas"),
    "big.md": (b"x " * 6_000_000, "too-big"),
}  # fmt: skip
"""name → (bytes, the code its Problem has; "any": whatever the reading makes of it)."""

HIDDEN = {".md.md"}
UNREAD = {"big.md"}


def tree(root: Path) -> dict[str, str]:
    """Every file and link of a folder with a hash of its bytes."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = os.fsdecode(os.fsencode(path.relative_to(root)))
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def plant(root: Path, names: list[str]) -> None:
    root.mkdir()
    (root / "good.md").write_text("# Good\nsound and [[no yaml]]\n")
    for name in names:
        (root / name).write_bytes(ODD[name][0])


@pytest.mark.parametrize("name", ODD, ids=lambda name: ascii(name)[1:40])
def test_odd_file(name: str, tmp_path: Path, trial_at: Callable[[Path], Trial]) -> None:
    plant(tmp_path / "vault", [name])
    before = tree(tmp_path / "vault")
    trial = trial_at(tmp_path / "vault")
    start = perf_counter()
    trial.look()
    assert perf_counter() - start < 10
    code = ODD[name][1]
    problems = [one for one in trial.graph()["problems"] if one["path"] == name]
    if code is None:
        assert [one for one in problems if one["code"] != "subpath-missing"] == []
    elif code not in ("any", "name-case"):  # case: only beside its twin
        assert code in "".join(one["code"] for one in problems)
    for one in problems:
        assert one["message"][0].isupper()
        assert one["message"].rstrip().endswith(".")
    assert ("good.md" in trial.found("sound")) is True
    if name not in HIDDEN:
        assert trial.counts()["pending"] == 0
        assert name in trial.ids()
    if b"body" in ODD[name][0] and name not in HIDDEN and not name.endswith(".canvas"):
        assert name in trial.found("body")
        assert "good.md" in trial.targets(name)
    trial.assert_true()
    trial.put({name: ODD[name][0] + b"\nchanged"}) if name not in UNREAD else None
    trial.look()
    trial.assert_true()
    if name not in UNREAD:
        (tmp_path / "vault" / name).write_bytes(ODD[name][0])
    assert tree(tmp_path / "vault") == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_all_odd_files_at_once(tmp_path: Path, trial_at: Callable[[Path], Trial]) -> None:
    root = tmp_path / "vault"
    plant(root, list(ODD))
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("outside")
    (root / "loop").symlink_to(".")
    (root / "loop2").symlink_to("loop2")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "dead.md").symlink_to("nowhere")
    (root / "inner.md").symlink_to("good.md")
    (root / "nested/.obsidian").mkdir(parents=True)
    (root / "nested/n.md").write_text("nested body")
    (root / "folder.md").mkdir()
    (root / "folder.md/in it.md").write_text("in a folder")
    (root / ".cloud.md.icloud").write_bytes(b"bplist00")
    (root / os.fsdecode(b"caf\xe9.md")).write_text("a name that is no UTF-8")
    os.mkfifo(root / "pipe.md")
    before = tree(root)
    trial = trial_at(root)
    trial.look()
    trial.assert_true()
    assert trial.counts()["pending"] == 0
    problems = trial.problems()
    for path, code in (
        ("loop2", "symlink-loop"), ("out", "symlink-out"), ("out.md", "symlink-out"), ("dead.md", "symlink-broken"),
        ("nested", "nested-vault"), ("cloud.md", "cloud-only"), ("pipe.md", "not-a-file"),
        ("caf\\xe9.md", "name-not-utf8"), ("Case.md", "name-case"), ("case.md", "name-case"),
    ):  # fmt: skip
        assert (path, code) in problems, problems
    for name, (_, code) in ODD.items():
        if code not in (None, "any"):
            assert any(code in found for path, found in problems if path == name), (name, code)
    assert trial.found("outside") == []
    assert "good.md" in trial.found("sound")
    assert trial.counts()["notes"] == sum(name.lower().endswith(".md") and name not in HIDDEN for name in ODD) + 3
    dumped = trial.dump()
    trial.look()
    assert trial.dump() == dumped
    assert tree(root) == before


@pytest.mark.parametrize("name", ["jacky-garden", "kepano-vault", "zh-knowledge-garden"])
def test_public_vault(name: str, shared: Path, tmp_path: Path, trial_at: Callable[[Path], Trial]) -> None:
    root = tmp_path / "vault"
    with tarfile.open(shared / f"vaults/{name}.tar.gz") as archive:
        archive.extractall(root, filter="data")
    before = tree(root)
    trial = trial_at(root)
    trial.look()
    trial.assert_true()
    counts = trial.counts()
    assert counts["pending"] == 0
    assert counts["notes"] > 90
    assert counts["links"] == counts["resolved"] + counts["unresolved"] == len(trial.graph()["links"])
    assert tree(root) == before


@pytest.mark.parametrize(
    ("properties", "name", "date"),
    [
        ({"date": "2024-01-02"}, "x", "2024-01-02"), ({"created": "2024/1/2 10:00"}, "x", "2024-01-02"),
        ({"日期": "2024年3月4日"}, "x", "2024-03-04"), ({}, "2024-05-06 Meeting", "2024-05-06"),
        ({"date": "soon"}, "2024.05.06", "2024-05-06"), ({"date": "2024-13-01"}, "x", None), ({}, "v2.0", None),
        ({}, "2024年3月", "2024-03-01"),
    ],
)  # fmt: skip
def test_note_date(properties: dict[str, str], name: str, date: str | None) -> None:
    assert note_date(dict(properties), name) == date
