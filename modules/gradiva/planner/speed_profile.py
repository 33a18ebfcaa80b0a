"""How a commanded velocity is reached and left."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import NDArray


def ramped_velocities(
    start: NDArray, command: NDArray, ramp_up: float, ramp_down: float, duration: float, period: float
) -> NDArray:
    """Return a velocity that goes linearly from ``start`` to ``command``, stays, and falls linearly to zero.

    Args:
        start: Forward, lateral, angular, shape (3,).
        command: The same.
        ramp_up: [s].
        ramp_down: [s].
        duration: Of the whole, [s]; where it is shorter than both ramps, they are shortened alike.
        period: [s].

    Returns:
        Mean velocities of the intervals, shape (n, 3).
    """
    count = max(1, round(duration / period))
    shrink = min(1.0, count * period / max(ramp_up + ramp_down, 1e-9))
    middle = (np.arange(count) + 0.5) * period
    rise = np.minimum(1.0, middle / max(shrink * ramp_up, 1e-9))
    fall = np.minimum(1.0, (count * period - middle) / max(shrink * ramp_down, 1e-9))
    return (start + rise[:, None] * (command - start)) * fall[:, None]


def turn_velocities(angle: float, max_rate: float, acceleration: float, period: float) -> NDArray:
    """Return the velocities of a turn on the spot by exactly ``angle`` [rad], trapezoidal in time.

    Returns:
        Forward, lateral (zero), angular, shape (n, 3); no rows where there is nothing to turn.
    """
    if abs(angle) < 1e-9:
        return np.zeros((0, 3))
    peak = min(max_rate, math.sqrt(abs(angle) * acceleration))
    ramp = peak / acceleration
    turn = ramped_velocities(np.zeros(3), np.array([0.0, 0.0, peak]), ramp, ramp, abs(angle) / peak + ramp, period)
    return turn * (angle / (period * turn[:, 2].sum()))
