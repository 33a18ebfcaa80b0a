"""The plan of a walk from the start posture, before anybody has moved."""

from __future__ import annotations

import numpy as np

from gradiva.common import Side, so3
from gradiva.planner import Command, WalkingPlan, WalkingPlanner
from gradiva.setup import Setup

Pose = tuple[float, float, float]
"""x, y [m] and yaw [rad] in world."""


def plan_from_start(setup: Setup, command: Command) -> WalkingPlan:
    """Return what the robot is going to do, on a clock that starts with the walk.

    Raises:
        PlanningError: The command exceeds a limit, or no footsteps fulfil it.
    """
    planner = WalkingPlanner(setup.walking.planner)
    return planner.walk(command, planner.at_origin(0.0))


def final_pose(plan: WalkingPlan) -> Pose:
    """Return where the middle of the feet stands at the end of a plan, and its heading."""
    end = plan.at(plan.end_time)
    left, right = end.foot(Side.LEFT), end.foot(Side.RIGHT)
    return middle_pose(left.position, left.rotation, right.position, right.rotation)


def middle_pose(
    left_position: np.ndarray, left_rotation: np.ndarray, right_position: np.ndarray, right_rotation: np.ndarray
) -> Pose:
    """Return the pose in the middle of two feet (world; positions of shape (3,), rotations (3, 3))."""
    x, y = 0.5 * (left_position + right_position)[:2]
    left, right = so3.yaw(left_rotation), so3.yaw(right_rotation)
    return float(x), float(y), float(left + 0.5 * so3.wrap_angle(right - left))
