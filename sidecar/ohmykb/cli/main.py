"""The full command line: arguments, exit codes, and the sentence for every failure."""

import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

import ohmykb
from ohmykb.cli import doctor, indexing, reading, running, writing
from ohmykb.cli.session import Session
from ohmykb.cli.terminal import complain, put
from ohmykb.errors import KbError, UsageError
from ohmykb.evolve import deciding

EXITS: Final = {
    "usage": 2,
    "not-found": 2,
    "ambiguous": 2,
    "no-vault": 3,
    "conflict": 4,
    "model-unavailable": 5,
}
"""By the code of a KbError; any other is a 1."""


class Parser(ArgumentParser):
    """Complains by raising, so that --json holds for wrong usage too."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(_english(message), f"See: {self.prog} --help")

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002 - the signature of argparse
        put(self.format_help())


def _english(message: str) -> str:
    """argparse's complaint as a sentence."""
    found = re.fullmatch(r"argument (COMMAND|.+?): (.*)", message, re.DOTALL)
    if found is None:
        missing = re.fullmatch(r"the following arguments are required: (.*)", message)
        return f"{missing[1]} is missing." if missing else f"{message[:1].upper()}{message[1:]}."
    name, fault = found.groups()
    if name == "COMMAND" and (unknown := re.match(r"invalid choice: '(.*?)' \(choose from (.*)\)$", fault, re.DOTALL)):
        close = get_close_matches(unknown[1], re.findall(r"[a-z]+", unknown[2]), n=1)
        return f"There is no command {unknown[1]}." + (f" Did you mean {close[0]}?" if close else "")
    if fault.startswith(("should be", "not allowed")):
        return f"{name}{' is' if fault.startswith('not') else ''} {fault.replace(' argument ', ' ')}."
    if fault.startswith("expected "):
        return f"{name} needs a value."
    return f"{name}: {fault}."


def run(argv: Sequence[str]) -> int:
    """Runs one command; returns the exit code."""
    as_json = "--json" in argv
    if not argv:
        _parser().print_help()
        return 0
    try:
        args = _read(argv)
        as_json = args.json
        command: Callable[[Session], int] = args.command
        return command(Session(args))
    except KbError as error:
        complain(error, as_json=as_json)
        return EXITS.get(error.code, 1)


def _read(argv: Sequence[str]) -> Namespace:
    # Both are options of the command word too, where a default would undo what stood before it.
    args, rest = _parser().parse_known_args(argv, Namespace(vault=None, json=False))
    # Words of a question may stand on both sides of an option.
    if rest and hasattr(args, "words") and not any(word.startswith("-") for word in rest):
        args.words += rest
    elif rest:
        raise UsageError(f"Not understood: {' '.join(rest)}.", "See: kb --help")
    return args


def _parser() -> Parser:
    everywhere = Parser(add_help=False)
    everywhere.add_argument(
        "--vault", metavar="DIR", default=SUPPRESS, help="the vault (else: $OHMYKB_VAULT, else from here upwards)"
    )
    everywhere.add_argument("--json", action="store_true", default=SUPPRESS, help="answer as JSON")
    parser = Parser(prog="kb", description=ohmykb.__doc__, parents=[everywhere])
    parser.add_argument("--version", action="version", version=f"kb {ohmykb.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)

    def add(name: str, command: Callable[[Session], int], about: str) -> Parser:
        made = commands.add_parser(name, help=about, description=about, parents=[everywhere])
        made.set_defaults(command=command)
        return made

    def show_help(session: Session) -> int:
        about = commands.choices.get(session.args.about or "", parser)
        about.print_help()
        return 0

    def show_version(session: Session) -> int:
        session.show({"version": ohmykb.__version__}, lambda said, _: f"kb {said['version']}\n")
        return 0

    made = add("init", running.init, "make a vault from the template")
    made.add_argument("dir", metavar="DIR", help="a folder that is new or empty")

    made = add("serve", running.serve, "keep the index in step with the vault, and answer")
    made.add_argument("--port", type=_number(0, 65535), default=0, help="0: any free one")
    made.add_argument("--no-watch", action="store_true", help="do not follow changes")
    made.add_argument("--no-vectors", action="store_true", help="text and graph only")
    made.add_argument("--exit-on-stdin-eof", action="store_true", help="end when the parent process does")

    add("stop", running.stop, "end the running sidecar")
    add("doctor", doctor.doctor, "what is wrong with the set-up, and how to mend it")
    made = add("logs", running.logs, "what the sidecar did lately")
    made.add_argument("-n", type=_number(1, 100_000), default=40, help="how many lines (default: 40)")

    made = add("index", indexing.index, "bring the index up to date with the vault")
    made.add_argument("--no-vectors", action="store_true", help="text and graph only")
    which = made.add_mutually_exclusive_group()
    which.add_argument("--rebuild", action="store_true", help="from nothing")
    which.add_argument("--pause", action="store_true", help="hold the running sidecar's indexing")
    which.add_argument("--resume", action="store_true", help="let it go on")

    add("status", reading.status, "how far the index is")
    made = add("verify", indexing.verify_index, "prove that the index equals the disk")
    made.add_argument("--all", action="store_true", help="every difference, on a terminal too")
    add("graph", reading.whole_graph, "the whole graph (with --json)")

    made = add("probe", reading.probe, "the few notes that answer a question")
    made.add_argument("words", nargs="+", metavar="QUERY")
    made.add_argument("--mode", choices=("token", "semantic", "hybrid"), help="default: hybrid")
    made.add_argument("-n", type=_number(1, 200), help="how many (default: 5)")
    made.add_argument("--in", dest="folder", metavar="FOLDER", help="only in this folder of the vault")
    made.add_argument("--tag", help="only with this tag, or one below it")
    made.add_argument("--since", metavar="DATE", help="only from this day on")

    made = add("query", reading.query, "what a note is linked to, and related with")
    made.add_argument("words", nargs="+", metavar="NOTE", help="its path, or its name as in a link")
    made.add_argument("--hops", type=_number(1, 2), help="1 or 2 (default: 1)")
    made.add_argument("-n", type=_number(1, 500), help="how many neighbours (default: 50)")

    made = add("related", reading.related, "notes that belong with a note and are not linked with it")
    made.add_argument("words", nargs="+", metavar="NOTE", help="its path, or its name as in a link")
    made.add_argument("-n", type=_number(1, 500), help="how many (default: 10)")

    made = add("dismiss", reading.dismiss, "two notes do not belong together: not suggested again")
    made.add_argument("note", metavar="NOTE")
    made.add_argument("other", metavar="OTHER")

    for name, command, about in (
        ("orphans", reading.orphans, "notes that no other note links to"),
        ("unresolved", reading.unresolved, "links that lead nowhere, with what they may mean"),
        ("problems", reading.problems, "what is wrong in the vault, file by file"),
    ):
        made = add(name, command, about)
        made.add_argument("--all", action="store_true", help="the whole list, on a terminal too")

    _add_writing(add)

    made = add("help", show_help, "what a command takes")
    made.add_argument("about", nargs="?", metavar="COMMAND")
    add("version", show_version, "which version this is")
    return parser


def _canvas(session: Session) -> int:
    from ohmykb.cli import drawing  # 50 ms that no other command need wait for

    return drawing.canvas(session)


def _add_writing(add: Callable[[str, Callable[[Session], int], str], Parser]) -> None:
    """Commands that change notes."""
    made = add("repair", writing.repair, "mend broken links: what is certain, and proposals for the rest")
    made.add_argument("words", nargs="*", metavar="NOTE", help="only of this note (default: the whole vault)")
    made.add_argument("--apply", action="store_true", help="mend what is certain, put the rest to review")
    made.add_argument("--all", action="store_true", help="the whole list, on a terminal too")

    made = add("relink", writing.relink, "link to a note, or to all orphans, where others speak of them")
    made.add_argument("words", nargs="*", metavar="NOTE", help="only to this note (default: to all orphans)")
    made.add_argument("--apply", action="store_true", help="make the links that are certain, put the rest to review")
    made.add_argument("--all", action="store_true", help="the whole list, on a terminal too")

    made = add("review", writing.review, "what waits for your decision; decide it")
    made.add_argument("verb", nargs="?", choices=deciding.VERBS, metavar="|".join(deciding.VERBS))
    made.add_argument("ids", nargs="*", metavar="ID")
    made.add_argument("--rule", help="only proposals of this rule; with a verb, all of them")
    made.add_argument("--to", metavar="NOTE", help="with retarget: the note that is meant")
    made.add_argument("--days", type=_number(1, 3650), help="with snooze (default: 7)")
    made.add_argument("-n", type=_number(1, 1000), help="how many to show (default: 50)")
    made.add_argument("--all", action="store_true", help="the whole list, on a terminal too")

    made = add("canvas", _canvas, "a map as an Obsidian canvas; drawn again, it keeps what you arranged")
    made.add_argument("words", nargs="*", metavar="NOTE", help="of this note and those around it")
    made.add_argument("--hops", type=_number(1, 2), help="with NOTE: 1 or 2 (default: 1)")
    made.add_argument("--clusters", action="store_true", help="of what hangs together in the vault")
    made.add_argument("--orphans", action="store_true", help="of notes nobody links to, with what they may belong to")
    made.add_argument("--probe", metavar="QUERY", help="of the notes that answer a question")
    made.add_argument("--folder", metavar="FOLDER", help="of the notes in a folder")
    made.add_argument("--tag", metavar="TAG", help="of the notes with a tag")
    made.add_argument("-o", dest="output", metavar="FILE", help="a .canvas file of the vault (default: print it)")
    made.add_argument("--update", metavar="FILE", help="draw this map again, of what it was drawn of")

    made = add("history", writing.history, "what was done to the vault, or to one note")
    made.add_argument("words", nargs="*", metavar="NOTE")
    made.add_argument("--all", action="store_true", help="the whole list, on a terminal too")

    made = add("undo", writing.undo, "take operations back, byte for byte")
    made.add_argument("ops", nargs="*", metavar="OP", help="see kb history")
    made.add_argument("--since", metavar="TIME", help="all since 2026-12-01, 2026-12-01T08:30, 30m, 2h or 3d")

    made = add("recover", writing.recover, "find a lost sentence wherever it once stood, and bring it back")
    made.add_argument("words", nargs="+", metavar="TEXT")
    made.add_argument(
        "--restore", type=_number(1, 1000), metavar="NUMBER", help="bring back the version of this number"
    )

    made = add("conflicts", writing.conflicts, "copies that sync tools left, and what to make of them")
    made.add_argument("words", nargs="*", metavar="COPY")
    made.add_argument("--apply", action="store_true", help="make COPY one with its note, where that is certain")
    made.add_argument("--all", action="store_true", help="the whole list, on a terminal too")

    made = add("purge", writing.purge, "remove a note's archived versions for good, a secret say")
    made.add_argument("words", nargs="+", metavar="NOTE")
    made.add_argument("--yes", action="store_true", help="do not ask")


def _number(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ArgumentTypeError(f"should be a whole number from {low} to {high}, not {text}")
        return int(text)

    return number
