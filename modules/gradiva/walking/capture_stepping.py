"""Capture steps: a robot that stands steps when a push is more than its ankles take."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import NDArray, PlanarPose, RobotState, Side, SoleRectangle, WalkingReference
from gradiva.planner import CaptureStep, FootPose, WalkingPlan, WalkingPlanner
from gradiva.robot_model import Compiler, interpreted
from gradiva.simplified_model import RunningStep, StepAdaptationConfig, StepAdapter
from gradiva.walking.plan_follower import planned_polygon

_BELIEVED = 2  # ticks in a row in which the DCM has to be outside
_SHIFTS = 5  # durations of the shift of the ZMP that are tried


class CaptureStepping:
    r"""Steps when no ZMP within the soles stops the DCM.

    The DCM of a robot that stands returns if a ZMP :math:`z` in the support polygon lies beyond it. A ZMP that follows
    the commanded one with the time constant :math:`T_z` from :math:`z_0` acts like
    :math:`(1 - \kappa) z + \kappa z_0, \ \kappa = \zeta T_z / (1 + \zeta T_z)` (``StepAdapter``), so the robot steps
    where

    .. math:: \frac{\xi - \kappa z_0}{1 - \kappa}

    is outside the polygon, less ``standing_margin`` from toes and heels, over which the robot tips, for two ticks.
    First the ZMP goes towards the foot that will step, as in humans, for a multiple of ``unloading``: that brings the
    DCM over the other one; without it the step lands wide. Either foot may step after each of these times:
    ``StepAdapter`` gives the landing of each, the smallest error of the DCM counts, then the shortest time and way. The
    running step is then adapted as any other, and two more follow.
    """

    def __init__(
        self,
        config: StepAdaptationConfig,
        planner: WalkingPlanner,
        sole: SoleRectangle,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the settings.

        Args:
            config: Of step adaptation.
            planner: Layer 1, with the limits of steps.
            sole: Of the left foot.
            compiler: How the equations become fast.
        """
        self._config, self._planner, self._sole = config, planner, sole
        limits = planner.config
        width = max(limits.min_step_width, limits.min_feet_distance)
        reach = config.reach * limits.max_feet_distance
        self._adapter = StepAdapter(config, sole, limits.zmp_offset, reach, width, compiler)
        self._shortest = max(config.shortest_support, limits.single_support(limits.min_step_duration))
        margin = config.standing_margin
        self._inner_sole = SoleRectangle((sole.x[0] + margin, sole.x[1] - margin), sole.y, sole.z)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self._outside, self._recovers_until = 0, -math.inf

    def is_recovering(self, time: float) -> bool:
        """Return whether the robot stands and its DCM is, or was shortly before ``time`` [s], far off its reference."""
        return time < self._recovers_until

    def capture(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> CaptureStep | None:
        """Return the step that begins now, or None; see ``StandingAdaptation``."""
        error = state.dcm_position - reference.dcm.position
        if _square(error) > self._config.trigger**2:
            self._recovers_until = reference.time + self._config.recovery_time
        self._outside = self._outside + 1 if self._is_outside(state, reference) else 0
        if self._outside < _BELIEVED:
            return None
        self._outside = 0
        shifts = self._config.unloading * np.arange(1.0, _SHIFTS + 1.0)
        steps = [self._step(side, shift, state, reference, plan) for side in Side for shift in shifts.tolist()]
        _, best = min(steps, key=lambda step: step[0])
        return best

    def _is_outside(self, state: RobotState, reference: WalkingReference) -> bool:
        """Return whether the DCM leaves the soles whatever the ankles do, but is not lost yet."""
        lag = reference.dcm.divergence_rate * self._config.zmp_lag
        kappa = lag / (1.0 + lag)
        reached = (state.dcm_position - kappa * state.zmp_position) / (1.0 - kappa)
        polygon = planned_polygon(reference, self._inner_sole)
        return 0.0 < polygon.distance(reached) < self._config.lost_distance

    def _step(
        self, side: Side, shift: float, state: RobotState, reference: WalkingReference, plan: WalkingPlan
    ) -> tuple[float, CaptureStep]:
        """Return the step of one foot, after a shift of ``shift`` [s], that catches the robot best, and its cost."""
        config, limits, time = self._config, self._planner.config, reference.time
        phase, zeta = plan.phase_at(time), reference.dcm.divergence_rate
        foot, stance = phase.foot(side).pose, phase.foot(side.other).pose
        nominal = CaptureStep(side, foot, time + shift, time + shift + self._shortest)
        offset = self._planner.capture_offset(nominal)
        duration = 0.5 * (limits.min_step_duration + limits.max_step_duration)
        following = duration - limits.single_support(duration)
        support = stance.zmp_point(side.other, limits.zmp_offset)
        landed = foot.zmp_point(side, limits.zmp_offset) + offset
        wanted = support + math.exp(-zeta * (self._shortest + 0.5 * following)) * (landed - support)
        zmp, dcm = self._shifted(state, wanted, shift, reference)
        adapted = self._adapter.adapt(
            RunningStep(
                dcm,
                zmp,
                offset,
                zeta,
                side,
                _planar(stance),
                _planar(foot),
                self._shortest,
                self._shortest,
                config.longest_support * self._shortest,
                following,
                reference.foot(side).position[:2],
                reference.foot(side).twist[:2],
            )
        )
        pose = FootPose(adapted.landing.x, adapted.landing.y, foot.yaw).on(foot.plane)
        way = math.hypot(pose.x - foot.x, pose.y - foot.y)
        cost = config.offset_weight * _square(adapted.offset_error) + config.step_weight * way * way
        cost += config.shift_weight * shift
        capture = CaptureStep(
            side,
            pose,
            nominal.lift_off,
            nominal.lift_off + adapted.time_left,
            state.dcm_position,
            state.com_position,
            zmp,
        )
        return cost, capture

    def _shifted(
        self, state: RobotState, wanted: NDArray, shift: float, reference: WalkingReference
    ) -> tuple[NDArray, NDArray]:
        """Return the ZMP within the soles that brings the DCM nearest to ``wanted`` in a time, and the DCM then."""
        zeta, lag = reference.dcm.divergence_rate, self._config.zmp_lag
        growth, kappa = math.exp(zeta * shift), zeta * lag / (1.0 + zeta * lag)
        drift, eta = growth * (state.dcm_position - kappa * state.zmp_position), (1.0 - kappa) * growth - 1.0
        polygon = planned_polygon(reference, self._sole).shrunk(self._config.sole_margin)
        zmp = polygon.project((drift - wanted) / eta)
        return zmp, drift - eta * zmp


def _square(vector: NDArray) -> float:
    return float(vector.dot(vector))


def _planar(pose: FootPose) -> PlanarPose:
    return PlanarPose(pose.x, pose.y, pose.yaw)
