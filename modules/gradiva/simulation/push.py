"""A force on a link, from outside."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common import ConfigError


@dataclass(frozen=True, slots=True)
class Push:
    """A constant force at the centre of mass of a link, and a torque.

    Attributes:
        link: Of the model.
        force: World, [N].
        start: [s].
        duration: [s].
        torque: World, [N·m].
    """

    link: str
    force: tuple[float, float, float]
    start: float
    duration: float
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.duration <= 0.0:
            raise ConfigError(f"push on '{self.link}': duration={self.duration} must be positive")

    @property
    def end(self) -> float:
        """When it stops, [s]."""
        return self.start + self.duration

    def __str__(self) -> str:
        sizes = ((math.hypot(*self.force), "N"), (math.hypot(*self.torque), "N·m"))
        size = " and ".join(f"{value:.3g} {unit}" for value, unit in sizes if value > 0.0) or "0 N"
        return f"push of {size} on {self.link} from {self.start:.2f} to {self.end:.2f} s"
