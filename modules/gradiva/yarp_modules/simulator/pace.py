"""How simulated time follows real time."""

from __future__ import annotations

import time
from collections.abc import Callable

_LARGEST_LAG = 0.05  # [s] of real time; what is lost beyond it is not made up for
_LOOK = 0.02  # [s] between two looks at whether to stop


class Pace:
    """Waits until simulated times are due, on an absolute schedule that begins anew when it cannot be kept.

    Attributes:
        speed: Simulated seconds a real one; 0: as fast as possible.
        slips: How often the schedule began anew because the machine was too slow.
        lost: By how much simulated time is behind because of them, [s] of real time.
    """

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.slips = 0
        self.lost = 0.0
        self._anchor: tuple[float, float] | None = None  # simulated and real time

    def begin_anew(self) -> None:
        """Let the next time be due at once, as after a pause."""
        self._anchor = None

    def wait_for(self, simulated_time: float, is_stopping: Callable[[], bool]) -> bool:
        """Wait until ``simulated_time`` [s] is due; return whether it was too late to keep the schedule."""
        if self.speed <= 0.0:
            return False
        now = time.monotonic()
        if self._anchor is None:
            self._anchor = (simulated_time, now)
        due = self._anchor[1] + (simulated_time - self._anchor[0]) / self.speed
        if now - due > _LARGEST_LAG:
            self.slips += 1
            self.lost += now - due
            self._anchor = (simulated_time, now)
            return True
        while (left := due - time.monotonic()) > 0.0 and not is_stopping():
            time.sleep(min(left, _LOOK))
        return False
