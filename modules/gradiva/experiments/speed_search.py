"""The highest speed that walks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gradiva.common import ConfigError

WalkAt = Callable[[float], str | None]
"""Walks at a speed [m/s]; returns None when the robot walked, else the reason why it did not."""


@dataclass(frozen=True, slots=True)
class SpeedSearch:
    """Where to look.

    Attributes:
        slowest: Where the search begins, [m/s].
        fastest: Beyond it nobody looks, [m/s].
        resolution: All speeds tried are multiples of it, [m/s].
        stride: Between the speeds on the way up, [resolutions].
    """

    slowest: float
    fastest: float
    resolution: float
    stride: int

    def __post_init__(self) -> None:
        if not (self.resolution > 0.0 and self.stride >= 1 and self.resolution <= self.slowest <= self.fastest):
            raise ConfigError(f"{self}: expected 0 < resolution <= slowest <= fastest and a stride of at least 1")


@dataclass(frozen=True, slots=True)
class SpeedLimit:
    """What was found.

    Attributes:
        speed: The highest that walks, [m/s]; None when not even the slowest does.
        next_speed: The lowest tried that does not walk, [m/s]; None when all do.
        reason: Why the next one does not walk.
    """

    speed: float | None
    next_speed: float | None
    reason: str


def highest_speed(walk_at: WalkAt, search: SpeedSearch, guess: float = 0.0) -> SpeedLimit:
    """Go up in strides until a speed does not walk, or down until one does, then halve the interval.

    Exact where walking at a speed implies walking at all lower ones; else a speed that walks while the next
    multiple of the resolution, or a stride beyond it, does not.

    Args:
        walk_at: Walks.
        search: Where to look.
        guess: Where to begin, [m/s]; below the slowest, there.
    """
    lowest, last = round(search.slowest / search.resolution), round(search.fastest / search.resolution)
    found = _Interval(walk_at, search, last + 1)
    index = min(last, max(lowest, round(guess / search.resolution)))
    while found.walks < last < found.fails:
        found.walk(index)
        index = min(index + search.stride, last)
    while found.walks == 0 and found.fails > lowest:
        found.walk(max(found.fails - search.stride, lowest))
    while found.walks > 0 and found.fails - found.walks > 1 and found.fails <= last:
        found.walk((found.walks + found.fails) // 2)
    return found.limit(last)


class _Interval:
    """Between the highest speed that walks and the lowest above it that does not, in multiples of the resolution.

    Attributes:
        walks: 0 while none does.
        fails: Beyond the fastest while none does.
    """

    def __init__(self, walk_at: WalkAt, search: SpeedSearch, beyond: int) -> None:
        self._walk_at = walk_at
        self._resolution = search.resolution
        self._reason = f"all speeds up to {search.fastest} m/s walk"
        self.walks, self.fails = 0, beyond

    def walk(self, index: int) -> None:
        """Walk at a speed and note how it went."""
        why = self._walk_at(self._speed(index))
        if why is None:
            self.walks = index
        else:
            self.fails, self._reason = index, why

    def limit(self, last: int) -> SpeedLimit:
        """Return what has been found."""
        walks = self._speed(self.walks) if self.walks else None
        fails = self._speed(self.fails) if self.fails <= last else None
        return SpeedLimit(walks, fails, self._reason)

    def _speed(self, index: int) -> float:
        return round(index * self._resolution, 9)
