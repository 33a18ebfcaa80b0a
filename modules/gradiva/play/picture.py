"""Holds what the page shows of one moment, as numbers in a row that go through shared memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import Side
from gradiva.simulated_walk import SimulatedWalk, odometry_shift

Picture = npt.NDArray[np.void]
"""A record of `picture_type`, shape ()."""


def picture_type(joints: int) -> np.dtype[np.void]:
    """Return the fields of a picture of a robot with so many joints: world, SI units; NaN where a value is not known.

    Forces are those of the ground on the soles; the errors are measured less desired, the duration is that of a tick.
    """
    points: list[Any] = [(name, "f8", size) for name, size in (("base", 3), ("rotation", (3, 3)), ("com", 3))]
    points += [(name, "f8", 2) for name in ("dcm", "zmp", "dcm_error", "zmp_error", "com_error")]
    feet: list[Any] = [(f"{side}_{what}", "f8", 3) for side in Side for what in ("foot", "force")]
    return np.dtype([("time", "f8"), ("tick_us", "f8"), *points, *feet, ("joints", "f8", joints)])


class PictureWriter:
    """Writes the present moment of a walk into one record, again and again."""

    def __init__(self, joints: int) -> None:
        """Make the record of a robot with so many joints, those that bend included."""
        self.record: Picture = np.zeros((), picture_type(joints))
        self.bytes = memoryview(self.record.reshape(1).view(np.uint8).data)  # of the record, whatever it holds

    def write(self, walk: SimulatedWalk) -> None:
        """Take the present moment."""
        record, truth, log = self.record, walk.robot.truth(), walk.log
        record["time"], record["tick_us"] = walk.time, walk.stopwatch.last["total"]
        record["base"], record["rotation"] = truth.base_position, truth.base_rotation
        record["joints"], record["com"] = truth.all_joint_positions, truth.com_position
        for side in Side:
            record[f"{side}_foot"], record[f"{side}_force"] = truth.foot_position(side), truth.foot_wrench(side)[:3]
        for name in ("dcm", "zmp", "dcm_error", "zmp_error", "com_error"):
            record[name] = math.nan
        if log is None or log.robot_state is None:
            return
        state, shift = log.robot_state, odometry_shift(truth, log.robot_state)
        record["dcm"], record["zmp"] = state.dcm_position + shift, state.zmp_position + shift
        if log.reference is not None and log.desired is not None:
            record["dcm_error"] = state.dcm_position - log.reference.dcm.position
            record["zmp_error"] = state.zmp_position - log.desired.zmp_position
            record["com_error"] = state.com_position[:2] - log.desired.com_position[:2]
