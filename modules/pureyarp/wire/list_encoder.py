"""From elements to bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cache

from pureyarp.errors import MalformedMessage
from pureyarp.wire.dictionaries import dictionary_items
from pureyarp.wire.elements import Dictionary, Element, Float32, PlainList, TypedList, Vocab64
from pureyarp.wire.tags import DEEPEST_NESTING, DICTIONARY_TAG, LIST_TAG, ScalarKind, kinds_by_type
from pureyarp.wire.wire_family import WireFamily

_LARGEST_FLOAT32 = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


class ListEncoder:
    """Writes lists with the tags of one family.

    A list whose elements all have one scalar type carries that type in its own tag, and its elements no tag; all
    others, and every :class:`PlainList`, carry a tag before each element.
    """

    def __init__(self, family: WireFamily) -> None:
        self._kinds = kinds_by_type(family)
        self._float64_list = LIST_TAG + family.float64_tag
        self._packs = {kind.python_type: _tagged_packer(kind) for kind in self._kinds.values() if kind.code}

    def encode(self, items: Sequence[Element], depth: int = 0) -> bytes:
        """Return a complete list: its tag, its count and its elements."""
        if depth > DEEPEST_NESTING:
            raise MalformedMessage(f"lists are nested deeper than {DEEPEST_NESTING}")
        kind = self._common_kind(items)
        if kind is None:
            parts = [struct.pack("<ii", LIST_TAG, len(items))]
            parts.extend(self.tagged(item, depth) for item in items)
            return b"".join(parts)
        if kind.python_type is float:
            return struct.pack(f"<ii{len(items)}d", self._float64_list, len(items), *items)
        return struct.pack("<ii", LIST_TAG + kind.tag, len(items)) + _untagged(kind, items)

    def _common_kind(self, items: Sequence[Element]) -> ScalarKind | None:
        """Return the scalar type that all elements share, None if they differ, nest or must not share a tag."""
        kind_of_list = type(items)
        if kind_of_list is TypedList:
            return self._kinds[items.element_type]  # type: ignore[attr-defined]
        types = set(map(type, items))
        if len(types) != 1 or kind_of_list is PlainList:
            return None
        return self._kinds.get(types.pop())

    def tagged(self, item: Element, depth: int = 0) -> bytes:
        """Return one element behind its tag."""
        packer = self._packs.get(type(item))
        if packer is not None:
            return packer(item)
        if isinstance(item, list):
            return self.encode(item, depth + 1)
        if isinstance(item, Dictionary):
            return struct.pack("<i", LIST_TAG + DICTIONARY_TAG) + self.encode(dictionary_items(item), depth + 1)
        kind = self._kind_of(item)
        return struct.pack("<i", kind.tag) + _untagged(kind, (item,))

    def _kind_of(self, item: Element) -> ScalarKind:
        """Return the type of a single scalar; that of its base for a subclass, as numpy's float64 is one of float."""
        for base in type(item).__mro__:
            if base in self._kinds:
                return self._kinds[base]
            if base is Vocab64:  # an int32 would be another value
                break
        raise MalformedMessage(f"a Bottle cannot carry {item!r}, a {type(item).__name__}, in this family")


@cache
def encoder(family: WireFamily) -> ListEncoder:
    """Return the writer of a family."""
    return ListEncoder(family)


def _tagged_packer(kind: ScalarKind):  # type: ignore[no-untyped-def]
    """Return the function that writes a number behind its tag."""
    pack, tag = struct.Struct("<i" + kind.code).pack, kind.tag
    if kind.python_type is Float32:
        return lambda value: pack(tag, _as_float32(value))
    return lambda value: pack(tag, value)


def _untagged(kind: ScalarKind, items: Sequence[Element]) -> bytes:
    """Return the elements of one type without tags."""
    if kind.python_type is Float32:
        items = [_as_float32(item) for item in items]  # type: ignore[arg-type]
    if kind.code:
        return struct.pack(f"<{len(items)}{kind.code}", *items)
    contents = [item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item for item in items]
    return b"".join([struct.pack("<i", len(content)) + content for content in contents])  # type: ignore[arg-type,operator]


def _as_float32(value: float) -> float:
    """Return a number that fits 4 bytes: what is too large becomes infinite, as in C."""
    if abs(value) > _LARGEST_FLOAT32 and math.isfinite(value):
        try:
            struct.pack("<f", value)  # may still round down to the largest
        except OverflowError:
            return math.copysign(math.inf, value)
    return value
