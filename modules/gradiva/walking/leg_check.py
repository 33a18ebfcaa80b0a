"""Whether the plan knows the legs that the robot has."""

from __future__ import annotations

import numpy as np

from gradiva.common import ConfigError, Side
from gradiva.planner import LegMomentumConfig
from gradiva.whole_body import SwingMomentum

_TOLERANCE = 0.2  # [-] of the largest gain; the height of the CoM alone makes 0.12


def check_planned_legs(planned: LegMomentumConfig, legs: SwingMomentum) -> None:
    """Compare what the plan knows of the legs, if anything, with what the model says.

    Raises:
        ConfigError: They differ by more than a fifth.
    """
    if not planned.is_planned:
        return
    (forward, _, forward_lift), (_, lateral, outward_lift) = gains = legs.zmp_gains(Side.LEFT)
    missing = planned.matrix(Side.LEFT, 0.0) - np.array([[forward, 0.0, forward_lift], [0.0, lateral, outward_lift]])
    if np.abs(missing).max() > _TOLERANCE * np.abs(gains).max():
        raise ConfigError(
            f"{planned} does not fit the legs of this robot: set planner.leg_momentum to forward = {forward:.4f},"
            f" lateral = {lateral:.4f}, forward_lift = {forward_lift:.4f}, outward_lift = {outward_lift:.4f}"
        )
