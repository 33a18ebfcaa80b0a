"""How long a module that ended is left alone before it is started again."""

from __future__ import annotations

import time

_SHORTEST, _LONGEST = 1.0, 30.0  # [s]
_SETTLED = 60.0  # [s] of life after which an end is a new story


class RestartDelay:
    """Doubles from end to end, so that a module which fails at once does not eat the machine."""

    def __init__(self) -> None:
        self._delay = 0.0
        self._due = 0.0

    @property
    def duration(self) -> float:
        """Of the present delay, [s]."""
        return self._delay

    def note_end(self, lifetime: float) -> None:
        """Begin a delay after a module that lived for ``lifetime`` [s]."""
        doubled = min(2.0 * self._delay, _LONGEST)
        self._delay = _SHORTEST if lifetime > _SETTLED else max(_SHORTEST, doubled)
        self._due = time.monotonic() + self._delay

    def is_over(self) -> bool:
        """Tell whether it is time to start again."""
        return time.monotonic() >= self._due
