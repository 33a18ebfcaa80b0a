"""Which TCP port numbers a name server hands out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container


class PortNumbers:
    """Counts from ``first`` to ``last``; every name gets its former number back as long as nobody else has it.

    Only when the counter has reached the end, numbers whose names are no longer registered go to others, the one that
    was handed out longest ago first. At most ``last - first + 1`` names are remembered.
    """

    def __init__(self, first: int, last: int) -> None:
        self._next = first
        self._last = last
        self._number_of: OrderedDict[str, int] = OrderedDict()

    def take(self, name: str, used: Container[int]) -> int | None:
        """Return a number for ``name`` that is not among the ``used`` ones, None if there is none left."""
        former = self._number_of.get(name)
        if former is not None and former not in used:
            self._number_of.move_to_end(name)
            return former
        number = self._fresh(used)
        if number is None:
            number = self._abandoned(used)
        if number is not None:
            self._number_of[name] = number
            self._number_of.move_to_end(name)
        return number

    def _fresh(self, used: Container[int]) -> int | None:
        while self._next <= self._last:
            number = self._next
            self._next += 1
            if number not in used:
                return number
        return None

    def _abandoned(self, used: Container[int]) -> int | None:
        for name, number in self._number_of.items():
            if number not in used:
                del self._number_of[name]
                return number
        return None


class FreeNumbers:
    """Counts from ``first``; numbers that were given back are handed out again, the smallest first."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._candidate = first  # nothing below it is free
        self._taken: set[int] = set()

    def take(self) -> int:
        """Return the smallest number that is not taken."""
        number = self._candidate
        while number in self._taken:
            number += 1
        self._taken.add(number)
        self._candidate = number + 1
        return number

    def give_back(self, number: int) -> None:
        """Let a number be taken again."""
        self._taken.discard(number)
        if number >= self._first:
            self._candidate = min(self._candidate, number)
