"""How late a bare loop of this machine wakes up: what no middleware can be better than."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class MachineLateness:
    """Wake-ups of a loop that does nothing but sleep.

    Attributes:
        lateness_us: Of each wake-up.
    """

    def __init__(self) -> None:
        self.lateness_us: list[float] = []

    def percentile(self, percentile: float) -> float:
        """Return the lateness that ``percentile`` per cent of the wake-ups stayed below, [µs]."""
        return float(np.percentile(self.lateness_us, percentile))


@contextmanager
def machine_lateness(rate: float) -> Iterator[MachineLateness]:
    """Sleep at ``rate`` [Hz] in a thread beside what is measured; the result is there when the context has ended."""
    result, stop = MachineLateness(), threading.Event()
    sleeper = threading.Thread(target=_sleep, args=(result.lateness_us, 1.0 / rate, stop), name="sleeper", daemon=True)
    sleeper.start()
    try:
        yield result
    finally:
        stop.set()
        sleeper.join()


def _sleep(lateness_us: list[float], period: float, stop: threading.Event) -> None:
    due = time.monotonic()
    while not (stop.is_set() and lateness_us):
        due += period
        time.sleep(max(due - time.monotonic(), 0.0))
        lateness_us.append(1e6 * (time.monotonic() - due))
