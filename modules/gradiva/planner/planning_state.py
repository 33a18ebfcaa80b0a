"""From where a plan starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, PlanningError, Side, freeze_arrays
from gradiva.planner.footsteps import FootPose


@dataclass(frozen=True, slots=True, eq=False)
class PlanningState:
    """The moment at which a plan begins, both feet on the ground; world.

    Attributes:
        time: On the plan's clock, [s].
        left_foot: Left sole.
        right_foot: Right sole; its yaw is counted near that of the left one.
        dcm_position: [m], shape (2,); at rest the ground projection of the CoM.
        dcm_velocity: [m/s], shape (2,).
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
    """

    time: float
    left_foot: FootPose
    right_foot: FootPose
    dcm_position: NDArray
    dcm_velocity: NDArray
    com_position: NDArray
    com_velocity: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, dcm_position=(2,), dcm_velocity=(2,), com_position=(3,), com_velocity=(3,))
        object.__setattr__(self, "right_foot", self.right_foot.near_yaw(self.left_foot.yaw))
        numbers = [self.time]
        for foot in (self.left_foot, self.right_foot):
            numbers += [foot.x, foot.y, foot.yaw]
        for vector in (self.dcm_position, self.dcm_velocity, self.com_position, self.com_velocity):
            numbers += list(vector)
        if not np.all(np.isfinite(numbers)):
            raise PlanningError(f"the start of the plan is not finite: {self}")

    @classmethod
    def at_rest(cls, time: float, left_foot: FootPose, right_foot: FootPose, com_position: NDArray) -> PlanningState:
        """Return the state of a robot that stands still with its CoM at ``com_position`` ([m], shape (3,))."""
        com = np.asarray(com_position, dtype=float)
        return cls(time, left_foot, right_foot, com[:2], np.zeros(2), com, np.zeros(3))

    def foot(self, side: Side) -> FootPose:
        """The pose of one foot."""
        return self.left_foot if side is Side.LEFT else self.right_foot
