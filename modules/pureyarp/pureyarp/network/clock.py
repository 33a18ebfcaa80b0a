"""Provide the clock of this process: the machine's, or a simulator's over a port (``YARP_CLOCK`` names it)."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable

from pureyarp.data import as_integer, use_time_source
from pureyarp.errors import NetworkError
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.peers import connect, is_connected
from pureyarp.network.ports import Contactable
from pureyarp.network.settings import log

_CARRIER = "fast_tcp"  # a simulator sends a thousand times a second; acknowledging that costs both ends a third more
_CHECK_PERIOD = 0.5  # [s] of the machine, between looks at a clock that is silent
_SILENCE = 1.0  # [s] of the machine, after which the connection is looked at
_LOOK = 0.05  # [s] of the machine, between looks at what may end a wait
_NANO = 1e-9


class _ClockPort(Contactable):
    """Hands every time that arrives to its clock, in the thread that receives it."""

    def __init__(self, take: Callable[[float], None]) -> None:
        super().__init__()
        self._core.only_stores = True
        self._take = take

    def _handle(self, message: IncomingMessage) -> None:
        match message.items():
            case [int(seconds), int(nanoseconds)]:  # as nearly always
                self._take(seconds + nanoseconds * _NANO)
            case [int() | float() as seconds, *rest] if math.isfinite(seconds):
                self._take(int(seconds) + as_integer(rest[0] if rest else 0, 32) * _NANO)


class _Wait:
    """One waiting thread, woken only when its time has come.

    Attributes:
        is_over: Set when the time has come.
    """

    def __init__(self, begin: float, duration: float) -> None:
        self._begin = begin
        self._duration = duration
        self.is_over = threading.Event()

    def look_at(self, now: float) -> None:
        """Take the present time; one before the beginning lets the wait begin again."""
        self._begin = min(self._begin, now)
        if now >= self._begin + self._duration:
            self.is_over.set()


class NetworkClock:
    """Follows the port ``source``, which sends ``(seconds, nanoseconds)``; connects again when its owner restarts.

    Attributes:
        source: Name of the simulator's clock port.
    """

    def __init__(self, source: str, local_name: str = "") -> None:
        self.source = source
        self._local_name = local_name or f"/clock/{socket.gethostname()}/{os.getpid()}:i"
        self._time: float | None = None
        self._last_arrival = 0.0
        self._waits: list[_Wait] = []
        self._lock = threading.Lock()
        self._is_known = threading.Event()  # or the clock was closed
        self._closed = threading.Event()
        self._port = _ClockPort(self.set_time)
        self._thread = threading.Thread(target=self._stay_connected, name=f"yarp clock {source}", daemon=True)

    def open(self) -> None:
        """Begin to follow; the source need not exist yet. Raises `NetworkError` if no port can be opened."""
        if not self._port.open(self._local_name):
            raise NetworkError(f"no port for the network clock {self.source} could be opened")
        self._thread.start()

    def close(self) -> None:
        """Stop following; threads that wait in `delay` go on at once."""
        self._closed.set()
        self._is_known.set()
        with self._lock:
            for wait in self._waits:
                wait.is_over.set()
        self._port.close()
        if self._thread.ident is not None:
            self._thread.join(2 * _CHECK_PERIOD)

    def set_time(self, seconds: float) -> None:
        """Take a time from the source, [s]."""
        with self._lock:
            self._time = seconds
            for wait in self._waits:
                wait.look_at(seconds)
        self._last_arrival = time.monotonic()
        if not self._is_known.is_set():
            self._is_known.set()

    def is_valid(self) -> bool:
        """Return whether a first time has arrived."""
        return self._time is not None

    def now(self) -> float:
        """Return the simulated time, [s]; 0 before the first one has arrived."""
        return self._time or 0.0

    def wait_for_a_living_source(self, timeout: float) -> None:
        """Wait for the first time, at most ``timeout`` [s] of the machine; not at all where there is no such port."""
        if self._is_connected():
            self._is_known.wait(timeout)

    def wait_until_valid(self) -> None:
        """Wait for the first time, or for `close`."""
        self._is_known.wait()

    def delay(self, seconds: float, stop: threading.Event | None = None) -> None:
        """Wait for simulated seconds or for ``stop``; a simulation that starts over starts the wait over, too."""
        wait = self._begin_wait(seconds)
        try:
            while not (stop is not None and stop.is_set()) and not wait.is_over.wait(None if stop is None else _LOOK):
                pass
        finally:
            with self._lock:
                self._waits.remove(wait)

    def _begin_wait(self, seconds: float) -> _Wait:
        with self._lock:
            wait = _Wait(self.now(), seconds)
            if self.is_valid():
                wait.look_at(self.now())
            if self._closed.is_set():
                wait.is_over.set()
            self._waits.append(wait)
        return wait

    def _stay_connected(self) -> None:
        is_missed = False
        while not self._closed.is_set():
            if time.monotonic() - self._last_arrival > _SILENCE:
                was_missed, is_missed = is_missed, not self._is_connected()
                if is_missed and not was_missed:
                    log.warning("network clock %s: not there, time stands still until it is", self.source)
            self._closed.wait(_CHECK_PERIOD)

    def _is_connected(self) -> bool:
        name = self._port.getName()
        return is_connected(self.source, name, "", quiet=True) or connect(self.source, name, _CARRIER, quiet=True)


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
    """Use the machine's clock; threads that wait for a simulated one go on at once."""
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
    """Return whether time is the machine's."""
    return _network_clock is None


def isNetworkClock() -> bool:
    """Return whether time comes from a port."""
    return _network_clock is not None


def isCustomClock() -> bool:
    """Return whether time comes from somewhere else; never here."""
    return False


def isClockInitialized() -> bool:
    """Return whether a clock was chosen."""
    return _is_initialized


def isValid() -> bool:
    """Return whether `now` returns a time: the machine's always does, a simulated one once it has arrived."""
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
        if _network_clock is None:  # else its users would lose it, though the network has begun long ago
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
