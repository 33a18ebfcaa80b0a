"""How deep and how tilted the soles that carry the robot really are, as signals."""

from __future__ import annotations

import math

from gradiva.common import GRAVITY, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation import SimulatedState

_LOADED_SHARE = 0.1  # [-] of the weight; a foot that carries less is about to land or to leave, and may roll


def sole_signals(truth: SimulatedState, robot: RobotDescription) -> dict[str, float]:
    """Return sinkage [m] and tilt [rad] of each sole; NaN for a foot that carries less than a tenth of the weight.

    Args:
        truth: Of the simulator; the surface of the ground is at the height of the soles' bottoms at the start.
        robot: Its mass and its soles.
    """
    signals: dict[str, float] = {}
    least = _LOADED_SHARE * robot.mass * GRAVITY
    for side in Side:
        position, rotation = truth.foot_position(side), truth.foot_rotation(side)
        is_loaded = truth.foot_wrench(side)[2] > least
        middle = position + rotation @ robot.sole.middle(side)
        name = f"simulation::{side}_foot"
        signals[f"{name}::sinkage"] = robot.sole.z - float(middle[2]) if is_loaded else math.nan
        signals[f"{name}::tilt"] = so3.tilt(rotation) if is_loaded else math.nan
    return signals
