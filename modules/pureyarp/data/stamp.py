"""Number and time of a message."""

from __future__ import annotations

import re

from pureyarp.data import time_source
from pureyarp.data.portable import Portable
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import Element, PlainList, WireFamily
from pureyarp.wire.text import from_text

_LARGEST_COUNT = 2**31 - 1
_USUAL = re.compile(r"([0-9]{1,9}) ([0-9]+\.[0-9]+)").fullmatch  # nearly all envelopes, one a message


class Stamp(Portable):
    """A count that wraps to 0 behind 2^31 - 1, and a time since the epoch [s]; not valid before the first update."""

    def __init__(self, count: int = -1, time: float = 0.0) -> None:
        self._count = count
        self._time = float(time)

    def __repr__(self) -> str:
        return f"Stamp({self._count}, {self._time!r})"

    def getCount(self) -> int:
        """Return the number."""
        return self._count

    def getTime(self) -> float:
        """Return the time [s]."""
        return self._time

    def getMaxCount(self) -> int:
        """Return the largest number."""
        return _LARGEST_COUNT

    def isValid(self) -> bool:
        """Return whether this has been set."""
        return self._count >= 0

    def update(self, time: float | None = None) -> None:
        """Count on, and take the time: ``time`` [s], or the present one."""
        self._count = (self._count + 1) & _LARGEST_COUNT
        self._time = time_source.now() if time is None else float(time)

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return a list of number and time."""
        return encode_list(PlainList([self._count, self._time]), family)

    def to_wire_text(self) -> str:
        """Return number and time as they stand in an envelope."""
        return f"{self._count} {self._time:.15g}"

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over a list of number and time, and return the family that it shows."""
        decoded = decode_list(data, family)
        self._take(decoded.items)
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over an envelope, or any text of a list of number and time."""
        if usual := _USUAL(text):
            self._count, self._time = int(usual[1]), float(usual[2])
            return
        items = from_text(text)
        self._take(items[0] if len(items) == 1 and isinstance(items[0], list) else items)

    def _take(self, items: list[Element]) -> None:
        match items:
            case [int(count), int() | float() as time, *_]:
                self._count, self._time = int(count), float(time)
            case _:
                raise MalformedMessage(f"a stamp is a number and a time, not {items[:3]}")
