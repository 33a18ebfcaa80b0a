"""Lists of elements as bytes: the contents of every message."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

from pureyarp.errors import MalformedMessage
from pureyarp.wire.decoded_list import DecodedList
from pureyarp.wire.elements import Element
from pureyarp.wire.list_decoder import ListDecoder
from pureyarp.wire.list_encoder import encoder
from pureyarp.wire.list_measure import ListMeasure, StillArriving
from pureyarp.wire.tags import LIST_TAG
from pureyarp.wire.wire_family import WireFamily

_Encoded = TypeVar("_Encoded")
Data = bytes | bytearray | memoryview
_TAG_AND_COUNT = struct.Struct("<ii").unpack_from
_HEAD_SIZE = 8


def encode_list(items: Sequence[Element], family: WireFamily = WireFamily.YARP_3) -> bytes:
    """Return a complete object: what a port sends after the port command, or bare as a reply.

    Raises:
        MalformedMessage: An element that the wire cannot carry: another type, a number out of the range of its type,
            lists nested too deeply.
    """
    return _guarded(encoder(family).encode, items)


def encode_element(item: Element, family: WireFamily = WireFamily.YARP_3) -> bytes:
    """Return one element behind its tag."""
    return _guarded(encoder(family).tagged, item)


def decode_list(data: Data, family: WireFamily = WireFamily.YARP_3) -> DecodedList:
    """Return the list at the start of ``data``.

    Nothing but the tags tells the families apart. The given one is taken where it reads all of the data; otherwise the
    other one, where that one does; otherwise the first that can read anything.

    Raises:
        MalformedMessage: No list, in either family.
    """
    numbers = _float64_list(data, family)
    if numbers is not None:
        return DecodedList(numbers, len(data), family)
    first = _attempt(data, family)
    if isinstance(first, DecodedList) and first.size == len(data):
        return first
    second = _attempt(data, family.other)
    if isinstance(second, DecodedList) and (second.size == len(data) or not isinstance(first, DecodedList)):
        return second
    if isinstance(first, DecodedList):
        return first
    raise first


def encoded_size(data: Data, family: WireFamily = WireFamily.YARP_3) -> int | None:
    """Return the size of the list at the start of ``data`` [bytes], None while it is not all there.

    Raises:
        MalformedMessage: These bytes cannot begin a list, in either family.
    """
    if len(data) >= _HEAD_SIZE:
        tag, count = _TAG_AND_COUNT(data)
        if tag == LIST_TAG + family.float64_tag and count >= 0:  # the commonest of all
            size = _HEAD_SIZE + 8 * int(count)
            return size if size <= len(data) else None
    try:
        return _measured(data, family)
    except MalformedMessage as error:
        try:
            return _measured(data, family.other)
        except MalformedMessage:
            raise error from None


def _float64_list(data: Data, family: WireFamily) -> list[Element] | None:
    """Return the numbers of a message that holds nothing else, the commonest of all; None for other messages."""
    size = len(data) - _HEAD_SIZE
    if size < 0 or size % 8:
        return None
    tag, count = _TAG_AND_COUNT(data)
    if tag != LIST_TAG + family.float64_tag or count * 8 != size:
        return None
    return list(struct.unpack_from(f"<{count}d", data, _HEAD_SIZE))


def _guarded(encode: Callable[[_Encoded], bytes], content: _Encoded) -> bytes:
    try:
        return encode(content)
    except (struct.error, UnicodeEncodeError, OverflowError) as error:
        raise MalformedMessage(f"a Bottle cannot carry this element: {error}") from None


def _attempt(data: Data, family: WireFamily) -> DecodedList | MalformedMessage:
    decoder = ListDecoder(data, family)
    try:
        return DecodedList(decoder.read(), decoder.offset, family)
    except MalformedMessage as error:
        return error


def _measured(data: Data, family: WireFamily) -> int | None:
    try:
        return ListMeasure(data, family).size()
    except StillArriving:
        return None
