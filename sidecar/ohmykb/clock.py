"""Time, injected, so that tests need not wait."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def wall(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds that do not run while the machine sleeps."""


class SystemClock:
    def wall(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


def iso(seconds: float) -> str:
    """UTC ISO-8601 with milliseconds, as the contract writes times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
