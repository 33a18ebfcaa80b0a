"""Time as a simulator publishes it."""

from __future__ import annotations

import os
import socket
import threading
import time

from gradiva.middleware.embedded.data.bottle import Bottle
from gradiva.middleware.embedded.network.buffered_port import BufferedPortBottle
from gradiva.middleware.embedded.network.connecting import connect, is_connected
from gradiva.middleware.embedded.network.log import log
from gradiva.middleware.errors import MiddlewareError

_CHECK_PERIOD = 0.5  # [s] of the machine, between looks at a clock that is silent
_SILENCE = 1.0  # [s] of the machine, after which the connection is looked at
_LOOK = 0.05  # [s] of the machine, between looks at what may end a wait
_NANO = 1e-9


class _ClockPort(BufferedPortBottle):
    """Hands every time that arrives to its clock."""

    def __init__(self, clock: NetworkClock) -> None:
        super().__init__()
        self._clock = clock

    def onRead(self, datum: Bottle) -> None:
        """Take the next time."""
        if datum.size() == 2:
            self._clock.set_time(datum.get(0).asInt32() + datum.get(1).asInt32() * _NANO)


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
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._port = _ClockPort(self)
        self._thread = threading.Thread(target=self._stay_connected, name=f"yarp clock {source}", daemon=True)

    def open(self) -> None:
        """Begin to follow; the source need not exist yet. Raises `MiddlewareError` if no port can be opened."""
        if not self._port.open(self._local_name):
            raise MiddlewareError(f"no port for the network clock {self.source} could be opened")
        self._port.useCallback()
        self._thread.start()

    def close(self) -> None:
        """Stop following; whoever waits in `delay` goes on at once."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._port.close()
        if self._thread.ident is not None:
            self._thread.join(2 * _CHECK_PERIOD)

    def set_time(self, seconds: float) -> None:
        """Take a time from the source, [s]."""
        with self._changed:
            self._time = seconds
            self._last_arrival = time.monotonic()
            self._changed.notify_all()

    def is_valid(self) -> bool:
        """Tell whether a first time has arrived."""
        return self._time is not None

    def now(self) -> float:
        """Return the simulated time, [s]; 0 before the first one has arrived."""
        return self._time or 0.0

    def wait_until_valid(self) -> None:
        """Wait for the first time, or for `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_valid() or self._closed.is_set())

    def delay(self, seconds: float, stop: threading.Event | None = None) -> None:
        """Wait for simulated seconds or for ``stop``; a simulation that starts over starts the wait over, too."""
        with self._changed:
            begin = self.now()
            while not self._is_over(stop) and (not self.is_valid() or self.now() < begin + seconds):
                self._changed.wait(None if stop is None else _LOOK)
                begin = min(begin, self.now())

    def _is_over(self, stop: threading.Event | None) -> bool:
        return self._closed.is_set() or (stop is not None and stop.is_set())

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
        return is_connected(self.source, name, "", quiet=True) or connect(self.source, name, "", quiet=True)
