"""Make the ports of servers, answer what comes in at them, publish periodically."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from pureyarp.data.streams import ConnectionReader, ConnectionWriter, Stamp
from pureyarp.data.values import Bottle
from pureyarp.network.buffered_ports import BufferedPortBottle, write_object
from pureyarp.network.ports import Port, PortReader
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.binary import Sendable
from pureyarp.wire.elements import Element, encode_vocab

Answer = Callable[[list[Element]], list[Element]]
RawAnswers = dict[str, tuple[int, ...]]
_LOGGER = logging.getLogger("pureyarp")
_JOIN_TIMEOUT = 1.0  # [s] for the last call of a publisher: one that never returns must not hold up `stop`


class ReadyMessage(Sendable, Protocol):
    """A message that knows its elements and its bytes."""

    def to_items(self) -> list[Element]:
        """Return the elements."""


class ServerPorts:
    """Make and use the ports of servers: those of this package; a subclass takes those of another YARP."""

    def output(self) -> BufferedPortBottle:
        """Return a port that publishes."""
        return BufferedPortBottle()

    def input(self) -> Port:
        """Return a port that receives."""
        return Port()

    def requests(self, answer: Answer, raw_answers: RawAnswers | None = None) -> PortReader:
        """Return a reader that answers requests, see `Requests`."""
        return RequestReader(answer, raw_answers)

    def commands(self, take: Callable[[list[Element]], None]) -> PortReader:
        """Return a reader that hands commands on, see `Commands`."""
        return CommandReader(take)

    def stamp(self, count: int, time: float) -> Stamp:
        """Return the envelope of a message."""
        return Stamp(count, time)

    def send(self, port: BufferedPortBottle, message: ReadyMessage) -> None:
        """Send a message to all who are connected; never waits for them."""
        write_object(port, message)


class Bottles:
    """Read and fill bottles: those of this package; a subclass takes those of another YARP."""

    def empty(self) -> Bottle:
        """Return an empty bottle."""
        return Bottle()

    def items(self, bottle: Bottle) -> list[Element]:
        """Return the elements of a bottle."""
        return bottle.items

    def fill(self, bottle: Bottle, items: list[Element]) -> None:
        """Make a bottle hold elements."""
        bottle.items = items


class Requests:
    """Answer each request of a port with what a function returns, or ``[fail] "message"`` if it raises.

    No exception leaves `read`: behind the real bindings it would end the process.

    Args:
        answer: From request to reply.
        raw_answers: Answers that no Bottle can hold: int16 numbers without tags, as generated code writes them, for
            requests of a single word.
        bottles: How bottles are read and filled.
    """

    def __init__(self, answer: Answer, raw_answers: RawAnswers | None = None, bottles: Bottles | None = None) -> None:
        self._answer = answer
        self._raw_answers = raw_answers or {}
        self._bottles = bottles or Bottles()
        self._failures = RateLimitedLog(_LOGGER)

    def read(self, reader: ConnectionReader) -> bool:
        """Read one request and answer it."""
        request = self._bottles.empty()
        if not request.read(reader):
            return False
        writer = reader.getWriter()
        raw_answer = self._raw_answers.get(request.get(0).asString()) if request.size() == 1 else None
        if raw_answer is not None:
            return writer is None or _write_raw(raw_answer, writer)
        reply = self._reply_to(request)
        try:
            return writer is None or reply.write(writer)
        except Exception as error:
            self._failures.warning("the answer to %.80r was not sent: %r", request.toString(), error, trace=True)
            return False

    def _reply_to(self, request: Bottle) -> Bottle:
        """Return the answer, or why there is none: one that no Bottle can hold is a failure like any other."""
        reply = self._bottles.empty()
        try:
            self._bottles.fill(reply, self._answer(self._bottles.items(request)))
        except Exception as error:
            self._failures.warning("the request %.80r was not answered: %r", request.toString(), error, trace=True)
            self._bottles.fill(reply, [encode_vocab("fail"), str(error) or type(error).__name__])
        return reply


class Commands:
    """Hand the elements of each message of a port to a function, in their order; what it raises is logged.

    Args:
        take: Called in the thread of the connection.
        bottles: How bottles are read.
    """

    def __init__(self, take: Callable[[list[Element]], None], bottles: Bottles | None = None) -> None:
        self._take = take
        self._bottles = bottles or Bottles()
        self._failures = RateLimitedLog(_LOGGER)

    def read(self, reader: ConnectionReader) -> bool:
        """Read one message and hand it on."""
        command = self._bottles.empty()
        if not command.read(reader):
            return False
        try:
            self._take(self._bottles.items(command))
        except Exception as error:
            self._failures.warning("the message %.80r was not taken: %r", command.toString(), error, trace=True)
            return False
        return True


class RequestReader(Requests, PortReader):
    """Answers each request of a port, see `Requests`."""


class CommandReader(Commands, PortReader):
    """Hands each message of a port to a function, see `Commands`."""


def _write_raw(numbers: tuple[int, ...], writer: ConnectionWriter) -> bool:
    """Write the header of a list of one struct, then the struct's numbers."""
    writer.appendInt32(256)
    writer.appendInt32(1)
    for number in numbers:
        writer.appendInt16(number)
    return not writer.isError()


class PeriodicPublisher:
    """Call a function every period of real time until it is stopped; missed calls are not made up for.

    Args:
        name: Of the server, for its thread and the log.
        period: From one call to the next, [s]; None: never, others call.
        publish: Called in the thread; what it raises is logged, and the next call comes.
    """

    def __init__(self, name: str, period: float | None, publish: Callable[[], object]) -> None:
        self._name = name
        self._period = period
        self._publish = publish
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._failures = RateLimitedLog(_LOGGER)

    def start(self) -> None:
        """Begin to call; only once."""
        if self._period is not None:
            name = f"publisher of {self._name}"
            self._thread = threading.Thread(target=self._run, args=(self._period,), name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Call no more; wait a moment for the present call, unless it is the caller."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_JOIN_TIMEOUT)

    def _run(self, period: float) -> None:
        due = time.monotonic()
        while not self._stopped.is_set():
            try:
                self._publish()
            except Exception as error:
                self._failures.warning("%s: nothing is published: %r", self._name, error, trace=True)
            due = max(due + period, time.monotonic() - period)
            self._stopped.wait(max(0.0, due - time.monotonic()))
