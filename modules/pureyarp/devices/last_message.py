"""What the last message said that made sense."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pureyarp.data import streams
from pureyarp.devices.complaint import Complaint
from pureyarp.errors import MalformedMessage
from pureyarp.network.buffered_ports import ArrivedMessage, NewestMessagePort
from pureyarp.network.channels import IncomingMessage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Received(Generic[T]):
    """What a message said, and when it came.

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
        self._malformed = Complaint()

    def read(self) -> Received[T] | None:
        """Return what came last and makes sense; None before that. One line in the log tells of what makes none."""
        if self._port.newest is not self._seen:
            with self._looking:
                newest = self._port.newest
                if newest is not self._seen and newest is not None:
                    self._take(newest)
                    self._seen = newest  # last: whoever sees it need not wait
        return self._received

    def _take(self, arrived: ArrivedMessage) -> None:
        try:
            content = self._decode(arrived.message)
        except MalformedMessage as error:
            self._malformed.say("%s was sent no %s: %s", self._port.getName(), self._contents, error)
            return
        self._malformed.settle()
        self._received = Received(content, arrived.arrived_at, arrived.received_at)
