"""Whether the plan knows the legs that the robot has."""

from __future__ import annotations

from gradiva.common import ConfigError, Side
from gradiva.planner import LegMomentumConfig
from gradiva.whole_body import SwingMomentum

_TOLERANCE = 0.3  # [-] height and lean make 0.2; of lifting feet 0.4, so those gains are not compared


def check_planned_legs(planned: LegMomentumConfig, legs: SwingMomentum) -> None:
    """Compare what the plan knows of the legs, if anything, with what the model says.

    Raises:
        ConfigError: They differ by more than three tenths.
    """
    if not planned.is_planned:
        return
    (forward, _, forward_lift), (_, lateral, outward_lift) = legs.zmp_gains(Side.LEFT)
    pairs = ((planned.forward, forward), (planned.lateral, lateral))
    if any(abs(told - true) > _TOLERANCE * true for told, true in pairs):
        raise ConfigError(
            f"{planned} does not fit the legs of this robot: set planner.leg_momentum to forward = {forward:.4f},"
            f" lateral = {lateral:.4f}, forward_lift = {forward_lift:.4f}, outward_lift = {outward_lift:.4f}"
        )
