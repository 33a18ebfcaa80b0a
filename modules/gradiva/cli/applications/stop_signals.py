"""Ctrl-C, SIGTERM and a terminal that is closed: the first one asks for the end, the second one for haste."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from gradiva.yarp_modules.application.running_module import SignalledEvent

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class StopRequest:
    """What has been asked for.

    Attributes:
        stop: Set by the first signal.
        hurry: Set by the second one.
    """

    stop: SignalledEvent = field(default_factory=SignalledEvent)
    hurry: SignalledEvent = field(default_factory=SignalledEvent)

    def note(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        (self.hurry if self.stop.is_set() else self.stop).set()


@contextmanager
def stop_signals() -> Iterator[StopRequest]:
    """Yield what signals ask for, as long as it lasts."""
    request = StopRequest()
    before = {number: signal.signal(number, request.note) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
