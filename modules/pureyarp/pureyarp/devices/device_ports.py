"""Hold what all clients of devices need: parameters, questions with a timeout, the newest message, reconnection."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pureyarp.data import streams
from pureyarp.data.streams import ConnectionReader
from pureyarp.data.values import Bottle, Searchable
from pureyarp.errors import MalformedMessage, PeerUnreachable, SettingsError
from pureyarp.network.buffered_ports import ArrivedMessage, NewestMessagePort
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.ports import Reads, RpcClient
from pureyarp.wire.elements import Element

T = TypeVar("T")
CARRIERS = ("udp", "tcp", "fast_tcp")
REPLY_TIMEOUT = 5.0  # [s] a device that hangs must not hold up a control loop for ever; slow ones answer within one
_PERIOD = 0.5  # [s] between two looks
_BACK_OFF = 0.5  # [s] between two attempts
_JOIN_TIMEOUT = 1.0  # [s] for an attempt to end; a peer that hangs does not hold up who leaves
_log = logging.getLogger("pureyarp")


class LatchedErrorLog:
    """Logs an error once, and again only after `reset`: a loop that fails in every cycle does not flood the log."""

    def __init__(self) -> None:
        self._is_logged = False

    def error(self, message: str, *arguments: object) -> None:
        """Log an error unless one has been logged since the last `reset`."""
        if not self._is_logged:
            self._is_logged = True
            _log.error(message, *arguments)

    def reset(self) -> None:
        """Note that it works again: the next error is logged."""
        self._is_logged = False


class ReplyBytes:
    """A reply that is no list.

    Attributes:
        data: What came.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.data = b""

    def read(self, reader: ConnectionReader) -> bool:
        """Take all that came."""
        data = bytearray(reader.getSize())
        is_read = reader.expectBlock(data, len(data))
        self.data = bytes(data)
        return is_read


class TimedRpcClient(RpcClient):
    """Sends one request at a time, whichever thread asks; a reply that comes after the timeout is discarded.

    Args:
        timeout: For a reply, [s].
    """

    def __init__(self, timeout: float = REPLY_TIMEOUT) -> None:
        super().__init__()
        self._timeout = timeout
        self.asPort().setTimeout(timeout)
        self._asking = threading.Lock()

    def ask(self, question: list[Element], answer: Reads, whom: str) -> None:
        """Send a request and fill ``answer`` with the reply.

        Args:
            question: Elements of the request.
            answer: Reads the reply.
            whom: Name of the device, for the message of the error.

        Raises:
            PeerUnreachable: It is not connected, or no answer came in time.
        """
        request = Bottle()
        request.items = question
        with self._asking:
            if not self.write(request, answer):
                raise PeerUnreachable(f"{whom} does not answer within {self._timeout:g} s")


@dataclass(frozen=True, slots=True)
class Received(Generic[T]):
    """Content of a message and the time of its arrival.

    Attributes:
        content: What was measured.
        arrived_at: [s], on the clock of this process, which may be the network's.
        received_at: [s], monotonic.
    """

    content: T
    arrived_at: float
    received_at: float

    def age(self) -> float:
        """Return how long ago it came, [s] of this process's clock."""
        return streams.now() - self.arrived_at

    def silence(self) -> float:
        """Return how long ago it came, [s] of real time."""
        return time.monotonic() - self.received_at


class LastMessage(Generic[T]):
    """Takes the newest message of a port apart when somebody asks, once; one that is malformed changes nothing."""

    def __init__(self, port: NewestMessagePort, contents: str, decode: Callable[[IncomingMessage], T]) -> None:
        """Read from a port.

        Args:
            port: May still be closed.
            contents: What the messages hold, for the log.
            decode: Returns it, or raises `MalformedMessage`.
        """
        self._port = port
        self._contents = contents
        self._decode = decode
        self._looking = threading.Lock()
        self._seen: ArrivedMessage | None = None
        self._received: Received[T] | None = None
        self._malformed = LatchedErrorLog()

    def read(self) -> Received[T] | None:
        """Return what came last and makes sense; None before that. What is malformed is logged once."""
        if self._port.newest is not self._seen:
            with self._looking:
                newest = self._port.newest
                if newest is not self._seen and newest is not None:
                    self._take(newest)
                    self._seen = newest  # last: a thread that finds it here need not wait
        return self._received

    def _take(self, arrived: ArrivedMessage) -> None:
        try:
            content = self._decode(arrived.message)
        except MalformedMessage as error:
            self._malformed.error("%s was sent no %s: %s", self._port.getName(), self._contents, error)
            return
        self._malformed.reset()
        self._received = Received(content, arrived.arrived_at, arrived.received_at)


class ConnectionKeeper:
    """Looks whether the connections of a device live, and makes them again when they do not.

    One line in the log says that they are lost, another that they are back; the attempts in between are silent.
    """

    def __init__(
        self,
        name: str,
        is_connected: Callable[[], bool],
        reconnect: Callable[[], bool],
        period: float = _PERIOD,
        back_off: float = _BACK_OFF,
    ) -> None:
        """Keep the connections of ``name``; both functions run in the keeper's thread and do not raise."""
        self._name = name
        self._is_connected = is_connected
        self._reconnect = reconnect
        self._period = period
        self._back_off = back_off
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"keeper of {name}", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no longer; an attempt that is under way goes on until its ports are closed, then `join` returns."""
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        """Return whether attempts are no longer wanted."""
        return self._stopped.is_set()

    def join(self) -> None:
        """Wait for the last attempt to end."""
        if self._thread.is_alive():
            self._thread.join(_JOIN_TIMEOUT)

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            try:
                if not self._is_connected():
                    self._restore()
            except Exception:  # the next look may go well, and no other thread looks
                _log.exception("%s: its connections could not be looked after", self._name)

    def _restore(self) -> None:
        _log.warning("%s is gone; trying to reach it again every %.1f s", self._name, self._back_off)
        while not self._stopped.is_set():
            if self._reconnect():
                _log.warning("%s is back", self._name)
                return
            self._stopped.wait(self._back_off)


def text(config: Searchable, key: str) -> str:
    """Return a parameter that must be there, or raise SettingsError."""
    value = config.find(key)
    if value.isNull() or not value.asString():
        raise SettingsError(f"the device needs the parameter {key!r}")
    return value.asString()


def number(config: Searchable, key: str, default: float) -> float:
    """Return a positive number, or raise SettingsError."""
    if not config.check(key):
        return default
    value = config.find(key).asFloat64()
    if not value > 0.0:
        raise SettingsError(f"{key}={config.find(key).toString()} must be a positive number")
    return value


def carrier(config: Searchable, key: str, default: str) -> str:
    """Return the name of a carrier that devices can use, or raise SettingsError."""
    name = config.find(key).asString() if config.check(key) else default
    if name not in CARRIERS:
        raise SettingsError(f"{key}={name!r} is no carrier for devices (valid: {', '.join(CARRIERS)})")
    return name


def switch(config: Searchable, key: str) -> bool | None:
    """Return whether ``on`` or ``off`` is said, None for neither, or raise SettingsError."""
    if not config.check(key):
        return None
    word = config.find(key).asString()
    if word not in ("on", "off"):
        raise SettingsError(f"{key}={word!r} must be on or off")
    return word == "on"


def texts(config: Searchable, key: str) -> list[str]:
    """Return a list of names that must not be empty, or raise SettingsError."""
    listed = config.find(key).asList() if config.check(key) else None
    names = _strings(listed)
    if not names:
        raise SettingsError(f"the device needs the parameter {key!r}, a list of names such as (a b)")
    return names


def _strings(listed: Bottle | None) -> list[str]:
    if listed is None:
        return []
    return [listed.get(index).asString() for index in range(listed.size())]
