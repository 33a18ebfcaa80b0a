"""Whether simulated time stands still."""

from __future__ import annotations

import threading
from collections.abc import Callable

_LOOK = 0.1  # [s] between two looks at whether to stop
_ROUNDING = 1e-9  # [s]


class Pause:
    """Is on or off, or lets time pass up to an instant. Ticks ask, answers over RPC change it.

    Attributes:
        is_on: Whether time stands still, or will after an instant.
    """

    def __init__(self, is_on: bool) -> None:
        self.is_on = is_on
        self._until: float | None = None
        self._reached = threading.Event()

    def begin(self) -> None:
        """Let time stand still, now; who waits for an instant waits no more."""
        self._until = None
        self.is_on = True
        self.release()

    def end(self) -> None:
        """Let time pass; who waits for an instant waits no more."""
        self._until = None
        self.is_on = False
        self.release()

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for an instant."""
        return self._until is not None

    def run_until(self, time: float, is_stopping: Callable[[], bool]) -> None:
        """Let time pass up to ``time`` [s], and wait for it, or for a change of mind."""
        self._reached.clear()
        self._until = time
        while not self._reached.wait(_LOOK) and not is_stopping():
            pass

    def release(self) -> None:
        """Let nobody wait any more."""
        self._reached.set()

    def holds(self, time: float) -> bool:
        """Tell whether time stands still at ``time`` [s]."""
        until = self._until  # an answer over RPC may change it meanwhile
        if not self.is_on:
            return False
        if until is None:
            return True
        if time < until - _ROUNDING:
            return False
        self._until = None
        self._reached.set()
        return True
