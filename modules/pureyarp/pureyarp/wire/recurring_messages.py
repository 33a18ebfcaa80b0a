"""Encode messages once that are sent many times a second and differ only in their numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import accumulate

from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import to_text

_MARK = b"\xf9\xfa\xfb\xfc\xfd\xfe\xf9\xc1"  # a float64 whose bytes stand in no UTF-8 text
_MARKED: float = struct.unpack("<d", _MARK)[0]
_SIZE = len(_MARK)

Layout = Callable[[Sequence[float]], list[Element]]
"""Returns the elements of a message of these numbers, which stand in it in their order, as float64."""


class RecurringMessages:
    """Messages of one layout, encoded once: afterwards numbers are put at their places among the same bytes.

    Args:
        layout: Of the messages; it depends on the numbers alone.
        count: Of the numbers.
    """

    def __init__(self, layout: Layout, count: int) -> None:
        self.layout = layout
        self._pack = struct.Struct(f"<{count}d").pack
        self._count = count
        self._templates: dict[WireFamily, _Template] = {}

    def message(self, numbers: Sequence[float]) -> RecurringMessage:
        """Return the message of these numbers."""
        return RecurringMessage(self, numbers)

    def encoded(self, numbers: Sequence[float], family: WireFamily) -> bytes:
        """Return the bytes of the message of these numbers.

        Raises:
            MalformedMessage: They are not as many, or not all numbers.
        """
        try:
            return self._template(family).filled(self._pack(*numbers))
        except struct.error as error:
            raise MalformedMessage(f"a message of {self._count} numbers cannot carry these: {error}") from None

    def numbers_in(self, message: bytes, family: WireFamily) -> tuple[float, ...] | None:
        """Return the numbers of a message of this layout; None where it is another message."""
        return self._template(family).numbers_in(message)

    def _template(self, family: WireFamily) -> _Template:
        template = self._templates.get(family)
        if template is None:
            marked = encode_list(self.layout([_MARKED] * self._count), family)
            template = self._templates[family] = _Template(marked)
        return template


class RecurringMessage:
    """One message, ready to be sent on any connection."""

    __slots__ = ("_messages", "_numbers")

    def __init__(self, messages: RecurringMessages, numbers: Sequence[float]) -> None:
        self._messages = messages
        self._numbers = numbers

    def to_items(self) -> list[Element]:
        """Return the elements."""
        return self._messages.layout(self._numbers)

    def to_wire(self, family: WireFamily) -> bytes:
        """Return the bytes for a peer of a family."""
        return self._messages.encoded(self._numbers, family)

    def to_wire_text(self) -> str:
        """Return the line for a text connection."""
        return to_text(self.to_items())


class _Template:
    """The bytes of a message, and where in it numbers stand.

    Args:
        marked: All bytes, with marks in the places of the numbers.
    """

    def __init__(self, marked: bytes) -> None:
        self._marked = marked
        places = _marks(marked)
        ends = [0, *(place.stop for place in places)]
        gaps = [place.start - end for place, end in zip(places, ends, strict=False)]
        sizes = [place.stop - place.start for place in places]
        parts = [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]
        self._places = list(zip(places, parts, strict=True))  # in the message, and among the bytes of all numbers
        both, rest = list(zip(gaps, sizes, strict=True)), len(marked) - ends[-1]
        self._constants = struct.Struct("<" + "".join(f"{gap}s{size}x" for gap, size in both) + f"{rest}s")
        self._numbers = struct.Struct("<" + "".join(f"{gap}x{size // _SIZE}d" for gap, size in both) + f"{rest}x")
        self._expected = self._constants.unpack(marked)

    def filled(self, numbers: bytes) -> bytes:
        """Return the message of these numbers, given one behind the other."""
        message = bytearray(self._marked)
        for place, part in self._places:
            message[place] = numbers[part]
        return bytes(message)

    def numbers_in(self, message: bytes) -> tuple[float, ...] | None:
        """Return the numbers of a message; None where its other bytes are not those of this template."""
        if len(message) != len(self._marked) or self._constants.unpack(message) != self._expected:
            return None
        return self._numbers.unpack(message)


def _marks(marked: bytes) -> list[slice]:
    """Return where marks stand, those that are side by side as one."""
    places: list[slice] = []
    start = marked.find(_MARK)
    while start >= 0:
        end = start
        while marked[end : end + _SIZE] == _MARK:
            end += _SIZE
        places.append(slice(start, end))
        start = marked.find(_MARK, end)
    return places
