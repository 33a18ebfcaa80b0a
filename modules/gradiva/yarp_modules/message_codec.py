"""Dataclasses as the contents of a Bottle, and back: every message between modules is one of them."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from gradiva.common import NDArray, WalkingError
from gradiva.middleware import MalformedMessage
from gradiva.middleware.embedded.wire.elements import Element


class MessageCodec:
    """Translates values of any dataclass; both ends have the same classes.

    ==========================  ===================================================================
    Value                       In the Bottle
    ==========================  ===================================================================
    dataclass                   list of its fields, in order
    one of several dataclasses  list: name of the class, then its fields
    array of numbers            list of doubles; with two or more axes (lengths) (numbers, row by row)
    array of flags              list of int32, 0 or 1
    tuple, list                 list
    number, text                float64 or int32, string
    True, False                 int32 1, 0
    enumeration                 string: its value
    None                        empty list; anything else that may be None: list of one
    ==========================  ===================================================================

    Args:
        variants: For a field that is typed as a protocol: the dataclasses that it can be.
    """

    def __init__(self, variants: Mapping[type, Sequence[type]] | None = None) -> None:
        self._variants = {kind: tuple(kinds) for kind, kinds in (variants or {}).items()}

    def pack(self, value: Any, kind: Any = None) -> Element:
        """Return ``value`` as an element.

        Args:
            value: A dataclass, or what its fields can be.
            kind: Its declared type; that of the value by default.
        """
        kind = type(value) if kind is None else kind
        choices = self._choices(kind)
        if choices is not None:
            return self._pack_choice(value, choices)
        if is_dataclass(kind):
            hints = _hints(cast(type, kind))
            return [self.pack(getattr(value, name), hint) for name, hint in hints.items()]
        if isinstance(value, np.ndarray):
            return _pack_array(value)
        if isinstance(value, Enum):
            return str(value.value)
        if isinstance(value, (tuple, list)):
            return [self.pack(item, hint) for item, hint in zip(value, _item_kinds(kind, len(value)), strict=True)]
        return (
            int(value) if isinstance(value, (bool, int)) else float(value) if isinstance(value, float) else str(value)
        )

    def unpack(self, element: Element, kind: Any, where: str = "message") -> Any:
        """Return the value of type ``kind`` that ``element`` stands for.

        Args:
            element: As `pack` makes it.
            kind: The declared type.
            where: Put in front of a complaint.

        Raises:
            MalformedMessage: Wrong type, count or size, not finite, or refused by the class; says which field.
        """
        choices = self._choices(kind)
        if choices is not None:
            return self._unpack_choice(element, choices, where)
        if is_dataclass(kind):
            return self._unpack_dataclass(_as_list(element, where), cast(type, kind), where)
        if _is_array(kind):
            return _unpack_array(_as_list(element, where), kind, where)
        if get_origin(kind) in (tuple, list):
            return self._unpack_sequence(_as_list(element, where), kind, where)
        return _unpack_scalar(element, kind, where)

    def _choices(self, kind: Any) -> tuple[Any, ...] | None:
        """The types that a union or a protocol can be; None for anything else."""
        if get_origin(kind) in (Union, types.UnionType):
            return get_args(kind)
        return self._variants.get(kind)

    def _pack_choice(self, value: Any, choices: tuple[Any, ...]) -> Element:
        others = [kind for kind in choices if kind is not type(None)]
        if value is None:
            return []
        if len(others) == 1:
            return [self.pack(value, others[0])]
        return [type(value).__name__, *cast("list[Element]", self.pack(value))]

    def _unpack_choice(self, element: Element, choices: tuple[Any, ...], where: str) -> Any:
        items = _as_list(element, where)
        others = [kind for kind in choices if kind is not type(None)]
        if not items and len(others) < len(choices):
            return None
        if len(others) == 1 and len(others) < len(choices):
            _expect(len(items) == 1, where, f"expected one value or none, got {len(items)}")
            return self.unpack(items[0], others[0], where)
        named = {kind.__name__: kind for kind in others}
        name = items[0] if items and isinstance(items[0], str) else ""
        _expect(name in named, where, f"{name!r} is none of {', '.join(named)}")
        return self._unpack_dataclass(items[1:], named[name], f"{where} ({name})")

    def _unpack_dataclass(self, items: list[Element], kind: type, where: str) -> Any:
        hints = _hints(kind)
        _expect(len(items) == len(hints), where, f"{kind.__name__} has {len(hints)} fields, got {len(items)}")
        values = {
            name: self.unpack(item, hint, f"{where}.{name}")
            for item, (name, hint) in zip(items, hints.items(), strict=True)
        }
        try:
            return kind(**values)
        except (WalkingError, ValueError) as error:
            raise MalformedMessage(f"{where}: {error}") from error

    def _unpack_sequence(self, items: list[Element], kind: Any, where: str) -> Any:
        kinds = _item_kinds(kind, len(items))
        _expect(len(kinds) == len(items), where, f"expected {len(kinds)} values, got {len(items)}")
        values = [
            self.unpack(item, hint, f"{where}[{index}]")
            for index, (item, hint) in enumerate(zip(items, kinds, strict=True))
        ]
        return tuple(values) if get_origin(kind) is tuple else values


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields from which a dataclass is made, by name."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def _item_kinds(kind: Any, count: int) -> list[Any]:
    arguments = get_args(kind)
    if get_origin(kind) is list or (len(arguments) == 2 and arguments[1] is Ellipsis):
        return [arguments[0]] * count
    return list(arguments)


def _is_array(kind: Any) -> bool:
    return get_origin(kind) is np.ndarray or kind is np.ndarray


def _pack_array(value: NDArray) -> Element:
    numbers = cast("list[Element]", value.ravel().tolist())
    if value.dtype == np.bool_:
        return [int(cast(bool, number)) for number in numbers]
    return numbers if value.ndim == 1 else [list(value.shape), numbers]


def _unpack_array(items: list[Element], kind: Any, where: str) -> Any:
    shape: Any = None
    if len(items) == 2 and isinstance(items[0], list) and isinstance(items[1], list):
        shape, items = items[0], items[1]
    of_flags = get_args(kind) != get_args(NDArray)
    try:
        array = np.array(items, dtype=np.bool_ if of_flags else np.float64)
        array = array if shape is None else array.reshape(shape)
    except (TypeError, ValueError) as error:
        raise MalformedMessage(f"{where}: no array: {error}") from None
    _expect(array.ndim == (1 if shape is None else len(shape)), where, "lists within an array")
    _expect(of_flags or bool(np.isfinite(array).all()), where, "not finite")
    return array


def _unpack_scalar(element: Element, kind: Any, where: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(element)
        except ValueError:
            valid = ", ".join(str(member.value) for member in kind)
            raise MalformedMessage(f"{where}: {element!r} is none of {valid}") from None
    readers: dict[Any, Callable[[Any], Any]] = {bool: bool, int: int, float: float, str: str}
    accepted = {bool: int, int: int, float: (int, float), str: str}
    _expect(kind in readers, where, f"a {kind} is no part of a message")
    _expect(isinstance(element, accepted[kind]), where, f"expected {kind.__name__}, got {element!r:.40}")  # type: ignore[arg-type]
    _expect(kind is not float or math.isfinite(cast(float, element)), where, "not finite")
    return readers[kind](element)


def _as_list(element: Element, where: str) -> list[Element]:
    _expect(isinstance(element, list), where, f"expected a list, got {element!r:.40}")
    return cast("list[Element]", element)


def _expect(condition: bool, where: str, complaint: str) -> None:
    if not condition:
        raise MalformedMessage(f"{where}: {complaint}")
