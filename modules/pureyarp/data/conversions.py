"""What an element counts as when another type is asked for: as YARP's Value converts."""

from __future__ import annotations

import math
import struct

from pureyarp.wire.elements import Dictionary, Element, Vocab32, Vocab64, encode_vocab
from pureyarp.wire.text import dictionary_items, key_text, to_text

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
