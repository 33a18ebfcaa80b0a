"""Messages that are sent many times a second and differ in nothing but their numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradiva.middleware.embedded.wire.binary import encode_list
from gradiva.middleware.embedded.wire.elements import Element
from gradiva.middleware.embedded.wire.text import to_text
from gradiva.middleware.embedded.wire.wire_family import WireFamily

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
        """Return the bytes of the message of these numbers."""
        template = self._templates.get(family)
        if template is None:
            marked = encode_list(self.layout([_MARKED] * self._count), family)
            template = self._templates[family] = _template(marked)
        return template.filled(self._pack(*numbers))


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


@dataclass(frozen=True, slots=True)
class _Template:
    """The bytes of a message, and where in it numbers stand.

    Attributes:
        marked: All bytes, with marks in the places of the numbers.
        places: Of numbers that stand side by side: their bytes in the message, and among those of all numbers.
    """

    marked: bytes
    places: tuple[tuple[slice, slice], ...]

    def filled(self, numbers: bytes) -> bytes:
        """Return the message of these numbers, given one behind the other."""
        message = bytearray(self.marked)
        for place, part in self.places:
            message[place] = numbers[part]
        return bytes(message)


def _template(marked: bytes) -> _Template:
    places: list[tuple[slice, slice]] = []
    taken = 0
    start = marked.find(_MARK)
    while start >= 0:
        end = start
        while marked[end : end + _SIZE] == _MARK:
            end += _SIZE
        places.append((slice(start, end), slice(taken, taken + end - start)))
        taken += end - start
        start = marked.find(_MARK, end)
    return _Template(marked, tuple(places))
