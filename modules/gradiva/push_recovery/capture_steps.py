"""Capture steps: a robot that stands steps if no ZMP within the soles stops its DCM."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import NDArray, RobotState, Side, SoleRectangle, WalkingReference
from gradiva.planner import CaptureStep, FootPose, WalkingPlan, WalkingPlanner, planned_polygon
from gradiva.push_recovery.step_adapter import (
    LONGEST_SUPPORT,
    OFFSET_WEIGHT,
    SOLE_MARGIN,
    STEP_WEIGHT,
    ZMP_LAG,
    RunningStep,
    StepAdapter,
    shortest_single_support,
)

_BELIEVED = 2  # ticks in a row in which the DCM has to be outside
_SHIFTS = 5  # durations of the shift of the ZMP that are tried
_SHIFT_WEIGHT = 1.0  # [m²/s] on them: of equal steps the soonest, with the foot that the push has unloaded
_STANDING_MARGIN = 0.025  # [m] of the DCM of a robot that stands from toes and heels, over which it tips: it steps
UNLOADING = 0.06  # [s] from standing to the lift-off of a capture step, while the load leaves the foot
_RECOVERY_TIME = 1.0  # [s] after the last error beyond the trigger of a robot that stands: it rocks for as long
_LOST = 0.6  # [m] of the DCM from the soles, beyond which no step catches the robot


class CaptureStepping:
    r"""Steps when no ZMP within the soles stops the DCM.

    The DCM of a robot that stands returns if a ZMP :math:`z` in the support polygon lies beyond it. A ZMP that follows
    the commanded one with the time constant :math:`T_z` from :math:`z_0` acts like
    :math:`(1 - \kappa) z + \kappa z_0, \ \kappa = \zeta T_z / (1 + \zeta T_z)` (``StepAdapter``), so the robot steps
    where

    .. math:: \frac{\xi - \kappa z_0}{1 - \kappa}

    is outside the polygon, less ``_STANDING_MARGIN`` from toes and heels, over which the robot tips, for two ticks.
    First the ZMP goes towards the foot that will step, as in humans, for a multiple of ``UNLOADING``: that brings the
    DCM over the other one; without it the step lands wide. Either foot may step after each of these times:
    ``StepAdapter`` gives the landing of each, the smallest error of the DCM counts, then the shortest time and way. The
    running step is then adapted as any other, and two more follow.
    """

    def __init__(self, adapter: StepAdapter, planner: WalkingPlanner) -> None:
        """Take the law with its settings, and layer 1."""
        self._config, self._planner, self._adapter = adapter.config, planner, adapter
        limits, sole = planner.config, adapter.sole
        self._shortest = shortest_single_support(limits)
        duration = 0.5 * (limits.min_step_duration + limits.max_step_duration)
        self._double_support = duration - limits.single_support(duration)
        margin = _STANDING_MARGIN
        self._inner_sole = SoleRectangle((sole.x[0] + margin, sole.x[1] - margin), sole.y, sole.z)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self._outside, self._recovers_until = 0, -math.inf

    def is_recovering(self, time: float) -> bool:
        """Return whether the robot stands and its DCM is, or was shortly before ``time`` [s], far off its reference."""
        return time < self._recovers_until

    def capture(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> CaptureStep | None:
        """Return the step that begins now, or None, as nearly always."""
        error = state.dcm_position - reference.dcm.position
        if _square(error) > self._config.trigger**2:
            self._recovers_until = reference.time + _RECOVERY_TIME
        self._outside = self._outside + 1 if self._is_outside(state, reference) else 0
        if self._outside < _BELIEVED:
            return None
        self._outside = 0
        shifts = UNLOADING * np.arange(1.0, _SHIFTS + 1.0)
        steps = [self._step(side, shift, state, reference, plan) for side in Side for shift in shifts.tolist()]
        _, best = min(steps, key=lambda step: step[0])
        return best

    def _is_outside(self, state: RobotState, reference: WalkingReference) -> bool:
        """Return whether the DCM leaves the soles whatever the ankles do, but is not lost yet."""
        kappa = self._lag_fraction(reference)
        reached = (state.dcm_position - kappa * state.zmp_position) / (1.0 - kappa)
        polygon = planned_polygon(reference, self._inner_sole)
        return 0.0 < polygon.distance(reached) < _LOST

    def _lag_fraction(self, reference: WalkingReference) -> float:
        """Return κ, [-]."""
        lag = reference.dcm.divergence_rate * ZMP_LAG
        return lag / (1.0 + lag)

    def _step(
        self, side: Side, shift: float, state: RobotState, reference: WalkingReference, plan: WalkingPlan
    ) -> tuple[float, CaptureStep]:
        """Return the cost and the step of one foot, after a shift of ``shift`` [s], that catches the robot best."""
        phase, lift_off = plan.phase_at(reference.time), reference.time + shift
        foot, stance = phase.foot(side).pose, phase.foot(side.other).pose
        nominal = CaptureStep(side, foot, lift_off, lift_off + self._shortest)
        offset = self._planner.capture_offset(nominal)
        wanted = self._wanted_dcm(nominal, stance, offset, reference)
        zmp, dcm = self._shifted(state, wanted, shift, reference)
        swing = reference.foot(side)
        running = RunningStep(
            dcm_position=dcm,
            zmp_position=zmp,
            dcm_offset=offset,
            natural_frequency=reference.dcm.divergence_rate,
            side=side,
            stance=stance.planar,
            landing=foot.planar,
            double_support=self._double_support,
            time_left=self._shortest,
            shortest=self._shortest,
            longest=LONGEST_SUPPORT * self._shortest,
            swing_position=swing.position[:2],
            swing_velocity=swing.twist[:2],
        )
        adapted = self._adapter.adapt(running)
        pose = FootPose(adapted.landing.x, adapted.landing.y, foot.yaw).on(foot.plane)
        touch_down = lift_off + adapted.time_left
        capture = CaptureStep(side, pose, lift_off, touch_down, state.dcm_position, state.com_position, zmp)
        way = foot.distance(pose)
        cost = OFFSET_WEIGHT * _square(adapted.offset_error) + STEP_WEIGHT * way * way
        return cost + _SHIFT_WEIGHT * shift, capture

    def _wanted_dcm(
        self, nominal: CaptureStep, stance: FootPose, offset: NDArray, reference: WalkingReference
    ) -> NDArray:
        """Return the DCM at lift-off from which a step in place ends with its offset, [m], shape (2,)."""
        zmp_offset, duration = self._planner.config.zmp_offset, self._shortest + 0.5 * self._double_support
        support = stance.zmp_point(nominal.side.other, zmp_offset)
        landed = nominal.pose.zmp_point(nominal.side, zmp_offset) + offset
        return support + math.exp(-reference.dcm.divergence_rate * duration) * (landed - support)

    def _shifted(
        self, state: RobotState, wanted: NDArray, shift: float, reference: WalkingReference
    ) -> tuple[NDArray, NDArray]:
        """Return the ZMP within the soles that brings the DCM nearest to ``wanted`` in a time, and the DCM then."""
        growth, kappa = math.exp(reference.dcm.divergence_rate * shift), self._lag_fraction(reference)
        drift, eta = growth * (state.dcm_position - kappa * state.zmp_position), (1.0 - kappa) * growth - 1.0
        polygon = planned_polygon(reference, self._adapter.sole).shrunk(SOLE_MARGIN)
        zmp = polygon.project((drift - wanted) / eta)
        return zmp, drift - eta * zmp


def _square(vector: NDArray) -> float:
    return float(vector.dot(vector))
