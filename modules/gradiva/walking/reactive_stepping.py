"""Reactive stepping: the running step follows the measured DCM, in place and time."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import PlanarPose, RobotState, Side, WalkingReference
from gradiva.planner import Retarget, WalkingPlan
from gradiva.simplified_model import StepAdaptationConfig, SteppingMode


@dataclass(frozen=True, slots=True)
class SteppingLog:
    """State of reactive stepping in one tick.

    Attributes:
        mode: What it may change.
        is_active: Whether the DCM error has triggered it and is not released yet.
        side: Foot that swings; None in double support.
        nominal: Foothold of that foot before the first change of its step (world); None in double support.
        adapted: Foothold of that foot now (world); None in double support.
        delay: Touch-down less the one before the first change of its step, [s].
        changes: Number of changes since the robot was prepared.
    """

    mode: SteppingMode
    is_active: bool = False
    side: Side | None = None
    nominal: PlanarPose | None = None
    adapted: PlanarPose | None = None
    delay: float = 0.0
    changes: int = 0


class ReactiveStepping:
    """Moves the landing of the running step, in place and time, when the DCM leaves its reference.

    Attributes:
        mode: What it may change; may be set between ticks.
        log: Of the last tick.
    """

    def __init__(self, config: StepAdaptationConfig) -> None:
        """Take the settings."""
        self._config = config
        self.mode = config.mode
        self.log = SteppingLog(config.mode)

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self.log = SteppingLog(self.mode)

    def retarget(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> Retarget | None:
        """Return the change of the plan, or None; see ``StepAdaptation``."""
        self.log = SteppingLog(self.mode)
        return None
