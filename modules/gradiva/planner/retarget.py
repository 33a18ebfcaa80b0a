"""Retarget of a plan: the running swing and the next footholds are moved in place and time while the robot walks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import NDArray, PlanningError, Side
from gradiva.planner.dcm_trajectory import PendulumTrajectory, SwingResponse
from gradiva.planner.footstep_planner import FootstepPlanner
from gradiva.planner.footsteps import FootPose, Footstep, GaitSchedule, PlannedStep, PlanningState
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.walking_plan import (
    ContactPhase,
    RetargetedSwing,
    StandingFoot,
    WalkingPlan,
    contact_phases,
    swinging_phase,
)

_FROZEN = 0.06  # [s] before touch-down, in which no sole can follow another landing
_CLEARANCE = 1e-3  # [m] of the rest of a swing below its landing, at most


@dataclass(frozen=True, slots=True)
class Foothold:
    """New landing of one step; what is None stays.

    Attributes:
        pose: Where the foot lands (world).
        touch_down: [s].
    """

    pose: FootPose | None = None
    touch_down: float | None = None

    def __post_init__(self) -> None:
        pose, numbers = self.pose, [self.touch_down or 0.0]
        if pose is not None:
            numbers += [pose.x, pose.y, pose.yaw, pose.z, *pose.normal]
        if not all(map(math.isfinite, numbers)) or (pose is not None and pose.normal[2] <= 0.0):
            raise PlanningError(f"{self}: a foothold needs finite numbers and a normal that points upward")


@dataclass(frozen=True, slots=True, eq=False)
class Retarget:
    """Change of a plan that is walked, by a command, by step adaptation or by a predictive controller.

    Attributes:
        footholds: Of the step that runs, or of the next one in double support, and of those after it. All later steps
            move and wait with the last of them.
        dcm_position: From which the DCM reference restarts, [m], shape (2,); None: it continues.
        com_position: From which the CoM reference restarts, [m], shape (3,); None: it continues.
    """

    footholds: tuple[Foothold, ...]
    dcm_position: NDArray | None = None
    com_position: NDArray | None = None


def retargeted(
    plan: WalkingPlan, change: Retarget, time: float, config: PlannerConfig, limits: FootstepPlanner
) -> WalkingPlan:
    """Return the continuation of a plan from ``time`` [s] on, as ``WalkingPlanner.retarget`` describes it."""
    first = next((index for index, step in enumerate(plan.steps) if step.touch_down > time), None)
    if first is None:
        raise PlanningError("retarget: no step is left, the robot stands or closes its last double support")
    if not isinstance(plan.trajectory, PendulumTrajectory):
        raise PlanningError("retarget: only plans of constant CoM height, set planner.com_height_amplitude to 0")
    phase = plan.phase_at(time)
    steps = _moved_steps(plan.steps[first:], change.footholds)
    feet = {side: phase.foot(side) for side in Side}
    _check(plan.steps[first:], steps, feet, change, time, config, limits)
    is_swinging = phase.swing is not None
    schedule = _schedule(steps, feet, time, is_swinging, config)
    footsteps = [step.footstep for step in steps]
    if is_swinging:
        phases = _running_phases(plan, footsteps, schedule, feet, time, config)
    else:
        phases = contact_phases(footsteps, schedule, feet, phase.stance_foot, config)
    start = _start(plan, change, time)
    swings = SwingResponse.of(phases, config)
    trajectory = PendulumTrajectory.plan(schedule, start, config, swings, is_swinging=is_swinging)
    return WalkingPlan(tuple(phases), trajectory, tuple(steps), schedule.end_time)


def _moved_steps(steps: Sequence[PlannedStep], footholds: Sequence[Foothold]) -> list[PlannedStep]:
    """Return the steps with their new landings; later ones are translated and delayed with the last of these."""
    moved, dx, dy, delay = [], 0.0, 0.0, 0.0
    for index, step in enumerate(steps):
        change = footholds[index] if index < len(footholds) else Foothold()
        old = step.footstep.pose
        pose = replace(old, x=old.x + dx, y=old.y + dy) if dx or dy else old
        lift_off, touch_down = step.lift_off + delay, step.touch_down + delay
        if change.pose is not None:
            pose = change.pose.near_yaw(old.yaw)
            dx, dy = pose.x - old.x, pose.y - old.y
        if change.touch_down is not None:
            touch_down = change.touch_down
            delay = touch_down - step.touch_down
        unicycle = step.footstep.unicycle
        unicycle = replace(unicycle, x=unicycle.x + dx, y=unicycle.y + dy)
        moved.append(PlannedStep(replace(step.footstep, pose=pose, unicycle=unicycle), lift_off, touch_down))
    return moved


def _check(
    old: Sequence[PlannedStep],
    steps: Sequence[PlannedStep],
    feet: dict[Side, StandingFoot],
    change: Retarget,
    time: float,
    config: PlannerConfig,
    limits: FootstepPlanner,
) -> None:
    """Refuse footholds that no step may have, and times that no swing can keep."""
    if steps[0].lift_off <= time and min(old[0].touch_down, steps[0].touch_down) < time + _FROZEN:
        raise PlanningError(f"retarget: less than {_FROZEN} s are left until touch-down")
    poses = {side: foot.pose for side, foot in feet.items()}
    shortest = config.single_support(config.min_step_duration)
    for step, before, foothold in zip(steps, old, (*change.footholds, *[None] * len(steps)), strict=False):
        footstep = step.footstep
        side = footstep.side
        duration = step.touch_down - step.lift_off
        is_shortened = duration < before.touch_down - before.lift_off - 1e-9
        if is_shortened and duration < shortest - 1e-9:
            raise PlanningError(
                f"retarget: a single support of {duration:.3f} s, planner.min_step_duration allows {shortest:.3f} s",
                ["planner.min_step_duration"],
            )
        if foothold is not None or footstep.pose != before.footstep.pose:
            limits.check(footstep.pose, poses[side.other], side)
        poses[side] = footstep.pose


def _schedule(
    steps: Sequence[PlannedStep], feet: dict[Side, StandingFoot], time: float, is_swinging: bool, config: PlannerConfig
) -> GaitSchedule:
    """Return the schedule of the rest of the plan, with the times that its steps really have."""
    lift_offs = np.array([step.lift_off for step in steps])
    touch_downs = np.array([step.touch_down for step in steps])
    last = steps[-1].footstep.duration
    following = np.append(lift_offs[1:] - touch_downs[:-1], last - config.single_support(last))
    if is_swinging:
        lift_offs[0] = time
    footsteps = [step.footstep for step in steps]
    supports, zmps = _supports(footsteps, feet, config)
    middle = 0.5 * (zmps[Side.LEFT] + zmps[Side.RIGHT])
    return GaitSchedule(
        start_time=time,
        lift_offs=lift_offs,
        touch_downs=touch_downs,
        boundaries=touch_downs + 0.5 * following,
        end_time=float(touch_downs[-1]) + config.last_double_support,
        supports=supports,
        last_landing=zmps[footsteps[-1].side],
        middle=middle,
    )


def _supports(
    steps: Sequence[Footstep], feet: dict[Side, StandingFoot], config: PlannerConfig
) -> tuple[NDArray, dict[Side, NDArray]]:
    """Return the ZMP under the stance foot of each step, shape (N, 2), and those of both feet at the end."""
    zmps = {side: feet[side].pose.zmp_point(side, config.zmp_offset) for side in Side}
    supports = np.empty((len(steps), 2))
    for row, step in enumerate(steps):
        supports[row] = zmps[step.side.other]
        zmps[step.side] = step.pose.zmp_point(step.side, config.zmp_offset)
    return supports, zmps


def _running_phases(
    plan: WalkingPlan,
    steps: Sequence[Footstep],
    schedule: GaitSchedule,
    feet: dict[Side, StandingFoot],
    time: float,
    config: PlannerConfig,
) -> list[ContactPhase]:
    """Return the phases from within a swing on: the rest of the swing to its new landing, then the other steps."""
    running, touch_down = steps[0], float(schedule.touch_downs[0])
    after = StandingFoot(running.pose, config.landing_height)
    swing = _rest_of_swing(plan, running, after, touch_down, time)
    if swing.lowest < min(float(after.placement[0][2]), float(swing.start.position[2])) - _CLEARANCE:
        raise PlanningError(
            f"retarget: the {running.side} foot comes down already and would touch the ground before {touch_down:.2f} s"
        )
    landed = feet | {running.side: after}
    rest = replace(
        schedule, start_time=touch_down, lift_offs=schedule.lift_offs[1:], touch_downs=schedule.touch_downs[1:]
    )
    phases = contact_phases(steps[1:], rest, landed, running.side.other, config)
    return [swinging_phase(swing, running.side, landed), *phases]


def _rest_of_swing(
    plan: WalkingPlan, running: Footstep, after: StandingFoot, touch_down: float, time: float
) -> RetargetedSwing:
    phase = plan.phase_at(time)
    old = phase.swing
    assert old is not None
    left = old.yaw_ahead(time) + after.pose.yaw - phase.foot(running.side).pose.yaw
    apex = old.apex
    if apex is not None:
        apex_time, height = apex
        fraction = (apex_time - time) / (old.end_time - time)
        rise = 0.5 * max(0.0, float(after.placement[0][2] - old.end[0][2]))
        apex = (time + fraction * (touch_down - time), height + rise) if fraction > 1e-3 else None
    return RetargetedSwing(time, touch_down, old.at(time), after.placement, apex, left)


def _start(plan: WalkingPlan, change: Retarget, time: float) -> PlanningState:
    reference, phase = plan.at(time), plan.phase_at(time)
    dcm, com = change.dcm_position, change.com_position
    return PlanningState(
        time,
        phase.left.pose,
        phase.right.pose,
        reference.dcm.position if dcm is None else dcm,
        reference.dcm.velocity,
        reference.com_position if com is None else com,
        reference.com_velocity,
        plan.trajectory.plane,
    )
