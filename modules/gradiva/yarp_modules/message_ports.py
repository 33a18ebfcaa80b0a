"""Sends and receives dataclasses over ports, with session, number and time in front."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from gradiva.middleware import (
    CommandReader,
    Element,
    MalformedMessage,
    RateLimitedLog,
    fill_bottle,
    open_port,
    yarp,
)
from gradiva.yarp_modules.message_codec import MessageCodec

_REMEMBERED = 1000  # round trips for the percentiles
_LOGGER = logging.getLogger("gradiva.module")
_INT32 = 2**31


@dataclass(frozen=True, slots=True)
class MessageHeader:
    """Identifies the run of the sender that a message comes from, and the message within it.

    Attributes:
        session: Drawn at random when the sender begins: a restarted one is not taken for the former one.
        number: Grows with every message of a session.
        time: Of the sender's control clock, [s].
    """

    session: int
    number: int
    time: float


class Numbering:
    """Numbers the messages of one run of a sender.

    Attributes:
        session: Of this run.
        number: Of the last header.
    """

    def __init__(self) -> None:
        self.session = secrets.randbits(31)
        self.number = 0

    def next(self, time: float) -> MessageHeader:
        """Return the header of a new message, ``time`` in [s]."""
        self.number += 1
        return MessageHeader(self.session, self.number, time)


class OrderCheck:
    """Refuses a message that a later one of its session has overtaken.

    Attributes:
        restarts: How often another session began.
    """

    def __init__(self) -> None:
        self._session: int | None = None
        self._number = 0
        self.restarts = 0

    def is_new(self, header: MessageHeader) -> bool:
        """Return whether no later message of the same session has come before."""
        if header.session != self._session:
            self.restarts += self._session is not None
            self._session = header.session
        elif header.number <= self._number:
            return False
        self._number = header.number
        return True


class ExchangeRecord:
    """Counts requests and replies and times their round trips.

    Attributes:
        asked: Requests that were sent.
        answered: Of them, with a reply in time.
        missed: Of them, without.
        late: Replies that came after their tick had ended.
        refused: Replies that carry a reason in the place of a decision.
    """

    def __init__(self) -> None:
        self.asked = self.answered = self.missed = self.late = self.refused = 0
        self._durations = np.zeros(_REMEMBERED)

    def note_answer(self, duration: float) -> None:
        """Count a reply that came after ``duration`` [s]."""
        self._durations[self.answered % _REMEMBERED] = duration
        self.answered += 1

    def percentile_us(self, percent: float) -> float:
        """Return the duration that ``percent`` of the last 1000 round trips stayed below, [µs]; 0 without any."""
        known = self._durations[: self.answered]
        return 1e6 * float(np.percentile(known, percent)) if len(known) else 0.0

    def items(self) -> list[Element]:
        """Return all as pairs (name value)."""
        counts: list[Element] = [
            [name, getattr(self, name)] for name in ("asked", "answered", "missed", "late", "refused")
        ]
        return [
            *counts,
            ["round_trip_median_us", self.percentile_us(50.0)],
            ["round_trip_p99_us", self.percentile_us(99.0)],
        ]


class Message(Protocol):
    """A dataclass that begins with a header."""

    @property
    def header(self) -> MessageHeader:
        """From whom, which one, when."""
        ...


M = TypeVar("M", bound=Message)


class MessageWriter(Generic[M]):
    """Sends messages from any thread; a slow reader misses some and delays no sender."""

    def __init__(self, codec: MessageCodec) -> None:
        """Take the codec that packs them."""
        self._codec = codec
        self._port = yarp.BufferedPortBottle()
        self._writing = threading.Lock()  # a port prepares one message at a time

    def open(self, name: str) -> None:
        """Open the port.

        Raises:
            NetworkError: It could not be opened.
        """
        open_port(self._port, name)

    def write(self, message: M) -> None:
        """Send ``message``; number and time go along as the envelope, for tools that record ports."""
        items, header = self._codec.pack(message), message.header
        with self._writing:
            fill_bottle(self._port.prepare(), [[header.session, header.number, header.time], *items])
            self._port.setEnvelope(yarp.Stamp(header.number % _INT32, header.time))
            self._port.write()

    @property
    def has_readers(self) -> bool:
        """Return whether a reader is connected."""
        return bool(self._port.getOutputCount() > 0)

    def close(self) -> None:
        """Close the port."""
        self._port.interrupt()
        self._port.close()


class MessageReader(Generic[M]):
    """Keeps the newest message of a port; refuses, with a log line, malformed and overtaken ones.

    Attributes:
        on_message: Where it is set, is called with each message instead, in the thread of the connection.
        on_malformed: Where it is set, is called likewise with the header of a message that is refused, and why.
        received: Messages that were taken.
        malformed: Refused: wrong type, size or count, or not finite.
        reordered: Refused: a later one had come before.
        replaced: Messages that were not taken before the next one came.
    """

    def __init__(self, kind: type[M], codec: MessageCodec) -> None:
        """Take the class of the messages, and the codec that unpacks them."""
        self._kind = kind
        self._codec = codec
        self._port = yarp.Port()
        self._reader = CommandReader(self._take)  # the bindings do not keep it alive
        self._order = OrderCheck()
        self._arrival = threading.Condition()
        self._newest: M | None = None
        self._is_interrupted = False
        self.on_message: Callable[[M], None] | None = None
        self.on_malformed: Callable[[MessageHeader, str], None] | None = None
        self._refusals = RateLimitedLog(_LOGGER)
        self.received = self.malformed = self.reordered = self.replaced = 0

    def open(self, name: str) -> None:
        """Open the port.

        Raises:
            NetworkError: It could not be opened.
        """
        self._port.setReader(self._reader)
        open_port(self._port, name)

    def take(self, timeout: float = 0.0) -> M | None:
        """Return the newest message that was not taken yet; None if none comes within ``timeout`` [s]."""
        end = time.monotonic() + timeout
        with self._arrival:
            while self._newest is None and not self._is_interrupted and (left := end - time.monotonic()) > 0.0:
                self._arrival.wait(left)
            newest, self._newest = self._newest, None
            return newest

    @property
    def has_source(self) -> bool:
        """Return whether a sender is connected."""
        return bool(self._port.getInputCount() > 0)

    def interrupt(self) -> None:
        """End every wait in `take`."""
        with self._arrival:
            self._is_interrupted = True
            self._arrival.notify_all()

    def close(self) -> None:
        """Close the port."""
        self.interrupt()
        self._port.interrupt()
        self._port.close()

    def report(self) -> list[Element]:
        """Return the counts as pairs (name value)."""
        return [[name, getattr(self, name)] for name in ("received", "malformed", "reordered", "replaced")]

    def _take(self, items: list[Element]) -> None:
        """Check a message and keep it; called in the thread of the connection."""
        try:
            message = self._codec.unpack(items[1:], self._kind, self._kind.__name__)
        except MalformedMessage as error:
            self._refuse(items, str(error))
            return
        with self._arrival:
            if not self._order.is_new(message.header):
                self.reordered += 1
                self._refusals.warning("%s refused: %s was overtaken", self._port.getName(), message.header)
                return
            self.received += 1
        if self.on_message is not None:
            self.on_message(message)
        else:
            self._keep(message)

    def _refuse(self, items: list[Element], reason: str) -> None:
        """Log a malformed message and hand on its header, which is the same in all versions of all messages."""
        self.malformed += 1
        self._refusals.warning("%s refused: %s", self._port.getName(), reason)
        match items:
            case [[int(session), int(number), float(time)], *_] if self.on_malformed is not None:
                self.on_malformed(MessageHeader(session, number, time), reason)

    def _keep(self, message: M) -> None:
        with self._arrival:
            self.replaced += self._newest is not None
            self._newest = message
            self._arrival.notify_all()
