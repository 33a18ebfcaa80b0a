"""``gradiva yarp write``: messages to whoever reads them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from gradiva.cli.yarp.connecting import connect_or_fail
from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.cli.yarp.message_text import message_of
from gradiva.cli.yarp.port_search import ANONYMOUS, check_port_name, is_alive
from gradiva.cli.yarp.session import network_session
from gradiva.common import ConfigError
from gradiva.middleware import yarp

_POLLING_PERIOD = 0.05  # [s]


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What to write where.

    Attributes:
        port: Our own; ``...`` for an anonymous one.
        destination: Connected to it, or None: whoever connects.
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


@contextmanager
def open_writer(name: str) -> Iterator[yarp.Port]:
    """Open an output; close it at the end.

    Raises:
        ToolFailure: It cannot be opened.
    """
    if name != ANONYMOUS and is_alive(name):
        raise ToolFailure(f"port {name} is already open in another process")
    port = yarp.Port()
    port.setInputMode(False)
    try:
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
        is_read = port.write(message) and port.getOutputCount() > 0
        if was_read and not is_read:  # told once, not for every line of a stream
            say(f"{name} has no reader: lines are lost")
        was_read, lost = is_read, lost + (not is_read)
    if lost:
        say(f"{lost} lines were lost")
    return 1 if misunderstood or lost else 0
