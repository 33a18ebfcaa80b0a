r"""Arrays as values, read-only and of a known shape, and their filters in time.

Filters are the first-order low pass, minimum-jerk and minimum-acceleration profiles, and debouncing. With
:math:`\sigma = (t - t_0) / T` in [0, 1]: minimum acceleration :math:`s = 3\sigma^2 - 2\sigma^3`,
minimum jerk :math:`s = 10\sigma^3 - 15\sigma^4 + 6\sigma^5`. Debouncing: a violation counts once it has lasted for its
tolerated duration.
"""

from __future__ import annotations

import math
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
TIME_ROUNDING = 1e-9
"""[s] by which sums of periods, and stamps that come as text, are not exact: an instant is reached that much before."""
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


class LowPass:
    r"""First-order low pass, :math:`\dot y = (u - y) / T`, exact for a held input.

    Attributes:
        value: The output; None before the first sample where no initial value was given.
    """

    def __init__(self, time_constant: float, initial: NDArray | None = None) -> None:
        """Begin.

        Args:
            time_constant: T, [s]; 0 passes all through.
            initial: Output before the first sample; without it the first sample passes unchanged.
        """
        self._time_constant = time_constant
        self.value = initial

    def reset(self) -> None:
        """Forget the past: the next sample passes unchanged."""
        self.value = None

    def update(self, sample: NDArray, period: float) -> NDArray:
        """Return the output after ``sample`` has been held for ``period`` [s]."""
        if self.value is None or self._time_constant == 0.0:
            self.value = np.array(sample)
        else:
            change = sample - self.value
            change *= low_pass_gain(self._time_constant, period)
            change += self.value
            self.value = change
        return self.value


def low_pass_gain(time_constant: float, period: float) -> float:
    """Return the gain 1 − exp(−Δt / T) of a discrete first-order low pass, in [0, 1].

    Args:
        time_constant: [s]; 0 passes all through.
        period: [s].
    """
    return 1.0 if time_constant == 0.0 else 1.0 - math.exp(-period / time_constant)


def minimum_jerk(ratio: float) -> tuple[float, float, float]:
    """Return s, ds/dσ and d²s/dσ² of the quintic; constant outside [0, 1]."""
    if ratio <= 0.0:
        return 0.0, 0.0, 0.0
    if ratio >= 1.0:
        return 1.0, 0.0, 0.0
    square = ratio * ratio
    return (
        square * ratio * (10.0 + ratio * (-15.0 + 6.0 * ratio)),
        30.0 * square * (1.0 - ratio) * (1.0 - ratio),
        60.0 * ratio * (1.0 + ratio * (-3.0 + 2.0 * ratio)),
    )


def minimum_acceleration(ratio: float) -> tuple[float, float, float]:
    """Return s, ds/dσ and d²s/dσ² of the cubic; constant outside [0, 1]."""
    if ratio <= 0.0:
        return 0.0, 0.0, 0.0
    if ratio >= 1.0:
        return 1.0, 0.0, 0.0
    return ratio * ratio * (3.0 - 2.0 * ratio), 6.0 * ratio * (1.0 - ratio), 6.0 - 12.0 * ratio


class VectorDebounce:
    """Debounces several conditions at once; each is reported once."""

    def __init__(self, durations: NDArray) -> None:
        """Take how long each violation is tolerated, [s], shape (n,); 0 tolerates none."""
        self._durations = durations - TIME_ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget violations and reports."""
        self._reported = np.zeros(len(self._durations), dtype=bool)
        self._forget()

    def _forget(self) -> None:
        self._since = np.full(len(self._durations), math.inf)
        self._is_clear = True

    def clear(self) -> None:
        """Note that nothing is violated now; cheaper than ``update``."""
        if not self._is_clear:
            self._forget()

    def update(self, is_wrong: npt.NDArray[np.bool_], time: float) -> list[int]:
        """Return the indices of the conditions that have been violated for their durations at ``time`` [s]."""
        if not np.count_nonzero(is_wrong):
            self.clear()
            return []
        self._is_clear = False
        self._since = np.where(is_wrong, np.minimum(self._since, time), math.inf)
        lasting = (time - self._since >= self._durations) & ~self._reported
        self._reported |= lasting
        return [int(index) for index in np.flatnonzero(lasting)]


class Debounce:
    """Debounces a single condition, cheaper."""

    def __init__(self, duration: float) -> None:
        """Take how long a violation is tolerated, [s]."""
        self._duration = duration - TIME_ROUNDING
        self.reset()

    def reset(self) -> None:
        """Forget violations and reports."""
        self._was_reported = False
        self._since = math.inf

    def update(self, is_wrong: bool, time: float) -> bool:
        """Return True, once, when the condition has been violated for its duration at ``time`` [s]."""
        if not is_wrong:
            self._since = math.inf
            return False
        self._since = min(self._since, time)
        if self._was_reported or time - self._since < self._duration:
            return False
        self._was_reported = True
        return True
