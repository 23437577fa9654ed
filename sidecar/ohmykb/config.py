"""Settings: one frozen tree, read from the vault's `.kb/config.toml` and from this device.

The vault's file travels with the vault, so it holds no secret; keys and endpoints come from the
environment or from `<config>/config.toml` of this device (`Config.local`). Absent means default.
"""

import os
import re
import sys
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from ohmykb.errors import KbError, UsageError
from ohmykb.places import home

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VAULT_FILE: Final = ".kb/config.toml"
MEGABYTE: Final = 1_000_000

WriteMode = Literal["off", "suggest", "auto"]
QuickEncoder = Literal["bundled", "none"]
FineEncoder = Literal["", "e5-small", "sentence-transformers", "http"]


class ConfigError(KbError):
    """A settings file that cannot be used as it stands; the sentence names file, key and what is expected."""

    code = "config"


@dataclass(frozen=True, slots=True)
class IndexSettings:
    exclude: tuple[str, ...] = ()
    """Globs of what is left out (still a link target)."""
    search_only: tuple[str, ...] = ()
    """Globs of what is searchable but out of graph, orphans and suggestions."""
    max_file_mb: float = 10
    settle_s: float = 10
    """Seconds until a second look may agree that a large part of the vault is gone."""
    debounce_ms: int = 200


@dataclass(frozen=True, slots=True)
class VaultSettings:
    follow_symlinks: bool = False
    """Follow links that lead out of the vault."""


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """Folders with a role, vault-relative without a slash at the ends; a role holds only when set."""

    raw: tuple[str, ...] = ()
    wiki: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    system: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteSettings:
    mode: WriteMode = "suggest"
    device: str | None = None
    """The one device that may apply unasked; unset: none."""
    git: bool = False
    """One git commit an operation, of exactly its files, made by that device."""


@dataclass(frozen=True, slots=True)
class SentenceTransformersSettings:
    model: str = "paraphrase-multilingual-MiniLM-L12-v2"
    """A name on the Hugging Face hub, or a folder."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    encoder: QuickEncoder = "bundled"
    """The quick encoder, which answers at once."""
    fine: FineEncoder = ""
    """One that fills in behind it; empty: none."""
    sentence_transformers: SentenceTransformersSettings = SentenceTransformersSettings()

    @property
    def wanted(self) -> tuple[QuickEncoder | FineEncoder, ...]:
        """The encoders that are asked for, the quick one first."""
        return tuple(name for name in (self.encoder, self.fine) if name not in ("none", ""))


@dataclass(frozen=True, slots=True)
class AgentSettings:
    exclude: tuple[str, ...] = ()
    """Globs of what never goes to an agent or a remote model."""


@dataclass(frozen=True, slots=True)
class SuggestSettings:
    exclude: tuple[str, ...] = ()
    """Globs of notes that are never suggested as related, though they have suggestions of their own."""


@dataclass(frozen=True, slots=True)
class Local:
    """What only this device knows: keys, endpoints, the interpreter. Never printed, never in the vault."""

    tables: "Mapping[str, Any]" = field(default_factory=dict, repr=False)

    def get(self, table: str, key: str) -> str | None:
        """`$OHMYKB_<TABLE>_<KEY>`, else `key` in `[table]` of `<config>/config.toml`, else None."""
        named = os.environ.get(f"OHMYKB_{table}_{key}".upper())
        if named:
            return named
        value = self.tables.get(table, {}).get(key)
        return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Config:
    index: IndexSettings = IndexSettings()
    vault: VaultSettings = VaultSettings()
    roles: RoleSettings = RoleSettings()
    write: WriteSettings = WriteSettings()
    agent: AgentSettings = AgentSettings()
    suggest: SuggestSettings = SuggestSettings()
    search: SearchSettings = SearchSettings()
    local: Local = Local()
    warnings: tuple[str, ...] = ()
    """What the files hold that this version does not know; sentences."""

    @property
    def limit(self) -> int:
        """Bytes beyond which a file is not read."""
        return int(self.index.max_file_mb * MEGABYTE)


def load(root: Path) -> Config:
    """The settings of the vault at `root` on this device.

    Raises ConfigError for a file that cannot be read, a wrong type or value, or a secret in the vault's file.
    """
    path = root / VAULT_FILE
    tables = _read_toml(path)
    _refuse_secrets(tables, path)
    sections, warnings = _sections(tables, str(path))
    local, local_warnings = _load_local()
    return Config(**sections, local=local, warnings=(*warnings, *local_warnings))


def settings_dict(config: Config) -> dict[str, dict[str, Any]]:
    """The vault's settings with defaults filled in, as JSON; nothing of this device."""
    return {
        name: {part.name: _plain(getattr(section, part.name)) for part in fields(section)}
        for name in _SECTIONS
        for section in (getattr(config, name),)
    }


def patch_settings(root: Path, patch: "Mapping[str, Any]") -> Config:
    """Change some of the vault's settings: `{section: {key: value}}`, None puts a key back to its default.

    The patch is validated first (UsageError); the file is replaced atomically, its comments, order and
    whatever this version does not know kept. Returns the settings as they are now.
    """
    import tomllib

    import tomlkit

    path = root / VAULT_FILE
    _refuse_leading_out(root, path)
    before = _read_toml(path)
    _refuse_secrets(before, path)
    checked = _check_patch(patch)
    text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
    document = tomlkit.parse(text)
    for name, changes in checked.items():
        if name not in document:
            document[name] = tomlkit.table()
        table: Any = document[name]
        for key, value in changes.items():
            if value is None:
                table.pop(key, None)
            elif isinstance(value, dict) and key in table:
                table[key].update(value)
            else:
                table[key] = value
    text = tomlkit.dumps(document)
    _sections(tomllib.loads(text), str(path))  # what is written can be read again, or nothing is written
    _replace(path, text.encode())
    return load(root)


def device_id() -> str:
    """8 hex that name this device, made once and kept in `<config>/device` (0600)."""
    path = Path(home("config"), "device")
    try:
        known = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        known = _make_device_id(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.", "Make it readable, or delete it.") from error
    if not re.fullmatch(r"[0-9a-f]{8}", known):
        raise ConfigError(
            f"{path} does not hold the 8 hex digits that name this device.", "Delete it to get a new one."
        )
    return known


def glob_fault(pattern: str) -> str | None:
    """What is wrong with a glob (see vault/globs.py for what they mean), or None."""
    body = pattern.removeprefix("!").removesuffix("/").removeprefix("/")
    if not body:
        return "names nothing"
    if not all(body.split("/")):
        return "has an empty part between two slashes"
    if not re.fullmatch(r"(?:\\[^/]|\[[!^]?+\]?+(?:\\[^/]|[^]\\/])*+\]|[^\\\[])+", body):
        return "has a `[` without its `]`, or ends in a backslash"
    return None


# --- what each key may hold: a value to keep, or a ValueError that says what is expected


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _number(low: float, high: float) -> "Callable[[object], float]":
    def check(value: object) -> float:
        # bool is an int to Python, and TOML knows inf and nan.
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return value

    return check


def _whole(low: int, high: int) -> "Callable[[object], int]":
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return check


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of strings")
    return tuple(value)


def _globs(value: object) -> tuple[str, ...]:
    try:
        patterns = _strings(value)
    except ValueError as error:
        raise ValueError('a list of globs such as ["archive/", "*.excalidraw.md"]') from error
    for pattern in patterns:
        fault = glob_fault(pattern)
        if fault:
            raise ValueError(f"a list of globs; {pattern!r} {fault}")
    return patterns


def _folders(value: object) -> tuple[str, ...]:
    expected = 'a folder of the vault, or a list of them, such as "wiki"'
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise ValueError(expected)
    found = []
    for item in value:
        if not isinstance(item, str):
            raise ValueError(expected)
        folder = item.replace("\\", "/").strip().removeprefix("./").rstrip("/")
        if folder.startswith("/") or {"..", ".", ""} & set(folder.split("/")):
            raise ValueError(f"{expected} (not {item!r})")
        found.append(folder)
    return tuple(found)


def _one_of(words: object) -> "Callable[[object], object]":
    *most, last = (f'"{word}"' for word in get_args(words))

    def check(value: object) -> object:
        if value not in get_args(words):
            raise ValueError(f"{', '.join(most)} or {last}")
        return value

    return check


def _sentence_transformers(value: object) -> SentenceTransformersSettings:
    """What a later version adds to this section is left alone."""
    if not isinstance(value, dict):
        raise ValueError("a section, [search.sentence_transformers]")
    model = value.get("model", SentenceTransformersSettings().model)
    if not isinstance(model, str) or not model.strip():
        raise ValueError('a section with `model = "…"`, a name on the Hugging Face hub or a folder')
    return SentenceTransformersSettings(model.strip())


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("the id of a device, as `kb status` shows it")
    return value.strip()


_SECTIONS: "Final[dict[str, tuple[type, dict[str, Callable[[object], object]]]]]" = {
    "index": (
        IndexSettings,
        {
            "exclude": _globs,
            "search_only": _globs,
            "max_file_mb": _number(0.001, 1000),
            "settle_s": _number(0, 3600),
            "debounce_ms": _whole(0, 10_000),
        },
    ),
    "vault": (VaultSettings, {"follow_symlinks": _boolean}),
    "roles": (RoleSettings, dict.fromkeys(("raw", "wiki", "memory", "outputs", "system"), _folders)),
    "write": (WriteSettings, {"mode": _one_of(WriteMode), "device": _name, "git": _boolean}),
    "agent": (AgentSettings, {"exclude": _globs}),
    "suggest": (SuggestSettings, {"exclude": _globs}),
    "search": (
        SearchSettings,
        {
            "encoder": _one_of(QuickEncoder),
            "fine": _one_of(FineEncoder),
            "sentence_transformers": _sentence_transformers,
        },
    ),
}


def _sections(tables: "Mapping[str, Any]", where: str) -> tuple[dict[str, Any], list[str]]:
    """The dataclasses of all sections, and a sentence for everything unknown."""
    warnings = [
        f"{where}: `{name}` is not known to this version; it is left alone." for name in tables if name not in _SECTIONS
    ]
    built: dict[str, Any] = {}
    for name, (kind, checks) in _SECTIONS.items():
        table = tables.get(name, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{where}: `{name}` should be a section, `[{name}]`.", f"Mend {where}.")
        values = {}
        for key, value in table.items():
            if key not in checks:
                warnings.append(f"{where}: `{name}.{key}` is not known to this version; it is left alone.")
                continue
            try:
                values[key] = checks[key](value)
            except ValueError as error:
                raise ConfigError(f"{where}: `{name}.{key}` should be {error}.", f"Mend {where}.") from error
        built[name] = kind(**values)
    return built, warnings


def _check_patch(patch: "Mapping[str, Any]") -> dict[str, dict[str, Any]]:
    checked: dict[str, dict[str, Any]] = {}
    for name, changes in patch.items():
        if name not in _SECTIONS:
            raise UsageError(f"There is no section `{name}` in the settings.", f"Known: {', '.join(_SECTIONS)}.")
        if not isinstance(changes, dict):
            raise UsageError(f"`{name}` should be an object of settings.")
        checks = _SECTIONS[name][1]
        for key, value in changes.items():
            if key not in checks:
                raise UsageError(f"There is no setting `{name}.{key}`.", f"Known: {', '.join(checks)}.")
            try:
                kept = None if value is None else checks[key](value)
            except ValueError as error:
                raise UsageError(f"`{name}.{key}` should be {error}.") from error
            checked.setdefault(name, {})[key] = _plain(kept)
    return checked


def _plain(value: Any) -> Any:
    """As JSON and TOML have it."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value


# --- files


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))  # Notepad writes a BOM
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", f"Make {path} readable.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text.", f"Save {path} as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.", f"Mend {path}.") from error


_SECRET = re.compile(
    r"(?:api|access|private|secret|auth)[_-]?key$|(?:token|secret|password|passwd|passphrase|credentials?)$",
    re.IGNORECASE,
)


def _refuse_secrets(tables: "Mapping[str, Any]", path: Path, above: str = "") -> None:
    for key, value in tables.items():
        if isinstance(value, dict):
            _refuse_secrets(value, path, f"{above}{key}.")
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    _refuse_secrets(item, path, f"{above}{key}.")
        elif _SECRET.search(key):
            raise ConfigError(
                f"{path} holds a secret (`{above}{key}`), and that file travels with the vault.",
                f"Move it to {Path(home('config'), 'config.toml')} or the environment of this device, "
                "and renew it if the vault was shared.",
            )


def _load_local() -> tuple[Local, list[str]]:
    path = Path(home("config"), "config.toml")
    tables = _read_toml(path)
    warnings = []
    if tables and sys.platform != "win32" and path.stat().st_mode & 0o077:
        warnings.append(f"{path} can be read by other users of this machine; run `chmod 600 {path}`.")
    for name, value in tables.items():
        if not isinstance(value, dict):
            raise ConfigError(f"{path}: `{name}` should be inside a section.", f"Mend {path}.")
    return Local(tables), warnings


def _replace(path: Path, data: bytes) -> None:
    """Write whole or not at all. A link (dotfile managers make them) stays one: its target is replaced."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(exist_ok=True)
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if target.exists():
        fresh.chmod(target.stat().st_mode & 0o777)
    fresh.replace(target)


def _refuse_leading_out(root: Path, path: Path) -> None:
    """A vault may come from elsewhere, and whoever made it must not choose which file of ours is written."""
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(root)):
        raise ConfigError(
            f"{path} is a link that leads out of the vault, to {target}: nothing is written there.",
            f"Change {target} by hand, or put a file in the place of the link.",
        )


def _make_device_id(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".device.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(os.urandom(4).hex())
    try:
        os.link(fresh, path)  # unlike a rename it fails when another process was first: one id wins
    except FileExistsError:
        pass
    except OSError:
        fresh.replace(path)  # a disk without hard links
    fresh.unlink(missing_ok=True)
    return path.read_text(encoding="ascii").strip()
