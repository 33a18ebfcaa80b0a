"""Debouncing: a violation counts once it has lasted for its tolerated duration."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray

_ROUNDING = 1e-9  # [s] sums of periods are not exact

BoolArray = npt.NDArray[np.bool_]


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

    def update(self, is_wrong: BoolArray, time: float) -> list[int]:
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
