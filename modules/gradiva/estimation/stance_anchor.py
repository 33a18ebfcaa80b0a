"""Where the stance sole stands: the thread by which the estimate hangs on the world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradiva.common import NDArray, PlanarPose, Side, WalkingReference, minimum_jerk, so3
from gradiva.common.so3 import wrap_angle


class StanceAnchor:
    """Pose of the stance sole, continuous over contact switches.

    A foot never lands exactly where the plan put it. At the switch the new stance sole is taken where the estimate
    sees it, so nothing jumps; then the difference to the plan fades within ``blend_time``: the plan's feet are the
    robot's feet, and there is no lasting offset between the CoM reference and the foot that has to support it. What
    is really missing moves the origin of the plan in the frame of the odometry instead.
    """

    def __init__(self, blend_time: float) -> None:
        self._blend_time = blend_time
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next stance sole is taken on its planned pose."""
        self._stance: Side | None = None
        self._switch_time = -np.inf
        self._position_offset = np.zeros(3)
        self._rotation_offset = np.zeros(3)
        self._sole_by_odometry = PlanarPose()
        self._anchor = PlanarPose()

    @property
    def plan_origin(self) -> PlanarPose:
        """Where the origin of the plan's world lies by odometry: the stance sole has not moved since it landed."""
        return self._sole_by_odometry @ self._anchor.inverse()

    def turn_plan(self, yaw: float) -> None:
        """Take in that by odometry the plan's world is turned by ``yaw`` [rad]: so far the stance sole has slipped."""
        sole = self._sole_by_odometry
        self._sole_by_odometry = PlanarPose(sole.x, sole.y, wrap_angle(yaw + self._anchor.yaw))

    def update(
        self, time: float, reference: WalkingReference, feet: Mapping[Side, tuple[NDArray, NDArray]]
    ) -> tuple[Side, NDArray, NDArray]:
        """Return the stance side and the position (3,) and rotation (3, 3) of its sole in world.

        Args:
            time: [s].
            reference: Says which foot is the stance and where it was planned.
            feet: The last estimate of each sole's position and rotation.
        """
        if reference.stance_foot is not self._stance:
            self._switch(time, reference, feet)
        planned = reference.foot(reference.stance_foot)
        left = 1.0 - minimum_jerk((time - self._switch_time) / self._blend_time)[0]
        position, rotation = planned.position, planned.rotation
        if left > 0.0:
            position = position + left * self._position_offset
            rotation = so3.exp(left * self._rotation_offset) @ rotation
        self._anchor = PlanarPose.of(position, rotation)
        return reference.stance_foot, position, rotation

    def _switch(self, time: float, reference: WalkingReference, feet: Mapping[Side, tuple[NDArray, NDArray]]) -> None:
        stance = reference.stance_foot
        planned = reference.foot(stance)
        if self._stance is None:
            self._switch_time = -np.inf
            self._sole_by_odometry = PlanarPose.of(planned.position, planned.rotation)
        else:
            position, rotation = feet[stance]
            self._sole_by_odometry = self.plan_origin @ PlanarPose.of(position, rotation)
            self._position_offset = position - planned.position
            self._rotation_offset = so3.log(rotation @ planned.rotation.T)
            self._switch_time = time
        self._stance = stance
