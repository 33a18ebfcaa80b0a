"""What the real bindings accept as arguments: no conversion that could hide a mistake."""

from __future__ import annotations

import math

from pureyarp.data.conversions import rounded_to_float32


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
