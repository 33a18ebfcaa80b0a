"""The message of a simulated clock, sent once a physics step, and whether a clock sends it."""

from __future__ import annotations

import struct
import time

from gradiva.middleware import yarp
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import to_text

_NANO = 1_000_000_000
_LOOK = 0.01  # [s]
_HEAD = encode_list([0, 0])[:8]  # of a list of two int32, the same in both families
_pack = struct.Struct("<8sii").pack


class ClockMessage:
    """A time as ``/clock`` tells it: seconds and nanoseconds, ready to be sent on any connection.

    Args:
        time: [s], told to the nearest nanosecond.
    """

    def __init__(self, time: float) -> None:
        self._numbers = divmod(round(time * _NANO), _NANO)

    def to_items(self) -> list[Element]:
        """Return the elements."""
        return [*self._numbers]

    def to_wire(self, _: WireFamily) -> bytes:
        """Return the bytes for a peer of either family."""
        return _pack(_HEAD, *self._numbers)

    def to_wire_text(self) -> str:
        """Return the line for a text connection."""
        return to_text(self.to_items())


def follow_clock(clock: str, timeout: float) -> bool:
    """Take the time of this process from a clock's port; False where that sends none within ``timeout`` [s].

    The real `useNetworkClock` holds the interpreter until the first time comes, for ever where none does, so it is
    called for a clock that runs alone. Never to be called in the process that publishes the clock.
    """
    if not is_ticking(clock, timeout):
        return False
    yarp.useNetworkClock(clock)
    deadline = time.monotonic() + timeout
    while not yarp.isValid() and time.monotonic() < deadline:
        time.sleep(_LOOK)
    return bool(yarp.isValid())


def is_ticking(clock: str, timeout: float) -> bool:
    """Return whether a clock's port sends a time within ``timeout`` [s]."""
    port = yarp.BufferedPortBottle()
    try:
        if not (port.open("...") and yarp.Network.connect(clock, port.where().getName(), "tcp", True)):
            return False
        deadline = time.monotonic() + timeout
        while port.read(False) is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK)
        return True
    finally:
        port.interrupt()
        port.close()
