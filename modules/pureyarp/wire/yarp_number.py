"""A YARP number: 8 bytes that carry one signed integer between the letters YA and RP."""

from __future__ import annotations

import struct

from pureyarp.errors import MalformedMessage

NUMBER_SIZE = 8

_LAYOUT = struct.Struct("<2si2s")


def yarp_number(value: int) -> bytes:
    """Return the 8 bytes of a number."""
    return _LAYOUT.pack(b"YA", value, b"RP")


def number_in(data: bytes | bytearray | memoryview) -> int | None:
    """Return the number that 8 bytes carry, None if they carry none."""
    begin, value, end = _LAYOUT.unpack(data)
    return int(value) if begin == b"YA" and end == b"RP" else None


def expected_number(data: bytes | bytearray | memoryview, what: str) -> int:
    """Return the number that 8 bytes carry; ``what`` says in the `MalformedMessage` what they should have been."""
    value = number_in(data)
    if value is None:
        raise MalformedMessage(f"{what} should be a YARP number, got {bytes(data).hex(' ')}")
    return value
