"""Which files take part, and how far: compiled once, asked for every path of the vault."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

from ohmykb.config import Config, ConfigError
from ohmykb.note import Scope
from ohmykb.vault.conflicts import conflict_copy
from ohmykb.vault.globs import Globs

APP_FILE = ".obsidian/app.json"


class Rules:
    """From the settings and Obsidian's own "Excluded files" (`userIgnoreFilters` in its `app.json`).

    Read the settings again and make new Rules when either file changes. Raises ConfigError for a glob
    that cannot be parsed; a filter of the app that cannot be used is skipped, as the app does, and named
    in `warnings`.
    """

    __slots__ = ("_ignored", "_out", "_search", "_system", "follow_symlinks", "plain", "warnings")

    def __init__(self, config: Config, filters: object = None) -> None:
        self.follow_symlinks = config.vault.follow_symlinks
        self.warnings: list[str] = []
        self._out = _globs(config.index.exclude, "index.exclude")
        self._search = _globs(config.index.search_only, "index.search_only")
        self._system = tuple(normalize("NFC", folder) + "/" for folder in config.roles.system)
        self._ignored = self._compile_filters(filters)
        self.plain = not (self._out or self._search or self._system or self._ignored)
        """Everything visible is in the graph, conflict copies apart."""

    @classmethod
    def of(cls, root: Path, config: Config) -> "Rules":
        """With the filters that the vault's `app.json` holds now."""
        try:
            app = json.loads((root / APP_FILE).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return cls(config)
        except (OSError, ValueError) as error:
            rules = cls(config)
            rules.warnings.append(f"{APP_FILE} cannot be read ({error}): its excluded files are not known.")
            return rules
        return cls(config, app.get("userIgnoreFilters") if isinstance(app, dict) else None)

    def scope(self, path: str, beside: Callable[[str], bool] | None = None) -> Scope | None:
        """How far the file at `path` takes part; None: not at all, not even as a target of links.

        `beside` tells whether a name is in the same folder (see conflicts.py).
        """
        if path[0] == "." or "/." in path:
            return None
        if not self.plain:
            plain = path if path.isascii() else normalize("NFC", path)
            for ignored in self._ignored:
                if ignored(plain):
                    return Scope.TARGET
            if self._out is not None and self._out.match(plain):
                return Scope.TARGET
            if self._system and plain.startswith(self._system):
                return Scope.TARGET
            if self._search is not None and self._search.match(plain):
                return Scope.SEARCH
        if conflict_copy(path[path.rfind("/") + 1 :], beside) is not None:
            return Scope.SEARCH
        return Scope.GRAPH

    def descend(self, folder: str) -> bool:
        """Whether anything below `folder` can take part. What is only excluded is still a link target."""
        return not (folder[0] == "." or "/." in folder)

    def _compile_filters(self, filters: object) -> tuple[Callable[[str], object], ...]:
        """As the app: `/re/` anywhere in the path, anything else at its start; case does not count."""
        prefixes = []
        tests = []  # one by one: what is joined would share its groups
        for entry in filters if isinstance(filters, list) else ():
            if not isinstance(entry, str) or not entry:
                self.warnings.append(f"{APP_FILE}: the excluded file {entry!r} is skipped: it is no text.")
            elif len(entry) > 2 and entry[0] == entry[-1] == "/":
                try:
                    tests.append(re.compile(_from_javascript(entry[1:-1]), re.IGNORECASE).search)
                except re.error as error:
                    self.warnings.append(
                        f"{APP_FILE}: the excluded file {entry!r} is skipped: it is no expression ({error})."
                    )
            else:
                prefixes.append(re.escape(normalize("NFC", entry)))
        if prefixes:
            tests.insert(0, re.compile("|".join(prefixes), re.IGNORECASE).match)
        return tuple(tests)


def _globs(patterns: tuple[str, ...], key: str) -> Globs | None:
    try:
        return Globs(patterns) if patterns else None
    except ValueError as error:
        raise ConfigError(f"`{key}` should be a list of globs; {error}.", "Mend .kb/config.toml.") from error


_ESCAPE = re.compile(r"\\k<(\w+)>|\\(.)|\(\?<(?=[A-Za-z_$])|(\[)\^?|(\])", re.DOTALL)
# What Python's `\w \d \b` take from Unicode and JavaScript's do not.
_ASCII_CLASS = {"w": "a-zA-Z0-9_", "d": "0-9"}


def _from_javascript(source: str) -> str:
    """A JavaScript expression (without the `u` flag) in Python's words."""
    in_class = False

    def replace(found: re.Match[str]) -> str:
        nonlocal in_class
        name, escaped, opening, closing = found.groups()
        if name:
            return f"(?P={name})"
        if escaped:
            if in_class and escaped in _ASCII_CLASS:
                return _ASCII_CLASS[escaped]
            if escaped in "wWdDbB" and not in_class:
                return rf"(?a:\{escaped})"
            # To JavaScript an unknown escape is the letter itself; to Python an error or something else.
            return escaped if escaped.isalpha() and escaped not in "bBdDsSwWfnrtvxu" else found[0]
        if opening:
            text = found[0] if not in_class else re.escape(found[0])
            in_class = True
            return text
        if closing:
            in_class = False
            return found[0]
        return "(?P<"

    return _ESCAPE.sub(replace, source)
