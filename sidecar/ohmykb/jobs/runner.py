"""Runs a job turn after turn: one that fails is told to the log, and the next turn comes."""

import logging
from collections.abc import Callable

from ohmykb.errors import KbError

log = logging.getLogger(__name__)


def run(turn: Callable[[], bool]) -> None:
    """Until `turn` says that no other is to come. A turn waits by itself for what is due."""
    more = True
    while more:
        try:
            more = turn()
        except KbError as error:
            log.warning("it is tried again later: %s %s", error.message, error.fix)
        except Exception:
            log.exception("a job failed; it comes again")
