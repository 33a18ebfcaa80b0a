"""What was found at the start of some bytes."""

from __future__ import annotations

from dataclasses import dataclass

from pureyarp.wire.elements import Element
from pureyarp.wire.wire_family import WireFamily


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
