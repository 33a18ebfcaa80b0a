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
        has_lost_the_grid = abs(due - now) > period  # cycles were missed, or somebody set the clock
        self._due = now if has_lost_the_grid else due
        return max(0.0, self._due - now)
