"""The list of values in which YARP programs speak."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from pureyarp.data import property as properties
from pureyarp.data import value as values
from pureyarp.data.argument_checks import (
    checked_float,
    checked_float32,
    checked_integer,
    checked_string,
)
from pureyarp.data.connection_reader import ConnectionReader
from pureyarp.data.connection_writer import ConnectionWriter, line_of
from pureyarp.data.conversions import as_text
from pureyarp.data.copies import deep_copy
from pureyarp.data.portable import Portable
from pureyarp.data.searchable import Searchable
from pureyarp.data.vocab_arguments import vocab_of
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import Dictionary, Element, Float32, Int8, Int16, Int64, WireFamily
from pureyarp.wire.text import from_text, to_text

if TYPE_CHECKING:
    from pureyarp.data.property import Property
    from pureyarp.data.value import Value


class _Writable(Protocol):
    def write(self, writer: ConnectionWriter, /) -> bool: ...


class _Readable(Protocol):
    def read(self, reader: ConnectionReader, /) -> bool: ...


class Bottle(Portable, Searchable):
    """A list of values: of a text, a copy of another Bottle, or of Values.

    Attributes:
        items: The elements; those that are lists are shared with the Bottles that ``addList`` and ``asList`` return.
    """

    npos = 2**64 - 1

    def __init__(self, *text: Any) -> None:
        """Take a text, another Bottle or Values; nothing without an argument."""
        self._is_null = False
        self.items: list[Element] = []
        if text:
            self._take_over(*text)

    def __repr__(self) -> str:
        return f"Bottle({to_text(self.items)!r})"

    @staticmethod
    def getNullBottle() -> Bottle:
        """Return the Bottle that stands for a group that was not found."""
        bottle = Bottle()
        bottle._is_null = True
        return bottle

    def isNull(self) -> bool:
        """Return whether this stands for a group that was not found."""
        return self._is_null

    def size(self) -> int:
        """Return how many values there are."""
        return len(self.items)

    def get(self, index: int) -> Value:
        """Return the value at a place; a null value where there is none, OverflowError for a negative one."""
        if index < 0:
            raise OverflowError(f"there is no place {index} in a Bottle")
        return values.value_of(self.items[index] if index < len(self.items) else None)

    def getSpecialization(self) -> int:
        """Return the tag that all elements of a Bottle share by its construction: none here."""
        return 0

    def add(self, value: Value) -> None:
        """Append a copy of a value; nothing for a null one."""
        if not isinstance(value, values.Value):
            raise TypeError(f"a Value is expected, not {value!r}")
        if value.element is not None:
            self.items.append(deep_copy(value.element))

    def addInt8(self, x: int) -> None:
        """Append an integer of 1 byte."""
        self.items.append(Int8(checked_integer(x, 8)))

    def addInt16(self, x: int) -> None:
        """Append an integer of 2 bytes."""
        self.items.append(Int16(checked_integer(x, 16)))

    def addInt32(self, x: int) -> None:
        """Append an integer of 4 bytes."""
        self.items.append(checked_integer(x, 32))

    def addInt64(self, x: int) -> None:
        """Append an integer of 8 bytes."""
        self.items.append(Int64(checked_integer(x, 64)))

    def addFloat32(self, x: float) -> None:
        """Append a floating-point number of 4 bytes."""
        self.items.append(Float32(checked_float32(x)))

    def addFloat64(self, x: float) -> None:
        """Append a floating-point number of 8 bytes."""
        self.items.append(x if type(x) is float else checked_float(x))

    def addString(self, str: str) -> None:
        """Append a string."""
        self.items.append(checked_string(str))

    def addVocab32(self, x: int | str, *characters: str) -> None:
        """Append a vocab: its number, its characters, or a text."""
        self.items.append(vocab_of(x, *characters))

    def addList(self) -> Bottle:
        """Append an empty list and return it, to be filled."""
        nested: list[Element] = []
        self.items.append(nested)
        return bottle_of(nested)

    def addDict(self) -> Property:
        """Append an empty dictionary and return it, to be filled."""
        nested = Dictionary()
        self.items.append(nested)
        return properties.property_of(nested)

    def append(self, alt: Bottle) -> None:
        """Append copies of another Bottle's values."""
        self.items.extend(deep_copy(alt.items))

    def copy(self, alt: Bottle, first: int = 0, len: int = npos) -> None:
        """Take over ``len`` of another Bottle's values, from the one at ``first`` on."""
        self.items[:] = deep_copy(alt.items[first : first + len])

    def tail(self) -> Bottle:
        """Return a copy without the first value."""
        return bottle_of(deep_copy(self.items[1:]))

    def pop(self) -> Value:
        """Remove the last value and return it."""
        return values.value_of(self.items.pop() if self.items else None)

    def clear(self) -> None:
        """Remove all values."""
        self.items.clear()

    def find(self, key: str) -> Value:
        """Return what follows the key: in a list ``(key value)``, or behind it in this list."""
        for index, item in enumerate(self.items):
            if isinstance(item, list):
                if item and as_text(item[0]) == key:
                    return bottle_of(item).get(1)
            elif as_text(item) == key:
                return self.get(index + 1)
        return values.value_of(None)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return the list itself that begins with the key; a null Bottle without it, or where it comes first flat."""
        for item in self.items:
            if isinstance(item, list):
                if item and as_text(item[0]) == key:
                    return bottle_of(item)
            elif as_text(item) == key:
                break
        return Bottle.getNullBottle()

    def toString(self, x: int = 0) -> str:
        """Return the text form."""
        return to_text(self.items)

    def toString_c(self) -> str:
        """Return the text form."""
        return self.toString()

    def fromString(self, text: str) -> None:
        """Take over what a text means."""
        self.items[:] = from_text(text)

    def toBinary(self) -> bytes:
        """Return the binary form."""
        return encode_list(self.items)

    def fromBinary(self, buf: bytes, len: int | None = None) -> None:
        """Take over what bytes mean."""
        self.from_wire(buf if len is None else buf[:len])

    def isEqual(self, alt: Bottle) -> bool:
        """Return whether both have the same text."""
        return self.toString() == alt.toString()

    def notEqual(self, alt: Bottle) -> bool:
        """Return whether their texts differ."""
        return not self.isEqual(alt)

    def write(self, writer: ConnectionWriter | _Readable, textMode: bool = False) -> bool:
        """Write to a connection, or to another object that can read."""
        if isinstance(writer, ConnectionWriter):
            return super().write(writer)
        return writer.read(ConnectionReader(self.to_wire_text() if textMode else self.to_wire()))

    def read(self, reader: ConnectionReader | _Writable, textMode: bool = False) -> bool:
        """Read from a connection, or from another object that can write."""
        if isinstance(reader, ConnectionReader):
            return super().read(reader)
        writer = ConnectionWriter(is_text=textMode)
        if not reader.write(writer):
            return False
        return super().read(ConnectionReader(line_of(writer) if textMode else writer.data))

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return the binary form."""
        return encode_list(self.items, family)

    def to_wire_text(self) -> str:
        """Return the text form."""
        return to_text(self.items)

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over what bytes mean, and return the family that they show."""
        decoded = decode_list(data, family)
        self.items[:] = decoded.items
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over what a line means."""
        self.fromString(text)

    def _take_over(self, text: str | Bottle | Iterable[Value] | None) -> None:
        if isinstance(text, Bottle):
            self.items = deep_copy(text.items)
        elif text is None or isinstance(text, str):
            self.items = from_text(checked_string(text))
        else:
            for value in text:
                self.add(value)


def bottle_of(items: list[Element]) -> Bottle:
    """Return the Bottle that holds this list itself, no copy."""
    bottle = Bottle()
    bottle.items = items
    return bottle
