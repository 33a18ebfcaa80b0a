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


def highest_speed(walk_at: WalkAt, search: SpeedSearch) -> SpeedLimit:
    """Go up in strides until a speed does not walk, then halve the interval.

    Exact where walking at a speed implies walking at all lower ones; else a speed that walks while the next
    multiple of the resolution, or a stride beyond it, does not.
    """

    def speed_of(index: int) -> float:
        return round(index * search.resolution, 9)

    last = round(search.fastest / search.resolution)
    walks, fails, reason = 0, last + 1, f"all speeds up to {search.fastest} m/s walk"
    index = round(search.slowest / search.resolution)
    while fails > last and walks < last:
        why = walk_at(speed_of(index))
        if why is None:
            walks, index = index, min(index + search.stride, last)
        else:
            fails, reason = index, why
    while walks > 0 and fails - walks > 1 and fails <= last:
        middle = (walks + fails) // 2
        why = walk_at(speed_of(middle))
        if why is None:
            walks = middle
        else:
            fails, reason = middle, why
    return SpeedLimit(speed_of(walks) if walks else None, speed_of(fails) if fails <= last else None, reason)
