r"""Smoothing in time: first-order low pass, minimum-jerk and minimum-acceleration profiles.

With :math:`\sigma = (t - t_0) / T` in [0, 1]: minimum acceleration :math:`s = 3\sigma^2 - 2\sigma^3`,
minimum jerk :math:`s = 10\sigma^3 - 15\sigma^4 + 6\sigma^5`.
"""

from __future__ import annotations

import math

import numpy as np

from gradiva.common.arrays import NDArray


class LowPass:
    r"""First-order low pass, :math:`\dot y = (u - y) / T`, exact for a held input.

    Attributes:
        value: The output; None before the first sample where no initial value was given.
    """

    def __init__(self, time_constant: float, initial: NDArray | None = None) -> None:
        """Begin.

        Args:
            time_constant: T, [s]; 0 passes all through.
            initial: Output before the first sample; without it the first sample passes unchanged.
        """
        self._time_constant = time_constant
        self.value = initial

    def reset(self) -> None:
        """Forget the past: the next sample passes unchanged."""
        self.value = None

    def update(self, sample: NDArray, period: float) -> NDArray:
        """Return the output after ``sample`` has been held for ``period`` [s]."""
        if self.value is None or self._time_constant == 0.0:
            self.value = np.array(sample)
        else:
            self.value = self.value + low_pass_gain(self._time_constant, period) * (sample - self.value)
        return self.value


def low_pass_gain(time_constant: float, period: float) -> float:
    """Return the gain 1 − exp(−Δt / T) of a discrete first-order low pass, in [0, 1].

    Args:
        time_constant: [s]; 0 passes all through.
        period: [s].
    """
    return 1.0 if time_constant == 0.0 else 1.0 - math.exp(-period / time_constant)


def minimum_jerk(ratio: float) -> tuple[float, float, float]:
    """Return s, ds/dσ and d²s/dσ² of the quintic; constant outside [0, 1]."""
    if ratio <= 0.0:
        return 0.0, 0.0, 0.0
    if ratio >= 1.0:
        return 1.0, 0.0, 0.0
    square = ratio * ratio
    return (
        square * ratio * (10.0 + ratio * (-15.0 + 6.0 * ratio)),
        30.0 * square * (1.0 - ratio) * (1.0 - ratio),
        60.0 * ratio * (1.0 + ratio * (-3.0 + 2.0 * ratio)),
    )


def minimum_acceleration(ratio: float) -> tuple[float, float, float]:
    """Return s, ds/dσ and d²s/dσ² of the cubic; constant outside [0, 1]."""
    if ratio <= 0.0:
        return 0.0, 0.0, 0.0
    if ratio >= 1.0:
        return 1.0, 0.0, 0.0
    return ratio * ratio * (3.0 - 2.0 * ratio), 6.0 * ratio * (1.0 - ratio), 6.0 - 12.0 * ratio
