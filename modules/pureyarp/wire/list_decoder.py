"""From bytes to elements, without trusting a single announced number."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from pureyarp.errors import MalformedMessage
from pureyarp.wire.dictionaries import as_dictionary
from pureyarp.wire.elements import Element, Int8
from pureyarp.wire.tags import (
    DEEPEST_NESTING,
    DICTIONARY_TAG,
    LIST_TAG,
    SCALAR_MASK,
    ScalarKind,
    kinds_by_tag,
    scalar_kinds,
)
from pureyarp.wire.wire_family import WireFamily

_INT32 = struct.Struct("<i").unpack_from
_SMALLEST_TAGGED_ELEMENT = 5  # an int8 behind its tag
# How to unpack it, its size, and what makes an element of it
_NumberReader = tuple[Callable[[memoryview, int], tuple[Any, ...]], int, Callable[[Any], Element] | None]
_ALL_INT8 = tuple(Int8(value) for value in range(128)) + tuple(Int8(value) for value in range(-128, 0))


class ListDecoder:
    """Reads one list with the tags of one family.

    Every count and length is compared with the bytes that are left before anything is made from it.
    """

    def __init__(self, data: bytes | bytearray | memoryview, family: WireFamily) -> None:
        self._data = memoryview(data).cast("B")
        self._end = len(self._data)
        self._kinds = kinds_by_tag(family)
        self._numbers = _number_readers(family)
        self.offset = 0

    def read(self) -> list[Element]:
        """Read the list at the beginning; afterwards ``offset`` is behind it."""
        try:
            return self._read_complete(0)
        except struct.error:
            raise MalformedMessage(f"the message ends in the middle of a number, after {self._end} bytes") from None

    def _read_complete(self, depth: int) -> list[Element]:
        """Read tag, count and elements; unknown upper bits of a complete list's tag have no meaning."""
        (tag,) = _INT32(self._data, self.offset)
        if not tag & LIST_TAG:
            raise MalformedMessage(f"a list should begin at byte {self.offset}, not the tag {tag:#x}")
        self.offset += 4
        return self._read_elements(tag & SCALAR_MASK, depth)

    def _read_elements(self, scalar: int, depth: int) -> list[Element]:
        """Read count and elements of a list."""
        if depth > DEEPEST_NESTING:
            raise MalformedMessage(f"lists are nested deeper than {DEEPEST_NESTING}")
        (count,) = _INT32(self._data, self.offset)
        self.offset += 4
        if scalar == 0:
            self._check_room(count, _SMALLEST_TAGGED_ELEMENT)
            return [self._read_tagged(depth) for _ in range(count)]
        kind = self._kind(scalar)
        self._check_room(count, kind.size)
        return self._read_numbers(kind, count) if kind.code else [self._read_text(kind) for _ in range(count)]

    def _read_tagged(self, depth: int) -> Element:
        """Read one element behind its tag."""
        (tag,) = _INT32(self._data, self.offset)
        self.offset += 4
        number = self._numbers.get(tag)
        if number is not None:
            unpack, size, converted = number
            (value,) = unpack(self._data, self.offset)
            self.offset += size
            return value if converted is None else converted(value)
        if tag & DICTIONARY_TAG and tag < 2 * DICTIONARY_TAG:
            return as_dictionary(self._read_complete(depth + 1))
        if tag & LIST_TAG and tag < DICTIONARY_TAG:
            return self._read_elements(tag - LIST_TAG, depth + 1)
        return self._read_text(self._kind(tag))

    def _read_numbers(self, kind: ScalarKind, count: int) -> list[Element]:
        """Read numbers of one type in one go."""
        begin, self.offset = self.offset, self.offset + count * kind.size
        converted = _conversion(kind)
        if converted is None:
            return list(struct.unpack_from(f"<{count}{kind.code}", self._data, begin))
        numbers = struct.iter_unpack("<" + kind.code, self._data[begin : self.offset])
        return [converted(number) for (number,) in numbers]

    def _read_text(self, kind: ScalarKind) -> str | bytes:
        """Read a string or a blob behind its length."""
        (length,) = _INT32(self._data, self.offset)
        self.offset += 4
        self._check_room(length, 1)
        content = self._data[self.offset : self.offset + length]
        self.offset += length
        return str(content, "utf-8", "surrogateescape") if kind.python_type is str else bytes(content)

    def _kind(self, tag: int) -> ScalarKind:
        kind = self._kinds.get(tag)
        if kind is None:
            raise MalformedMessage(f"unknown tag {tag:#x} before byte {self.offset}")
        return kind

    def _check_room(self, count: int, size: int) -> None:
        """Refuse a count or length for which there are not enough bytes left."""
        if not 0 <= count * size <= self._end - self.offset:
            left = self._end - self.offset
            raise MalformedMessage(f"{count} elements are announced before byte {self.offset}, {left} bytes are left")


def _conversion(kind: ScalarKind) -> Callable[[Any], Element] | None:
    """Return what makes an element of an unpacked number; None if it is one."""
    if kind.python_type is Int8:  # shared objects: a byte of the message must not become an object of its own
        return _ALL_INT8.__getitem__
    return None if kind.python_type in (int, float) else kind.python_type


@cache
def _number_readers(family: WireFamily) -> dict[int, _NumberReader]:
    """Return how single numbers are read, by their tags."""
    kinds = [kind for kind in scalar_kinds(family) if kind.code]
    return {kind.tag: (struct.Struct("<" + kind.code).unpack_from, kind.size, _conversion(kind)) for kind in kinds}
