"""Messages on a binary connection: an index tells the lengths of the blocks, the blocks follow."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

from pureyarp.errors import FrameTooLarge, MalformedMessage
from pureyarp.wire.yarp_number import NUMBER_SIZE, expected_number, number_in, yarp_number

INDEX_SIZE = NUMBER_SIZE + 10
ACKNOWLEDGEMENT = yarp_number(0)
TEXT_ACKNOWLEDGEMENT = b"<ACK>\r\n"
LONGEST_NAME = 1000  # of a sender, with its final NUL

_INDEX_NUMBER = 10
_INDEX = yarp_number(_INDEX_NUMBER)
_INDEX_LAYOUT = struct.Struct("<8sBB")
_INDEX_FILLING = b"\xff" * 8
_MOST_BLOCKS = 255
_LENGTH_SIZE = 4
_NO_REPLY_BLOCK = bytes(_LENGTH_SIZE)
_LETTERS = ACKNOWLEDGEMENT[:2]


def encode_message(blocks: Sequence[bytes]) -> bytes:
    """Return a whole message of non-empty blocks, the first of which begins with the port command."""
    if len(blocks) > _MOST_BLOCKS:
        blocks = [b"".join(blocks)]
    lengths = _lengths_layout(len(blocks)).pack(*map(len, blocks))
    counts = bytes((len(blocks), 1))
    return b"".join((_INDEX, counts, _INDEX_FILLING, lengths, _NO_REPLY_BLOCK, *blocks))


def message_extent(start: memoryview | bytearray, largest: int) -> tuple[int, int] | None:
    """Return the sizes of header and payload of the message that starts here, None while its header is incomplete.

    A payload of more than ``largest`` bytes raises `FrameTooLarge`.
    """
    if len(start) < INDEX_SIZE:
        return None
    number, blocks, reply_blocks = _INDEX_LAYOUT.unpack_from(start)
    if number != _INDEX:
        found = expected_number(number, "the start of a message")
        raise MalformedMessage(f"a message starts with the YARP number {_INDEX_NUMBER}, got {found}")
    header_size = INDEX_SIZE + _LENGTH_SIZE * (blocks + reply_blocks)
    if len(start) < header_size:
        return None
    return header_size, _payload_size(_lengths_layout(blocks + reply_blocks).unpack_from(start, INDEX_SIZE), largest)


def _payload_size(lengths: tuple[int, ...], largest: int) -> int:
    if lengths and min(lengths) < 0:
        raise MalformedMessage(f"a block of a message cannot have {min(lengths)} bytes")
    total = sum(lengths)
    if total > largest:
        raise FrameTooLarge(f"a message of {total} bytes is refused; up to {largest} are accepted")
    return total


@cache
def _lengths_layout(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}i")


def encode_name(name: str) -> bytes:
    """Return how the initiator of a binary connection says its name."""
    text = name.encode("utf-8", "surrogateescape")[: LONGEST_NAME - 1] + b"\0"
    return struct.pack("<i", len(text)) + text


def name_size(length: bytes | bytearray | memoryview) -> int:
    """Return how many bytes of name follow the 4 bytes that announce them."""
    return int(min(max(struct.unpack("<i", length)[0], 1), LONGEST_NAME))


def decode_name(text: bytes) -> tuple[str, str]:
    """Return the name of a sender, and the modifiers of its carrier, such as ``(recv portmonitor) (file x)``."""
    name, _, modifiers = text.split(b"\0", 1)[0].decode("utf-8", "surrogateescape").partition(" ")
    return name, modifiers


def is_acknowledgement(start: bytes | bytearray | memoryview) -> bool | None:
    """Tell whether an acknowledgement begins where a reply should, None while too few bytes have come to tell."""
    if start[: len(_LETTERS)] != _LETTERS[: len(start)]:
        return False
    return number_in(start[:NUMBER_SIZE]) is not None if len(start) >= NUMBER_SIZE else None
