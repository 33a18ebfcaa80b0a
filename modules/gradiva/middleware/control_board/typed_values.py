"""The values of a request as the types that are meant: people type words and integers where programs send others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradiva.middleware.control_board.control_board_device import Joints
from gradiva.middleware.control_board.vocabulary import PidType
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, decode_vocab, encode_vocab

T = TypeVar("T")


def word(element: Element) -> str:
    """Return the up to four letters of a vocab or a typed word; empty for anything else."""
    if isinstance(element, str):
        return element[:4]
    return decode_vocab(element) if isinstance(element, int) else ""


def vocab(element: Element) -> int:
    """Return a vocab that came as vocab, integer or typed word."""
    if isinstance(element, str):
        return encode_vocab(element)
    return integer(element)


def number(element: Element) -> float:
    """Return a finite double; integers count as such."""
    if isinstance(element, int | float) and math.isfinite(element):
        return float(element)
    raise MalformedMessage(f"a number is missing, there is {element!r:.40}")


def integer(element: Element) -> int:
    """Return an integer of any size."""
    if isinstance(element, int | float) and math.isfinite(element) and int(element) == element:
        return int(element)
    raise MalformedMessage(f"an integer is missing, there is {element!r:.40}")


def joint(element: Element) -> int:
    """Return the index of a joint; the device says whether it exists."""
    index = integer(element)
    if index < 0:
        raise MalformedMessage(f"joint {index}")
    return index


def many(element: Element, read: Callable[[Element], T]) -> list[T]:
    """Return the values of a nested list."""
    if not isinstance(element, list):
        raise MalformedMessage(f"a list is missing, there is {element!r:.40}")
    return [read(item) for item in element]


def joints_of(element: Element) -> Joints:
    """Return the indices in a nested list."""
    return tuple(many(element, joint))


def as_many(joints: Joints, values: Sequence[Any]) -> list[Any]:
    """Return the values if there is one for each joint."""
    if len(values) != len(joints):
        raise MalformedMessage(f"{len(values)} values for {len(joints)} joints")
    return list(values)


_PID_TYPES = {"pos": PidType.POSITION, "vel": PidType.VELOCITY, "trq": PidType.TORQUE, "cur": PidType.CURRENT}


def pid_type(element: Element) -> PidType:
    """Return which controller is meant; the 4.x family numbers them, the first is taken (``pos1``)."""
    name = word(element)
    if name.removesuffix("1") not in _PID_TYPES:
        raise MalformedMessage(f"PIDs are of {', '.join(_PID_TYPES)}, not {name!r}")
    return _PID_TYPES[name.removesuffix("1")]
