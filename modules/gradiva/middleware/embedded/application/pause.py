"""Waiting on YARP's clock that can be ended."""

from __future__ import annotations

import threading

from gradiva.middleware.embedded.network import clock

_LOOK = 0.0005  # [s] of the machine, between two looks at a simulated clock


def pause(seconds: float, stop: threading.Event) -> None:
    """Wait ``seconds`` of YARP's clock or until ``stop`` is set, also while a simulated clock stands still."""
    if clock.isSystemClock():
        if seconds > 0:
            stop.wait(seconds)
        return
    begin = clock.now()
    while 0 <= clock.now() - begin < seconds and not stop.is_set():
        stop.wait(_LOOK)
