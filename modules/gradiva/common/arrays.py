"""Arrays as values: read-only, of a known shape."""

from __future__ import annotations

from typing import Any, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

NDArray = npt.NDArray[np.float64]

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)
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
    """Return an array that was made just now and that nobody else holds, read-only: then nobody needs to copy it."""
    _seal(array, False)
    return array


def unchecked(kind: type[T], **values: Any) -> T:
    """Return a frozen, slotted dataclass of ``values``, one for each field, without asking what they are.

    For those who make values in each tick. Their arrays have the right shapes, and are read-only or were made just now
    and are held by nobody else: they are sealed.
    """
    instance: T = object.__new__(kind)
    for name, value in values.items():
        if type(value) is _ARRAY:
            _seal(value, False)
        _set(instance, name, value)
    return instance


def _is_frozen(value: npt.ArrayLike) -> TypeGuard[NDArray]:
    """Tell whether nobody can change a value: no view of what may be writable elsewhere."""
    if type(value) is not _ARRAY or value.dtype is not _FLOAT:
        return False
    return value.base is None and not value.flags.writeable


def freeze_arrays(instance: object, **shapes: tuple[int | None, ...]) -> None:
    """Make the named array fields of a frozen dataclass read-only copies of the given shapes.

    An array that nobody can write any more is shared instead: arrays are handed on from value to value each tick.
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
    for name in type(instance).__slots__:  # type: ignore[attr-defined]
        _set(other, name, getattr(instance, name))
    for name, value in values.items():
        _set(other, name, value)
    return other
