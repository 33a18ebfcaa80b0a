"""The rectangle with which a foot touches the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradiva.common.arrays import NDArray
from gradiva.common.errors import ConfigError
from gradiva.common.side import Side


@dataclass(frozen=True, slots=True)
class SoleRectangle:
    """The sole of the left foot in its sole frame; the right one is its mirror image.

    Attributes:
        x: Heel and toe, [m].
        y: Right and left edge of the left sole, [m].
        z: Height of the touching surface in the sole frame (the sole bottom), [m].
    """

    x: tuple[float, float]
    y: tuple[float, float]
    z: float

    def __post_init__(self) -> None:
        if self.x[0] >= self.x[1] or self.y[0] >= self.y[1]:
            raise ConfigError(f"sole x={self.x}, y={self.y}: the lower bound must come first")

    @property
    def length(self) -> float:
        """From heel to toe, [m]."""
        return self.x[1] - self.x[0]

    @property
    def width(self) -> float:
        """From edge to edge, [m]."""
        return self.y[1] - self.y[0]

    def middle(self, side: Side) -> NDArray:
        """Return the middle of the touching surface in the sole frame, [m], shape (3,)."""
        return np.array([sum(self.x) / 2.0, side.sign * sum(self.y) / 2.0, self.z])

    def corners(self, side: Side, margin: float = 0.0) -> NDArray:
        """Return the corners in the sole frame, counter-clockwise from above, [m], shape (4, 2).

        Args:
            side: Which foot.
            margin: By how much each edge is moved inwards, [m].
        """
        x0, x1 = self.x[0] + margin, self.x[1] - margin
        y0, y1 = self.y if side is Side.LEFT else (-self.y[1], -self.y[0])
        y0, y1 = y0 + margin, y1 - margin
        return np.array([[x1, y0], [x1, y1], [x0, y1], [x0, y0]])
