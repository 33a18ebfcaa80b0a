"""Who listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

_PERIOD = 0.1  # [s] of real time between two looks: asking a port costs as much as sending a short message


class Audience:
    """Knows which of many ports have listeners; a new one is noticed within a tenth of a second.

    Args:
        counts: By name of the port, how to ask whether somebody listens.
    """

    def __init__(self, counts: Mapping[str, Callable[[], bool]]) -> None:
        self._counts = counts
        self._heard: frozenset[str] = frozenset()
        self._due = -float("inf")

    def look(self) -> None:
        """Ask the ports, if it is time."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _PERIOD
            self._heard = frozenset(name for name, is_heard in self._counts.items() if is_heard())

    def hears(self, name: str) -> bool:
        """Tell whether somebody listened to a port at the last look."""
        return name in self._heard
