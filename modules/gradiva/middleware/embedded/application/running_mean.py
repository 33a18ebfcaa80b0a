"""The mean of numbers that come one by one."""

from __future__ import annotations


class RunningMean:
    """Mean of what was added; zero before."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._count = 0

    def add(self, value: float) -> None:
        """Take one more number into account."""
        self._sum += value
        self._count += 1

    @property
    def mean(self) -> float:
        """Return the mean."""
        return self._sum / self._count if self._count else 0.0
