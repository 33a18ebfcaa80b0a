"""How long each part of a tick takes."""

from __future__ import annotations

import time

PARTS = ("estimation", "model_control", "whole_body", "total")


class Stopwatch:
    """Collects the laps of the ticks.

    Attributes:
        last: Part to duration of the running tick, [µs]; zero for parts that did not run.
    """

    def __init__(self) -> None:
        self.last = dict.fromkeys(PARTS, 0.0)
        self._start = self._lap = 0.0

    def start(self) -> None:
        """Begin a tick."""
        self.last = dict.fromkeys(PARTS, 0.0)
        self._start = self._lap = time.perf_counter()

    def lap(self, part: str) -> None:
        """End one part of the tick."""
        now = time.perf_counter()
        self.last[part] = 1e6 * (now - self._lap)
        self._lap = now

    def stop(self) -> None:
        """End the tick."""
        self.last["total"] = 1e6 * (time.perf_counter() - self._start)
