"""Take messages from connections and answer them, whatever their carrier."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pureyarp.errors import FrameTooLarge, MalformedMessage
from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled, send_all, send_at_once
from pureyarp.network.settings import Contact
from pureyarp.wire import (
    ACKNOWLEDGEMENT,
    TEXT_ACKNOWLEDGEMENT,
    WAKE_UP,
    Carrier,
    DatagramAssembler,
    Element,
    PortCommand,
    Sent,
    TextProgress,
    WireFamily,
    decode_command,
    decode_list,
    encoded,
    encoded_text,
    from_text,
    message_extent,
    parse_command,
)


class Receivable(Protocol):
    """An object that can be filled from a connection; raises `MalformedMessage` if it is something else."""

    def from_wire(self, data: bytes, family: WireFamily, /) -> WireFamily:
        """Take over what the payload of a binary message says and return the family that it shows."""

    def from_wire_text(self, text: str, /) -> None:
        """Take over what a line says."""


class MessageSource(Protocol):
    """The connection that a message came by."""

    sender: str
    family: WireFamily
    remote: Contact

    def is_alive(self) -> bool:
        """Return whether the connection is open at both ends."""

    def finish(self) -> None:
        """End the connection after this message."""


@dataclass(slots=True)
class IncomingMessage:
    """A message and what its sender expects.

    Attributes:
        payload: The object: bytes from binary connections, a line from text connections.
        envelope: Text beside the object; empty without.
        wants_reply: The sender waits for an answer.
        source: The connection.
    """

    payload: bytes | str
    envelope: str
    wants_reply: bool
    source: MessageSource

    def items(self) -> list[Element]:
        """Return the elements of a Bottle."""
        if isinstance(self.payload, str):
            return from_text(self.payload)
        decoded = decode_list(self.payload, self.source.family)
        self.source.family = decoded.family
        return decoded.items

    def read_into(self, target: Receivable) -> None:
        """Fill an object, or raise `MalformedMessage` if the message is none of its kind."""
        if isinstance(self.payload, str):
            target.from_wire_text(self.payload)
        else:
            self.source.family = target.from_wire(self.payload, self.source.family)


MessageHandler = Callable[[IncomingMessage], Sent | None]
"""Takes a message on the thread of its connection and returns the reply; the sender is acknowledged afterwards."""


_MOST_CONTINUED_LINES = 256


class BinaryChannel:
    """Messages with an index on tcp and fast_tcp."""

    def __init__(self, sock: socket.socket, stream: ByteStream, carrier: Carrier, largest: int) -> None:
        self._socket = sock
        self._stream = stream
        self._acknowledgement = ACKNOWLEDGEMENT if carrier.has_ack else b""
        self._largest = largest

    def fileno(self) -> int:
        """Return the file descriptor of the connection."""
        return self._socket.fileno()

    @property
    def is_within_message(self) -> bool:
        """Return whether a message has begun to arrive."""
        return len(self._stream) > 0

    def next(self) -> tuple[PortCommand, bytes]:
        """Return the next command and the bytes of its object."""
        if not len(self._stream):
            _wait_for_message(self._stream)
        while (message := self.arrived()) is None:
            self._stream.receive()
        return message

    def receive_at_once(self) -> None:
        """Take in what has come, if anything has."""
        try:
            self._stream.receive(wait=False)
        except PeerStalled:  # nothing has arrived
            return

    def arrived(self) -> tuple[PortCommand, bytes] | None:
        """Return the next message of which all has been taken in, None if there is none."""
        extent = message_extent(self._stream.view(), self._largest)
        if extent is None or len(self._stream) < sum(extent):
            return None
        header_size, size = extent
        self._stream.skip(header_size)
        payload = self._stream.take(size)
        command, start = decode_command(payload)
        return command, payload[start:]

    def answer(self, reply: Sent | None, family: WireFamily) -> None:
        """Send the bare reply and the acknowledgement."""
        if data := self._encoded_answer(reply, family):
            send_all(self._socket, data)

    def answer_at_once(self, reply: Sent | None, family: WireFamily) -> None:
        """Answer; raise `PeerStalled` if the peer has no room for it."""
        if data := self._encoded_answer(reply, family):
            send_at_once(self._socket, data)

    def send_lines(self, lines: list[str]) -> None:
        """Send nothing: binary peers read only the acknowledgement."""

    def _encoded_answer(self, reply: Sent | None, family: WireFamily) -> bytes:
        return self._acknowledgement if reply is None else encoded(reply, family) + self._acknowledgement


class TextChannel:
    """Lines on text and text_ack."""

    def __init__(self, sock: socket.socket, stream: ByteStream, carrier: Carrier, largest: int) -> None:
        self._socket = sock
        self._stream = stream
        self._acknowledgement = TEXT_ACKNOWLEDGEMENT if carrier.has_ack else b""
        self._largest = largest

    def next(self) -> tuple[PortCommand, str]:
        """Return the next command and the text of its object."""
        command = parse_command(self._command_line())
        has_object = command.is_data or command.character == "a"
        return command, self._object() if has_object else ""

    def answer(self, reply: Sent | None, family: WireFamily) -> None:
        """Send the reply as a line, and the line of the acknowledgement."""
        data = self._acknowledgement if reply is None else encoded_text(reply) + self._acknowledgement
        if data:
            send_all(self._socket, data)

    def send_lines(self, lines: list[str]) -> None:
        """Send lines to the terminal or tool at the other end."""
        if lines:
            send_all(self._socket, "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape"))

    def _command_line(self) -> str:
        line = ""
        while not line:
            _wait_for_message(self._stream)
            line = self._stream.take_line(self._largest)
        return line

    def _object(self) -> str:
        lines: list[str] = []
        progress, room = TextProgress(), self._largest
        for _ in range(_MOST_CONTINUED_LINES):
            lines.append(self._stream.take_line(room))
            if progress.add(lines[-1]):
                return "\n".join(lines)
            room -= len(lines[-1])
            if progress.ends_in_backslash:
                lines[-1] = lines[-1][:-1]
        raise FrameTooLarge(f"a text that goes on for more than {_MOST_CONTINUED_LINES} lines is refused")


def _wait_for_message(stream: ByteStream) -> None:
    """Wait for the first byte of a message: before it a peer may be silent as long as it wants."""
    while not len(stream):
        try:
            stream.receive()
        except PeerStalled:
            continue


_LARGEST_UDP = 65536
_RECEIVE_BUFFER = 1 << 20  # bytes that the kernel keeps while the reader is busy


class DatagramChannel:
    """A UDP socket of its own for one sender. Nothing can be answered.

    Attributes:
        port_number: Of the UDP socket, sent in the handshake.
    """

    def __init__(self, host: str, largest: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._closed = threading.Event()
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            self._socket.bind((host, 0))
        except OSError:
            self._socket.close()
            raise
        self._host = host if host != "0.0.0.0" else "127.0.0.1"
        self.port_number = int(self._socket.getsockname()[1])
        self._assembler = DatagramAssembler(largest)
        self._buffer = bytearray(_LARGEST_UDP)
        self._arrived: tuple[PortCommand, bytes] | None = None

    @property
    def is_within_message(self) -> bool:
        """Return False: a message without one of its pieces is dropped when the next one comes."""
        return False

    def fileno(self) -> int:
        """Return the file descriptor of the UDP socket."""
        return self._socket.fileno()

    def next(self) -> tuple[PortCommand, bytes]:
        """Return the next message of which all pieces have arrived; what is none is left out.

        Anybody can send here, and a sender that is turned away would never hear of it.
        """
        while (message := self.arrived()) is None:
            self._receive(0)
        return message

    def receive_at_once(self) -> None:
        """Take in a piece, if one has come."""
        self._receive(socket.MSG_DONTWAIT)

    def arrived(self) -> tuple[PortCommand, bytes] | None:
        """Return the message that the last piece has completed, None if it has not."""
        message, self._arrived = self._arrived, None
        return message

    def answer(self, reply: Sent | None, family: WireFamily) -> None:
        """Do nothing: the sender does not listen."""

    def answer_at_once(self, reply: Sent | None, family: WireFamily) -> None:
        """Do nothing: the sender does not listen."""

    def send_lines(self, lines: list[str]) -> None:
        """Do nothing."""

    def wake_up(self) -> None:
        """End `next` with `PeerGone`, now and from now on."""
        self._closed.set()
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(WAKE_UP, (self._host, self.port_number))

    def close(self) -> None:
        """Close the socket; for the thread that calls `next`."""
        self._closed.set()
        self._socket.close()

    def _receive(self, flags: int) -> None:
        try:
            size = self._socket.recv_into(self._buffer, 0, flags)
        except BlockingIOError:
            return
        except OSError as error:
            raise PeerGone(f"the UDP socket is broken: {error}") from error
        if self._closed.is_set():
            raise PeerGone("the connection was closed")
        payload = self._assembler.add(memoryview(self._buffer)[:size])
        if payload is not None:
            with contextlib.suppress(MalformedMessage):
                command, start = decode_command(payload)
                self._arrived = command, payload[start:]


MessageChannel = BinaryChannel | TextChannel | DatagramChannel
"""Takes the messages of an input connection and answers them."""

SharedChannel = BinaryChannel | DatagramChannel
"""Can also be taken from without ever waiting."""
