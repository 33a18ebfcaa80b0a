"""Where a robot is."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class RobotPosture:
    """Pose of the base and positions of the joints; world.

    Attributes:
        base_position: [m], shape (3,).
        base_rotation: Shape (3, 3).
        joint_positions: In the order of the robot's description, [rad], shape (n,).
    """

    base_position: NDArray
    base_rotation: NDArray
    joint_positions: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, base_position=(3,), base_rotation=(3, 3), joint_positions=(None,))
