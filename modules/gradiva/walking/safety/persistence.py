"""Things that have been wrong for too long."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray

_ROUNDING = 1e-9  # [s] sums of periods are not exact

BoolArray = npt.NDArray[np.bool_]


class Persistence:
    """Tells which of several things have been wrong for their duration, each once."""

    def __init__(self, durations: NDArray) -> None:
        """Take how long each is borne, [s], shape (n,); 0 bears nothing."""
        self._durations = durations - _ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget what was told."""
        self._told = np.zeros(len(self._durations), dtype=bool)
        self._forget()

    def _forget(self) -> None:
        self._since = np.full(len(self._durations), math.inf)
        self._is_quiet = True

    def all_well(self) -> None:
        """Note that nothing is wrong now; cheaper than ``update``."""
        if not self._is_quiet:
            self._forget()

    def update(self, is_wrong: BoolArray, time: float) -> list[int]:
        """Return the indices of what has now been wrong for its duration at ``time`` [s]."""
        if not np.count_nonzero(is_wrong):
            self.all_well()
            return []
        self._is_quiet = False
        self._since = np.where(is_wrong, np.minimum(self._since, time), math.inf)
        lasting = (time - self._since >= self._durations) & ~self._told
        self._told |= lasting
        return [int(index) for index in np.flatnonzero(lasting)]


class Patience:
    """The same for a single thing, cheaper."""

    def __init__(self, duration: float) -> None:
        """Take how long it is borne, [s]."""
        self._duration = duration - _ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget what was told."""
        self._was_told = False
        self._since = math.inf

    def is_over(self, is_wrong: bool, time: float) -> bool:
        """Return, once, that it has been wrong for its duration at ``time`` [s]."""
        if not is_wrong:
            self._since = math.inf
            return False
        self._since = min(self._since, time)
        if self._was_told or time - self._since < self._duration:
            return False
        self._was_told = True
        return True
