"""The clock of this process: the machine's, or a simulator's over a port (``YARP_CLOCK`` names it)."""

from __future__ import annotations

import os
import threading
import time

from pureyarp.data.streams import use_time_source
from pureyarp.network.network_clock import NetworkClock

YARP_CLOCK_UNINITIALIZED = -1
YARP_CLOCK_DEFAULT = 0  # YARP_CLOCK's, else the machine's
YARP_CLOCK_SYSTEM = 1
YARP_CLOCK_NETWORK = 2
YARP_CLOCK_CUSTOM = 3

_DEFAULT_SOURCE = "/clock"
_FIRST_TIME = 1.0  # [s] of the machine, for a clock that exists to send its time

_lock = threading.Lock()
_network_clock: NetworkClock | None = None
_is_initialized = False


def now() -> float:
    """Return the time, [s]: simulated, or since 1970."""
    clock = _network_clock
    return time.time() if clock is None else clock.now()


def delay(seconds: float) -> None:
    """Wait, [s]; with a simulated clock until the simulation has come so far."""
    clock = _network_clock
    if clock is not None:
        clock.delay(seconds)
    elif seconds > 0:
        time.sleep(seconds)


def pause(seconds: float, stop: threading.Event) -> None:
    """Wait, [s], or until ``stop`` is set, also while a simulation stands still."""
    clock = _network_clock
    if clock is not None:
        clock.delay(seconds, stop)
    elif seconds > 0:
        stop.wait(seconds)


def useSystemClock() -> None:
    """Use the machine's clock; whoever waits for a simulated one goes on at once."""
    _use(None)


def useNetworkClock(clock: str, localName: str = "") -> None:
    """Use the time that the port ``clock`` sends; it need not exist yet, and may be restarted.

    Returns with the first time of a port that exists; where the real bindings would wait for ever, at once, or after
    a second. Raises `NetworkError` if no port can be opened here.
    """
    follower = NetworkClock(clock or _DEFAULT_SOURCE, localName)
    follower.open()
    _use(follower)
    follower.wait_for_a_living_source(_FIRST_TIME)


def isSystemClock() -> bool:
    """Tell whether time is the machine's."""
    return _network_clock is None


def isNetworkClock() -> bool:
    """Tell whether time comes from a port."""
    return _network_clock is not None


def isCustomClock() -> bool:
    """Tell whether time comes from somewhere else; never here."""
    return False


def isClockInitialized() -> bool:
    """Tell whether a clock was chosen."""
    return _is_initialized


def isValid() -> bool:
    """Tell whether `now` returns a time: the machine's always does, a simulated one once it has arrived."""
    clock = _network_clock
    return clock is None or clock.is_valid()


def getClockType() -> int:
    """Return one of the constants ``YARP_CLOCK_...``."""
    if _network_clock is not None:
        return YARP_CLOCK_NETWORK
    return YARP_CLOCK_SYSTEM if _is_initialized else YARP_CLOCK_UNINITIALIZED


def initialize_clock(kind: int = YARP_CLOCK_DEFAULT) -> None:
    """Choose the clock when the network begins; with a simulated one, wait for its first time."""
    source = os.environ.get("YARP_CLOCK", "")
    if kind == YARP_CLOCK_NETWORK or (kind == YARP_CLOCK_DEFAULT and source):
        if _network_clock is None:  # else whoever uses it would lose it, though the network has begun long ago
            useNetworkClock(source)
        clock = _network_clock
        if clock is not None:
            clock.wait_until_valid()
    elif kind == YARP_CLOCK_SYSTEM or not _is_initialized:
        useSystemClock()


def _use(clock: NetworkClock | None) -> None:
    global _network_clock, _is_initialized
    with _lock:
        former, _network_clock = _network_clock, clock
        _is_initialized = True
    use_time_source(now)  # of the stamps
    if former is not None:
        former.close()
