"""An element that is asked what it is, and taken for what it is not."""

from __future__ import annotations

from pureyarp.data.conversions import (
    as_bool,
    as_float,
    as_integer,
    as_string,
    as_vocab,
    rounded_to_float32,
)
from pureyarp.wire.elements import FALSE, TRUE, Dictionary, Element, Float32, Int8, Int16, Int64, Vocab32, Vocab64


class TypedElement:
    """The questions and conversions of a Value.

    ``is...`` asks for one type alone: an integer of 1 byte is none of 4 bytes, as in the real bindings. ``as...``
    converts between numbers and gives 0, an empty text or None where nothing fits.

    Attributes:
        element: What it holds; None for nothing.
    """

    def __init__(self) -> None:
        self.element: Element | None = None

    def isNull(self) -> bool:
        """Return whether this is nothing."""
        return self.element is None

    def isBool(self) -> bool:
        """Return whether this is one of the vocabs printed as ``true`` and ``false``."""
        return isinstance(self.element, Vocab32) and self.element in (TRUE, FALSE)

    def isInt8(self) -> bool:
        """Return whether this is an integer of 1 byte."""
        return isinstance(self.element, Int8)

    def isInt16(self) -> bool:
        """Return whether this is an integer of 2 bytes."""
        return isinstance(self.element, Int16)

    def isInt32(self) -> bool:
        """Return whether this is an integer of 4 bytes."""
        return isinstance(self.element, int) and not isinstance(self.element, Int8 | Int16 | Int64 | Vocab32 | Vocab64)

    def isInt64(self) -> bool:
        """Return whether this is an integer of 8 bytes."""
        return isinstance(self.element, Int64)

    def isFloat32(self) -> bool:
        """Return whether this is a floating-point number of 4 bytes."""
        return isinstance(self.element, Float32)

    def isFloat64(self) -> bool:
        """Return whether this is a floating-point number of 8 bytes."""
        return isinstance(self.element, float) and not isinstance(self.element, Float32)

    def isString(self) -> bool:
        """Return whether this is a string."""
        return isinstance(self.element, str)

    def isVocab32(self) -> bool:
        """Return whether this is a vocab."""
        return isinstance(self.element, Vocab32)

    def isBlob(self) -> bool:
        """Return whether these are bytes."""
        return isinstance(self.element, bytes)

    def isList(self) -> bool:
        """Return whether this is a list."""
        return isinstance(self.element, list)

    def isDict(self) -> bool:
        """Return whether this is a dictionary."""
        return isinstance(self.element, Dictionary)

    def isLeaf(self) -> bool:
        """Return whether nothing is below this."""
        return not isinstance(self.element, list | Dictionary)

    def asBool(self) -> bool:
        """Return whether an integer is not 0, a vocab not ``false``, or a string ``true``."""
        return as_bool(self.element)

    def asInt8(self) -> int:
        """Return a number as an integer of 1 byte."""
        return as_integer(self.element, 8)

    def asInt16(self) -> int:
        """Return a number as an integer of 2 bytes."""
        return as_integer(self.element, 16)

    def asInt32(self) -> int:
        """Return a number as an integer of 4 bytes."""
        return as_integer(self.element, 32)

    def asInt64(self) -> int:
        """Return a number as an integer of 8 bytes."""
        return as_integer(self.element, 64)

    def asFloat32(self) -> float:
        """Return a number as 4 bytes hold it."""
        return rounded_to_float32(as_float(self.element))

    def asFloat64(self) -> float:
        """Return a number."""
        return as_float(self.element)

    def asVocab32(self) -> int:
        """Return a vocab, or that of a string's first four characters."""
        return as_vocab(self.element)

    def asString(self) -> str:
        """Return a string, or the characters of a vocab."""
        return as_string(self.element)

    def asBlob(self) -> bytes | None:
        """Return bytes."""
        return self.element if isinstance(self.element, bytes) else None

    def asBlobLength(self) -> int:
        """Return how many bytes there are."""
        return len(self.element) if isinstance(self.element, bytes) else 0
