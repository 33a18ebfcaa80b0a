"""When a module's cycles are due: on a grid that neither drifts nor makes up for what was missed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from gradiva.middleware import yarp

_EPOCH = time.time() - time.monotonic()  # [s] where this process's steady clock began to count from 1970
_LOOK = 0.02  # [s] between two looks at whether the module stops
_POLL = 0.0002  # [s] between two looks at a simulated clock, at least
_POLLED_SHARE = 0.3  # of the simulated time that is left: who simulates three times as fast as real is not overslept
_LONGEST_WAIT = 0.5  # [s] of the machine for a simulated clock, then the module sees whether it has to stop


class TickSchedule:
    """Waits for the next cycle. Cycles that were missed are counted and left out; those to come keep their places.

    Attributes:
        period: [s].
        lateness: Of the cycle that began last, [s].
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.lateness = 0.0
        self._due: float | None = None

    def wait(self, is_stopping: Callable[[], bool]) -> int | None:
        """Wait until the next cycle is due; return how many were missed.

        Returns:
            None when the module stops, or a simulated clock stands still: there is no cycle now.
        """
        now = present_time()
        due = now if self._due is None else self._due + self.period
        missed = max(0, math.floor((now - due) / self.period))
        due += missed * self.period
        if due - now > 2.0 * self.period:  # a simulation that began anew
            due = now
        if not _wait_until(due, is_stopping):
            return None
        self.lateness = max(0.0, present_time() - due) + missed * self.period
        self._due = due
        return missed

    def time_left(self) -> float:
        """Return how long it is until the next cycle, [s]; negative when it is late."""
        return 0.0 if self._due is None else self._due + self.period - present_time()


def present_time() -> float:
    """Return the time of cycles, [s]: of the simulated clock, else of the machine's monotonic one."""
    return float(yarp.now()) if yarp.isNetworkClock() else time.monotonic()


def control_time() -> float:
    """Return the time of control and of samples, [s]: of the simulated clock, else a steady one.

    The steady clock agrees with the wall clock when the process starts, so that logs can be compared with others, and
    is monotonic from then on: it does not follow when the wall clock is set (NTP, an operator), as ``yarp.now()`` does.
    """
    return float(yarp.now()) if yarp.isNetworkClock() else _EPOCH + time.monotonic()


def _wait_until(due: float, is_stopping: Callable[[], bool]) -> bool:
    if yarp.isNetworkClock():
        return _poll_until(due, is_stopping)
    while not is_stopping():
        left = due - time.monotonic()
        if left <= 0.0:
            return True
        time.sleep(min(left, _LOOK))
    return False


def _poll_until(due: float, is_stopping: Callable[[], bool]) -> bool:
    patience = time.monotonic() + _LONGEST_WAIT
    while not is_stopping() and time.monotonic() < patience:
        left = due - present_time()
        if left <= 0.0 and yarp.isValid():
            return True
        time.sleep(min(max(_POLL, _POLLED_SHARE * left), _LOOK))
    return False
