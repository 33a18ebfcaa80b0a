"""Push recovery: the interface that the tick asks, the seam of step adaptation, and its registry.

A step adaptation of another package is named by ``step_adaptation.law``: an entry point ::

    [project.entry-points."gradiva.step_adaptations"]
    my_steps = "my_package.my_steps:MySteps"

or, without installing it, ``package.module:Class``. Its own table is ``[step_adaptation.laws.my_steps]``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Self

from gradiva.common import (
    LowPass,
    NDArray,
    PlanarPose,
    Registry,
    RobotState,
    Side,
    WalkingReference,
    altered,
    plugin_errors,
)
from gradiva.planner import CaptureStep, Retarget, WalkingPlan, WalkingPlanner
from gradiva.push_recovery.compensation import PushCompensation, ZmpWithoutFoot
from gradiva.push_recovery.soles import Push, Soles
from gradiva.push_recovery.step_adapter import StepAdaptationConfig, SteppingMode
from gradiva.push_recovery.trunk import Trunk
from gradiva.robot_model import Compiler, RobotDescription, interpreted
from gradiva.simplified_model import BalancePlan
from gradiva.whole_body import WholeBodyReference

_RATE_TIME = 0.03  # [s] time constant of the DCM, of which the derivative is taken


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


class StepAdaptation(ABC):
    """Decides in each tick whether the next footholds have to move, or a robot that stands has to step.

    The shipped one is ``AdaptedSteps``; derive your own, or an MPC, from this class.

    Attributes:
        Config: Dataclass of its own table; None: it has none.
        mode: What it may change; with ``off`` it is not asked.
        log: Of the last tick.
        catches: Whether the landing that it chose last stops the DCM: torque control then leaves the trunk upright.
    """

    Config: ClassVar[type | None] = None
    mode: SteppingMode = SteppingMode.PLACE_AND_TIME
    log: SteppingLog = SteppingLog(SteppingMode.PLACE_AND_TIME)
    catches: bool = False

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


class PushRecovery:
    """Answers a push by steps, trunk and soles.

    A tick asks for ``pendulum``, the state that layer 2 and the steps see; ``update``, the change of the plan; and
    ``answered``, the reference of layer 3 with tilted trunk, soles and what yields.

    Attributes:
        steps: Step adaptation.
        trunk: Its tilt, or one that stays upright.
        soles: Those of the reference, or how they are moved.
    """

    def __init__(
        self,
        steps: StepAdaptation,
        trunk: Trunk,
        soles: Soles,
        compensation: PushCompensation,
        zmp_without_foot: ZmpWithoutFoot,
        period: float,
    ) -> None:
        """Take the parts and the period of the tick, [s]."""
        self.steps, self.trunk, self.soles, self._period = steps, trunk, soles, period
        self._compensation, self._zmp_without_foot = compensation, zmp_without_foot
        self._slow_dcm = LowPass(_RATE_TIME)
        self._trusted_zmp: NDArray | None = None  # of the last tick in which all sensors of the feet were trusted

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        for part in (self.steps, self.trunk, self.soles, self._compensation, self._slow_dcm):
            part.reset()

    @property
    def mode(self) -> SteppingMode:
        """Return what may change of a step; set it between ticks."""
        return self.steps.mode

    @mode.setter
    def mode(self, mode: SteppingMode) -> None:
        self.steps.mode = mode
        self.steps.reset()

    def pendulum(self, state: RobotState, reference: WalkingReference, untrusted: Collection[Side]) -> RobotState:
        """Return the state of the pendulum that nothing pushes and that does not tilt, its ZMP by the trusted feet."""
        if untrusted:
            state = self._zmp_without_foot.corrected(state, reference, untrusted, self._trusted_zmp, self._period)
        else:
            self._trusted_zmp = state.zmp_position
        if state.external_wrench is not None:
            state = self._compensation.compensated(state, reference)
        return state if self.trunk.is_upright else self.trunk.upright(state, reference)

    def update(self, pendulum: RobotState, reference: WalkingReference, plan: WalkingPlan) -> StepChange | None:
        """Return the change of the plan that a push asks for, or None; see ``StepAdaptation.update``."""
        return None if self.steps.mode is SteppingMode.OFF else self.steps.update(pendulum, reference, plan)

    def push(self, time: float, is_catching: bool, walks: bool, is_trusted: bool) -> Push:
        """Return the state of a push at ``time`` [s] of a robot that is commanded to walk or to stand; see ``Push``."""
        stands = not walks and self.steps.is_recovering(time)
        return Push(stands or is_catching, stands, is_trusted)

    def answered(
        self,
        body: WholeBodyReference,
        state: RobotState,
        pendulum: RobotState,
        now: BalancePlan,
        ahead: WalkingReference,
        push: Push,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the tilted trunk, the soles as they are moved, and what yields.

        Args:
            body: Of layer 2 and the plan.
            state: Estimated in this tick.
            pendulum: The same as layer 2 has it.
            now: The plan as layer 2 has it.
            ahead: The plan at the time of ``body``.
            push: Its state.
        """
        last = pendulum.dcm_position if self._slow_dcm.value is None else self._slow_dcm.value
        dcm_rate = (self._slow_dcm.update(pendulum.dcm_position, self._period) - last) / self._period
        if push.is_caught or not self.trunk.is_upright:
            self.trunk.update(pendulum, dcm_rate, now, push.is_caught, self._period)
        if not self.trunk.is_upright:
            body = self.trunk.applied(body, ahead.heading)
        if not self.soles.are_planned:
            body = self.soles.moved(body, state, ahead, push, self._period)
        if push.is_caught or self.steps.catches:
            body = altered(body, height_yields=push.is_caught, step_catches=self.steps.catches)
        return body
