"""First-order low pass."""

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
            self.value = self.value + low_pass_share(self._time_constant, period) * (sample - self.value)
        return self.value


def low_pass_share(time_constant: float, period: float) -> float:
    """Return which share of a step a first-order low pass has gone after ``period`` [s], in [0, 1].

    Args:
        time_constant: [s]; 0 passes all through.
        period: [s].
    """
    return 1.0 if time_constant == 0.0 else 1.0 - math.exp(-period / time_constant)
