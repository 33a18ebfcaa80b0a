"""Plans a walk: from a command to references over time; the registry of planners.

A planner of one's own derives from `WalkingPlanner`: it overrides ``footsteps`` to choose footholds, or any other
method. ``walking.planner`` names it, by an entry point of the group ``gradiva.planners`` or as
``package.module:Class``, and ``[planners.NAME]`` is the table of its ``Config``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gradiva.common import DcmReference, NDArray, Registry, Side
from gradiva.contacts import ContactPlane
from gradiva.planner.command import Command, StopCommand, VelocityCommand
from gradiva.planner.contact_phases import contact_phases, standing_phase
from gradiva.planner.dcm_segments import SwingResponse, shortest_within, weight_shifts
from gradiva.planner.dcm_trajectory import PendulumTrajectory
from gradiva.planner.footstep_planner import FootstepPlanner
from gradiva.planner.footsteps import (
    DcmTrajectory,
    FootPose,
    Footstep,
    GaitSchedule,
    PlanningState,
    schedule_gait,
)
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.retarget import CaptureStep, Retarget, capture_offset, captured, catching_offset, retargeted
from gradiva.planner.swing_foot import StandingFoot
from gradiva.planner.unicycle import UnicycleState
from gradiva.planner.unicycle_planner import UnicyclePlanner
from gradiva.planner.varying_height_trajectory import VaryingHeightTrajectory
from gradiva.planner.walking_plan import HISTORY, ContactPhase, WalkingPlan
from gradiva.robot_model import ConfiguredRobot, configured


class WalkingPlanner:
    """Trajectory optimisation: unicycle, footsteps, DCM and CoM, swing feet (thesis 10.1, 10.2.1, 10.2.2).

    It remembers nothing: a plan is the result of the arguments.

    Attributes:
        Config: Dataclass of the table of a planner of one's own; None without one.
        config: Settings and limits of steps.
    """

    Config: ClassVar[type[Any] | None] = None

    def __init__(self, config: PlannerConfig | ConfiguredRobot, own: Any = None) -> None:
        """Take the settings.

        Args:
            config: Settings, or a robot that brings them; other layers rely on the limits of steps among them.
            own: Configuration of a planner of one's own, an instance of its ``Config``.
        """
        self.config = config = configured(PlannerConfig, config, "planner")
        self._unicycle_planner = UnicyclePlanner(config)
        self._footstep_planner = FootstepPlanner(config)

    def signals(self) -> Mapping[str, float | npt.ArrayLike]:
        """Return numbers and vectors to be logged in each tick, by name; the same names and sizes in all ticks."""
        return {}

    def at_origin(self, time: float) -> PlanningState:
        """Return the state of a robot that stands around the origin, facing x, at ``time`` [s]."""
        config = self.config
        half_width = 0.5 * config.step_width
        com = np.array([config.zmp_offset[0], 0.0, config.com_height])
        return PlanningState.at_rest(time, FootPose(0.0, half_width, 0.0), FootPose(0.0, -half_width, 0.0), com)

    def standing(self, start: PlanningState) -> WalkingPlan:
        """Return a plan that only stands.

        The DCM goes to the middle of the feet (in the time of the last double support) and stays there.
        """
        return self._standing(start, _feet_of(start), Side.RIGHT, None)

    def plan(self, command: Command, start: PlanningState | None = None) -> WalkingPlan:
        """Return a plan that starts from rest, obeys ``command`` and ends with the feet side by side.

        Args:
            command: Where to.
            start: Of the robot; by default it stands around the origin, facing x, at time zero.

        Raises:
            PlanningError: The command exceeds a limit, or no footsteps satisfy the constraints.
        """
        start = self.at_origin(0.0) if start is None else start
        if isinstance(command, StopCommand):
            return self.standing(start)
        return self._from_rest(command, start, _feet_of(start), None)

    def check_velocity(self, command: VelocityCommand) -> None:
        """Refuse a velocity beyond its limits, without planning.

        Raises:
            PlanningError: It is beyond them; the message names the limit.
        """
        self._unicycle_planner.check_velocity(command)

    def footsteps(
        self,
        command: Command,
        unicycle: UnicycleState,
        left_foot: FootPose,
        right_foot: FootPose,
        first: Side | None = None,
    ) -> list[Footstep]:
        """Return the footsteps that obey ``command``; the last one brings the feet side by side.

        Args:
            command: Where to.
            unicycle: From where the middle of the feet goes on.
            left_foot: Where the left foot stands.
            right_foot: Where the right foot stands.
            first: The foot that moves first, in any case; None: from rest, either foot, and none if nothing is to do.

        Raises:
            PlanningError: The command exceeds a limit, or no footsteps satisfy the constraints.
        """
        path = self._unicycle_planner.path(command, unicycle)
        if first is None:
            return self._footstep_planner.plan(path, left_foot, right_foot, self._footstep_planner.first_side(path))
        return self._footstep_planner.plan(path, left_foot, right_foot, first, at_least=1)

    def replan(self, plan: WalkingPlan, command: Command, time: float) -> WalkingPlan:
        """Return ``plan`` up to its next touch-down after ``time`` [s], and from there on a walk to ``command``.

        It continues the reference state there: DCM and CoM with their velocities, feet, velocity of the unicycle.
        Where no touch-down is left, the new walk starts when the plan stands. What lies further back than 30 s is
        forgotten.

        Raises:
            PlanningError: As :meth:`plan`; ``plan`` stays valid.
        """
        running = next((step for step in plan.steps if step.touch_down > time), None)
        if running is None:
            return self._replan_from_rest(plan, command, max(time, plan.end_time))
        if isinstance(command, StopCommand) and running is plan.steps[-1]:
            return plan
        merge = running.touch_down
        start, feet, before = _state_of(plan, merge)
        step = running.footstep
        unicycle = step.unicycle
        if isinstance(command, StopCommand):
            unicycle = _middle(step.pose.beside(step.side.other, 0.5 * self.config.step_width))
        steps = self.footsteps(command, unicycle, start.left_foot, start.right_foot, step.side.other)
        steps = _on_plane(steps, start.contact_plane)
        usual = steps[0].duration - self.config.single_support(steps[0].duration)
        stance_foot = plan.phase_at(merge).stance_foot
        schedule = schedule_gait(steps, start, usual, self.config)
        swings = SwingResponse.of(contact_phases(schedule, feet, stance_foot, self.config), self.config)
        shift = weight_shift_duration(schedule, start, self.config, swings)
        return plan.spliced(time - HISTORY, merge, self._walking(steps, start, shift, feet, stance_foot, before))

    def retarget(self, plan: WalkingPlan, change: Retarget, time: float) -> WalkingPlan:
        """Return ``plan`` up to ``time`` [s], and from there on with other footholds: **here a step is replanned**.

        The running swing continues in position, velocity and acceleration to its new landing. DCM and CoM continue, or
        restart from the positions of ``change``; the DCM reaches the end of the swing as the moved footsteps need it,
        over a constant ZMP, which the caller may have to compare with the sole. All steps after the given ones keep
        their relative places and, but for two that come at once, durations. No footsteps are planned.

        Raises:
            PlanningError: No step is left, a limit of a step is exceeded, or the swing cannot be continued so;
                ``plan`` stays valid.
        """
        return retargeted(plan, change, time, self.config, self._footstep_planner)

    def capture_step(self, plan: WalkingPlan, capture: CaptureStep, time: float) -> WalkingPlan:
        """Return ``plan`` up to ``time`` [s], when it stands, and from there on a step at once that catches a push.

        From ``time`` to touch-down the ZMP is the constant one that leads to the DCM of the following steps, which
        bring the feet side by side; then the robot stands.

        Raises:
            PlanningError: Steps are under way, or a limit of a step is exceeded; ``plan`` stays valid.
        """
        return captured(plan, capture, time, self.config, self._footstep_planner)

    def capture_offset(self, capture: CaptureStep) -> NDArray:
        """Return where the DCM is after a capture step, as its steps continue.

        The DCM less the ZMP point of the foot that landed, in the middle of the double support that follows, in world,
        [m], shape (2,).
        """
        return capture_offset(capture, self.config)

    def catching_offset(self, plan: WalkingPlan, index: int, is_quick: bool) -> tuple[NDArray, float]:
        """Return where the DCM is after a step of a plan that catches, and the double support that follows it.

        As ``capture_offset``, [m], shape (2,), and its duration, [s]; the steps after it are those of ``retarget``.
        """
        return catching_offset(plan, index, self.config, is_quick)

    def _replan_from_rest(self, plan: WalkingPlan, command: Command, merge: float) -> WalkingPlan:
        if isinstance(command, StopCommand):
            return plan
        start, feet, before = _state_of(plan, merge)
        return plan.spliced(merge - HISTORY, merge, self._from_rest(command, start, feet, before))

    def _from_rest(
        self,
        command: Command,
        start: PlanningState,
        feet: dict[Side, StandingFoot],
        before: DcmReference | None,
    ) -> WalkingPlan:
        left, right = start.left_foot, start.right_foot
        steps = self.footsteps(command, _between(left, right), left, right)
        if not steps:
            return self._standing(start, feet, Side.RIGHT, before)
        stance_foot = steps[0].side.other
        return self._walking(steps, start, self.config.pendulum.first_double_support, feet, stance_foot, before)

    def _walking(
        self,
        steps: list[Footstep],
        start: PlanningState,
        first_double_support: float,
        feet: dict[Side, StandingFoot],
        stance_foot: Side,
        before: DcmReference | None,
    ) -> WalkingPlan:
        steps = _on_plane(steps, start.contact_plane)
        schedule = schedule_gait(steps, start, first_double_support, self.config)
        phases = contact_phases(schedule, feet, stance_foot, self.config)
        trajectory = self._trajectory(schedule, start, phases, before)
        return WalkingPlan(tuple(phases), trajectory, tuple(schedule.steps), schedule.end_time)

    def _standing(
        self,
        start: PlanningState,
        feet: dict[Side, StandingFoot],
        stance_foot: Side,
        before: DcmReference | None,
    ) -> WalkingPlan:
        schedule = schedule_gait([], start, 0.0, self.config)
        phase = standing_phase(start.time, feet, stance_foot, is_walking=False)
        return WalkingPlan((phase,), self._trajectory(schedule, start, [phase], before), (), start.time)

    def _trajectory(
        self,
        schedule: GaitSchedule,
        start: PlanningState,
        phases: Sequence[ContactPhase],
        before: DcmReference | None,
    ) -> DcmTrajectory:
        config = self.config
        if config.pendulum.com_height_amplitude == 0.0:
            return PendulumTrajectory.plan(schedule, start, config, SwingResponse.of(phases, config))
        return VaryingHeightTrajectory.plan(schedule, start, config, before)


PLANNERS = Registry(
    "gradiva.planners",
    "planner",
    (WalkingPlanner,),
    shipped={"unicycle": "gradiva.planner.walking_planner:WalkingPlanner"},
    returns=dict.fromkeys(("plan", "replan", "standing", "retarget", "capture_step"), (WalkingPlan,)),
)


def _state_of(plan: WalkingPlan, time: float) -> tuple[PlanningState, dict[Side, StandingFoot], DcmReference]:
    """Return the reference state of a plan at a moment of double support."""
    phase, reference = plan.phase_at(time), plan.at(time)
    start = PlanningState(
        time,
        phase.left.pose,
        phase.right.pose,
        reference.dcm.position,
        reference.dcm.velocity,
        reference.com_position,
        reference.com_velocity,
        plan.trajectory.plane,
    )
    return start, phase.feet, reference.dcm


def _on_plane(steps: list[Footstep], plane: ContactPlane) -> list[Footstep]:
    """Return footsteps, which are planned by their x, y and yaw, on the contact plane."""
    if plane == ContactPlane():
        return steps
    return [replace(step, pose=step.pose.on(plane)) for step in steps]


def _feet_of(start: PlanningState) -> dict[Side, StandingFoot]:
    return {side: StandingFoot(start.foot(side)) for side in Side}


def _middle(pose: FootPose) -> UnicycleState:
    return UnicycleState(pose.x, pose.y, pose.yaw)


def _between(left: FootPose, right: FootPose) -> UnicycleState:
    return UnicycleState(0.5 * (left.x + right.x), 0.5 * (left.y + right.y), 0.5 * (left.yaw + right.yaw))


def weight_shift_duration(
    schedule: GaitSchedule, start: PlanningState, config: PlannerConfig, swings: SwingResponse
) -> float:
    """Return the shortest double support in which the ZMP stays near the line between the feet, [s].

    Between the usual double support of ``schedule`` and the first one of a walk; where none keeps the ZMP within
    ``zmp_tolerance``, the one with the smallest deviation.
    """
    durations, zmp = weight_shifts(schedule, start, config, swings, config.pendulum.first_double_support)
    deviation = _distance_to_segment(zmp, zmp[0, 0], schedule.supports[0]).max(axis=1)
    return shortest_within(config.pendulum.zmp_tolerance, deviation, durations)


def _distance_to_segment(points: NDArray, begin: NDArray, end: NDArray) -> NDArray:
    """Return the distance of ``points``, shape (..., 2), from the line between two points."""
    way = end - begin
    fraction = np.clip(((points - begin) @ way) / max(float(way @ way), 1e-12), 0.0, 1.0)
    return np.linalg.norm(points - begin - fraction[..., None] * way, axis=-1)
