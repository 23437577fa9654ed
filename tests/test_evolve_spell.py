"""A link led to another note keeps the manner it was written in."""

import pytest

from ohmykb.evolve.spell import spell
from ohmykb.index.resolve import Resolver
from ohmykb.markdown.canvas import scan_canvas
from ohmykb.markdown.scan import scan
from ohmykb.note import NotePath
from ohmykb.store import files
from trial import Trial

FILES = {
    "a.md": "", "b/Only.md": "", "b/Twin.md": "", "c/d/Twin.md": "", "b/s.md": "", "b/C#.md": "", "b/pic.png": "",
    "b/x.md.md": "", "b/End .md": "", "fig.png": "", "c/fig.png.md": "", "Twin.md": "", "b/É.md": "",
}  # fmt: skip


@pytest.fixture
def vault(trial: Trial) -> Trial:
    trial.put(dict(FILES))
    trial.look()
    return trial


def spelled(vault: Trial, text: str, source: str, target: str) -> str | None:
    ids = vault.ids()
    found = scan_canvas(text).links if source.endswith(".canvas") else scan(text).links
    resolver = Resolver(lambda key: files.named(vault.index.db, key))
    return spell(found[0], NotePath(source), ids.get(source, 0), NotePath(target), ids[target], resolver)


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("[[x]]", "a.md", "b/Only.md", "Only"),
        ("[[x.md#h|y]]", "a.md", "b/Only.md", "Only.md"),
        ("[[old/x]]", "a.md", "b/Only.md", "b/Only"),
        ("[[old/x.md]]", "a.md", "b/Only.md", "b/Only.md"),
        ("[[x]]", "a.md", "b/Twin.md", "b/Twin"),  # the name alone means the one at the top
        ("[[x]]", "a.md", "Twin.md", "Twin"),
        ("[[x]]", "b/s.md", "b/Twin.md", "b/Twin"),
        ("![[x#^b]]", "a.md", "b/Only.md", "Only"),
        ("---\nup: '[[x]]'\n---", "a.md", "c/d/Twin.md", "c/d/Twin"),
        ("[t](x.md)", "a.md", "b/Only.md", "Only.md"),
        ("[t](old/x.md)", "a.md", "b/Only.md", "b/Only.md"),
        ("[t](x)", "a.md", "b/Only.md", "Only"),
        ("[t](./x.md)", "b/s.md", "b/Only.md", "./Only.md"),
        ("[t](../x.md)", "b/s.md", "c/d/Twin.md", "../c/d/Twin.md"),
        ("[t](../b/x.md)", "b/s.md", "b/Only.md", "./Only.md"),
        ("[[./x]]", "a.md", "b/Only.md", "./b/Only"),
        ("[t](/old/x.md)", "b/s.md", "b/Only.md", "/b/Only.md"),
        ("[[x]]", "a.md", "b/C#.md", None),
        ("[t](x.md)", "a.md", "b/C#.md", "C#.md"),
        ("[[x]]", "a.md", "b/End .md", "End .md"),
        ("![[x.png]]", "a.md", "b/pic.png", "pic.png"),
        ("![](old/x.png)", "a.md", "b/pic.png", "b/pic.png"),
        ("[[x]]", "a.md", "b/x.md.md", "x.md.md"),
        ("[[x]]", "a.md", "c/fig.png.md", "c/fig.png"),
        ("[[x]]", "a.md", "b/É.md", "É"),
        ('{"nodes":[{"type":"file","file":"x.md"}]}', "m.canvas", "b/Only.md", "b/Only.md"),
        ('{"nodes":[{"type":"text","text":"[[x]]"}]}', "m.canvas", "b/Only.md", "Only"),
    ],
)
def test_style(vault: Trial, text: str, source: str, target: str, expected: str | None) -> None:
    assert spelled(vault, text, source, target) == expected
