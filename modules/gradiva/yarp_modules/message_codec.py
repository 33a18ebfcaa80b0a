"""Packs dataclasses into Bottles and unpacks them: every message between modules is one."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, Protocol, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import NAMED_ERRORS, Element, MalformedMessage

Pack = Callable[[Any], Element]
Unpack = Callable[[Element], Any]


class MessageCodec:
    """Translates values of any dataclass; both ends have the same classes.

    ==========================  ===================================================================
    Value                       In the Bottle
    ==========================  ===================================================================
    dataclass                   list of its fields, in order
    one of several dataclasses  list: name of the class, then its fields
    array of numbers            list of doubles; with two or more axes (lengths) (numbers, row by row)
    array of flags              list of int32, 0 or 1
    tuple, list, sequence       list
    number, text                float64 or int32, string
    True, False                 int32 1, 0
    enumeration                 string: its value
    None                        empty list; anything else that may be None: list of one
    ==========================  ===================================================================

    The codec of a type is made once, at its first use.

    Args:
        variants: For a field that is typed as a protocol: the dataclasses that it can be.
    """

    def __init__(self, variants: Mapping[type, Sequence[type]] | None = None) -> None:
        self._variants = {kind: tuple(kinds) for kind, kinds in (variants or {}).items()}
        self._codecs: dict[Any, FieldCodec] = {}

    def pack(self, value: Any, kind: Any = None) -> Element:
        """Return ``value`` as an element.

        Args:
            value: A dataclass, or what its fields can be.
            kind: Its declared type; that of the value by default.
        """
        return self._codec_of(type(value) if kind is None else kind).pack(value)

    def unpack(self, element: Element, kind: Any, where: str = "message") -> Any:
        """Return the value of type ``kind`` that ``element`` stands for.

        Args:
            element: As `pack` makes it.
            kind: The declared type.
            where: Put in front of the message of an error.

        Raises:
            MalformedMessage: Wrong type, count or size, not finite, or refused by the class; says which field.
        """
        try:
            return self._codec_of(kind).unpack(element)
        except FieldMismatch as mismatch:
            raise MalformedMessage(f"{where}{mismatch.path}: {mismatch.reason}") from mismatch.__cause__

    def _codec_of(self, kind: Any) -> FieldCodec:
        codec = self._codecs.get(kind)
        if codec is None:
            codec = self._codecs[kind] = self._made_codec(kind)
        return codec

    def _made_codec(self, kind: Any) -> FieldCodec:
        if get_origin(kind) in (Union, types.UnionType):
            return self._choice(get_args(kind))
        if kind in self._variants:
            return self._choice((kind,))
        if is_dataclass(kind):
            return self._dataclass(cast(type, kind))
        if get_origin(kind) in (tuple, list, Sequence):
            return self._sequence(kind)
        if get_origin(kind) is np.ndarray:
            return ArrayCodec() if get_args(kind) == get_args(NDArray) else FlagsCodec()
        if isinstance(kind, type) and issubclass(kind, Enum):
            return EnumCodec(kind)
        if kind in (bool, int, float, str):
            return ScalarCodec(kind)
        raise TypeError(f"a {kind} is no part of a message")

    def _choice(self, kinds: Sequence[Any]) -> FieldCodec:
        may_be_none = type(None) in kinds
        others = [each for kind in kinds if kind is not type(None) for each in self._variants.get(kind, (kind,))]
        if len(others) == 1 and may_be_none:
            return OptionalCodec(self._codec_of(others[0]))
        return UnionCodec([self._dataclass(kind) for kind in others], may_be_none)

    def _dataclass(self, kind: type) -> DataclassCodec:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind) if field.init]
        return DataclassCodec(kind, names, [self._codec_of(hints[name]) for name in names])

    def _sequence(self, kind: Any) -> FieldCodec:
        origin, arguments = get_origin(kind), get_args(kind)
        make = list if origin is list else tuple
        is_alike = origin is not tuple or (len(arguments) == 2 and arguments[1] is Ellipsis)
        kinds = arguments[:1] if is_alike else arguments
        return TupleCodec(make, [self._codec_of(each) for each in kinds], is_alike)


class FieldMismatch(Exception):  # noqa: N818 (it becomes a MalformedMessage)
    """Reports an element that is no value of the type; ``path`` grows on the way out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""


class FieldCodec(Protocol):
    """Packs and unpacks values of one type; `unpack` raises `FieldMismatch`."""

    def pack(self, value: Any) -> Element:
        """Return ``value`` as an element."""
        ...

    def unpack(self, element: Element) -> Any:
        """Return the value that ``element`` stands for."""
        ...


class DataclassCodec:
    """Packs a dataclass as the list of its fields, in order."""

    def __init__(self, kind: type, names: Sequence[str], codecs: Sequence[FieldCodec]) -> None:
        self.kind = kind
        self._names = tuple(names)
        self._packers = [(name, codec.pack) for name, codec in zip(names, codecs, strict=True)]
        self._unpackers = [codec.unpack for codec in codecs]

    def pack(self, value: Any) -> list[Element]:
        """See `FieldCodec.pack`."""
        return [pack(getattr(value, name)) for name, pack in self._packers]

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        return self.value_of(as_list(element))

    def value_of(self, items: list[Element]) -> Any:
        """Return the value whose fields are ``items``."""
        if len(items) != len(self._names):
            raise FieldMismatch(f"{self.kind.__name__} has {len(self._names)} fields, got {len(items)}")
        values: dict[str, Any] = {}
        try:
            for name, unpack, item in zip(self._names, self._unpackers, items, strict=True):
                values[name] = unpack(item)
        except FieldMismatch as mismatch:
            mismatch.path = f".{self._names[len(values)]}{mismatch.path}"
            raise
        try:
            return self.kind(**values)
        except (*NAMED_ERRORS, ValueError) as error:
            raise FieldMismatch(str(error)) from error


class OptionalCodec:
    """Packs None as an empty list, anything else as a list of one."""

    def __init__(self, codec: FieldCodec) -> None:
        self._codec_of = codec

    def pack(self, value: Any) -> list[Element]:
        """See `FieldCodec.pack`."""
        return [] if value is None else [self._codec_of.pack(value)]

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        items = as_list(element)
        if not items:
            return None
        if len(items) != 1:
            raise FieldMismatch(f"expected one value or none, got {len(items)}")
        return self._codec_of.unpack(items[0])


class UnionCodec:
    """Packs one of several dataclasses as its name and its fields; None as an empty list where that is allowed."""

    def __init__(self, codecs: Sequence[DataclassCodec], may_be_none: bool) -> None:
        self._codecs = {codec.kind: codec for codec in codecs}
        self._named = {codec.kind.__name__: codec for codec in codecs}
        self._may_be_none = may_be_none

    def pack(self, value: Any) -> list[Element]:
        """See `FieldCodec.pack`."""
        return [] if value is None else [type(value).__name__, *self._codecs[type(value)].pack(value)]

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        items = as_list(element)
        if not items and self._may_be_none:
            return None
        name = items[0] if items and isinstance(items[0], str) else ""
        if name not in self._named:
            raise FieldMismatch(f"{name!r} is none of {', '.join(self._named)}")
        try:
            return self._named[name].value_of(items[1:])
        except FieldMismatch as mismatch:
            mismatch.path = f" ({name}){mismatch.path}"
            raise


class TupleCodec:
    """Packs a tuple or list; each place has its own codec, or all have the same."""

    def __init__(self, make: Callable[[Any], Any], codecs: Sequence[FieldCodec], is_alike: bool) -> None:
        self._make = make
        self._codecs = list(codecs)
        self._is_alike = is_alike

    def pack(self, value: Any) -> list[Element]:
        """See `FieldCodec.pack`."""
        return [codec.pack(item) for item, codec in zip(value, self._for(len(value)), strict=True)]

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        items = as_list(element)
        codecs = self._for(len(items))
        if len(codecs) != len(items):
            raise FieldMismatch(f"expected {len(codecs)} values, got {len(items)}")
        values: list[Any] = []
        try:
            for item, codec in zip(items, codecs, strict=True):
                values.append(codec.unpack(item))
        except FieldMismatch as mismatch:
            mismatch.path = f"[{len(values)}]{mismatch.path}"
            raise
        return self._make(values)

    def _for(self, count: int) -> list[FieldCodec]:
        return self._codecs * count if self._is_alike else self._codecs


class ArrayCodec:
    """Packs an array as a list of doubles; with two or more axes (lengths) (numbers, row by row)."""

    def pack(self, value: NDArray) -> list[Element]:
        """See `FieldCodec.pack`."""
        numbers = cast("list[Element]", value.ravel().tolist())
        return numbers if value.ndim == 1 else [list(value.shape), numbers]

    def unpack(self, element: Element) -> NDArray:
        """See `FieldCodec.unpack`."""
        items = as_list(element)
        if len(items) != 2 or not isinstance(items[0], list) or not isinstance(items[1], list):
            return _numbers(items)
        try:
            return _numbers(items[1]).reshape(cast("list[int]", items[0]))
        except (TypeError, ValueError) as error:
            raise FieldMismatch(f"no array: {error}") from None


class FlagsCodec:
    """Packs an array of flags as a list of int32, 0 or 1."""

    def pack(self, value: Any) -> list[Element]:
        """See `FieldCodec.pack`."""
        return [int(flag) for flag in value.tolist()]

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        items = as_list(element)
        if not all(flag in (0, 1) for flag in items):
            raise FieldMismatch(f"expected flags, got {items!r:.40}")
        return np.array(items, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class ScalarCodec:
    """Packs a number, a text, True and False as they are.

    Attributes:
        kind: ``bool``, ``int``, ``float`` or ``str``.
    """

    kind: type
    _accepted: tuple[type, ...] = field(init=False)

    def __post_init__(self) -> None:
        accepted = {bool: (int,), int: (int,), float: (float, int), str: (str,)}
        object.__setattr__(self, "_accepted", accepted[self.kind])

    def pack(self, value: Any) -> Element:
        """See `FieldCodec.pack`."""
        return int(value) if self.kind is bool else cast(Element, self.kind(value))

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        if not isinstance(element, self._accepted):
            raise FieldMismatch(f"expected {self.kind.__name__}, got {element!r:.40}")
        if self.kind is float and not math.isfinite(cast(float, element)):
            raise FieldMismatch("not finite")
        return self.kind(element)


class EnumCodec:
    """Packs an enumeration as the string of its value."""

    def __init__(self, kind: type[Enum]) -> None:
        self._members = {str(member.value): member for member in kind}

    def pack(self, value: Enum) -> Element:
        """See `FieldCodec.pack`."""
        return str(value.value)

    def unpack(self, element: Element) -> Any:
        """See `FieldCodec.unpack`."""
        if not isinstance(element, str) or element not in self._members:
            raise FieldMismatch(f"{element!r:.40} is none of {', '.join(self._members)}")
        return self._members[element]


def as_list(element: Element) -> list[Element]:
    """Return ``element`` as the list that it has to be."""
    if not isinstance(element, list):
        raise FieldMismatch(f"expected a list, got {element!r:.40}")
    return element


def _numbers(items: list[Element]) -> NDArray:
    """Return an array of one axis. One sum refuses what is no number, and finds nearly all that is not finite."""
    try:
        is_finite = math.isfinite(sum(cast("list[float]", items)))
    except TypeError:
        raise FieldMismatch("no array: numbers alone are expected in it") from None
    array = np.array(items, dtype=np.float64)
    if not is_finite and not np.isfinite(array).all():
        raise FieldMismatch("not finite")
    return array
