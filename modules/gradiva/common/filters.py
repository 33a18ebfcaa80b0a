r"""Filters and smoothing in time: first-order low pass, minimum-jerk and minimum-acceleration profiles, debouncing.

With :math:`\sigma = (t - t_0) / T` in [0, 1]: minimum acceleration :math:`s = 3\sigma^2 - 2\sigma^3`,
minimum jerk :math:`s = 10\sigma^3 - 15\sigma^4 + 6\sigma^5`. Debouncing: a violation counts once it has lasted for its
tolerated duration.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

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


_ROUNDING = 1e-9  # [s] sums of periods are not exact


class VectorDebounce:
    """Debounces several conditions at once; each is reported once."""

    def __init__(self, durations: NDArray) -> None:
        """Take how long each violation is tolerated, [s], shape (n,); 0 tolerates none."""
        self._durations = durations - _ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget violations and reports."""
        self._reported = np.zeros(len(self._durations), dtype=bool)
        self._forget()

    def _forget(self) -> None:
        self._since = np.full(len(self._durations), math.inf)
        self._is_clear = True

    def clear(self) -> None:
        """Note that nothing is violated now; cheaper than ``update``."""
        if not self._is_clear:
            self._forget()

    def update(self, is_wrong: npt.NDArray[np.bool_], time: float) -> list[int]:
        """Return the indices of the conditions that have been violated for their durations at ``time`` [s]."""
        if not np.count_nonzero(is_wrong):
            self.clear()
            return []
        self._is_clear = False
        self._since = np.where(is_wrong, np.minimum(self._since, time), math.inf)
        lasting = (time - self._since >= self._durations) & ~self._reported
        self._reported |= lasting
        return [int(index) for index in np.flatnonzero(lasting)]


class Debounce:
    """Debounces a single condition, cheaper."""

    def __init__(self, duration: float) -> None:
        """Take how long a violation is tolerated, [s]."""
        self._duration = duration - _ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget violations and reports."""
        self._was_reported = False
        self._since = math.inf

    def update(self, is_wrong: bool, time: float) -> bool:
        """Return True, once, when the condition has been violated for its duration at ``time`` [s]."""
        if not is_wrong:
            self._since = math.inf
            return False
        self._since = min(self._since, time)
        if self._was_reported or time - self._since < self._duration:
            return False
        self._was_reported = True
        return True
