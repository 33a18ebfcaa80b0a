"""Values that arrive later than they were sent."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class DelayLine(Generic[T]):
    """Hands on what was put in, a number of physics steps later; keeps no more than it needs."""

    def __init__(self, delay: int) -> None:
        self._delay = delay
        self._waiting: deque[tuple[int, T]] = deque()

    def put(self, step: int, item: T) -> None:
        """Put an item in at a step; steps must not decrease."""
        self._waiting.append((step, item))

    def take(self, step: int) -> T | None:
        """Return the newest item that has arrived by now and forget it and all before, or None."""
        arrived = None
        while self._waiting and self._waiting[0][0] + self._delay <= step:
            arrived = self._waiting.popleft()[1]
        return arrived
