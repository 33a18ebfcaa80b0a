"""Describe what the carriers do differently: their first bytes, the sender's name, authentication, datagrams.

A connection with a shared key begins with three messages of 40 bytes: 8 random bytes (a nonce) and the HMAC-SHA256,
under the key, of all nonces so far. The acceptor speaks first, the initiator answers, the acceptor closes; then each
has seen the other sign a nonce of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import NUMBER_SIZE, ListDecoder, message_extent, number_in, yarp_number
from pureyarp.wire.elements import DICTIONARY_TAG, LIST_TAG, SCALAR_MASK, WireFamily, kinds_by_tag

HEADER_SIZE = 8
LONGEST_NAME = 1000  # of a sender, with its final NUL

_FIRST_SPECIFIER = 7777  # the header of a binary carrier is the number 7777 + specifier
_KIND_MASK = 0x0F  # of the specifier, says which carrier
_ACK_BIT = 0x80


@dataclass(frozen=True, slots=True)
class Carrier:
    """Describes how messages travel over a connection.

    Attributes:
        name: As commands and contacts write it.
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


def encode_name(name: str) -> bytes:
    """Return the bytes by which the initiator of a binary connection introduces itself."""
    text = name.encode("utf-8", "surrogateescape")[: LONGEST_NAME - 1] + b"\0"
    return struct.pack("<i", len(text)) + text


def name_size(length: bytes | bytearray | memoryview) -> int:
    """Return how many bytes of name follow the 4 bytes that announce them."""
    return int(min(max(struct.unpack("<i", length)[0], 1), LONGEST_NAME))


def decode_name(text: bytes) -> tuple[str, str]:
    """Return the name of a sender, and the modifiers of its carrier, such as ``(recv portmonitor) (file x)``."""
    name, _, modifiers = text.split(b"\0", 1)[0].decode("utf-8", "surrogateescape").partition(" ")
    return name, modifiers


NONCE_SIZE = 8
SIGNED_NONCE_SIZE = NONCE_SIZE + hashlib.sha256().digest_size


def signed_nonce(key: bytes, earlier_nonces: bytes, nonce: bytes) -> bytes:
    """Return the message that sends ``nonce`` after the ``earlier_nonces`` (concatenated, oldest first)."""
    return nonce + _signature(key, earlier_nonces + nonce)


def verified_nonce(key: bytes, earlier_nonces: bytes, message: bytes) -> bytes:
    """Return the nonce of a peer's message, or raise `MalformedMessage` if its sender does not have the key."""
    if len(message) != SIGNED_NONCE_SIZE:
        raise MalformedMessage(f"a signed nonce has {SIGNED_NONCE_SIZE} bytes, got {len(message)}")
    nonce = bytes(message[:NONCE_SIZE])
    if not hmac.compare_digest(bytes(message[NONCE_SIZE:]), _signature(key, earlier_nonces + nonce)):
        raise MalformedMessage("the peer's authentication key is not ours")
    return nonce


def _signature(key: bytes, nonces: bytes) -> bytes:
    return hmac.new(key, nonces, hashlib.sha256).digest()


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
    """Reassembles messages from their datagrams; a message with a lost or damaged piece is dropped.

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


_INT32 = struct.Struct("<i").unpack_from


@dataclass(frozen=True, slots=True)
class _Run:
    """Bytes that may be cut at every multiple of ``stride`` after ``start``."""

    start: int
    end: int
    stride: int

    def last_cut(self, limit: int) -> int:
        """Return the last place up to a limit where the bytes may be cut."""
        return self.start + (min(limit, self.end) - self.start) // self.stride * self.stride


def pieces_of(message: bytes, object_start: int, family: WireFamily, largest: int = LARGEST_PIECE) -> list[bytes]:
    """Cut a message, whose list begins at ``object_start``, into pieces of at most ``largest`` bytes.

    Receivers read the numbers of a Bottle one by one and lose the message when one of them straddles two datagrams; the
    bytes of strings and blobs may be cut anywhere. So a list is walked over and cut between its numbers.
    """
    if len(message) <= largest:
        return [message]
    cuts = [0]
    for run in _runs(message, object_start, family):
        while run.end > cuts[-1] + largest:
            cuts.append(max(run.last_cut(cuts[-1] + largest), run.start))
    cuts.append(len(message))
    return [message[start:end] for start, end in pairwise(cuts)]


def _runs(message: bytes, start: int, family: WireFamily) -> Iterator[_Run]:
    if not _is_list(memoryview(message)[start:], family):  # a user's own object: no number of it is known
        yield _Run(start, len(message), 1)
        return
    walk = _Walk(message, start, family)
    yield from walk.whole_list()
    if walk.offset < len(message):
        yield _Run(walk.offset, len(message), 1)


def _is_list(data: memoryview, family: WireFamily) -> bool:
    try:
        ListDecoder(data, family).read()
    except MalformedMessage:
        return False
    return True


class _Walk:
    """Goes over a whole list."""

    def __init__(self, message: bytes, start: int, family: WireFamily) -> None:
        self._message = message
        self._kinds = kinds_by_tag(family)
        self.offset = start

    def whole_list(self) -> Iterator[_Run]:
        """Yield the runs of the list and of the lists in it."""
        yield from self._elements(self._next_int() & SCALAR_MASK)

    def _elements(self, scalar: int) -> Iterator[_Run]:
        count = self._next_int()
        kind = self._kinds.get(scalar)
        yield _Run(self.offset - 8, self.offset, 4)
        if kind is not None and kind.code:
            yield self._pass(count * kind.size, kind.size)
            return
        for _ in range(count):
            yield from self._text() if kind is not None else self._tagged()

    def _tagged(self) -> Iterator[_Run]:
        tag = self._next_int()
        yield _Run(self.offset - 4, self.offset, 4)
        kind = self._kinds.get(tag)
        if kind is not None:
            yield from [self._pass(kind.size, kind.size)] if kind.code else self._text()
        elif tag & DICTIONARY_TAG:
            yield from self.whole_list()
        elif tag & LIST_TAG:
            yield from self._elements(tag & SCALAR_MASK)

    def _text(self) -> Iterator[_Run]:
        length = self._next_int()
        yield _Run(self.offset - 4, self.offset, 4)
        yield self._pass(length, 1)

    def _pass(self, size: int, stride: int) -> _Run:
        self.offset += size
        return _Run(self.offset - size, self.offset, stride)

    def _next_int(self) -> int:
        value = int(_INT32(self._message, self.offset)[0])
        self.offset += 4
        return value
