"""A single value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pureyarp.data import bottle as bottles
from pureyarp.data import property as properties
from pureyarp.data.argument_checks import (
    checked_float,
    checked_float32,
    checked_integer,
    checked_string,
)
from pureyarp.data.conversions import as_text
from pureyarp.data.copies import deep_copy
from pureyarp.data.portable import Portable
from pureyarp.data.searchable import Searchable
from pureyarp.data.typed_element import TypedElement
from pureyarp.data.vocab_arguments import vocab_of
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_element, encode_list
from pureyarp.wire.elements import (
    Dictionary,
    Element,
    Float32,
    Int8,
    Int16,
    Int64,
    PlainList,
    Vocab32,
    WireFamily,
)
from pureyarp.wire.text import from_text, to_text

if TYPE_CHECKING:
    from pureyarp.data.bottle import Bottle
    from pureyarp.data.property import Property


class Value(TypedElement, Portable, Searchable):
    """A number, string, vocab, blob, list or dictionary; without an argument an empty list, as in the real bindings.

    Attributes:
        element: What the value holds; None for a null value.
    """

    def __init__(self, *value: Any) -> None:
        """Take ``()``, ``(number)``, ``(text, is_vocab)``, ``(bytes, length)`` or another Value."""
        super().__init__()
        self.element = _element_of(*value) if value else []

    def __repr__(self) -> str:
        return "null" if self.element is None else f"Value({to_text([self.element])})"

    @staticmethod
    def makeInt8(x: int) -> Value:
        """Return an integer of 1 byte."""
        return value_of(Int8(checked_integer(x, 8)))

    @staticmethod
    def makeInt16(x: int) -> Value:
        """Return an integer of 2 bytes."""
        return value_of(Int16(checked_integer(x, 16)))

    @staticmethod
    def makeInt32(x: int) -> Value:
        """Return an integer of 4 bytes."""
        return value_of(checked_integer(x, 32))

    @staticmethod
    def makeInt64(x: int) -> Value:
        """Return an integer of 8 bytes."""
        return value_of(Int64(checked_integer(x, 64)))

    @staticmethod
    def makeFloat32(x: float) -> Value:
        """Return a floating-point number of 4 bytes."""
        return value_of(Float32(checked_float32(x)))

    @staticmethod
    def makeFloat64(x: float) -> Value:
        """Return a floating-point number of 8 bytes."""
        return value_of(checked_float(x))

    @staticmethod
    def makeString(str: str) -> Value:
        """Return a string."""
        return value_of(checked_string(str))

    @staticmethod
    def makeVocab32(v: int | str, *characters: str) -> Value:
        """Return a vocab, from its number, its characters, or a text."""
        return value_of(vocab_of(v, *characters))

    @staticmethod
    def makeBlob(data: bytes, length: int | None = None) -> Value:
        """Return bytes."""
        return value_of(bytes(data) if length is None else bytes(data[:length]))

    @staticmethod
    def makeList(txt: str = "") -> Value:
        """Return the list that a text means."""
        return value_of(from_text(txt))

    @staticmethod
    def makeValue(txt: str) -> Value:
        """Return the single element that a text means; several ones are a string, none is a null value."""
        items = from_text(txt)
        return value_of(checked_string(txt) if len(items) > 1 else items[0] if items else None)

    @staticmethod
    def getNullValue() -> Value:
        """Return a value of nothing."""
        return value_of(None)

    def fromString(self, str: str) -> None:
        """Take over what a text means."""
        self.element = Value.makeValue(str).element

    def clone(self) -> Value:
        """Return a copy."""
        return Value(self)

    def asList(self) -> Bottle | None:
        """Return the list itself: what is added to it, this value has."""
        return bottles.bottle_of(self.element) if isinstance(self.element, list) else None

    def asDict(self) -> Property | None:
        """Return the dictionary itself."""
        return properties.property_of(self.element) if isinstance(self.element, Dictionary) else None

    def asSearchable(self) -> Searchable | None:
        """Return the list or dictionary itself."""
        return self.asDict() or self.asList()

    def getCode(self) -> int:
        """Return the tag of the value on the wire; that of a list tells its elements' type as well."""
        return -1 if self.element is None else int.from_bytes(encode_element(self.element)[:4], "little")

    def find(self, key: str) -> Value:
        """Return the value of a key in a list or dictionary."""
        searchable = self.asSearchable()
        return value_of(None) if searchable is None else searchable.find(key)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return the list that begins with a key in a list or dictionary."""
        searchable = self.asSearchable()
        return bottles.Bottle.getNullBottle() if searchable is None else searchable.findGroup(key)

    def toString(self) -> str:
        """Return the text of the value by itself: a string without quotes, up to a NUL, a list without parentheses."""
        return as_text(self.element).partition("\0")[0]

    def toString_c(self) -> str:
        """Return the text form."""
        return self.toString()

    def isEqual(self, alt: Value) -> bool:
        """Return whether both have the same text, as the real bindings compare: ``1`` equals an ``1`` of 8 bytes."""
        return self.toString() == alt.toString()

    def notEqual(self, alt: Value) -> bool:
        """Return whether their texts differ."""
        return not self.isEqual(alt)

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return a list of the value alone, unspecialised; an empty one for a null value."""
        return encode_list(PlainList() if self.element is None else PlainList([self.element]), family)

    def to_wire_text(self) -> str:
        """Return the value's text as it stands in a list."""
        return "" if self.element is None else to_text([self.element])

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over the element of a list of one; an empty list gives an empty list."""
        decoded = decode_list(data, family)
        if len(decoded.items) > 1:
            raise MalformedMessage(f"a value is a list of one element, not of {len(decoded.items)}")
        self.element = decoded.items[0] if decoded.items else []
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over what a line says."""
        self.fromString(text)


def value_of(element: Element | None) -> Value:
    """Return the value that holds this element itself, no copy."""
    value = Value.__new__(Value)
    value.element = element
    return value


def _element_of(x: int | float | str | bytes | Value | None, is_vocab: bool | int = False) -> Element | None:
    """Return what the constructor's arguments mean; the second one of bytes is their length."""
    if isinstance(x, Value):
        return deep_copy(x.element)
    if isinstance(x, bytes):
        return x[:is_vocab] if is_vocab else x
    if x is None or isinstance(x, str):
        text = checked_string(x)
        return vocab_of(text) if is_vocab else text
    if isinstance(x, int) and -(2**31) <= x < 2**31:
        return Vocab32(x) if is_vocab else int(x)
    return checked_float(x)
