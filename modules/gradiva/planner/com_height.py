"""The height of the CoM over time."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray
from gradiva.planner.footsteps import GaitSchedule


class ComHeight:
    r"""A height that rises in the middle of each single support and is nominal in double support.

    .. math:: z = h + A \cdot 64\, \sigma^3 (1 - \sigma)^3, \qquad \sigma = (t - t_{lift}) / (t_{land} - t_{lift})

    Continuous up to the acceleration, whose largest magnitude is :math:`24 A / (t_{land} - t_{lift})^2`.

    Args:
        schedule: Lift-offs and touch-downs.
        height: h, [m].
        amplitude: A, [m].
    """

    def __init__(self, schedule: GaitSchedule, height: float, amplitude: float) -> None:
        self._lift_offs = schedule.lift_offs
        self._durations = schedule.touch_downs - schedule.lift_offs
        self._height, self._amplitude = height, amplitude

    def at(self, times: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return height [m], velocity [m/s] and acceleration [m/s²] at ``times``, each of shape (n,)."""
        if len(self._lift_offs) == 0:
            return np.full(len(times), self._height), np.zeros(len(times)), np.zeros(len(times))
        step = np.maximum(np.searchsorted(self._lift_offs, times, side="right") - 1, 0)
        duration = self._durations[step]
        sigma = np.clip((times - self._lift_offs[step]) / duration, 0.0, 1.0)
        u, u_rate = sigma * (1.0 - sigma), 1.0 - 2.0 * sigma
        scale = 64.0 * self._amplitude
        height = self._height + scale * u**3
        velocity = scale * 3.0 * u**2 * u_rate / duration
        acceleration = scale * 6.0 * u * (u_rate**2 - u) / duration**2
        return height, velocity, acceleration
