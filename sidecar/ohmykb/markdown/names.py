"""Names as somebody might have typed them: what differs only in form is one name."""

from functools import lru_cache
from unicodedata import normalize

_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_DASHES = dict.fromkeys(
    map(ord, "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\u301c\uff5e\ufe58\ufe63~"), "-"
)
_QUOTES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u00b4`\uff40"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d\u300e\u300f"), '"'),
}
_NOTHING = dict.fromkeys(
    map(ord, " \t\u00a0\u1680\u202f\u205f\u3000\u200b\u200c\u200d\u2060\ufeff\u00ad"), None
) | dict.fromkeys(range(0x2000, 0x200B))
_FORM = {**_WIDTH, **_DASHES, **_QUOTES, **_NOTHING}


@lru_cache(maxsize=65_536)
def normal_key(name: str) -> str:
    """Equal exactly for names that differ only by width, dashes, quotes, spaces, case and Unicode composition."""
    if name.isascii():
        return name.lower().replace(" ", "").replace("\t", "").replace("`", "'").replace("~", "-")
    return normalize("NFC", normalize("NFC", name).translate(_FORM).casefold())
