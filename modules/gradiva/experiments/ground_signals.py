"""What soft ground really is like below the feet, as signals."""

from __future__ import annotations

import math

from gradiva.common import Side
from gradiva.robot_model import RobotDescription
from gradiva.simulation import Ground, ViscoElasticGround


def ground_signals(ground: Ground, robot: RobotDescription) -> dict[str, float]:
    """Return stiffness [N/m³] and damping [N·s/m³] below each foot; NaN in the air, nothing on ground that is not soft.

    Args:
        ground: Of the simulator, which has a contact a sensor.
        robot: Tells which sensors belong to a foot; the ground is the same below all of them that touch.
    """
    if not isinstance(ground, ViscoElasticGround):
        return {}
    signals: dict[str, float] = {}
    for side in Side:
        touching = [contact for row in robot.sensors_of(side) if (contact := ground.contacts[row]) is not None]
        name = f"simulation::{side}_foot::contact"
        signals[f"{name}::stiffness"] = touching[0].stiffness if touching else math.nan
        signals[f"{name}::damping"] = touching[0].damping if touching else math.nan
    return signals
