"""Where a long message may be cut into datagrams.

Receivers read the numbers of a Bottle one by one and lose the message when one of them straddles two datagrams; the
bytes of strings and blobs may be cut anywhere. So a list is walked over and cut between its numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pureyarp.errors import MalformedMessage
from pureyarp.wire.datagrams import LARGEST_PIECE
from pureyarp.wire.list_measure import ListMeasure, StillArriving
from pureyarp.wire.tags import DICTIONARY_TAG, LIST_TAG, SCALAR_MASK, kinds_by_tag
from pureyarp.wire.wire_family import WireFamily

_INT32 = struct.Struct("<i").unpack_from


@dataclass(frozen=True, slots=True)
class _Run:
    """Bytes that may be cut at every multiple of ``stride`` after ``start``."""

    start: int
    end: int
    stride: int

    def last_cut(self, limit: int) -> int:
        return self.start + (min(limit, self.end) - self.start) // self.stride * self.stride


def pieces_of(message: bytes, object_start: int, family: WireFamily, largest: int = LARGEST_PIECE) -> list[bytes]:
    """Cut a message, whose list begins at ``object_start``, into pieces of at most ``largest`` bytes."""
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
        ListMeasure(data, family).size()
    except (MalformedMessage, StillArriving):
        return False
    return True


class _Walk:
    """Goes over a whole list."""

    def __init__(self, message: bytes, start: int, family: WireFamily) -> None:
        self._message = message
        self._kinds = kinds_by_tag(family)
        self.offset = start

    def whole_list(self) -> Iterator[_Run]:
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
