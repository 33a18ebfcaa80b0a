"""Linear steps: the foot in the air lands farther by what the error of the DCM grows to until touch-down."""

import math
from dataclasses import dataclass, replace

from gradiva.common import ConfigError, RobotState, WalkingReference
from gradiva.planner import Foothold, Retarget, WalkingPlan, WalkingPlanner
from gradiva.push_recovery import StepAdaptation, StepChange, SteppingLog
from gradiva.robot_model import RobotDescription


@dataclass(frozen=True, slots=True)
class LinearStepsConfig:
    """Table ``[step_adaptation.laws.linear]``.

    Attributes:
        gain: Of the landing on the grown error of the DCM, [-].
        trigger: Error of the DCM below which the landing stays, [m].
        farthest: Largest change of it at a time, [m].
        frozen: Time before touch-down in which it stays, [s].
    """

    gain: float
    trigger: float
    farthest: float
    frozen: float

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class LinearSteps(StepAdaptation):
    r"""Moves the landing by :math:`k e^{\zeta T} (\xi - \xi_r)`, T before touch-down, and restarts the DCM."""

    Config = LinearStepsConfig

    def __init__(self, config: LinearStepsConfig, planner: WalkingPlanner, robot: RobotDescription) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self.log = SteppingLog(self.mode)

    def update(self, pendulum: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the change of the landing, or None."""
        config, index = self._config, plan.landings.after(reference.time)
        error = pendulum.dcm_position - reference.dcm.position
        if reference.is_double_support or index == len(plan.landings):
            self.log = SteppingLog(self.mode, changes=self.log.changes)
            return None
        step = plan.landings[index]
        left, pose = step.touch_down - reference.time, step.footstep.pose
        if left < config.frozen or math.hypot(*error) < config.trigger:
            return None
        move = config.gain * math.exp(reference.dcm.divergence_rate * left) * error
        move *= min(1.0, config.farthest / math.hypot(*move))
        moved = replace(pose, x=pose.x + move[0], y=pose.y + move[1])
        places = step.footstep.side, pose.planar, moved.planar
        self.log = SteppingLog(self.mode, True, *places, changes=self.log.changes + 1)
        return StepChange(Retarget((Foothold(moved),), pendulum.dcm_position, pendulum.com_position))
