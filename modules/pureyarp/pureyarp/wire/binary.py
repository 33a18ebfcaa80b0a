"""Encode messages as bytes and decode them: lists of elements, the port command before them, the frame around them.

Announced numbers are compared with the bytes that are there before they are believed; anything else is a
`MalformedMessage`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, TypeVar

from pureyarp.errors import FrameTooLarge, MalformedMessage
from pureyarp.wire.elements import (
    DEEPEST_NESTING,
    DICTIONARY_TAG,
    LIST_TAG,
    SCALAR_MASK,
    Dictionary,
    Element,
    Float32,
    Int8,
    PlainList,
    ScalarKind,
    TypedList,
    Vocab64,
    WireFamily,
    kinds_by_tag,
    kinds_by_type,
    scalar_kinds,
)
from pureyarp.wire.text import as_dictionary, dictionary_items, to_text


@dataclass(frozen=True, slots=True)
class DecodedList:
    """A list, and how it was written.

    Attributes:
        items: The elements.
        size: Bytes that it took; further ones may follow.
        family: The one whose tags fit.
    """

    items: list[Element]
    size: int
    family: WireFamily


_pack_head = struct.Struct("<ii").pack  # tag and count
_LARGEST_FLOAT32 = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


class ListEncoder:
    """Writes lists with the tags of one family.

    A list whose elements all have one scalar type carries that type in its own tag, and its elements no tag; all
    others, and every :class:`PlainList`, carry a tag before each element.
    """

    def __init__(self, family: WireFamily) -> None:
        self._kinds = kinds_by_type(family)
        self._float64_list = LIST_TAG + family.float64_tag
        self._packers = {kind.python_type: _tagged_packer(kind) for kind in self._kinds.values()}

    def encode(self, items: Sequence[Element], depth: int = 0) -> bytes:
        """Return a complete list: its tag, its count and its elements."""
        if depth > DEEPEST_NESTING:
            raise MalformedMessage(f"lists are nested deeper than {DEEPEST_NESTING}")
        kind = self._common_kind(items)
        if kind is None:
            parts, packers = [_pack_head(LIST_TAG, len(items))], self._packers
            for item in items:
                pack = packers.get(type(item))
                parts.append(self._tagged_compound(item, depth) if pack is None else pack(item))
            return b"".join(parts)
        if kind.python_type is float:
            return struct.pack(f"<ii{len(items)}d", self._float64_list, len(items), *items)
        return _pack_head(LIST_TAG + kind.tag, len(items)) + _untagged(kind, items)

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
        pack = self._packers.get(type(item))
        return self._tagged_compound(item, depth) if pack is None else pack(item)

    def _tagged_compound(self, item: Element, depth: int) -> bytes:
        """Return a list, a dictionary, or a scalar of a subclass behind its tag."""
        if isinstance(item, list):
            return self.encode(item, depth + 1)
        if isinstance(item, Dictionary):
            return struct.pack("<i", LIST_TAG + DICTIONARY_TAG) + self.encode(dictionary_items(item), depth + 1)
        return self._packers[self._kind_of(item).python_type](item)

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


def _tagged_packer(kind: ScalarKind) -> Callable[[Any], bytes]:
    """Return the function that writes a scalar behind its tag."""
    tag = kind.tag
    if kind.python_type is str:
        return lambda text: _with_length(tag, text.encode("utf-8", "surrogateescape"))
    if not kind.code:
        return partial(_with_length, tag)
    pack = struct.Struct("<i" + kind.code).pack
    if kind.python_type is Float32:
        return lambda value: pack(tag, _as_float32(value))
    return partial(pack, tag)


def _with_length(tag: int, content: bytes) -> bytes:
    return _pack_head(tag, len(content)) + content


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


_INT32 = struct.Struct("<i").unpack_from
_SMALLEST_TAGGED_ELEMENT = 5  # an int8 behind its tag
# How to unpack it, its size, and what makes an element of it
_NumberReader = tuple[Callable[[memoryview, int], tuple[Any, ...]], int, Callable[[Any], Element] | None]
_ALL_INT8 = tuple(Int8(value) for value in range(128)) + tuple(Int8(value) for value in range(-128, 0))


class StillArriving(MalformedMessage):
    """The list does not end within the bytes that are there."""


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
            raise StillArriving(f"the message ends in the middle of a number, after {self._end} bytes") from None

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
            return self._read_mixed(count, depth)
        kind = self._kind(scalar)
        self._check_room(count, kind.size)
        return self._read_numbers(kind, count) if kind.code else [self._read_text(kind) for _ in range(count)]

    def _read_mixed(self, count: int, depth: int) -> list[Element]:
        """Read elements, each behind its tag."""
        data, numbers = self._data, self._numbers
        elements: list[Element] = []
        for _ in range(count):
            (tag,) = _INT32(data, self.offset)
            self.offset += 4
            number = numbers.get(tag)
            if number is None:
                elements.append(self._read_compound(tag, depth))
                continue
            unpack, size, converted = number
            (value,) = unpack(data, self.offset)
            self.offset += size
            elements.append(value if converted is None else converted(value))
        return elements

    def _read_compound(self, tag: int, depth: int) -> Element:
        """Read a dictionary, a list or a text behind its tag."""
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
        left = self._end - self.offset
        if not 0 <= count * size <= left:
            error = MalformedMessage if count < 0 else StillArriving
            raise error(f"{count} elements are announced before byte {self.offset}, {left} bytes are left")


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

    Only the tags distinguish the families. The given one is taken where it reads all of the data; otherwise the
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
    found = _attempt(data, family)
    if not isinstance(found, DecodedList | StillArriving):
        other = _attempt(data, family.other)
        found = other if isinstance(other, DecodedList | StillArriving) else found
    if isinstance(found, DecodedList):
        return found.size
    if isinstance(found, StillArriving):
        return None
    raise found


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


class Sendable(Protocol):
    """An object that can be written to a connection."""

    def to_wire(self, family: WireFamily, /) -> bytes:
        """Return the object as the payload of a binary message."""

    def to_wire_text(self) -> str:
        """Return the object as one line of a text connection."""


Sent = Sendable | list[Element] | bytes
"""An object that writes itself, the elements of a Bottle, or bytes that are sent as they are."""


def encoded(sent: Sent, family: WireFamily) -> bytes:
    """Return an object as it travels on a binary connection."""
    if isinstance(sent, bytes):
        return sent
    return encode_list(sent, family) if isinstance(sent, list) else sent.to_wire(family)


def encoded_text(sent: Sent) -> bytes:
    """Return an object as it travels on a text connection: a line."""
    if isinstance(sent, bytes):
        return sent
    text = to_text(sent) if isinstance(sent, list) else sent.to_wire_text()
    return text.encode("utf-8", "surrogateescape") + b"\r\n"


COMMAND_SIZE = 8

_COMMAND_LAYOUT = struct.Struct("<i2s2s")  # length of the text, ~ and character, two fixed bytes
_COMMAND_END = b"\x00\x01"
_PLAIN_CALL = _COMMAND_LAYOUT.pack(0, b"~d", _COMMAND_END)
_PLAIN_DATA = _COMMAND_LAYOUT.pack(0, b"~D", _COMMAND_END)


@dataclass(frozen=True, slots=True)
class PortCommand:
    """The first bytes of every message: what it wants from the port.

    Attributes:
        character: ``d`` data whose sender waits for a reply, ``D`` data, ``a`` administration, ``q`` quit,
            ``/`` ``!`` ``~`` connections, ``*`` description, ``?`` help, ``r`` reversal.
        argument: What follows the character: the envelope of data, the rest of a port name.
    """

    character: str
    argument: str = ""

    @property
    def is_data(self) -> bool:
        """Return whether an object for the port's owner follows."""
        return self.character in ("d", "D")

    @property
    def text(self) -> str:
        """Return the command as a line of text."""
        gap = " " if self.is_data and self.argument else ""
        return f"{self.character}{gap}{self.argument}"


DATA = PortCommand("D")
CALL = PortCommand("d")
ADMINISTRATION = PortCommand("a")
QUIT = PortCommand("q")

_PLAIN = {_PLAIN_CALL: CALL, _PLAIN_DATA: DATA}  # nearly all messages


def data_command(wants_reply: bool, envelope: str) -> PortCommand:
    """Return the command of data with an envelope, which may be empty."""
    if envelope:
        return PortCommand("d" if wants_reply else "D", envelope)
    return CALL if wants_reply else DATA


def encode_command(command: PortCommand) -> bytes:
    """Return the bytes of a command: one character for plain data, else text with a final NUL, as YARP sends them."""
    if not command.argument and command.character in ("d", "D"):
        return _PLAIN_CALL if command.character == "d" else _PLAIN_DATA
    text = command.text.encode("utf-8", "surrogateescape") + b"\0"
    return _COMMAND_LAYOUT.pack(len(text), b"~\0", _COMMAND_END) + text


def decode_command(payload: bytes) -> tuple[PortCommand, int]:
    """Return the command at the start of a payload and how many bytes it takes."""
    if len(payload) < COMMAND_SIZE:
        raise MalformedMessage(f"a message of {len(payload)} bytes has no room for a port command")
    plain = _PLAIN.get(payload[:COMMAND_SIZE])
    if plain is not None:
        return plain, COMMAND_SIZE
    length, mark, _ = _COMMAND_LAYOUT.unpack_from(payload)
    if mark[:1] != b"~" or not 0 <= length <= len(payload) - COMMAND_SIZE:
        raise MalformedMessage(f"{payload[:COMMAND_SIZE].hex(' ')} is no port command")
    end = COMMAND_SIZE + length
    if mark[1]:
        return PortCommand(chr(mark[1])), end
    return parse_command(payload[COMMAND_SIZE:end].split(b"\0", 1)[0].decode("utf-8", "surrogateescape")), end


def parse_command(line: str) -> PortCommand:
    """Return the command that a line of text is; an envelope is cut at the first character that is not printable."""
    character, argument = line[:1], line[1:]
    if character in ("d", "D"):
        argument = _printable_start(argument.removeprefix(" "))
    return PortCommand(character, argument)


def _printable_start(text: str) -> str:
    if text.isprintable():  # as nearly all envelopes are
        return text
    return next((text[:index] for index, character in enumerate(text) if character < " "), text)


NUMBER_SIZE = 8

_NUMBER_LAYOUT = struct.Struct("<2si2s")


def yarp_number(value: int) -> bytes:
    """Return a YARP number: 8 bytes that carry one signed integer between the letters YA and RP."""
    return _NUMBER_LAYOUT.pack(b"YA", value, b"RP")


def number_in(data: bytes | bytearray | memoryview) -> int | None:
    """Return the number that 8 bytes carry, None if they carry none."""
    begin, value, end = _NUMBER_LAYOUT.unpack(data)
    return int(value) if begin == b"YA" and end == b"RP" else None


def expected_number(data: bytes | bytearray | memoryview, what: str) -> int:
    """Return the number that 8 bytes carry; ``what`` says in the `MalformedMessage` what they should have been."""
    value = number_in(data)
    if value is None:
        raise MalformedMessage(f"{what} should be a YARP number, got {bytes(data).hex(' ')}")
    return value


INDEX_SIZE = NUMBER_SIZE + 10
ACKNOWLEDGEMENT = yarp_number(0)
TEXT_ACKNOWLEDGEMENT = b"<ACK>\r\n"

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


def is_acknowledgement(start: bytes | bytearray | memoryview) -> bool | None:
    """Return whether an acknowledgement begins where a reply should; None while too few bytes have arrived."""
    if start[: len(_LETTERS)] != _LETTERS[: len(start)]:
        return False
    return number_in(start[:NUMBER_SIZE]) is not None if len(start) >= NUMBER_SIZE else None
