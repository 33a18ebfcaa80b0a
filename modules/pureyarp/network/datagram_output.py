"""An output on udp."""

from __future__ import annotations

import contextlib
import errno
import socket

from pureyarp.errors import PeerUnreachable
from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.contact import Contact
from pureyarp.network.log import log
from pureyarp.network.open_socket import open_socket
from pureyarp.network.outgoing_message import OutgoingMessage
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.carriers import UDP, datagrams_of, pieces_of

_FAREWELL_PATIENCE = 0.5  # [s]
_SEND_BUFFER = 1 << 20  # bytes
_MOST_FAREWELL_BYTES = 4096


class DatagramOutput:
    """Sends datagrams and never hears of them again; the receiver is told of the end over a text connection.

    Only that nobody has the receiver's socket any more is told by the receiver's machine.
    """

    def __init__(
        self, sender: str, receiver: Contact, udp_port: int, local: tuple[str, int], settings: NetworkSettings
    ):
        self.target = receiver.getName()
        self.carrier = UDP
        self.family = settings.family
        self.dropped = 0
        self._sender = sender
        self._receiver = receiver
        self._settings = settings
        self._is_refused = False
        self._socket = _connected_socket(local, (receiver.getHost(), udp_port))

    def offer(self, message: OutgoingMessage) -> None:
        """Send without waiting; a message for which the socket's buffer has no room is dropped."""
        self._send(message, socket.MSG_DONTWAIT)

    def begin(self, message: OutgoingMessage, deadline: float | None = None) -> None:
        """Send, waiting for room in the socket's buffer."""
        self._send(message, 0)

    def finish(self, deadline: float | None = None) -> None:
        """Do nothing: the receiver does not acknowledge."""

    def call(self, message: OutgoingMessage, deadline: float | None = None) -> bytes | str | None:
        """Send; there is never a reply."""
        self._send(message, 0)
        return None

    def is_busy(self) -> bool:
        """Tell that nothing is ever waited for."""
        return False

    def is_alive(self) -> bool:
        """Tell whether the receiver's machine has refused no datagram."""
        try:
            self._is_refused |= self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
        except OSError:  # closed
            return False
        return not self._is_refused

    def set_type_of_service(self, value: int) -> None:
        """Set the IP type of service."""
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, value)

    def type_of_service(self) -> int:
        """Return the IP type of service."""
        return self._socket.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)

    def close(self) -> None:
        """Tell the receiver that no more will come."""
        self._socket.close()
        if self._is_refused:
            return
        host, port = self._receiver.getHost(), self._receiver.getPort()
        with (
            contextlib.suppress(OSError, PeerUnreachable),
            open_socket(host, port, self._settings, _FAREWELL_PATIENCE) as sock,
        ):
            sock.sendall(b"CONNECT admin\r\n" + f"~{self._sender}\r\nq\r\n".encode("utf-8", "surrogateescape"))
            sock.settimeout(_FAREWELL_PATIENCE)
            _read_to_end(sock)

    def _send(self, message: OutgoingMessage, flags: int) -> None:
        frame = message.frame(self.carrier, self.family)
        for datagram in datagrams_of(pieces_of(frame.data, frame.object_start, frame.family)):
            if not self._send_datagram(datagram, flags):
                self.dropped += 1
                return

    def _send_datagram(self, datagram: bytes, flags: int) -> bool:
        try:
            self._socket.send(datagram, flags)
        except BlockingIOError:
            return False
        except ConnectionRefusedError as error:  # of a former datagram
            self._is_refused = True
            raise PeerGone("no reader receives its datagrams") from error
        except OSError as error:
            if self._socket.fileno() < 0:
                raise PeerGone("the connection is closed") from error
            log.warning("%s: a datagram to %s was not sent: %s", self._sender, self.target, error)
            return False
        return True


def _connected_socket(local: tuple[str, int], receiver: tuple[str, int]) -> socket.socket:
    """Return a UDP socket at the address that the handshake came from, as receivers may expect it."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        sock.bind(local)
    try:
        sock.connect(receiver)
    except OSError:
        sock.close()
        raise
    return sock


def _read_to_end(sock: socket.socket) -> None:
    received = 0
    while received < _MOST_FAREWELL_BYTES:
        piece = sock.recv(_MOST_FAREWELL_BYTES)
        if not piece:
            return
        received += len(piece)
