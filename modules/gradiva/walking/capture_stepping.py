"""Capture steps: a robot that stands steps when a push is more than its ankles take."""

from __future__ import annotations

import math

from gradiva.common import NDArray, PlanarPose, RobotState, Side, SoleRectangle, WalkingReference
from gradiva.planner import CaptureStep, FootPose, WalkingPlan, WalkingPlanner
from gradiva.robot_model import Compiler, interpreted
from gradiva.simplified_model import AdaptedStep, RunningStep, StepAdaptationConfig, StepAdapter
from gradiva.walking.plan_follower import planned_polygon

_BELIEVED = 2  # ticks in a row in which the DCM has to be outside


class CaptureStepping:
    r"""Steps when no ZMP within the soles stops the DCM.

    The DCM of a robot that stands returns if a ZMP :math:`z` in the support polygon lies beyond it. A ZMP that follows
    the commanded one with the time constant :math:`T_z` from :math:`z_0` acts like
    :math:`(1 - \kappa) z + \kappa z_0, \ \kappa = \zeta T_z / (1 + \zeta T_z)` (``StepAdapter``), so the robot steps
    where

    .. math:: \frac{\xi - \kappa z_0}{1 - \kappa}

    is outside the polygon, less ``sole_margin``, for two ticks. Either foot may step: ``StepAdapter`` gives the landing
    of each, the smaller error of the DCM counts, then the shorter way. After ``unloading`` the foot leaves the ground;
    the running step is then adapted as any other, and two more follow.
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
        self._adapter = StepAdapter(config, sole, limits.zmp_offset, limits.max_feet_distance, width, compiler)
        self._shortest = max(config.shortest_support, limits.single_support(limits.min_step_duration))
        self._outside = 0

    def reset(self) -> None:
        """Forget the past: the robot is prepared anew."""
        self._outside = 0

    def capture(self, state: RobotState, reference: WalkingReference, plan: WalkingPlan) -> CaptureStep | None:
        """Return the step that begins now, or None; see ``StandingAdaptation``."""
        self._outside = self._outside + 1 if self._is_outside(state, reference) else 0
        if self._outside < _BELIEVED:
            return None
        self._outside = 0
        steps = [self._step(side, state, reference, plan) for side in Side]
        _, best = min(steps, key=lambda step: step[0])
        return best

    def _is_outside(self, state: RobotState, reference: WalkingReference) -> bool:
        """Return whether the DCM leaves the soles whatever the ankles do, but is not lost yet."""
        lag = reference.dcm.divergence_rate * self._config.zmp_lag
        kappa = lag / (1.0 + lag)
        reached = (state.dcm_position - kappa * state.zmp_position) / (1.0 - kappa)
        polygon = planned_polygon(reference, self._sole)
        return -self._config.sole_margin < polygon.distance(reached) < self._config.lost_distance

    def _step(
        self, side: Side, state: RobotState, reference: WalkingReference, plan: WalkingPlan
    ) -> tuple[float, CaptureStep]:
        """Return the step of one foot that catches the robot best, and its cost."""
        config, limits, time = self._config, self._planner.config, reference.time
        phase = plan.phase_at(time)
        foot, stance = phase.foot(side).pose, phase.foot(side.other).pose
        nominal = CaptureStep(side, foot, time + config.unloading, time + config.unloading + self._shortest)
        duration = 0.5 * (limits.min_step_duration + limits.max_step_duration)
        adapted = self._adapter.adapt(
            RunningStep(
                state.dcm_position,
                state.zmp_position,
                self._planner.capture_offset(nominal),
                reference.dcm.divergence_rate,
                side,
                _planar(stance),
                _planar(foot),
                config.unloading + self._shortest,
                config.unloading + self._shortest,
                config.unloading + config.longest_support * self._shortest,
                duration - limits.single_support(duration),
                reference.foot(side).position[:2],
                reference.foot(side).twist[:2],
            )
        )
        pose = FootPose(adapted.landing.x, adapted.landing.y, foot.yaw).on(foot.plane)
        way = math.hypot(pose.x - foot.x, pose.y - foot.y)
        cost = config.offset_weight * _square(adapted.offset_error) + config.step_weight * way * way
        return cost, self._capture(adapted, pose, nominal, state, time)

    def _capture(
        self, adapted: AdaptedStep, pose: FootPose, nominal: CaptureStep, state: RobotState, time: float
    ) -> CaptureStep:
        touch_down = time + adapted.time_left
        return CaptureStep(nominal.side, pose, nominal.lift_off, touch_down, state.dcm_position, state.com_position)


def _square(vector: NDArray) -> float:
    return float(vector.dot(vector))


def _planar(pose: FootPose) -> PlanarPose:
    return PlanarPose(pose.x, pose.y, pose.yaw)
