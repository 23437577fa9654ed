"""Bytes to text: UTF-8, else the best guess, said as a Problem."""

from ohmykb.note import Problem

# Of the characters of a Chinese text nearly all are in GB 2312 (the 6,763 common ones and punctuation). A
# Western text read as GB 18030 gives rare characters instead, since its accents stand beside plain letters.
_COMMON_SHARE = 0.8
_SAMPLE = 20_000
# A UTF-8 text cut or pasted in the middle of a character is broken there only; any other encoding read as
# UTF-8 is broken nearly everywhere.
_BROKEN_SHARE = 0.1


def decode(data: bytes) -> tuple[str, tuple[Problem, ...]]:
    """The text, nothing dropped: U+FEFF and NUL stay in it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text, name = _guess(data)
        message = f"The file is not UTF-8; it was read as {name}. Save it as UTF-8."
        return text, (Problem(None, "not-utf8", message),)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return text, (Problem(line, "nul-bytes", "The text holds NUL bytes; they are kept and mean nothing."),)
    return text, ()


def _guess(data: bytes) -> tuple[str, str]:
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", "replace"), "UTF-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), "UTF-16"
    text = data.decode(errors="replace")
    broken = text.count("\ufffd")
    if broken <= sum(map("\x7f".__lt__, text)) * _BROKEN_SHARE:
        return text, "UTF-8, with a mark (\ufffd) in place of what is broken"
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        pass
    else:
        foreign = "".join(char for char in text[:_SAMPLE] if char > "\x7f")
        common = len(foreign.encode("gb2312", "ignore")) / 2
        if common >= len(foreign) * _COMMON_SHARE:
            return text, "GB 18030"
    return data.decode("cp1252", "replace"), "Windows-1252"
