"""The first bytes of a connection, as the side that opens it says them."""

from __future__ import annotations

import socket
import time

from pureyarp.errors import MalformedMessage, PeerUnreachable
from pureyarp.network.byte_stream import ByteStream, PeerGone, PeerStalled
from pureyarp.network.contact import Contact
from pureyarp.network.datagram_output import DatagramOutput
from pureyarp.network.open_socket import open_socket
from pureyarp.network.output_connection import OutputConnection
from pureyarp.network.settings import NetworkSettings
from pureyarp.network.stream_output import StreamOutput
from pureyarp.wire.binary import NUMBER_SIZE, expected_number
from pureyarp.wire.carriers import LONGEST_NAME, Carrier, encode_name


def open_output(
    sender: str, receiver: Contact, carrier: Carrier, settings: NetworkSettings, timeout: float | None = None
) -> OutputConnection:
    """Connect to a port and introduce ``sender``; raises `PeerUnreachable`.

    ``timeout`` [s] holds for the whole, the limit of the settings by default.
    """
    limit = settings.limits.handshake_timeout if timeout is None else timeout
    deadline = time.monotonic() + limit
    sock = open_socket(receiver.getHost(), receiver.getPort(), settings, limit)
    try:
        stream = ByteStream(sock, expects_answers=True)
        stream.set_deadline(deadline)
        number = _introduce(sock, stream, sender, carrier)
        if carrier.is_datagram:
            local = sock.getsockname()[:2]
            sock.close()
            return DatagramOutput(sender, receiver, number, local, settings)
        return StreamOutput(sock, stream, receiver.getName(), carrier, settings)
    except (OSError, PeerGone, PeerStalled, MalformedMessage) as error:
        sock.close()
        raise PeerUnreachable(f"{receiver.getName()} does not shake hands: {error}") from error


def _introduce(sock: socket.socket, stream: ByteStream, sender: str, carrier: Carrier) -> int:
    if carrier.is_text:
        sock.sendall(carrier.header + f"{sender}\r\n".encode("utf-8", "surrogateescape"))
        sock.settimeout(None)
        stream.take_line(LONGEST_NAME + len("Welcome "))
        return 0
    sock.sendall(carrier.header + encode_name(sender))
    sock.settimeout(None)
    return expected_number(stream.take(NUMBER_SIZE), "the answer to a handshake")
