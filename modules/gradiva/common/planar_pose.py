"""Poses on the ground plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common.arrays import NDArray
from gradiva.common.so3 import wrap_angle, yaw


@dataclass(frozen=True, slots=True)
class PlanarPose:
    """A pose on the plane, an element of SE(2).

    Attributes:
        x: [m].
        y: [m].
        yaw: In (−π, π] after a composition, [rad].
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @classmethod
    def of(cls, position: NDArray, rotation: NDArray) -> PlanarPose:
        """Return the ground-plane part of a position (3,) and a rotation (3, 3)."""
        return cls(float(position[0]), float(position[1]), yaw(rotation))

    def __matmul__(self, other: PlanarPose) -> PlanarPose:
        """Return ``other``, told in this frame, in the frame in which this pose is told."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return PlanarPose(
            self.x + c * other.x - s * other.y, self.y + s * other.x + c * other.y, wrap_angle(self.yaw + other.yaw)
        )

    def inverse(self) -> PlanarPose:
        """Return the pose of the one frame in the other, the other way round."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return PlanarPose(-c * self.x - s * self.y, s * self.x - c * self.y, wrap_angle(-self.yaw))
