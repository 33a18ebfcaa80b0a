"""Access by side to what is stored for both feet."""

from __future__ import annotations

from gradiva.common.arrays import NDArray
from gradiva.common.side import Side


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
