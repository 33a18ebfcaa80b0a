"""When the samples of one source were taken, on the clock of this process."""

from __future__ import annotations

import math

_DRIFT = 1e-3  # [s/s] by which clocks may come apart: quartzes 1e-4, one that NTP slews 5e-4
_GAP = 1.0  # [s] after such a silence the source's clock may have been set without a stamp that shows it


class SourceClock:
    r"""Turns stamps of another clock into this process's time.

    A sample cannot arrive before it was taken: of all differences between arrival and stamp, the least belongs to the
    message that travelled fastest. With :math:`o = \min(o + d \Delta t, t - s)` a sample of stamp :math:`s` was taken
    at :math:`s + o`, free of the jitter of the network; :math:`d` lets the clocks drift. On a simulated clock, which
    both share, stamps are taken as they are.

    A wall clock may be set while the robot walks. Stamps that jump forward make the difference smaller, which holds at
    once. A stamp that lies before the last one, or more than 1 s between two samples (in which a clock may have been
    set unseen), make it unknown: the sample that comes then counts as taken when it arrived, and the difference is
    estimated anew from there.

    Attributes:
        time: Of the last sample, [s]; −∞ before the first.
    """

    def __init__(self, max_age: float, is_shared: bool) -> None:
        """Begin.

        Args:
            max_age: A source whose last sample is older is late, [s].
            is_shared: Whether stamps and times are of one clock.
        """
        self.time = -math.inf
        self._max_age = max_age
        self._is_shared = is_shared
        self._stamp = -math.inf
        self._seen_at = 0.0
        self._offset = math.inf

    @property
    def has_spoken(self) -> bool:
        """Whether there has been a sample."""
        return self._stamp > -math.inf

    def update(self, stamp: float, now: float) -> None:
        """Take the stamp of the newest sample [s] at ``now`` [s]; one that was taken before counts once."""
        if stamp == self._stamp:
            return
        if stamp < self._stamp or abs(now - self._seen_at) > _GAP:
            self._offset = math.inf
            self.time = min(self.time, now)
        self._offset = min(self._offset + _DRIFT * (now - self._seen_at), now - stamp)
        self._stamp, self._seen_at = stamp, now
        self.time = stamp if self._is_shared else max(self.time, stamp + self._offset)

    def is_late(self, now: float) -> bool:
        """Whether there was no new sample for too long, at ``now`` [s]."""
        return now - self.time > self._max_age
