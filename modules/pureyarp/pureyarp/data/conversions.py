"""Convert and check elements: what a Value answers for another type, and what the bindings accept as arguments."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TypeVar

from pureyarp.wire import (
    FALSE,
    TRUE,
    Dictionary,
    Element,
    Float32,
    Int8,
    Int16,
    Int64,
    TypedList,
    Vocab32,
    Vocab64,
    decode_vocab,
    dictionary_items,
    encode_vocab,
    key_text,
    to_text,
)

_WORD = 32  # [bits]


def as_integer(element: Element | None, bits: int) -> int:
    """Return a number without its fraction, as the processor converts it; 0 for anything but a number.

    A floating-point number that does not fit becomes the lowest integer; the shortest integers are cut from one of
    32 bits. Vocabs have no value of less than 32 bits.
    """
    if isinstance(element, Vocab32 | Vocab64) and bits < _WORD:
        return 0
    if isinstance(element, float):
        element = _truncated(element, max(bits, _WORD))
    return wrapped(int(element), bits) if isinstance(element, int) else 0


def as_float(element: Element | None) -> float:
    """Return a number as float64; 0 for anything but a number."""
    return float(element) if isinstance(element, int | float) else 0.0


def as_bool(element: Element | None) -> bool:
    """Return whether an integer or vocab is not 0; floating-point numbers and strings never count."""
    return isinstance(element, int) and element != 0


def as_vocab(element: Element | None) -> int:
    """Return a vocab, the vocab of a string's first four characters, or an integer as it is."""
    if isinstance(element, str):
        return int(encode_vocab(element))
    return 0 if isinstance(element, float) else as_integer(element, 32)


def as_string(element: Element | None) -> str:
    """Return a string or the characters of a vocab; empty for anything else."""
    return key_text(element) if isinstance(element, str | Vocab32 | Vocab64) else ""


def as_text(element: Element | None) -> str:
    """Return the text of a value by itself: without quotes, brackets, braces or parentheses around it."""
    if element is None:
        return ""
    if isinstance(element, Dictionary):
        return to_text(dictionary_items(element))
    if isinstance(element, list):
        return to_text(element)
    if isinstance(element, bytes):
        return " ".join(map(str, element))
    return key_text(element)


def _truncated(value: float, bits: int) -> int:
    """Return a number without its fraction, the lowest integer of ``bits`` where it does not fit."""
    lowest = -(1 << (bits - 1))
    return int(value) if math.isfinite(value) and lowest <= int(value) < -lowest else lowest


def wrapped(value: int, bits: int) -> int:
    """Return the signed integer that the lowest ``bits`` bits mean."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def rounded_to_float32(value: float) -> float:
    """Return the float64 nearest to what 4 bytes can hold; infinite where it is too large."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def checked_integer(value: object, bits: int) -> int:
    """Return an int that fits ``bits``, or raise TypeError or OverflowError."""
    if not isinstance(value, int):
        raise TypeError(f"an int of {bits} bits is expected, not {value!r}")
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise OverflowError(f"{value} does not fit an int of {bits} bits")
    return int(value)


def checked_float(value: object) -> float:
    """Return an int or float as float, or raise TypeError."""
    if not isinstance(value, int | float):
        raise TypeError(f"a float is expected, not {value!r}")
    return float(value)


def checked_float32(value: object) -> float:
    """Return the number nearest to ``value`` that 4 bytes hold; TypeError for no number, OverflowError if too large."""
    number = checked_float(value)
    rounded = rounded_to_float32(number)
    if math.isinf(rounded) and math.isfinite(number):
        raise OverflowError(f"{number} does not fit a float of 32 bits")
    return rounded


def checked_bool(value: object) -> bool:
    """Return a bool, or raise TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"a bool is expected, not {value!r}")
    return value


def checked_string(value: object) -> str:
    """Return a str; raise ValueError for None, TypeError for anything else."""
    if value is None:
        raise ValueError("a str is expected, not None")
    if not isinstance(value, str):
        raise TypeError(f"a str is expected, not {value!r}")
    return str(value)


_Copied = TypeVar("_Copied")


def deep_copy(element: _Copied) -> _Copied:
    """Return the element with copies of all lists and dictionaries in it; they keep their types."""
    if isinstance(element, TypedList):
        return TypedList(element.element_type, element)  # type: ignore[return-value]
    if isinstance(element, list):
        return type(element)([deep_copy(item) for item in element])
    if isinstance(element, Dictionary):
        return Dictionary({key: deep_copy(values) for key, values in element.items()})  # type: ignore[return-value]
    return element


def encode(str: str) -> int:
    """Return the number of the vocab of a text's first four characters."""
    return int(encode_vocab(checked_string(str)))


def decode(code: int) -> str:
    """Return the characters of a vocab, none of a negative number."""
    checked = checked_integer(code, 32)
    return decode_vocab(Vocab32(checked)) if checked >= 0 else ""


def vocab_of(first: int | str, *characters: str) -> Vocab32:
    """Return the vocab of a number, of single characters, or of a text; TypeError for anything else."""
    if isinstance(first, int):
        try:
            return Vocab32(checked_integer(first, 32))
        except OverflowError as error:  # the bindings then find no overload that takes it
            raise TypeError(str(error)) from error
    return encode_vocab(checked_string(first) + "".join(characters))


def _is_a(kind: type, but: tuple[type, ...] = ()) -> Callable[[TypedElement], bool]:
    """Return a method that says whether the element is of one type, and of none of those that derive from it."""
    return lambda value: isinstance(value.element, kind) and not isinstance(value.element, but)


def _as_an_integer(bits: int) -> Callable[[TypedElement], int]:
    """Return a method that gives a number as an integer of so many bits."""
    return lambda value: as_integer(value.element, bits)


class TypedElement:
    """Classifies and converts the element of a Value.

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

    isInt8, isInt16, isInt64 = _is_a(Int8), _is_a(Int16), _is_a(Int64)
    isInt32 = _is_a(int, but=(Int8, Int16, Int64, Vocab32, Vocab64))
    isFloat32, isFloat64 = _is_a(Float32), _is_a(float, but=(Float32,))
    isString, isVocab32, isBlob = _is_a(str), _is_a(Vocab32), _is_a(bytes)
    isList, isDict = _is_a(list), _is_a(Dictionary)
    isLeaf = _is_a(object, but=(list, Dictionary))

    def asBool(self) -> bool:
        """Return whether an integer is not 0, a vocab not ``false``, or a string ``true``."""
        return as_bool(self.element)

    asInt8, asInt16, asInt32, asInt64 = _as_an_integer(8), _as_an_integer(16), _as_an_integer(32), _as_an_integer(64)

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
