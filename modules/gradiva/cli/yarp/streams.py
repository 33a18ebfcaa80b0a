"""Read and write the messages of a port: ``gradiva yarp read`` and ``gradiva yarp write``."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from gradiva.cli.yarp.calling import message_of
from gradiva.cli.yarp.connections import connect_or_fail
from gradiva.cli.yarp.failures import ToolFailure, failure_text, say
from gradiva.cli.yarp.session import ANONYMOUS, check_port_name, is_alive, network_session
from gradiva.common import ConfigError
from gradiva.middleware import NetworkError, carrier_between, yarp

_CONNECTION_PERIOD = 0.5  # [s] a query and an administrative question each; between looks at the connection
_REPORT_PERIOD = 1.0  # [s]
_CLOSING = 2.0  # [s] for the reading thread
_READ_PERIOD = 0.001  # [s] of polling for messages: a read that waits holds the interpreter of the real bindings
Sink = Callable[[yarp.Bottle, yarp.Bottle], None]  # of a message and its envelope
_POLLING_PERIOD = 0.05  # [s]
PortT = TypeVar("PortT", yarp.Port, yarp.BufferedPortBottle)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The options of ``gradiva yarp read``.

    Attributes:
        port: Our own; ``...`` for an anonymous one.
        source: Connected to it, or None.
        carrier: Of that connection; empty is the usual one.
        count: Messages (with ``rate``: reports) to read; None is no end.
        envelope: Print each message's envelope before it.
        rate: Print a line a second about the stream instead of the messages.
    """

    port: str
    source: str | None
    carrier: str
    count: int | None
    envelope: bool
    rate: bool


def read(request: ReadRequest) -> int:
    """Read until ``count`` is reached or Ctrl-C; return the exit status."""
    for name in {request.port, request.source or request.port} - {ANONYMOUS}:
        check_port_name(name)
    with network_session(talkative=True):
        try:
            return _read(request)
        except KeyboardInterrupt:
            if request.count is not None:
                raise
            return 0  # endless reading ends like this


def _read(request: ReadRequest) -> int:
    with open_reader(request.port) as port:
        name = port.where().getName()
        say(f"reading at {name}")
        source = SourceConnection(request.source, name, request.carrier) if request.source else None
        return _print_rates(port, source, request) if request.rate else _print_messages(port, source, request)


def open_reader(name: str) -> AbstractContextManager[yarp.BufferedPortBottle]:
    """Open an input that queues all messages; close it at the end.

    Raises:
        ToolFailure: It cannot be opened.
    """
    port = yarp.BufferedPortBottle()
    port.setStrict(True)
    return _opened(port, name)


def _print_messages(port: yarp.BufferedPortBottle, source: SourceConnection | None, request: ReadRequest) -> int:
    def show(message: yarp.Bottle, envelope: yarp.Bottle) -> None:
        before = f"({envelope.toString()}) " if request.envelope else ""
        print(before + message.toString(), flush=True)

    with _Reading(port, show, request.count) as reading:
        while True:
            if source is not None:
                source.keep()
            if reading.wait(_CONNECTION_PERIOD):
                return 0


def _print_rates(port: yarp.BufferedPortBottle, source: SourceConnection | None, request: ReadRequest) -> int:
    rate = StreamRate(time.monotonic())

    def count(message: yarp.Bottle, envelope: yarp.Bottle) -> None:
        is_stamped = envelope.size() == 2 and envelope.get(0).isInt32()
        rate.add(time.monotonic(), envelope.get(0).asInt32() if is_stamped else None)

    left = request.count
    next_report = time.monotonic() + _REPORT_PERIOD
    with _Reading(port, count, None) as reading:
        while left is None or left > 0:
            if source is not None:
                source.keep()
            if reading.wait(max(0.0, min(_CONNECTION_PERIOD, next_report - time.monotonic()))):
                break
            if time.monotonic() >= next_report:
                next_report += _REPORT_PERIOD
                print(rate.report(time.monotonic()), flush=True)
                left = None if left is None else left - 1
    return 0


class _Reading:
    """A thread that hands the messages of a port to a sink until there are enough or the sink fails."""

    def __init__(self, port: yarp.BufferedPortBottle, sink: Sink, count: int | None) -> None:
        self._port = port
        self._sink = sink
        self._left = count
        self._failure: BaseException | None = None
        self._done, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="gradiva-yarp-read", daemon=True)

    def __enter__(self) -> _Reading:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join(_CLOSING)

    def wait(self, duration: float) -> bool:
        """Wait at most ``duration`` [s]; return whether reading has ended, raise the exception of the sink."""
        ended = self._done.wait(duration)
        if self._failure is not None:
            raise self._failure
        return ended

    def _run(self) -> None:
        try:
            while self._left is None or self._left > 0:
                message = self._port.read(False)
                if message is None:
                    if self._stopped.wait(_READ_PERIOD):
                        break
                    continue
                envelope = yarp.Bottle()
                self._port.getEnvelope(envelope)
                self._sink(message, envelope)
                self._left = None if self._left is None else self._left - 1
        except BaseException as error:
            self._failure = error  # a closed pipe: the main thread knows what to do
        self._done.set()


class SourceConnection:
    """Keep a source connected to our input; report on standard error what the connection waits for."""

    def __init__(self, source: str, destination: str, carrier: str) -> None:
        self._source = source
        self._destination = destination
        self._carrier = carrier
        self._reported = ""

    def keep(self) -> None:
        """Connect if there is no connection; to be called again and again."""
        try:
            self._report(self._connection_state())
        except NetworkError as error:
            self._report(f"waiting: {failure_text(error)}")

    def _connection_state(self) -> str:
        """Connect if necessary; return the state of the connection, a line."""
        present = carrier_between(self._source, self._destination)
        if present and self._carrier in ("", present):
            return f"connected from {self._source}"
        if not is_alive(self._source):
            return f"waiting for {self._source}"
        connect_or_fail(self._source, self._destination, self._carrier)
        return f"connected from {self._source}"

    def _report(self, text: str) -> None:
        if text != self._reported:
            self._reported = text
            say(text)


class StreamRate:
    """Count messages between two reports, from any thread."""

    def __init__(self, now: float) -> None:
        """Begin at ``now``, [s] of the same clock as all other times."""
        self._lock = threading.Lock()
        self._begin = now
        self._last_arrival: float | None = None
        self._last_number: int | None = None
        self._intervals: list[float] = []
        self._messages = 0
        self._lost: int | None = None

    def add(self, now: float, number: int | None) -> None:
        """Count a message; ``number`` is the counter in its envelope, if it has one.

        A counter that stands still or goes back (a sender that restarted) shows no loss.
        """
        with self._lock:
            self._messages += 1
            if self._last_arrival is not None:
                self._intervals.append(now - self._last_arrival)
            self._last_arrival = now
            if number is not None:
                gap = 0 if self._last_number is None else number - self._last_number - 1
                self._lost = (self._lost or 0) + max(gap, 0)
                self._last_number = number

    def report(self, now: float) -> str:
        """Return one line about the time since the last report, and begin anew."""
        with self._lock:
            duration, self._begin = now - self._begin, now
            rate = self._messages / duration if duration > 0.0 else 0.0
            intervals = self._intervals or [float("nan")]
            lost = "-" if self._lost is None else str(self._lost)
            self._messages, self._intervals, self._lost = 0, [], None if self._lost is None else 0
        mean, longest = 1e3 * sum(intervals) / len(intervals), 1e3 * max(intervals)
        return f"rate_hz {rate:.1f} mean_ms {mean:.2f} max_ms {longest:.2f} lost {lost}"


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """The options of ``gradiva yarp write``.

    Attributes:
        port: Our own; ``...`` for an anonymous one.
        destination: Port to connect to, or None: wait for a reader.
        words: The message; without any, lines are read from standard input.
        carrier: Of the connection; empty is the usual one.
    """

    port: str
    destination: str | None
    words: Sequence[str]
    carrier: str


def write(request: WriteRequest) -> int:
    """Write the message, or the lines of standard input; return the exit status."""
    for name in {request.port, request.destination or request.port} - {ANONYMOUS}:
        check_port_name(name)
    message = message_of(request.words) if request.words else None
    with network_session(talkative=True), open_writer(request.port) as port:
        name = port.where().getName()
        if request.destination is not None:
            connect_or_fail(name, request.destination, request.carrier)
        elif message is not None or not sys.stdin.isatty():
            _wait_for_reader(port, name)
        if message is None:
            return _write_lines(port, name)
        if not port.write(message):
            raise ToolFailure(f"{request.destination or 'the reader'} went away before it took the message")
    return 0


def open_writer(name: str) -> AbstractContextManager[yarp.Port]:
    """Open an output; close it at the end.

    Raises:
        ToolFailure: It cannot be opened.
    """
    port = yarp.Port()
    port.setInputMode(False)
    return _opened(port, name)


@contextmanager
def _opened(port: PortT, name: str) -> Iterator[PortT]:
    try:
        if name != ANONYMOUS and is_alive(name):
            raise ToolFailure(f"port {name} is already open in another process")
        if not port.open(name):
            raise ToolFailure(f"port {name} cannot be opened")
        yield port
    finally:
        port.close()


def _wait_for_reader(port: yarp.Port, name: str) -> None:
    if port.getOutputCount() == 0:
        say(f"waiting for a reader of {name}")
    while port.getOutputCount() == 0:
        time.sleep(_POLLING_PERIOD)


def _write_lines(port: yarp.Port, name: str) -> int:
    """Write standard input line by line; return 1 if a line was not understood or not taken."""
    if sys.stdin.isatty():
        say(f"every line is written to {name}; Ctrl-D ends")
    misunderstood = lost = 0
    was_read = True
    for line in sys.stdin:
        try:
            message = message_of([line])
        except ConfigError as error:
            say(f"error: {error}")
            misunderstood += 1
            continue
        has_reader = port.getOutputCount() > 0  # one that leaves after it has read, has read
        is_read = port.write(message) and has_reader
        if was_read and not is_read:  # reported once, not for every line of a stream
            say(f"{name} has no reader: lines are lost")
        was_read, lost = is_read, lost + (not is_read)
    if lost:
        say(f"{lost} lines were lost")
    return 1 if misunderstood or lost else 0
