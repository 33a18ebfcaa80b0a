"""Arrays as values: read-only, of a known shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

NDArray = npt.NDArray[np.float64]

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)
_Defaults = dict[str, Callable[[], Any] | None]
_known_defaults: dict[type, _Defaults] = {}
_ANY_LENGTH = (None,)
_set = object.__setattr__
_seal: Any = np.ndarray.setflags  # by position, which takes a third of the time and which its stub does not know


def readonly(value: npt.ArrayLike, shape: tuple[int | None, ...] | None = None) -> NDArray:
    """Return a read-only float64 copy of ``value``, or itself if it is such an array already.

    Args:
        value: Anything numpy takes.
        shape: The required shape; ``None`` entries match any length.

    Raises:
        ValueError: The shape differs.
    """
    if _is_frozen(value):
        array = value
    else:
        array = np.array(value, dtype=np.float64)
        array.setflags(write=False)
    if shape is not None and not _matches(array.shape, shape):
        raise ValueError(f"expected an array of shape {shape}, got {array.shape}")
    return array


def sealed(array: NDArray) -> NDArray:
    """Make an array read-only in place: for one that was made just now and has no other owner, instead of a copy."""
    _seal(array, False)
    return array


def unchecked(kind: type[T], **values: Any) -> T:
    """Return a frozen, slotted dataclass of ``values`` without validation; other fields have their defaults.

    For values that are made in each tick. Arrays have the right shapes, and are read-only or were made just now
    without another owner: they are made read-only in place.

    Raises:
        TypeError: A field without a default has no value, or a value no field; the message names them.
    """
    if len(values) != len(_known_defaults.get(kind) or _defaults(kind)):
        values = _completed(kind, values)
    instance: T = object.__new__(kind)
    for name, value in values.items():
        if type(value) is _ARRAY:
            _seal(value, False)
        _set(instance, name, value)
    return instance


def _defaults(kind: type) -> _Defaults:
    """Return the fields of a dataclass, those of its bases as well, with what makes a default; None where none does."""
    known = _known_defaults.get(kind)
    if known is None:
        known = _known_defaults[kind] = {field.name: _default_of(field) for field in fields(kind)}
    return known


def _default_of(field: Field[Any]) -> Callable[[], Any] | None:
    if field.default is not MISSING:
        return lambda: field.default
    return None if field.default_factory is MISSING else field.default_factory


def _completed(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with the defaults of the fields that have none."""
    defaults = _defaults(kind)
    missing = [name for name, make in defaults.items() if make is None and name not in values]
    if unknown := [name for name in values if name not in defaults]:
        raise TypeError(f"{kind.__name__} has no field {', '.join(unknown)}; its fields are {', '.join(defaults)}")
    if missing:
        raise TypeError(f"{kind.__name__} without {', '.join(missing)}, which has no default")
    return {name: make() for name, make in defaults.items() if make is not None} | values


def _is_frozen(value: npt.ArrayLike) -> TypeGuard[NDArray]:
    """Tell whether a value is immutable: read-only, and no view of what may be writable elsewhere."""
    if type(value) is not _ARRAY or value.dtype is not _FLOAT:
        return False
    return value.base is None and not value.flags.writeable


def freeze_arrays(instance: object, **shapes: tuple[int | None, ...]) -> None:
    """Make the named array fields of a frozen dataclass read-only copies of the given shapes.

    An array that is immutable already is shared instead: arrays are handed on from value to value each tick.
    """
    for name, shape in shapes.items():
        value = getattr(instance, name)
        if type(value) is _ARRAY and value.dtype is _FLOAT and (value.shape == shape or _matches(value.shape, shape)):
            if value.flags.writeable or value.base is not None:
                _set(instance, name, sealed(value.copy()))
            continue
        try:
            _set(instance, name, readonly(value, shape))
        except ValueError as error:
            raise ValueError(f"{type(instance).__name__}.{name}: {error}") from None


def _matches(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    if shape == wanted:
        return True
    if wanted == _ANY_LENGTH:  # the only pattern of the tick
        return len(shape) == 1
    return len(shape) == len(wanted) and all(
        length is None or length == here for length, here in zip(wanted, shape, strict=True)
    )


def altered(instance: T, **values: Any) -> T:
    """Return a frozen, slotted dataclass with other values of some fields, taken as they are.

    The rest is shared, which read-only arrays allow: a fifth of the time of ``dataclasses.replace``.
    """
    other: T = object.__new__(type(instance))
    for name in _defaults(type(instance)):
        _set(other, name, getattr(instance, name))
    for name, value in values.items():
        _set(other, name, value)
    return other
