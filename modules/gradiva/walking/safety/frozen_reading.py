"""A sensor that says the same again and again."""

from __future__ import annotations

import math

_ROUNDING = 1e-9  # [s] sums of periods are not exact


class FrozenReading:
    """Compares each reading with the last; all zeros are no reading: a foot in the air."""

    def __init__(self, duration: float) -> None:
        """Take for how long a living sensor may repeat itself, [s]."""
        self._duration = duration - _ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._values: list[float] = []
        self._since = math.inf

    def is_frozen(self, values: list[float], time: float) -> bool:
        """Return whether this reading at ``time`` [s] has been the same for too long."""
        if values != self._values or not any(values):
            self._values, self._since = values, time
            return False
        return time - self._since >= self._duration
