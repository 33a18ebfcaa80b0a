"""The messages of one connection, whatever its carrier: a command, an object, an answer."""

from __future__ import annotations

import contextlib
import socket
from typing import Protocol

from pureyarp.errors import FrameTooLarge
from pureyarp.network.byte_stream import ByteStream, PeerStalled
from pureyarp.network.send_bytes import send_all, send_at_once
from pureyarp.network.transferable import Sent, encoded, encoded_text
from pureyarp.wire.binary import (
    ACKNOWLEDGEMENT,
    TEXT_ACKNOWLEDGEMENT,
    PortCommand,
    decode_command,
    message_extent,
    parse_command,
)
from pureyarp.wire.carriers import Carrier
from pureyarp.wire.elements import WireFamily
from pureyarp.wire.text import TextProgress

_MOST_CONTINUED_LINES = 256


class MessageChannel(Protocol):
    """Where an input connection takes its messages from."""

    def next(self) -> tuple[PortCommand, bytes | str]:
        """Return the next message, waiting for it as long as it takes."""

    def answer(self, reply: Sent | None, family: WireFamily) -> None:
        """Send the reply, if there is one, and the acknowledgement, if the carrier has one, at once."""

    def tell(self, lines: list[str]) -> None:
        """Say lines to whoever reads them: only text connections do."""


class SharedChannel(MessageChannel, Protocol):
    """A channel that can be taken from without ever waiting."""

    def fileno(self) -> int:
        """Return the file descriptor of the socket that messages arrive at."""

    @property
    def is_within_message(self) -> bool:
        """Tell whether a message has begun to arrive."""

    def receive_at_once(self) -> None:
        """Take in what has come, if anything has."""

    def arrived(self) -> tuple[PortCommand, bytes] | None:
        """Return the next message of which all has been taken in, None if there is none."""

    def answer_at_once(self, reply: Sent | None, family: WireFamily) -> None:
        """Answer; raise `PeerStalled` if the peer has no room for it."""


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
        """Tell whether a message has begun to arrive."""
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
        with contextlib.suppress(PeerStalled):
            self._stream.receive(socket.MSG_DONTWAIT)

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
        if data := self._answer(reply, family):
            send_all(self._socket, data)

    def answer_at_once(self, reply: Sent | None, family: WireFamily) -> None:
        """Answer; raise `PeerStalled` if the peer has no room for it."""
        if data := self._answer(reply, family):
            send_at_once(self._socket, data)

    def tell(self, lines: list[str]) -> None:
        """Say nothing: binary peers read only the acknowledgement."""

    def _answer(self, reply: Sent | None, family: WireFamily) -> bytes:
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

    def tell(self, lines: list[str]) -> None:
        """Say lines to the person or tool at the other end."""
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
