"""The first bytes of a connection, as the side that accepted it sees them."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from pureyarp.errors import MalformedMessage
from pureyarp.network.byte_stream import ByteStream
from pureyarp.network.send_bytes import send_all
from pureyarp.wire.binary import yarp_number
from pureyarp.wire.carriers import (
    HEADER_SIZE,
    LONGEST_NAME,
    MCAST,
    SHMEM,
    Carrier,
    carrier_of_header,
    decode_name,
    name_size,
)
from pureyarp.wire.text import from_text

_UNKNOWN_PROTOCOL = (
    "* Error. Protocol not found.\r\n"
    "* Hello. You appear to be trying to communicate with a YARP port.\r\n"
    "* The first 8 bytes sent to it say which carrier is spoken.\r\n"
    "* To speak to it by hand, type:\r\n"
    "*   CONNECT my_name\r\n"
    "* then, for example, a line 'd' and a line with a message, or the single line '*'.\r\n"
)


@dataclass(frozen=True, slots=True)
class Introduction:
    """What an initiator has told of itself.

    Attributes:
        carrier: How it will speak.
        sender: Its name; one that begins with ``/`` belongs to a port.
    """

    carrier: Carrier
    sender: str


def read_introduction(stream: ByteStream, sock: socket.socket) -> Introduction:
    """Read carrier and sender; a carrier that is not spoken is answered as far as it can be and refused."""
    header = stream.peek(HEADER_SIZE)
    carrier = carrier_of_header(header)
    if carrier is None:
        send_all(sock, _UNKNOWN_PROTOCOL.encode())
        raise MalformedMessage(f"{header!r} introduces no carrier")
    if carrier in (MCAST, SHMEM):
        raise MalformedMessage(f"the carrier {carrier.name} is not spoken here; tcp, fast_tcp and udp are")
    stream.skip(HEADER_SIZE)
    return Introduction(carrier, _sender(stream, carrier))


def answer_introduction(sock: socket.socket, introduction: Introduction, port_number: int) -> None:
    """Answer an introduction; ``port_number`` is this port's, or that of its new UDP socket."""
    if introduction.carrier.is_text:
        send_all(sock, f"Welcome {introduction.sender}\r\n".encode("utf-8", "surrogateescape"))
    else:
        send_all(sock, yarp_number(port_number))


def _sender(stream: ByteStream, carrier: Carrier) -> str:
    """Return the name of the sender; raise MalformedMessage where its carrier wants a port monitor to be run here."""
    if carrier.is_text:
        name, modifiers = decode_name(stream.take_line(LONGEST_NAME).strip().encode("utf-8", "surrogateescape"))
    else:
        name, modifiers = decode_name(stream.take(name_size(stream.take(4))))
    if any(isinstance(item, list) and item[:1] == ["recv"] for item in from_text(modifiers)):
        raise MalformedMessage(
            f"{name} wants {modifiers} to be run here, but there are no port monitors: leave out +recv"
        )
    return name
