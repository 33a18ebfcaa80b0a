"""One step of one foot."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import Side
from gradiva.planner.footsteps import FootPose
from gradiva.planner.unicycle import UnicycleState


@dataclass(frozen=True, slots=True)
class Footstep:
    """Where a foot lands, and when on the clock of the unicycle's path.

    Attributes:
        side: The foot that moves.
        pose: Where it lands.
        duration: Δt since the impact before, [s].
        unicycle: Pose and velocity of the unicycle at the impact.
    """

    side: Side
    pose: FootPose
    duration: float
    unicycle: UnicycleState
