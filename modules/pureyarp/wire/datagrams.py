"""Messages on UDP: a stream cut into numbered pieces with a checksum each."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from pureyarp.errors import MalformedMessage
from pureyarp.wire.framing import message_extent

LARGEST_DATAGRAM = 65499  # as YARP cuts them
PIECE_HEADER_SIZE = 8
LARGEST_PIECE = LARGEST_DATAGRAM - PIECE_HEADER_SIZE
WAKE_UP = bytes.fromhex("76688ae3ffffffff") + bytes(10)  # carries nothing; ends a blocked receive

_HEADER = struct.Struct("<Ii")


def encode_datagram(sequence: int, piece: bytes | memoryview) -> bytes:
    """Return one datagram: checksum, number within the message, piece of the message."""
    return _HEADER.pack(zlib.crc32(piece), sequence) + piece


def datagrams_of(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Return the datagrams of one message that was cut into pieces."""
    for sequence, piece in enumerate(pieces):
        yield encode_datagram(sequence, piece)


class DatagramAssembler:
    """Puts the pieces of messages together again; a message with a lost or damaged piece is dropped.

    Attributes:
        dropped: Messages that were given up so far.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._received = bytearray()
        self._expected = 0
        self.dropped = 0

    def add(self, datagram: bytes | memoryview) -> bytes | None:
        """Take a datagram and return the payload of the message that it completes, None while it does not."""
        if len(datagram) < PIECE_HEADER_SIZE:
            return None
        checksum, sequence = _HEADER.unpack_from(datagram)
        if sequence < 0:
            return None
        piece = datagram[PIECE_HEADER_SIZE:]
        if sequence == 0:
            self._restart()
        if sequence != self._expected or zlib.crc32(piece) != checksum:
            self._give_up()
            return None
        self._expected += 1
        self._received += piece
        return self._payload()

    def _restart(self) -> None:
        if self._received:
            self._give_up()
        self._expected = 0

    def _give_up(self) -> None:
        if self._expected >= 0:
            self.dropped += 1
        self._received.clear()
        self._expected = -1  # until the next first piece

    def _payload(self) -> bytes | None:
        try:
            extent = message_extent(self._received, self._largest)
        except MalformedMessage:
            self._give_up()
            return None
        if extent is None or len(self._received) < sum(extent):
            return None
        payload = bytes(self._received[extent[0] : sum(extent)])
        self._received.clear()
        self._expected = -1
        return payload
