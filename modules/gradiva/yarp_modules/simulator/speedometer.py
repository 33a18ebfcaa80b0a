"""How fast a simulation runs, and how much of the time it works."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_WINDOW = 1.0  # [s] of real time


class Speedometer:
    """Measures over the last second.

    Attributes:
        factor: Simulated seconds a real one.
        load: Part of the real time at work, waits for the processor included, [-].
        cost: Of the processor's time that all threads need, seconds a simulated one.
    """

    def __init__(self) -> None:
        self.factor = 0.0
        self.load = 0.0
        self.cost = 0.0
        self._busy = 0.0
        self._begin: tuple[float, float, float] | None = None  # real, simulated and the processor's time

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count what is done within as work."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._busy += time.perf_counter() - begin

    def note(self, simulated_time: float) -> None:
        """Tell how far the simulation has come, [s]."""
        if self._begin is not None and time.perf_counter() - self._begin[0] < _WINDOW:
            return  # the processor's time of all threads is asked for once a window: it costs more than a message
        now = (time.perf_counter(), simulated_time, time.process_time())
        if self._begin is not None:
            passed, simulated, worked = (end - begin for begin, end in zip(self._begin, now, strict=True))
            self.factor, self.load = simulated / passed, self._busy / passed
            self.cost = worked / simulated if simulated > 0.0 else 0.0
        self._begin, self._busy = now, 0.0

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.factor:.2f} simulated seconds a real one, at work for {100.0 * self.load:.0f} % of the time"
