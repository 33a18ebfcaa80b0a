"""The numbers that say on the wire which type follows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pureyarp.wire.elements import Float32, Int8, Int16, Int64, Vocab32, Vocab64
from pureyarp.wire.wire_family import WireFamily

LIST_TAG = 0x100
DICTIONARY_TAG = 0x200
SCALAR_MASK = 0xFF
DEEPEST_NESTING = 32


@dataclass(frozen=True, slots=True)
class ScalarKind:
    """How the elements of one scalar type travel.

    Attributes:
        tag: Written before a single element, and added to the list's tag before elements of this type alone.
        python_type: Of the element.
        code: Of ``struct``; empty for strings and blobs, which are preceded by their length.
        size: Fewest bytes of one element after its tag.
    """

    tag: int
    python_type: type
    code: str
    size: int


@cache
def scalar_kinds(family: WireFamily) -> tuple[ScalarKind, ...]:
    """Return the scalar types that a family knows."""
    kinds = (
        ScalarKind(1, int, "i", 4),
        ScalarKind(4, str, "", 4),
        ScalarKind(9, Vocab32, "i", 4),
        ScalarKind(12, bytes, "", 4),
        ScalarKind(17, Int64, "q", 8),
        ScalarKind(32, Int8, "b", 1),
        ScalarKind(64, Int16, "h", 2),
        ScalarKind(family.float64_tag, float, "d", 8),
        ScalarKind(family.float32_tag, Float32, "f", 4),
    )
    return (*kinds, ScalarKind(18, Vocab64, "q", 8)) if family is WireFamily.YARP_4 else kinds


@cache
def kinds_by_tag(family: WireFamily) -> dict[int, ScalarKind]:
    """Return the scalar types of a family by their tags."""
    return {kind.tag: kind for kind in scalar_kinds(family)}


@cache
def kinds_by_type(family: WireFamily) -> dict[type, ScalarKind]:
    """Return the scalar types of a family by their Python types."""
    return {kind.python_type: kind for kind in scalar_kinds(family)}
