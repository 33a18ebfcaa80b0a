"""When the next cycle is due."""

from __future__ import annotations


class PeriodicSchedule:
    """A grid of cycles: lateness below one period is made up for, so that nothing drifts; missed cycles are not.

    Args:
        start: Of the first cycle, [s].
    """

    def __init__(self, start: float) -> None:
        self._due = start

    def time_left(self, period: float, now: float) -> float:
        """Move on to the next cycle and return how long it is until then, [s], zero when it is late."""
        due = self._due + period
        missed_cycles = now - due > period
        clock_went_back = due - now > 2 * period  # one would do, but for sleeps that end a little early
        self._due = now if missed_cycles or clock_went_back else due
        return max(0.0, self._due - now)
