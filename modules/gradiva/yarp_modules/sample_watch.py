"""Whether a sample of the robot is a new one, in lockstep."""

from __future__ import annotations

import math

_ROUNDING = 1e-6  # [s] boards tell a stamp as text, sensor servers as a number: its last digits are not the same
_ANEW = 1.0  # [s] a sample that lies so far back is of a simulation that began anew


class SampleWatch:
    """Knows the sample of the last tick.

    Attributes:
        time: When it was taken, [s]; −∞ before the first.
    """

    def __init__(self) -> None:
        self.time = -math.inf

    def is_new(self, time: float) -> bool:
        """Return whether a sample of ``time`` [s] has had no tick yet; it is the last one then."""
        if self.time - _ANEW <= time <= self.time + _ROUNDING:
            return False
        self.time = time
        return time > -math.inf
