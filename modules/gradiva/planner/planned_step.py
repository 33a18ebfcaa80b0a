"""One step with its times."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.planner.footsteps import Footstep


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A footstep on the plan's clock.

    Attributes:
        footstep: Which foot, and where it lands.
        lift_off: [s].
        touch_down: [s].
    """

    footstep: Footstep
    lift_off: float
    touch_down: float
