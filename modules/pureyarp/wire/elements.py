"""The values of a Bottle as Python values, one type for each tag of the wire."""

from __future__ import annotations

from collections.abc import Iterable


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
