"""Helpers of the tests of the planner: shipped configurations, starts, samples."""

from functools import lru_cache
from typing import Any

import numpy as np

from gradiva.common import NDArray, Side, SoleRectangle, from_table, merge, so3
from gradiva.planner import FootPose, PlannerConfig, PlanningState, WalkingPlan
from gradiva.setup import data_folder, read_toml

LEGS = {"forward": 0.0051, "lateral": 0.0047, "forward_lift": 0.0040, "outward_lift": 0.0010}
"""Of iCub v2.7."""
ROBOTS = ("icub_v2_7", "icub_v3", "talos")


@lru_cache
def _tables(robot: str) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = data_folder("robots") / robot
    table = read_toml(data_folder("config") / "planner.toml")["planner"]
    if (folder / "planner.toml").exists():
        table = merge(table, read_toml(folder / "planner.toml")["planner"])
    return table, read_toml(folder / "robot.toml")


def config_of(robot: str = "icub_v2_7", **changes: Any) -> PlannerConfig:
    table, description = _tables(robot)
    from_robot = {key: description[key] for key in ("com_height", "step_width", "max_speed")}
    changes = {key: merge(table[key], value) if isinstance(value, dict) else value for key, value in changes.items()}
    return from_table(PlannerConfig, {**table, **from_robot, **changes}, where=f"{robot} [planner]")


def sole_of(robot: str) -> SoleRectangle:
    return from_table(SoleRectangle, _tables(robot)[1]["sole"], where=robot)


def start_of(
    config: PlannerConfig, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, time: float = 0.0
) -> PlanningState:
    middle = FootPose(x, y, yaw)
    left, right = (middle.beside(side, 0.5 * config.step_width) for side in Side)
    offset = config.zmp_offset
    rest = 0.5 * (left.zmp_point(Side.LEFT, offset) + right.zmp_point(Side.RIGHT, offset))
    return PlanningState.at_rest(time, left, right, np.array([*rest, config.com_height]))


def times_of(plan: WalkingPlan, period: float = 0.01, after: float = 1.0) -> NDArray:
    return np.arange(plan.start_time, plan.end_time + after, period)


def corners(sole: SoleRectangle, side: Side, foot) -> NDArray:
    return foot.position[:2] + sole.corners(side) @ foot.rotation[:2, :2].T


def gap(a: NDArray, b: NDArray) -> float:
    """Distance of two rectangles along the best separating edge; negative where they overlap."""
    best = -np.inf
    for polygon in (a, b):
        for edge in np.diff(polygon, axis=0, append=polygon[:1]):
            normal = np.array([edge[1], -edge[0]]) / np.linalg.norm(edge)
            for n in (normal, -normal):
                best = max(best, (b @ n).min() - (a @ n).max())
    return best


def middle_of_feet(reference) -> NDArray:
    return 0.5 * (reference.left_foot.position + reference.right_foot.position)[:2]


def yaw_of(foot) -> float:
    return so3.yaw(foot.rotation)


def state_vector(reference) -> NDArray:
    """All that must be continuous in one vector."""
    return np.concatenate(
        (
            reference.dcm.position,
            reference.dcm.velocity,
            reference.com_position,
            reference.com_velocity,
            reference.left_foot.position,
            reference.left_foot.rotation.ravel(),
            reference.left_foot.twist,
            reference.right_foot.position,
            reference.right_foot.rotation.ravel(),
            reference.right_foot.twist,
            [reference.heading],
        )
    )
