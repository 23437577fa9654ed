"""What must never be written in a vault, by whoever's wish (contract: Who may write): the door asks here."""

from collections.abc import Callable, Mapping
from typing import Final

from ohmykb.config import Config
from ohmykb.markdown.scan import scan
from ohmykb.note import NotePath
from ohmykb.vault.consent import RefusedError, is_below

_UNREADABLE: Final = frozenset({"bad-yaml"})


def judge_by(config: Callable[[], Config]) -> Callable[[NotePath, bytes | None, bytes | None], None]:
    """The judge of a door, by the settings in force."""

    def judge(path: NotePath, before: bytes | None, after: bytes | None) -> None:
        check(path, before, after, config())

    return judge


def is_protected(properties: Mapping[str, object]) -> bool:
    """Whatever is said of `kb_protect` but a plain no protects."""
    return properties.get("kb_protect") not in (None, False, "", "false", "no", "off")


def check(path: NotePath, before: bytes | None, after: bytes | None, config: Config) -> None:
    """Raises RefusedError."""
    if before is None:
        return
    if is_below(path, config.roles.raw) and (after is None or not after.startswith(before)):
        raise RefusedError(f"{path} lies in a raw folder: text is added there, never changed.", "Change it by hand")
    if not path.lower().endswith(".md"):
        return
    try:
        text = before.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(f"{path} is not UTF-8: it is never written.", "Save it as UTF-8 first") from error
    found = scan(text)
    if any(problem.code in _UNREADABLE for problem in found.problems):
        raise RefusedError(
            f"The properties of {path} cannot be read, so nothing is written there.", "Mend them: kb problems"
        )
    if is_protected(found.properties):
        raise RefusedError(f"{path} is protected (kb_protect).", "Take the property away if it is to be changed")
