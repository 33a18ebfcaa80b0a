"""Make connections between ports, and make them again whenever an end was restarted."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradiva.middleware import yarp
from gradiva.middleware.network import carrier_between, is_there

HEALTHY_PERIOD = 2.0  # [s] between two looks at a connection that was there the last time

_LOGGER = logging.getLogger("gradiva.yarp")
_JOIN_TIMEOUT = 5.0  # [s] for a look in progress to end
_MANY_TRIES = 10  # in vain, after which it is time to say so, if both ports are there


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """State of one connection.

    Attributes:
        source: Port that sends.
        destination: Port that receives.
        carrier: Asked for when it is made; empty for the destination's own.
        is_connected: At the last look.
        times_made: How often it was made here; more than 1 after restarts.
    """

    source: str
    destination: str
    carrier: str
    is_connected: bool = False
    times_made: int = 0


class PersistentConnections:
    """Makes each connection as soon as both ports are there, and again when it is lost.

    What is not connected is tried every ``period`` seconds. What is connected is looked at every ``healthy_period``
    seconds, one after the other: a look asks the name server for both ports and both of them for their connection,
    which is four short TCP connections and about a millisecond of each of the processes.
    A connection that was made by another carrier is left as it is, and so is every one while the name server is
    gone, does not know its ports yet, or its source is too busy to answer: it lives on.

    Args:
        connections: (source, destination, carrier) of each.
        period: [s].
        healthy_period: [s].
        is_needed: Nothing is looked at while it returns False.
        are_made: Whether they are there when it starts, made by others.
    """

    def __init__(
        self,
        connections: Iterable[tuple[str, str, str]],
        period: float = 0.5,
        healthy_period: float = HEALTHY_PERIOD,
        is_needed: Callable[[], bool] = lambda: True,
        are_made: bool = False,
    ) -> None:
        self._connections = [_PersistentConnection(*connection, are_made) for connection in connections]
        self._is_needed = is_needed
        self._period = period
        self._healthy_period = healthy_period
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to connect, in a thread of its own."""
        if self._thread is not None:
            return
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="yarp persistent connections", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Make no more connections; those that are there stay."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_TIMEOUT)

    def status(self) -> list[ConnectionStatus]:
        """Return what is known of every connection, in the order in which they were given."""
        return [connection.status for connection in self._connections]

    def are_connected(self) -> bool:
        """Return whether every connection was there at the last look."""
        return all(status.is_connected for status in self.status())

    def _run(self) -> None:
        while not self._stop.is_set():
            for connection in self._connections:
                if not self._stop.is_set() and self._is_needed() and connection.is_due(self._healthy_period):
                    self._look(connection)
            self._stop.wait(self._period)

    def _look(self, connection: _PersistentConnection) -> None:
        try:
            connection.look()
        except Exception:  # the next look may go well
            status = connection.status
            _LOGGER.exception("the connection from %s to %s was not looked after", status.source, status.destination)


class _PersistentConnection:
    """One connection and when it was looked at."""

    def __init__(self, source: str, destination: str, carrier: str, is_made: bool) -> None:
        self.status = ConnectionStatus(source, destination, carrier, is_made, int(is_made))
        self._last_look = 0.0
        self._tries = 0  # in vain, since it was connected last

    def is_due(self, healthy_period: float) -> bool:
        """Return whether it is time to look."""
        return not self.status.is_connected or time.monotonic() - self._last_look >= healthy_period

    def look(self) -> None:
        """Connect unless it is connected."""
        former = self.status
        source, destination, carrier = former.source, former.destination, former.carrier
        made = former.times_made
        self._last_look = time.monotonic()
        present = carrier_between(source, destination)
        is_connected = present != ""
        if present is None:
            return  # there is no answer: what was connected stays so
        if not is_connected and yarp.Network.connect(source, destination, carrier, True):
            is_connected, made = True, made + 1
            _LOGGER.info("connected %s to %s%s", source, destination, " again" if made > 1 else "")
        elif not is_connected and former.is_connected:
            _LOGGER.warning("the connection from %s to %s is lost; it is tried again", source, destination)
        self._tries = 0 if is_connected else self._tries + 1
        if self._tries == _MANY_TRIES:
            self._report_refused()
        self.status = ConnectionStatus(source, destination, carrier, is_connected, made)

    def _report_refused(self) -> None:
        """Log, once, a connection that is refused; one whose ports are not there is waited for."""
        source, destination = self.status.source, self.status.destination
        if is_there(source) and is_there(destination):
            line = "%s and %s are there, but are not connected by '%s'; it is tried again: is that a carrier of both?"
            _LOGGER.warning(line, source, destination, self.status.carrier)
