"""Where a list ends that is still arriving."""

from __future__ import annotations

import struct

from pureyarp.errors import MalformedMessage
from pureyarp.wire.tags import (
    DEEPEST_NESTING,
    DICTIONARY_TAG,
    LIST_TAG,
    SCALAR_MASK,
    ScalarKind,
    kinds_by_tag,
)
from pureyarp.wire.wire_family import WireFamily

_INT32 = struct.Struct("<i").unpack_from


class StillArriving(Exception):  # noqa: N818 (it is no error)
    """The list does not end within the bytes that are there."""


class ListMeasure:
    """Walks over a list of one family without keeping any of it."""

    def __init__(self, data: bytes | bytearray | memoryview, family: WireFamily) -> None:
        self._data = memoryview(data).cast("B")
        self._kinds = kinds_by_tag(family)
        self._offset = 0

    def size(self) -> int:
        """Return how many bytes the list at the beginning takes, or raise :class:`StillArriving`."""
        self._skip_complete(0)
        return self._offset

    def _skip_complete(self, depth: int) -> None:
        tag = self._next_int()
        if not tag & LIST_TAG:
            raise MalformedMessage(f"a list should begin at byte {self._offset - 4}, not the tag {tag:#x}")
        self._skip_elements(tag & SCALAR_MASK, depth)

    def _skip_elements(self, scalar: int, depth: int) -> None:
        if depth > DEEPEST_NESTING:
            raise MalformedMessage(f"lists are nested deeper than {DEEPEST_NESTING}")
        kind = self._kind(scalar) if scalar else None
        count = self._next_length()
        if kind is not None and kind.code:
            self._skip(count * kind.size)
            return
        for _ in range(count):
            if kind is None:
                self._skip_tagged(depth)
            else:
                self._skip(self._next_length())

    def _skip_tagged(self, depth: int) -> None:
        tag = self._next_int()
        if tag & DICTIONARY_TAG and tag < 2 * DICTIONARY_TAG:
            self._skip_complete(depth + 1)
        elif tag & LIST_TAG and tag < DICTIONARY_TAG:
            self._skip_elements(tag - LIST_TAG, depth + 1)
        else:
            kind = self._kind(tag)
            self._skip(kind.size if kind.code else self._next_length())

    def _kind(self, tag: int) -> ScalarKind:
        kind = self._kinds.get(tag)
        if kind is None:
            raise MalformedMessage(f"unknown tag {tag:#x} before byte {self._offset}")
        return kind

    def _next_length(self) -> int:
        length = self._next_int()
        if length < 0:
            raise MalformedMessage(f"the negative number {length} of elements is announced before byte {self._offset}")
        return length

    def _next_int(self) -> int:
        start = self._offset
        self._skip(4)
        return _INT32(self._data, start)[0]

    def _skip(self, size: int) -> None:
        self._offset += size
        if self._offset > len(self._data):
            raise StillArriving
