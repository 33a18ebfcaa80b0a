"""How regularly messages come."""

from __future__ import annotations

import threading


class StreamRate:
    """Counts messages between two reports, from any thread."""

    def __init__(self, now: float) -> None:
        """Begin at ``now``, [s] of the same clock as all other times."""
        self._lock = threading.Lock()
        self._begin = now
        self._last_arrival: float | None = None
        self._last_number: int | None = None
        self._intervals: list[float] = []
        self._messages = 0
        self._lost: int | None = None

    def add(self, now: float, number: int | None) -> None:
        """Count a message; ``number`` is the counter in its envelope, if it has one.

        A counter that stands still or goes back (a sender that restarted) shows no loss.
        """
        with self._lock:
            self._messages += 1
            if self._last_arrival is not None:
                self._intervals.append(now - self._last_arrival)
            self._last_arrival = now
            if number is not None:
                gap = 0 if self._last_number is None else number - self._last_number - 1
                self._lost = (self._lost or 0) + max(gap, 0)
                self._last_number = number

    def report(self, now: float) -> str:
        """Return one line about the time since the last report, and begin anew."""
        with self._lock:
            duration, self._begin = now - self._begin, now
            rate = self._messages / duration if duration > 0.0 else 0.0
            intervals = self._intervals or [float("nan")]
            lost = "-" if self._lost is None else str(self._lost)
            self._messages, self._intervals, self._lost = 0, [], None if self._lost is None else 0
        mean, longest = 1e3 * sum(intervals) / len(intervals), 1e3 * max(intervals)
        return f"rate_hz {rate:.1f} mean_ms {mean:.2f} max_ms {longest:.2f} lost {lost}"
