"""Where a foot stands on flat ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, Side


@dataclass(frozen=True, slots=True)
class FootPose:
    """Pose of a sole frame on the ground plane (world).

    Attributes:
        x: [m].
        y: [m].
        yaw: Not wrapped: it keeps counting over several turns, [rad].
    """

    x: float
    y: float
    yaw: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return a point given in the foot's frame, in world ([m])."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return self.x + c * x - s * y, self.y + s * x + c * y

    def beside(self, side: Side, width: float) -> FootPose:
        """Return the pose of the same yaw at ``width`` [m] towards ``side``."""
        x, y = self.point(0.0, side.sign * width)
        return FootPose(x, y, self.yaw)

    def distance(self, other: FootPose) -> float:
        """Distance of the two sole origins, [m]."""
        return math.hypot(other.x - self.x, other.y - self.y)

    def near_yaw(self, yaw: float) -> FootPose:
        """Return the same pose with its yaw counted within half a turn of ``yaw``."""
        turns = round((yaw - self.yaw) / (2.0 * math.pi))
        return FootPose(self.x, self.y, self.yaw + 2.0 * math.pi * turns)

    def zmp_point(self, side: Side, offset: tuple[float, float]) -> NDArray:
        """Where the ZMP rests under this foot (world, [m], shape (2,)).

        Args:
            side: Which foot this is.
            offset: In the frame of the left foot, [m]; mirrored for the right one.
        """
        return np.array(self.point(offset[0], side.sign * offset[1]))

    def is_close(self, other: FootPose, tolerance: float = 1e-6) -> bool:
        """Whether both poses agree in position [m] and yaw [rad]."""
        return self.distance(other) <= tolerance and abs(self.yaw - other.yaw) <= tolerance
