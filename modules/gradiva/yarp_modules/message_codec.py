"""Packs dataclasses into Bottles and unpacks them: every message between modules is one."""

from __future__ import annotations

import hashlib
import math
import struct
import types
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import NAMED_ERRORS, Element, MalformedMessage

_LEVEL = 6  # [-] of compression: a plan becomes a tenth in 4 ms
_MANY = 2000  # numbers from which on a message is compressed; those of a tick have 300


class MessageCodec:
    """Translates values of any dataclass; both ends have the same classes.

    A message is ``version numbers text …``: a digest of the classes with their fields, all numbers as one text (base64
    of a zlib stream of float64, little endian), then the texts. The real bindings need 10 µs for each element of a
    Bottle, and give no access to the bytes of a blob; a plan has 50 000 numbers.

    ==========================  ===================================================================
    Value                       Among the numbers
    ==========================  ===================================================================
    dataclass                   its fields, in order
    one of several, or None     index of its type, then itself; None is one of them
    array of numbers or flags   length, or minus the number of axes and all lengths; then the elements, row by row
    tuple, list, sequence       count, if they are alike; then each
    number, True, False         itself; an integer up to 2^53
    enumeration                 index of the member
    text                        nothing: it is the next of the texts
    ==========================  ===================================================================

    The codec of a type is made once, at its first use.

    Args:
        variants: For a field that is typed as a protocol: the dataclasses that it can be.
    """

    def __init__(self, variants: Mapping[type, Sequence[type]] | None = None) -> None:
        self._variants = {kind: tuple(kinds) for kind, kinds in (variants or {}).items()}
        self._codecs: dict[Any, FieldCodec] = {}

    def pack(self, value: Any, kind: Any = None) -> list[Element]:
        """Return ``value`` as the elements of a Bottle.

        Args:
            value: A dataclass, or what its fields can be.
            kind: Its declared type; that of the value by default.
        """
        kind = type(value) if kind is None else kind
        numbers, texts = list[float](), list[str]()
        self._codec_of(kind).pack(value, numbers, texts)
        level = _LEVEL if len(numbers) > _MANY else 0
        stream = zlib.compress(struct.pack(f"<{len(numbers)}d", *numbers), level)
        return [self.version(kind), b64encode(stream).decode("ascii"), *texts]

    def unpack(self, items: Sequence[Element], kind: Any, where: str = "message") -> Any:
        """Return the value of type ``kind`` that ``items`` stand for.

        Args:
            items: As `pack` makes them.
            kind: The declared type.
            where: Put in front of the message of an error.

        Raises:
            MalformedMessage: Of another version, too short or long, not finite, or refused by the class; says which
                field.
        """
        if not items or items[0] != self.version(kind):
            raise MalformedMessage(f"{where}: another version of Gradiva packs it otherwise")
        try:
            packed = PackedValues(items[1:])
            value = self._codec_of(kind).unpack(packed)
            packed.finish()
        except FieldMismatch as mismatch:
            raise MalformedMessage(f"{where}{mismatch.path}: {mismatch.reason}") from mismatch.__cause__
        return value

    def version(self, kind: Any) -> str:
        """Return eight letters and digits that differ where names, types or order of the fields do."""
        return _digest(self._codec_of(kind).layout)

    def _codec_of(self, kind: Any) -> FieldCodec:
        codec = self._codecs.get(kind)
        if codec is None:
            codec = self._codecs[kind] = self._made_codec(kind)
        return codec

    def _made_codec(self, kind: Any) -> FieldCodec:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType):
            return self._choice(arguments)
        if kind in self._variants:
            return self._choice((kind,))
        if is_dataclass(kind):
            hints = get_type_hints(kind)
            names = [field.name for field in fields(kind) if field.init]
            return _dataclass(cast(type, kind), {name: self._codec_of(hints[name]) for name in names})
        if origin is tuple and arguments[1:] != (Ellipsis,):
            return _tuple([self._codec_of(each) for each in arguments])
        if origin in (tuple, list, Sequence):
            return _sequence(list if origin is list else tuple, self._codec_of(arguments[0]))
        if origin is np.ndarray:
            return _ARRAY if arguments == get_args(NDArray) else _FLAGS
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _enumeration(kind)
        if kind in _SCALARS:
            return _SCALARS[kind]
        raise TypeError(f"a {kind} is no part of a message")

    def _choice(self, kinds: Sequence[Any]) -> FieldCodec:
        each = [one for kind in kinds for one in self._variants.get(kind, (kind,))]
        return _one_of({kind: self._codec_of(kind) for kind in each})


@cache
def _digest(layout: str) -> str:
    return hashlib.sha256(layout.encode()).hexdigest()[:8]


class FieldMismatch(Exception):  # noqa: N818 (it becomes a MalformedMessage)
    """Reports a value that does not fit its type; ``path`` grows on the way out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""


class PackedValues:
    """Hands out the numbers and texts of a message in their order; what is not there or not finite is a mismatch."""

    def __init__(self, items: Sequence[Element]) -> None:
        """Take the text of the numbers, then the texts."""
        if not items or not all(isinstance(item, str) for item in items):
            raise FieldMismatch("texts alone are expected in it")
        numbers, *self._texts = cast("Sequence[str]", items)
        try:
            stream = zlib.decompress(b64decode(numbers, validate=True))
            self._array = np.frombuffer(stream, dtype="<f8").astype(np.float64)
        except (ValueError, zlib.error) as error:
            raise FieldMismatch(f"no numbers: {error}") from None
        self._numbers = self._array.tolist()
        self._next = 0
        astray = np.flatnonzero(~np.isfinite(self._array))
        self._end = int(astray[0]) if len(astray) else len(self._numbers)

    def number(self) -> float:
        """Return the next number."""
        index = self._next
        self._next = index + 1
        if index >= self._end:
            raise self._ended()
        return self._numbers[index]

    def array(self) -> NDArray:
        """Return the array that comes next."""
        length = self.number()
        shape = (int(length),) if length >= 0 else tuple([int(self.number()) for _ in range(int(-length))])
        begin = self._next
        self._next = end = begin + math.prod(shape)
        if not begin <= end <= self._end:
            raise self._ended()
        try:
            return self._array[begin:end].reshape(shape)
        except ValueError as error:
            raise FieldMismatch(f"no array: {error}") from None

    def text(self) -> str:
        """Return the next text."""
        if not self._texts:
            raise FieldMismatch("the message ends before it")
        return self._texts.pop(0)

    def index(self, below: int) -> int:
        """Return the next number, one of 0, 1, … that is less than ``below``."""
        number = self.number()
        if not (0 <= number < below and number.is_integer()):
            raise FieldMismatch(f"{number:g} is no integer from 0 to {below - 1}")
        return int(number)

    def count(self) -> int:
        """Return the next number, a count of values that can be in the rest of the message."""
        return self.index(len(self._numbers) - self._next + len(self._texts) + 1)

    def finish(self) -> None:
        """Refuse a message of which something is left."""
        if left := len(self._numbers) - self._next + len(self._texts):
            raise FieldMismatch(f"{left} values are left over")

    def _ended(self) -> FieldMismatch:
        return FieldMismatch("not finite" if self._end < len(self._numbers) else "the message ends before it")


@dataclass(frozen=True, slots=True)
class FieldCodec:
    """Packs and unpacks values of one type.

    Attributes:
        layout: Describes the type; differs for values that are packed otherwise.
        pack: Appends a value to the numbers and texts of a message.
        unpack: Returns the value that comes next; raises `FieldMismatch`.
    """

    layout: str
    pack: Callable[[Any, list[float], list[str]], None]
    unpack: Callable[[PackedValues], Any]


def _dataclass(kind: type, codecs: Mapping[str, FieldCodec]) -> FieldCodec:
    packers = [(name, codec.pack) for name, codec in codecs.items()]
    unpackers = [(name, codec.unpack) for name, codec in codecs.items()]

    def pack(value: Any, numbers: list[float], texts: list[str]) -> None:
        """Append all fields of a value."""
        for name, pack_field in packers:
            pack_field(getattr(value, name), numbers, texts)

    def unpack(packed: PackedValues) -> Any:
        """Return the dataclass of the next values; a mismatch names its field."""
        values, name = dict[str, Any](), ""
        try:
            for name, unpack_field in unpackers:
                values[name] = unpack_field(packed)
        except FieldMismatch as mismatch:
            mismatch.path = f".{name}{mismatch.path}"
            raise
        try:
            return kind(**values)
        except (*NAMED_ERRORS, ValueError) as error:
            raise FieldMismatch(str(error)) from error

    layout = ", ".join(f"{name}: {codec.layout}" for name, codec in codecs.items())
    return FieldCodec(f"{kind.__name__}({layout})", pack, unpack)


def _one_of(codecs: Mapping[Any, FieldCodec]) -> FieldCodec:
    """Return the codec of one of several types; where only one of them is not None, it need not be a dataclass."""
    each = list(codecs.values())
    indices = {kind: index for index, kind in enumerate(codecs)}
    default = indices.get(type(None))
    only = None if default is None or len(each) != 2 else 1 - default

    def pack(value: Any, numbers: list[float], texts: list[str]) -> None:
        """Append the number of the type, then the value."""
        index = indices.get(type(value), only)
        if index is None:
            raise TypeError(f"a {type(value).__name__} is none of {', '.join(kind.__name__ for kind in codecs)}")
        numbers.append(index)
        each[index].pack(value, numbers, texts)

    def unpack(packed: PackedValues) -> Any:
        """Return the next value by the type that its number names."""
        return each[packed.index(len(each))].unpack(packed)

    return FieldCodec(f"({' | '.join(codec.layout for codec in each)})", pack, unpack)


def _tuple(codecs: Sequence[FieldCodec]) -> FieldCodec:
    def pack(value: Any, numbers: list[float], texts: list[str]) -> None:
        """Append each item by its own codec."""
        for codec, item in zip(codecs, value, strict=True):
            codec.pack(item, numbers, texts)

    layout = ", ".join(codec.layout for codec in codecs)
    return FieldCodec(f"({layout})", pack, lambda packed: tuple(_items(codecs, packed)))


def _sequence(make: Callable[[Any], Any], codec: FieldCodec) -> FieldCodec:
    def pack(value: Any, numbers: list[float], texts: list[str]) -> None:
        """Append the number of items, then the items."""
        numbers.append(len(value))
        for item in value:
            codec.pack(item, numbers, texts)

    return FieldCodec(f"[{codec.layout}]", pack, lambda packed: make(_items([codec] * packed.count(), packed)))


def _items(codecs: Sequence[FieldCodec], packed: PackedValues) -> list[Any]:
    """Return the next values, one of each codec."""
    values: list[Any] = []
    try:
        for codec in codecs:
            values.append(codec.unpack(packed))
    except FieldMismatch as mismatch:
        mismatch.path = f"[{len(values)}]{mismatch.path}"
        raise
    return values


def _pack_number(value: float, numbers: list[float], texts: list[str]) -> None:
    numbers.append(value)


def _whole(kind: type) -> FieldCodec:
    def unpack(packed: PackedValues) -> Any:
        """Return the next number, which has to be whole."""
        number = packed.number()
        value = kind(number)
        if value != number:
            raise FieldMismatch(f"expected {kind.__name__}, got {number:g}")
        return value

    return FieldCodec(kind.__name__, _pack_number, unpack)


def _enumeration(kind: type[Enum]) -> FieldCodec:
    members = list(kind)
    indices = {member: index for index, member in enumerate(members)}
    return FieldCodec(
        f"{kind.__name__}({', '.join(str(member.value) for member in members)})",
        lambda value, numbers, _: numbers.append(indices[value]),
        lambda packed: members[packed.index(len(members))],
    )


def _pack_array(value: Any, numbers: list[float], texts: list[str]) -> None:
    numbers += value.shape if value.ndim == 1 else (-value.ndim, *value.shape)
    numbers += value.ravel().tolist()


def _unpack_flags(packed: PackedValues) -> Any:
    numbers = packed.array()
    flags = numbers.astype(np.bool_)
    if (flags != numbers).any():
        raise FieldMismatch("expected flags")
    return flags


_ARRAY = FieldCodec("array", _pack_array, PackedValues.array)
_FLAGS = FieldCodec("flags", _pack_array, _unpack_flags)
_SCALARS: dict[type, FieldCodec] = {
    bool: _whole(bool),
    int: _whole(int),
    float: FieldCodec("float", _pack_number, PackedValues.number),
    str: FieldCodec("text", lambda value, _, texts: texts.append(value), PackedValues.text),
    type(None): FieldCodec("none", lambda *_: None, lambda _: None),
}
