"""Makes YARP's network clock the clock of ticks, control and samples; the machine's where none is followed."""

from __future__ import annotations

import math
from collections.abc import Callable

from gradiva.middleware import yarp
from gradiva.session.tick_timing import MachineClock, poll_until


class NetworkClock(MachineClock):
    """Reads the simulated clock that the process follows, else a steady one of the machine."""

    def now(self) -> float:
        """Return the time of ticks, [s]."""
        return float(yarp.now()) if yarp.isNetworkClock() else super().now()

    def control_time(self) -> float:
        """Return the time of control and of samples, [s]; never YARP's system clock, which is a wall clock."""
        return float(yarp.now()) if yarp.isNetworkClock() else super().control_time()

    def wait_until(self, due: float, is_stopping: Callable[[], bool]) -> bool:
        """Wait until ``due`` [s]; False when the module stops, or a simulated clock stands still."""
        if not yarp.isNetworkClock():
            return super().wait_until(due, is_stopping)
        return poll_until(due, lambda: self.now() if yarp.isValid() else math.nan, is_stopping)


_CLOCK = NetworkClock()
present_time, control_time = _CLOCK.now, _CLOCK.control_time
