"""The arrays of the bindings: C++ vectors that behave as lists of one type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sized
from typing import Generic, Self, TypeVar, overload

from pureyarp.data.argument_checks import checked_bool, checked_float, checked_integer

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
        """Promise that many numbers; nothing to prepare for."""

    def resize(self, new_size: int, x: Number | None = None) -> None:
        """Keep the first ``new_size`` numbers, or append ``x`` up to that size."""
        del self._numbers[_checked_size(new_size) :]
        missing = range(new_size - len(self._numbers))
        self._numbers.extend(self._zero() if x is None else self._checked(x) for _ in missing)

    def assign(self, n: int, x: Number) -> None:
        """Hold ``n`` times ``x``."""
        self._numbers = [self._checked(x)] * _checked_size(n)

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


def _checked_size(size: int) -> int:
    """Return a number of numbers, or raise OverflowError, as the bindings do."""
    if size < 0:
        raise OverflowError(f"a vector cannot have {size} numbers")
    return size
