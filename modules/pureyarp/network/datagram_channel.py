"""The messages of one UDP connection."""

from __future__ import annotations

import contextlib
import socket
import threading

from pureyarp.errors import MalformedMessage
from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.transferable import Sent
from pureyarp.wire.binary import PortCommand, decode_command
from pureyarp.wire.carriers import WAKE_UP, DatagramAssembler
from pureyarp.wire.elements import WireFamily

_LARGEST_UDP = 65536
_RECEIVE_BUFFER = 1 << 20  # bytes that the kernel keeps while the reader is busy


class DatagramChannel:
    """A UDP socket of its own for one sender. Nothing can be answered.

    Attributes:
        port_number: Of the UDP socket, told to the sender in the handshake.
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
        """Tell nothing: a message that misses a piece is forgotten when the next one comes."""
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

    def tell(self, lines: list[str]) -> None:
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
