"""Push recovery: the interface that the tick asks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import FootReference, NDArray, RobotState, Side, WalkingReference, altered, low_pass_gain
from gradiva.planner import WalkingPlan
from gradiva.push_recovery.compensation import PushCompensation
from gradiva.push_recovery.step_adaptations import StepAdaptation, StepChange
from gradiva.push_recovery.step_adapter import SteppingMode
from gradiva.push_recovery.tilt import SoleLevelling, Trunk
from gradiva.simplified_model import BalancePlan
from gradiva.whole_body import (
    LEVEL,
    SLIGHT_SLOPE,
    FootAdmittance,
    SlopedBegin,
    WholeBodyReference,
    on_slope,
)

_SLOPE_TIME = 1.0  # [s] time constant with which the ground's slope is learned, longer than a step
SETTLING = 0.3  # [s] after the begin of the balance, when servos may have taken another control mode: no push is seen
_TURNING = 0.3  # [rad/s] of a sole that tips over its edge
_RATE_TIME = 0.03  # [s] time constant of the DCM, of which the derivative is taken


class PushRecovery:
    """Answers a push by steps, trunk and soles: ``update`` by the plan, ``answered`` by the reference of layer 3.

    Attributes:
        steps: Step adaptation.
        trunk: Its tilt, or one that stays upright.
        soles: How soles are moved.
    """

    def __init__(
        self, steps: StepAdaptation, trunk: Trunk, soles: SlopedSoles, compensation: PushCompensation, period: float
    ) -> None:
        """Take the parts and the period of the tick, [s]."""
        self.steps, self.trunk, self.soles, self._compensation = steps, trunk, soles, compensation
        self._period, self._gain = period, low_pass_gain(_RATE_TIME, period)
        self._slow_dcm: tuple[float, float] | None = None
        self._begin = math.inf  # [s] of the balance

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self._slow_dcm, self._begin = None, math.inf
        for part in (self.steps, self.trunk, self.soles, self._compensation):
            part.reset()

    def set_mode(self, mode: SteppingMode) -> None:
        """Let other things change of a step; called between ticks."""
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
        pendulum, self._begin = self._pendulum(state, reference), min(self._begin, reference.time)
        if self.steps.mode is SteppingMode.OFF or reference.time < self._begin + SETTLING:
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
        x, y = pendulum.dcm_position.tolist()
        last_x, last_y = last = self._slow_dcm or (x, y)
        self._slow_dcm = last_x + self._gain * (x - last_x), last_y + self._gain * (y - last_y)
        if push.is_caught or not self.trunk.is_upright:
            rate = np.subtract(self._slow_dcm, last) / self._period
            self.trunk.update(pendulum, rate, now, push.is_caught, self._period)
        if not self.trunk.is_upright:
            body = self.trunk.applied(body, ahead.heading)
        body = self.soles.moved(body, state, push, self._period)
        if push.is_caught or self.steps.catches:
            body = altered(body, height_yields=push.is_caught, step_catches=self.steps.catches)
        return body


@dataclass(frozen=True, slots=True)
class Push:
    """State of a push in one tick.

    Attributes:
        is_caught: Whether a step that catches it is under way, or the one after it, or the robot recovers standing.
        stands: Whether the robot stands.
        is_trusted: Whether the force sensors of both feet are.
    """

    is_caught: bool
    stands: bool
    is_trusted: bool


class SlopedSoles:
    """Soles and CoM that follow, by torque, the slope that resting soles show: x and y of its normal, world, [-]."""

    def __init__(self, least_load: float) -> None:
        """Take the load with which a sole shows the slope, [N]; infinite on soft ground, where soles sink."""
        self._least_load, self._slope = least_load, LEVEL
        self._begin: SlopedBegin | None = None

    def reset(self, begin: SlopedBegin | None = None) -> None:
        """Forget the past: soles are as planned, and the ground is level; a balance on a slope has a ``begin``."""
        self._slope, self._begin = LEVEL, begin

    def moved(self, body: WholeBodyReference, state: RobotState, push: Push, period: float) -> WholeBodyReference:
        """Return the reference of layer 3 on the slope; soles that tip over an edge under a push show none."""
        foot, side = _carrying(body, state)
        rests = foot.in_contact and float(np.abs(state.foot_twist(side)[3:]).max()) < _TURNING
        if rests and state.foot_wrench(side)[2] > self._least_load and not push.is_caught:
            self._learn(foot, state.foot_rotation(side), _SLOPE_TIME if self._slope is LEVEL else period)
        body = body if self._begin is None else self._begin.applied(body, state)
        fraction = self._counted()
        return on_slope(body, state, self._slope, fraction) if fraction > 0.0 else body

    def _counted(self) -> float:
        """Return the fraction of the slope that counts, [-]: below 1° it may be errors of sensors, from 2° on all."""
        return min(1.0, max(0.0, math.hypot(*self._slope) / SLIGHT_SLOPE - 1.0))

    def _learn(self, foot: FootReference, rotation: NDArray, period: float) -> None:
        change = rotation[:2, 2] - foot.rotation[:2, 2] - self._slope
        self._slope = self._slope + min(1.0, period / _SLOPE_TIME) * change


class MovedSoles(SlopedSoles):
    """Soles that yield to the ground and, while a push is caught, are level, or on the slope that was learned."""

    def __init__(self, admittance: FootAdmittance, levelling: SoleLevelling) -> None:
        """Take both laws."""
        super().__init__(least_load=0.0)
        self.admittance, self.levelling = admittance, levelling

    def reset(self, begin: SlopedBegin | None = None) -> None:
        """Forget the past: both soles are as planned, and the ground is level."""
        super().reset(begin)
        self.admittance.reset()
        self.levelling.reset()

    def moved(self, body: WholeBodyReference, state: RobotState, push: Push, period: float) -> WholeBodyReference:
        """Return the reference of layer 3 with the soles as they are moved."""
        body = self.admittance.adapted(body, state, period, push.is_trusted)
        if not push.is_caught and not self.levelling.offsets:
            foot, side = _carrying(body, state)
            self._learn(foot, state.foot_rotation(side), period)
            return body
        levels = push.is_caught and push.is_trusted  # a sensor that reads no load makes a stance sole one in the air
        slope = self._counted() * self._slope
        return self.levelling.levelled(body, state, levels, push.stands and levels, period, slope)


def _carrying(body: WholeBodyReference, state: RobotState) -> tuple[FootReference, Side]:
    """Return the foot that carries more."""
    is_left = state.left_foot_wrench[2] > state.right_foot_wrench[2]
    return (body.left_foot, Side.LEFT) if is_left else (body.right_foot, Side.RIGHT)
