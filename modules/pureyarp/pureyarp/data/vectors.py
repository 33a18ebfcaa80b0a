"""Hold vectors: the Vector that ports carry, and the arrays that the bindings take for C++ vectors."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from pureyarp.data.conversions import checked_bool, checked_float, checked_integer
from pureyarp.data.streams import Portable
from pureyarp.errors import MalformedMessage
from pureyarp.wire import LIST_TAG, WireFamily, decode_list, from_text, to_text

Number = TypeVar("Number")


class StandardVector(ABC, Generic[Number]):
    """Numbers, or other elements, of one type: none, ``size`` times the same, or copies of those of any sequence."""

    def __init__(self, size: int | Iterable[Number] = 0, value: Number | None = None) -> None:
        self._numbers: list[Number] = []
        if isinstance(size, int):
            self.resize(size, value)
        elif isinstance(size, Sized):
            self._numbers = self._all_checked(size)
        else:
            raise TypeError(f"a size or a sequence is expected, not {size!r}")

    @staticmethod
    @abstractmethod
    def _checked(number: object) -> Number:
        """Return a number of the vector's type, or raise TypeError."""

    @classmethod
    def _all_checked(cls, numbers: Iterable[object]) -> list[Number]:
        return [cls._checked(number) for number in numbers]

    @staticmethod
    @abstractmethod
    def _zero() -> Number:
        """Return what new places hold."""

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Number]:
        return iter(self._numbers)

    def __bool__(self) -> bool:
        return bool(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Number: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> Number | Self:
        return type(self)(self._numbers[index]) if isinstance(index, slice) else self._numbers[index]

    def __setitem__(self, index: int | slice, value: Number | Iterable[Number]) -> None:
        if isinstance(index, slice):
            self._numbers[index] = self._all_checked(value)  # type: ignore[arg-type]
        else:
            self._numbers[index] = self._checked(value)

    def __delitem__(self, index: int | slice) -> None:
        del self._numbers[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._numbers})"

    def size(self) -> int:
        """Return how many numbers there are."""
        return len(self._numbers)

    def capacity(self) -> int:
        """Return how many numbers there is room for."""
        return len(self._numbers)

    def empty(self) -> bool:
        """Return whether there is no number."""
        return not self._numbers

    def clear(self) -> None:
        """Remove all numbers."""
        self._numbers.clear()

    def reserve(self, n: int) -> None:
        """Do nothing: no room has to be prepared."""

    def resize(self, new_size: int, x: Number | None = None) -> None:
        """Keep the first ``new_size`` numbers, or append ``x`` up to that size."""
        del self._numbers[_checked_length(new_size) :]
        added = range(new_size - len(self._numbers))
        self._numbers.extend(self._zero() if x is None else self._checked(x) for _ in added)

    def assign(self, n: int, x: Number) -> None:
        """Hold ``n`` times ``x``."""
        self._numbers = [self._checked(x)] * _checked_length(n)

    def append(self, x: Number) -> None:
        """Append a number."""
        self._numbers.append(self._checked(x))

    def push_back(self, x: Number) -> None:
        """Append a number."""
        self.append(x)

    def pop(self) -> Number:
        """Remove the last number and return it."""
        return self._numbers.pop()

    def pop_back(self) -> None:
        """Remove the last number."""
        self._numbers.pop()

    def front(self) -> Number:
        """Return the first number."""
        return self._numbers[0]

    def back(self) -> Number:
        """Return the last number."""
        return self._numbers[-1]

    def swap(self, v: Self) -> None:
        """Exchange all numbers with another vector."""
        self._numbers, v._numbers = v._numbers, self._numbers


class DVector(StandardVector[float]):
    """Numbers of type double."""

    @staticmethod
    def _checked(number: object) -> float:
        return checked_float(number)

    @classmethod
    def _all_checked(cls, numbers: Iterable[object]) -> list[float]:
        listed = list(numbers)
        if set(map(type, listed)) == {float}:  # as nearly always, many times a tick
            return listed  # type: ignore[return-value]
        return super()._all_checked(listed)

    @staticmethod
    def _zero() -> float:
        return 0.0


class IVector(StandardVector[int]):
    """Numbers of type int, of 4 bytes."""

    @staticmethod
    def _checked(number: object) -> int:
        return checked_integer(number, 32)

    @staticmethod
    def _zero() -> int:
        return 0


class BVector(StandardVector[bool]):
    """Truth values."""

    @staticmethod
    def _checked(number: object) -> bool:
        return checked_bool(number)

    @staticmethod
    def _zero() -> bool:
        return False


def _checked_length(size: int) -> int:
    """Return a number of numbers, or raise OverflowError, as the bindings do."""
    if size < 0:
        raise OverflowError(f"a vector cannot have {size} numbers")
    return size


_HEAD = struct.Struct("<ii")


class Vector(Portable):
    """Numbers in a row: none, ``size`` times the same, or copies of those of a Vector or of any sequence.

    Attributes:
        array: The numbers, shape (size,).
    """

    def __init__(self, size: int | Vector | Sequence[float] = 0, value: float = 0.0) -> None:
        self.array: NDArray[np.float64]
        if isinstance(size, Vector):
            self.array = size.array.copy()
        elif isinstance(size, Sequence | StandardVector | np.ndarray) and not isinstance(size, str):
            self.array = np.array([checked_float(number) for number in size], dtype=float)
        else:
            self.array = np.full(_checked_size(size), float(value))

    def __getitem__(self, index: int) -> float:
        return self.get(index)

    def __setitem__(self, index: int, value: float) -> None:
        self.set(index, value)

    def __len__(self) -> int:
        """Refuse, as the bindings do: a Vector has neither a length nor a truth value in Python."""
        raise TypeError("a Vector has no len(): ask for size()")

    def __repr__(self) -> str:
        return f"Vector({self.array.tolist()})"

    def size(self) -> int:
        """Return how many numbers there are."""
        return int(self.array.size)

    def length(self) -> int:
        """Return how many numbers there are."""
        return self.size()

    def getListSize(self) -> int:
        """Return how many numbers there are."""
        return self.size()

    def getElementSize(self) -> int:
        """Return the size of a number [bytes]."""
        return 8

    def getBottleTag(self) -> int:
        """Return the tag of a number on the wire."""
        return WireFamily.YARP_3.float64_tag

    def capacity(self) -> int:
        """Return how many numbers there is room for."""
        return self.size()

    def get(self, j: int) -> float:
        """Return a number."""
        return float(self.array[self._checked_index(j)])

    def access(self, i: int) -> float:
        """Return a number."""
        return self.get(i)

    def set(self, j: int, v: float) -> None:
        """Set a number."""
        self.array[self._checked_index(j)] = v

    def zero(self) -> None:
        """Set all numbers to 0."""
        self.array[:] = 0.0

    def clear(self) -> None:
        """Remove all numbers."""
        self.array = np.zeros(0)

    def resize(self, size: int, _def: float | None = None) -> None:
        """Hold ``size`` numbers: the first ones, and zeros up to that size; with ``_def`` that one in all places."""
        grown = np.full(_checked_size(size), 0.0 if _def is None else float(_def))
        if _def is None:
            kept = min(size, self.size())
            grown[:kept] = self.array[:kept]
        self.array = grown

    def reserve(self, size: int) -> None:
        """Do nothing: no room has to be prepared."""

    def push_back(self, elem: float) -> None:
        """Append a number."""
        self.array = np.append(self.array, float(elem))

    def pop_back(self) -> None:
        """Remove the last number."""
        self.array = self.array[:-1].copy()

    def subVector(self, first: int, last: int) -> Vector:
        """Return a copy of the numbers from ``first`` to ``last``, both included; empty if they are not there."""
        result = Vector()
        if 0 <= first <= last < self.size():
            result.array = self.array[first : last + 1].copy()
        return result

    def setSubvector(self, position: int, v: Vector) -> bool:
        """Overwrite the numbers from ``position`` on; False if there are not enough."""
        if not 0 <= position <= self.size() - v.size():
            return False
        self.array[position : position + v.size()] = v.array
        return True

    def isEqual(self, r: Vector) -> bool:
        """Return whether both hold the same numbers."""
        return bool(np.array_equal(self.array, r.array))

    def toString(self, precision: int = -1, width: int = -1) -> str:
        """Return the numbers, ``precision`` digits behind the point (6 if negative), with room for their signs.

        Tabulators separate them; with a ``width``, blanks do, and each number is at least so wide.
        """
        layout = f" {max(width, 0) or ''}.{6 if precision < 0 else precision}f"
        return ("\t" if width < 0 else " ").join(format(number, layout) for number in self.array.tolist())

    def toString_c(self) -> str:
        """Return the numbers as text."""
        return self.toString()

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return a list of float64, marked as one even if it is empty."""
        return _HEAD.pack(LIST_TAG + family.float64_tag, self.size()) + self.array.astype("<f8", copy=False).tobytes()

    def to_wire_text(self) -> str:
        """Return the numbers as the text of a list."""
        return to_text(self.array.tolist())

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over a list of float64 and return its family.

        A list of anything else is refused, as real vectors do; an empty one is not, though they refuse it too.
        """
        for candidate in (family, family.other):
            count = _float64_count(data, candidate)
            if count is not None:
                self.array = np.frombuffer(data, "<f8", count, _HEAD.size).astype(float)
                return candidate
        decoded = decode_list(data, family)
        if decoded.items:
            raise MalformedMessage(f"a vector is a list of float64 alone, not {to_text(decoded.items[:3])[:80]}")
        self.array = np.zeros(0)
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over floating-point numbers as text; ``1 2 3`` is refused, as by real vectors: it is no float64."""
        items = from_text(text)
        if not all(isinstance(item, float) for item in items):
            raise MalformedMessage(f"a vector is a list of float64 alone, not {text[:80]}")
        self.array = np.array(items, dtype=float)

    def _checked_index(self, index: int) -> int:
        if not 0 <= index < self.size():
            raise IndexError(f"there is no number {index} in a vector of {self.size()}")
        return index


def _checked_size(size: int) -> int:
    """Return a number of numbers, or raise TypeError or ValueError."""
    if not isinstance(size, int):
        raise TypeError(f"a size or a Vector is expected, not {size!r}")
    if size < 0:
        raise ValueError(f"a vector cannot have {size} numbers")
    return size


def _float64_count(data: bytes | bytearray | memoryview, family: WireFamily) -> int | None:
    """Return how many float64 a list marked as one of a family holds; None if it is none, or not all there."""
    if len(data) < _HEAD.size:
        return None
    tag, count = _HEAD.unpack_from(data)
    fits = 0 <= count * 8 <= len(data) - _HEAD.size
    return count if tag == LIST_TAG + family.float64_tag and fits else None
