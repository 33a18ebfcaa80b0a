"""Make, end and check connections between ports: ``gradiva yarp connect``, ``disconnect``, ``exists``, ``ping``."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.cli.yarp.session import check_port_name, living_contact, network_session
from gradiva.middleware import carrier_between, current_settings, is_there, open_socket, yarp

_ACKNOWLEDGEMENT = "<ACK>"
_MAX_REPLY = 1 << 20  # [bytes] of an answer
_REPLY_TIMEOUT = 5.0  # [s]


def connect(source: str, destination: str, carrier: str) -> int:
    """Let a port send to another one; return the exit status."""
    check_port_name(source)
    check_port_name(destination)
    with network_session():
        connect_or_fail(source, destination, carrier)
    say(f"connected {source} to {destination}")
    return 0


def connect_or_fail(source: str, destination: str, carrier: str) -> None:
    """Let a port send to another one.

    Raises:
        ConfigError: One is no name of a port.
        ToolFailure: It cannot be done; says why.
        NameServerUnreachable: The name server does not answer.
    """
    living_contact(source)
    living_contact(destination)
    if not yarp.Network.connect(source, destination, carrier, True):
        refusal = _refusal(source, destination, carrier)
        if refusal:
            by = f" by {carrier}" if carrier else ""
            raise ToolFailure(f"{source} refuses to connect to {destination}{by}: {refusal}")


def disconnect(source: str, destination: str) -> int:
    """Let a port no longer send to another one; return the exit status."""
    check_port_name(source)
    check_port_name(destination)
    with network_session():
        living_contact(source)
        if carrier_between(source, destination) == "":
            raise ToolFailure(f"{source} is not connected to {destination}")
        if not yarp.Network.disconnect(source, destination, "", True):
            raise ToolFailure(f"{source} does not let go of {destination}")
    say(f"disconnected {source} from {destination}")
    return 0


def exists(port: str) -> int:
    """Check whether a port answers: exit status 0 or 1."""
    check_port_name(port)
    with network_session():
        contact = living_contact(port)
        if not is_there(port):
            raise ToolFailure(f"{contact.getHost()}:{contact.getPort()} answers, but not as a port called {port}")
    say(f"{port} is at {contact.toURI()}")
    return 0


def ping(port: str, count: int) -> int:
    """Print the port's report and the round-trip times of ``count`` such reports; return the exit status."""
    check_port_name(port)
    with network_session():
        contact = living_contact(port)
        with _dialogue(port, contact.getHost(), contact.getPort()) as dialogue:
            durations = []
            for _ in range(count):
                start = time.perf_counter()
                report = dialogue.ask("*")
                durations.append(1e3 * (time.perf_counter() - start))
    print("\n".join(report))
    spread = min(durations), statistics.median(durations), max(durations)
    print("round_trip_ms min {:.3f} median {:.3f} max {:.3f} count {}".format(*spread, count))
    return 0


@contextmanager
def _dialogue(port: str, host: str, number: int) -> Iterator[TextDialogue]:
    try:
        with open_socket(host, number, current_settings(), _REPLY_TIMEOUT) as sock:
            yield TextDialogue(sock, "<ping>")
    except OSError as error:
        raise ToolFailure(f"port {port} at {host}:{number} is there, but does not answer: {error}") from error


class TextDialogue:
    """A connection by text_ack on which every line is answered by lines and an acknowledgement."""

    def __init__(self, sock: socket.socket, name: str) -> None:
        """Say who we are; raises OSError as all sockets do."""
        self._sock = sock
        self._received = b""
        sock.sendall(f"CONNACK {name}\r\n".encode())
        self._line()  # Welcome

    def ask(self, command: str) -> list[str]:
        """Return the lines of the answer; raises OSError if none comes or it has no end."""
        self._sock.sendall(f"{command}\r\n".encode())
        lines: list[str] = []
        while sum(map(len, lines)) < _MAX_REPLY:
            line = self._line()
            if line == _ACKNOWLEDGEMENT:
                return lines
            lines.append(line)
        raise OSError("the answer does not end")

    def _line(self) -> str:
        while b"\n" not in self._received:
            if len(self._received) > _MAX_REPLY:
                raise OSError("the answer does not end")
            piece = self._sock.recv(65536)
            if not piece:
                raise ConnectionResetError("it closed the connection")
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")


def _refusal(source: str, destination: str, carrier: str) -> str:
    """Ask the source once more, for its own words; empty if this time it connects."""
    command, reply, style = yarp.Bottle(), yarp.Bottle(), yarp.ContactStyle()
    command.addVocab32("add")
    command.addString(f"{carrier}:/{destination}" if carrier else destination)
    style.admin, style.quiet, style.timeout = True, True, 5.0
    if not yarp.Network.write(yarp.Network.queryName(source), command, reply, style):
        return "it does not answer"
    is_connected = reply.get(0).isInt32() and reply.get(0).asInt32() == 0
    return "" if is_connected else reply.get(1).asString().strip() or reply.toString()
