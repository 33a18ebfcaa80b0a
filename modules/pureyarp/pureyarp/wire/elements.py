"""Define the elements of a Bottle as Python types, their tags on the wire, and vocabs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache


class Int8(int):
    """A signed integer of 1 byte."""

    __slots__ = ()


class Int16(int):
    """A signed integer of 2 bytes."""

    __slots__ = ()


class Int64(int):
    """A signed integer of 8 bytes."""

    __slots__ = ()


class Vocab32(int):
    """Up to four characters, the first in the lowest byte; ``Vocab32(0)`` and 49 are YARP's false and true."""

    __slots__ = ()


class Vocab64(int):
    """Up to eight characters; only the 4.x family carries it."""

    __slots__ = ()


class Float32(float):
    """An IEEE 754 number of 4 bytes."""

    __slots__ = ()


class PlainList(list["Element"]):
    """A list that is written with a tag before every element, as generated (thrift) code writes its structs."""

    __slots__ = ()


class TypedList(list["Element"]):
    """A list that is written with the tag of its element type even when it is empty, as vectors are.

    Attributes:
        element_type: ``int``, ``float``, ``str``, ``bytes`` or one of the types above; every element has it.
    """

    __slots__ = ("element_type",)

    def __init__(self, element_type: type, items: Iterable[Element] = ()) -> None:
        super().__init__(items)
        self.element_type = element_type


class Dictionary(dict[str, "list[Element]"]):
    """A dictionary: the values after each key of ``(key v1 v2 ...)``."""

    __slots__ = ()


class ElementKey(str):
    """The text of a key that is no string in its list, such as the number of ``(1 2.0)``.

    Attributes:
        head: What stands in the list: one element, or nothing in an empty list.
    """

    __slots__ = ("head",)
    head: list[Element]


# A plain int is an int32, a float a float64, a str a string, bytes a blob, a list a list.
Element = int | float | str | bytes | list["Element"] | Dictionary


class WireFamily(Enum):
    """The family of YARP releases: tags of floating-point numbers, and protocol of control boards.

    Attributes:
        float64_tag: Tag of a number of 8 bytes.
        float32_tag: Tag of a number of 4 bytes.
    """

    YARP_3 = "3"
    YARP_4 = "4"

    def __init__(self, release: str) -> None:
        self.float64_tag, self.float32_tag = (10, 128) if release == "3" else (20, 10)

    @property
    def other(self) -> WireFamily:
        """Return the family that this one is not."""
        return WireFamily.YARP_4 if self is WireFamily.YARP_3 else WireFamily.YARP_3


LIST_TAG = 0x100
DICTIONARY_TAG = 0x200
SCALAR_MASK = 0xFF
DEEPEST_NESTING = 32


@dataclass(frozen=True, slots=True)
class ScalarKind:
    """Describes how the elements of one scalar type travel.

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


TRUE = Vocab32(ord("1"))
FALSE = Vocab32(0)


def encode_vocab(text: str) -> Vocab32:
    """Return the vocab of the first four bytes of a text; ``""`` gives 0.

    The bytes are added as signed numbers, as YARP does: one above 127 borrows from the byte behind it.
    """
    data = text.encode("utf-8", "surrogateescape")[:4]
    if data.isascii():
        return Vocab32(int.from_bytes(data.ljust(4, b"\0"), "little", signed=True))
    total = sum((byte - 256 if byte > 127 else byte) << (8 * place) for place, byte in enumerate(data))
    return Vocab32((total + 2**31) % 2**32 - 2**31)


def encode_vocab64(text: str) -> Vocab64:
    """Return the long vocab of the first eight bytes of a text."""
    data = text.encode("utf-8", "surrogateescape")[:8]
    return Vocab64(int.from_bytes(data.ljust(8, b"\0"), "little", signed=True))


def decode_vocab(vocab: int) -> str:
    """Return the characters of a vocab, up to its first NUL."""
    size = 8 if isinstance(vocab, Vocab64) else 4
    data = (int(vocab) & (256**size - 1)).to_bytes(size, "little")
    return data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
