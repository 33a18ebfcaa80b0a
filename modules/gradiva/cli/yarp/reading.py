"""``gradiva yarp read``: the messages of a stream, or how regularly they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.cli.yarp.port_search import ANONYMOUS, check_port_name, is_alive
from gradiva.cli.yarp.session import network_session
from gradiva.cli.yarp.source_connection import SourceConnection
from gradiva.cli.yarp.stream_rate import StreamRate
from gradiva.middleware import yarp

_CONNECTION_PERIOD = 0.5  # [s] a query and an administrative question each; between looks at the connection
_REPORT_PERIOD = 1.0  # [s]
_CLOSING = 2.0  # [s] for the reading thread
_LOOK = 0.001  # [s] between two looks for messages: a read that waits holds the interpreter of the real bindings

Sink = Callable[[yarp.Bottle, yarp.Bottle], None]  # of a message and its envelope


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What to read.

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
    """Read until there is enough or somebody presses Ctrl-C; return the exit status."""
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


@contextmanager
def open_reader(name: str) -> Iterator[yarp.BufferedPortBottle]:
    """Open an input that misses nothing; close it at the end.

    Raises:
        ToolFailure: It cannot be opened.
    """
    if name != ANONYMOUS and is_alive(name):
        raise ToolFailure(f"port {name} is already open in another process")
    port = yarp.BufferedPortBottle()
    port.setStrict(True)
    try:
        if not port.open(name):
            raise ToolFailure(f"port {name} cannot be opened")
        yield port
    finally:
        port.close()


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
        """Wait at most ``duration`` [s]; tell whether it has ended, and raise what the sink raised."""
        ended = self._done.wait(duration)
        if self._failure is not None:
            raise self._failure
        return ended

    def _run(self) -> None:
        try:
            while self._left is None or self._left > 0:
                message = self._port.read(False)
                if message is None:
                    if self._stopped.wait(_LOOK):
                        break
                    continue
                envelope = yarp.Bottle()
                self._port.getEnvelope(envelope)
                self._sink(message, envelope)
                self._left = None if self._left is None else self._left - 1
        except BaseException as error:
            self._failure = error  # a closed pipe: the main thread knows what to do
        self._done.set()


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
