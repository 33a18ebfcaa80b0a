"""The feet: left and right, their soles, and their contact with the ground."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gradiva.common.arrays import NDArray, altered, freeze_arrays
from gradiva.common.errors import ConfigError


class Side(StrEnum):
    """One of the two feet."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Side:
        """The opposite side."""
        return Side.RIGHT if self is Side.LEFT else Side.LEFT

    @property
    def sign(self) -> float:
        """+1 on the left, −1 on the right: the sign of y."""
        return 1.0 if self is Side.LEFT else -1.0


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


class TwoFeet:
    """For states with ``left_foot_…`` and ``right_foot_…`` position, rotation and wrench."""

    __slots__ = ()

    left_foot_position: NDArray
    left_foot_rotation: NDArray
    left_foot_wrench: NDArray
    right_foot_position: NDArray
    right_foot_rotation: NDArray
    right_foot_wrench: NDArray

    def foot_position(self, side: Side) -> NDArray:
        """Position of one sole (world, [m], shape (3,))."""
        return self.left_foot_position if side is Side.LEFT else self.right_foot_position

    def foot_rotation(self, side: Side) -> NDArray:
        """Rotation of one sole (world, shape (3, 3))."""
        return self.left_foot_rotation if side is Side.LEFT else self.right_foot_rotation

    def foot_wrench(self, side: Side) -> NDArray:
        """Wrench of the ground on one sole (world axes, about the sole origin, shape (6,))."""
        return self.left_foot_wrench if side is Side.LEFT else self.right_foot_wrench


@dataclass(frozen=True, slots=True, eq=False)
class FootContact:
    """One sole and the ground below it; world.

    The ground is a continuum of springs and dampers: each point of the sole feels k times its distance from where it
    is at rest, less b times its velocity, per square metre.

    Attributes:
        is_active: The foot carries load: the plan lets it, and the measured force says so.
        rest_position: Origin of the sole frame in the pose in which the ground exerts no force, [m], shape (3,).
        rest_rotation: Of the sole frame in that pose, x forward and z up, shape (3, 3).
        stiffness: k of the ground per area of the sole, [N/m³].
        damping: b of the ground per area of the sole, [N·s/m³].
    """

    is_active: bool
    rest_position: NDArray
    rest_rotation: NDArray
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        freeze_arrays(self, rest_position=(3,), rest_rotation=(3, 3))

    def with_ground(self, stiffness: float, damping: float) -> FootContact:
        """Return the same contact on other ground; its arrays are read-only and therefore shared."""
        return altered(self, stiffness=stiffness, damping=damping)
