"""The ways in which a connection carries messages, and the bytes by which each introduces itself."""

from __future__ import annotations

from dataclasses import dataclass

from pureyarp.wire.yarp_number import NUMBER_SIZE, number_in, yarp_number

HEADER_SIZE = 8

_FIRST_SPECIFIER = 7777  # the header of a binary carrier is the number 7777 + specifier
_KIND_MASK = 0x0F  # of the specifier, says which carrier
_ACK_BIT = 0x80


@dataclass(frozen=True, slots=True)
class Carrier:
    """How messages travel over a connection.

    Attributes:
        name: As people write it.
        header: The 8 bytes that the initiator sends first.
        is_text: Messages are lines.
        has_ack: The receiver acknowledges every message.
        has_reply: The receiver can answer.
        is_datagram: Messages travel by UDP; the TCP connection only introduces them.
    """

    name: str
    header: bytes
    is_text: bool = False
    has_ack: bool = False
    has_reply: bool = False
    is_datagram: bool = False


UDP = Carrier("udp", yarp_number(_FIRST_SPECIFIER), is_datagram=True)
MCAST = Carrier("mcast", yarp_number(_FIRST_SPECIFIER + 1), is_datagram=True)
FAST_TCP = Carrier("fast_tcp", yarp_number(_FIRST_SPECIFIER + 3), has_reply=True)
TCP = Carrier("tcp", yarp_number(_FIRST_SPECIFIER + 3 + _ACK_BIT), has_ack=True, has_reply=True)
SHMEM = Carrier("shmem", yarp_number(_FIRST_SPECIFIER + 14))
TEXT = Carrier("text", b"CONNECT ", is_text=True)
TEXT_ACK = Carrier("text_ack", b"CONNACK ", is_text=True, has_ack=True, has_reply=True)

CARRIERS = {carrier.name: carrier for carrier in (TCP, FAST_TCP, UDP, TEXT, TEXT_ACK)}
"""The carriers that this process speaks, by name."""

_KINDS = {0: UDP, 1: MCAST, 14: SHMEM}


def carrier_of_header(header: bytes) -> Carrier | None:
    """Return the carrier that 8 bytes introduce, also `MCAST` and `SHMEM`, which are not spoken; None for others."""
    for carrier in (TEXT, TEXT_ACK):
        if header == carrier.header:
            return carrier
    number = number_in(header) if len(header) == NUMBER_SIZE else None
    if number is None or number < _FIRST_SPECIFIER:
        return None
    specifier = number - _FIRST_SPECIFIER
    if specifier & _KIND_MASK == 3:
        return TCP if specifier & _ACK_BIT else FAST_TCP
    return _KINDS.get(specifier & _KIND_MASK)
