r"""The seam of step adaptation: its interface, what it returns and logs, and its registry.

A step adaptation of another package is named by ``step_adaptation.law``: an entry point ::

    [project.entry-points."gradiva.step_adaptations"]
    my_steps = "my_package.my_steps:MySteps"

or, without installing it, ``package.module:Class``. Its own table is ``[step_adaptation.laws.my_steps]``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np

from gradiva.common import (
    NDArray,
    PlanarPose,
    Registry,
    RobotState,
    Side,
    WalkingReference,
    plugin_errors,
    sealed,
)
from gradiva.planner import CaptureStep, PlannedStep, Retarget, WalkingPlan, WalkingPlanner
from gradiva.push_recovery.step_adapter import StepAdaptationConfig, SteppingMode
from gradiva.robot_model import Compiler, RobotDescription, interpreted


@dataclass(frozen=True, slots=True)
class StepChange:
    """Change of the plan that a push asks for.

    Attributes:
        retarget: Of the running step and those after it; None: none moves.
        capture: Step of a robot that stands, which begins now; None: it stands.
        falls_away: Whether a push begins that drives the robot away from a sole that comes down: it is being caught
            even where no foothold moves.
    """

    retarget: Retarget | None = None
    capture: CaptureStep | None = None
    falls_away: bool = False


@dataclass(frozen=True, slots=True)
class SteppingLog:
    """State of step adaptation in one tick.

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

    @classmethod
    def of(
        cls, mode: SteppingMode, is_active: bool, nominal: PlannedStep | None, step: PlannedStep | None, changes: int
    ) -> Self:
        """Return the log of a running step, before its first change and now; None: both feet stand."""
        if step is None or nominal is None:
            return cls(mode, is_active, changes=changes)
        poses = nominal.footstep.pose.planar, step.footstep.pose.planar
        return cls(mode, is_active, step.footstep.side, *poses, step.touch_down - nominal.touch_down, changes)


class StepAdaptation(ABC):
    """Decides in each tick whether the next footholds have to move, or a robot that stands has to step.

    The shipped one is ``AdaptedSteps``; derive your own, or an MPC, from this class.

    Attributes:
        Config: Dataclass of its own table; None: it has none.
        mode: What it may change; with ``off`` it is not asked.
        log: Of the last tick.
        catches: Whether the landing that it chose last stops the DCM: torque control then leaves the trunk upright.
        leg_momentum: By how much an acceleration of a foot moves the ZMP, ahead and aside of the robot, [s²], shape
            (2,); set by the caller, taken by ``reset``.
    """

    Config: ClassVar[type | None] = None
    mode: SteppingMode = SteppingMode.PLACE_AND_TIME
    log: SteppingLog = SteppingLog(SteppingMode.PLACE_AND_TIME)
    catches: bool = False
    leg_momentum: NDArray = sealed(np.zeros(2))

    def __init__(self, config: Any, planner: WalkingPlanner, robot: RobotDescription) -> None:  # noqa: B027
        """Take its own configuration, layer 1 with the limits of steps, and the robot."""

    @classmethod
    def built(
        cls,
        config: StepAdaptationConfig,
        planner: WalkingPlanner,
        robot: RobotDescription,
        compiler: Compiler = interpreted,
    ) -> Self:
        """Return it with its own table; ``compiler`` makes equations fast.

        Raises:
            ConfigError: A key is unknown or missing, or a value is refused.
        """
        name = config.law.rpartition(":")[2]
        table, where = config.laws.get(name, {}), f"[step_adaptation.laws.{name}]"
        return cls(STEP_ADAPTATIONS.config(cls, table, where), planner, robot)

    def reset(self) -> None:  # noqa: B027
        """Forget the past: the robot is prepared anew, or the mode is another one."""

    @abstractmethod
    def update(self, pendulum: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the change of the plan, or None, as nearly always; called once a tick.

        A change replaces the plan that a planning service is about to continue, which is then asked for again: return
        one only where a foothold has to move by more than the swing's own error, else no new plan comes in time.

        Args:
            pendulum: State estimated in this tick, as ``PushRecovery.pendulum`` returns it.
            reference: Of the plan at the same time.
            plan: The present one, with its steps and their times; of a robot that stands, none is left.
        """

    def is_recovering(self, time: float) -> bool:
        """Return whether a robot that stands was pushed shortly before ``time`` [s]: its soles are laid flat."""
        return False


STEP_ADAPTATIONS = Registry(
    "gradiva.step_adaptations",
    "step adaptation",
    (StepAdaptation,),
    shipped={"dcm": "gradiva.push_recovery.adapted_steps:AdaptedSteps"},
    returns={"update": (StepChange, NoneType)},
)


def step_adaptation(
    config: StepAdaptationConfig, planner: WalkingPlanner, robot: RobotDescription, compiler: Compiler = interpreted
) -> StepAdaptation:
    """Return the configured step adaptation.

    Raises:
        ConfigError: There is none of that name, it is no step adaptation, or its table is refused.
    """
    kind = STEP_ADAPTATIONS.kind(config.law)
    with plugin_errors(f"[step_adaptation] law={config.law}", kind):
        made: StepAdaptation = kind.built(config, planner, robot, compiler)
        made.mode = config.mode
        made.reset()
    return STEP_ADAPTATIONS.guarded(made, f"[step_adaptation] law={config.law}")
