"""How long the parts of a tick take."""

from __future__ import annotations

import time

_PARTS = ("estimation", "model_control", "whole_body", "total")


class LapTimer:
    """Times one tick.

    Attributes:
        laps: Part to duration, [µs]; zero for parts that did not run.
    """

    def __init__(self) -> None:
        self.laps = dict.fromkeys(_PARTS, 0.0)
        self._begin = self._last = 0.0

    def start(self) -> None:
        """Begin a tick."""
        self.laps = dict.fromkeys(_PARTS, 0.0)
        self._begin = self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """End one part of the tick."""
        now = time.perf_counter()
        self.laps[part] = 1e6 * (now - self._last)
        self._last = now

    def stop(self) -> None:
        """End the tick."""
        self.laps["total"] = 1e6 * (time.perf_counter() - self._begin)
