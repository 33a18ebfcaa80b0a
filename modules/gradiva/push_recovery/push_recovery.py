"""Push recovery: the interface that the tick asks, of steps, trunk, soles and compensation."""

from __future__ import annotations

from gradiva.common import LowPass, RobotState, Side, WalkingReference, altered
from gradiva.planner import WalkingPlan
from gradiva.push_recovery.compensation import PushCompensation
from gradiva.push_recovery.soles import Push, Soles
from gradiva.push_recovery.step_adaptations import StepAdaptation, StepChange
from gradiva.push_recovery.step_adapter import SteppingMode
from gradiva.push_recovery.trunk import Trunk
from gradiva.simplified_model import BalancePlan
from gradiva.whole_body import WholeBodyReference

_RATE_TIME = 0.03  # [s] time constant of the DCM, of which the derivative is taken


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
        period: float,
    ) -> None:
        """Take the parts and the period of the tick, [s]."""
        self.steps, self.trunk, self.soles, self._period = steps, trunk, soles, period
        self._compensation = compensation
        self._slow_dcm = LowPass(_RATE_TIME)

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

    def update(
        self, state: RobotState, reference: WalkingReference, plan: WalkingPlan, suspected: Side | None = None
    ) -> tuple[RobotState, StepChange | None]:
        """Return the state of the pendulum, as if nothing pushed or tilted the robot, and the change of the plan.

        The change is what a push asks for, or None; see ``StepAdaptation.update``. A ``suspected`` foot should stand
        and reads nothing: where the other one is planned to be in the air, steps see it carry as much, and do not wait
        for its load. Dead or in the air, the next ticks show.
        """
        pendulum = self._pendulum(state, reference)
        if self.steps.mode is SteppingMode.OFF:
            return pendulum, None
        seen = pendulum
        if suspected is not None and not reference.foot(suspected.other).in_contact:
            seen = altered(pendulum, **{f"{suspected}_foot_wrench": pendulum.foot_wrench(suspected.other)})
        return pendulum, self.steps.update(seen, reference, plan)

    def _pendulum(self, state: RobotState, reference: WalkingReference) -> RobotState:
        if state.external_wrench is not None:
            state = self._compensation.compensated(state, reference)
        return state if self.trunk.is_upright else self.trunk.upright(state, reference)

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
        slow_dcm = self._slow_dcm.update(pendulum.dcm_position, self._period)
        if push.is_caught or not self.trunk.is_upright:
            self.trunk.update(pendulum, (slow_dcm - last) / self._period, now, push.is_caught, self._period)
        if not self.trunk.is_upright:
            body = self.trunk.applied(body, ahead.heading)
        if not self.soles.are_planned:
            body = self.soles.moved(body, state, ahead, push, self._period)
        if push.is_caught or self.steps.catches:
            body = altered(body, height_yields=push.is_caught, step_catches=self.steps.catches)
        return body
