"""The slow move from wherever the joints are to the start posture."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray, minimum_jerk

_PEAK = 1.875  # of ds/dσ of the minimum-jerk law


class Preparation:
    """A minimum-jerk move of all joints.

    Attributes:
        duration: [s].
    """

    def __init__(self, start_time: float, start: NDArray, goal: NDArray, shortest: float, highest_speed: float) -> None:
        """Plan the move.

        Args:
            start_time: [s].
            start: Measured joint positions, [rad], shape (n,).
            goal: Start posture with its servo offsets, [rad], shape (n,).
            shortest: Least duration, [s].
            highest_speed: Of any joint, [rad/s].
        """
        self._start_time = start_time
        self._start = start
        self._goal = goal
        self.duration = max(shortest, _PEAK * float(np.max(np.abs(goal - start))) / highest_speed)

    def at(self, time: float) -> NDArray:
        """Return the joint positions at ``time`` [s], [rad], shape (n,)."""
        share, _, _ = minimum_jerk((time - self._start_time) / self.duration)
        return self._start + share * (self._goal - self._start)

    def is_over(self, time: float) -> bool:
        """Whether the goal has been reached."""
        return time >= self._start_time + self.duration
