"""What is sent to the motors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gradiva.common.arrays import NDArray, freeze_arrays


class ControlMode(StrEnum):
    """How the servos of the joints read the command."""

    POSITION = "position"
    VELOCITY = "velocity"
    TORQUE = "torque"


@dataclass(frozen=True, slots=True, eq=False)
class JointCommand:
    """One command for all joints, in the order of the robot's description.

    Attributes:
        mode: What ``values`` are.
        values: Joint positions [rad], velocities [rad/s] or torques [N·m], shape (n,).
    """

    mode: ControlMode
    values: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, values=(None,))
