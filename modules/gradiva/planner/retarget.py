"""Retarget of a plan: the running swing and the next footholds are moved in place and time while the robot walks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import TIME_ROUNDING, NDArray, PlanningError, Side, WalkingReference, altered
from gradiva.planner.contact_phases import standing_phase, swinging_phase
from gradiva.planner.dcm_segments import PendulumState
from gradiva.planner.dcm_trajectory import PendulumTrajectory
from gradiva.planner.footstep_planner import FootstepPlanner
from gradiva.planner.footsteps import FootPose, Footstep, Motion, PlannedStep, PlanningState, foot_pose
from gradiva.planner.moved_steps import MovedSteps, Remainder, RetargetedPlan, RetargetedSwing
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.swing_foot import StandingFoot
from gradiva.planner.unicycle import UnicycleState
from gradiva.planner.walking_plan import HISTORY, ContactPhase, Timeline, WalkingPlan

FROZEN_TIME = 0.06  # [s] before touch-down, in which no sole can follow another landing
CATCHING_STEPS = 2  # that follow one which catches a push, and bring the feet side by side: it is never the last
_SHORTEST_CAPTURE = 0.2  # [s] single support of a capture step, in which no sole gets far
_CLEARANCE = 1e-3  # [m] of the rest of a swing below its landing, at most


@dataclass(frozen=True, slots=True)
class Foothold:
    """New landing of one step; what is None stays.

    Attributes:
        pose: Where the foot lands (world).
        touch_down: [s]; of the swinging foot also the present time: it stands from now on where its swing is.
        lift_off: Of a foot that stands yet, [s].
    """

    pose: FootPose | None = None
    touch_down: float | None = None
    lift_off: float | None = None

    def __post_init__(self) -> None:
        pose, numbers = self.pose, [self.touch_down or 0.0, self.lift_off or 0.0]
        if pose is not None:
            numbers += [pose.x, pose.y, pose.yaw, pose.z, *pose.normal]
        if not all(map(math.isfinite, numbers)) or (pose is not None and pose.normal[2] <= 0.0):
            raise PlanningError(f"{self}: a foothold needs finite numbers and a normal that points upward")


@dataclass(frozen=True, slots=True, eq=False)
class CaptureStep:
    """Step of a robot that stands and is pushed.

    Attributes:
        side: Foot that steps.
        pose: Where it lands (world).
        lift_off: Until which both feet carry load, [s].
        touch_down: [s].
        dcm_position: From which the DCM reference restarts, [m], shape (2,); None: it continues.
        com_position: From which the CoM reference restarts, [m], shape (3,); None: it continues.
        shift_zmp: ZMP until lift-off, [m], shape (2,), towards the foot that steps, so that the DCM goes to the other
            one; None: that of the swing.
        following: Number of steps that follow and bring the feet side by side.
    """

    side: Side
    pose: FootPose
    lift_off: float
    touch_down: float
    dcm_position: NDArray | None = None
    com_position: NDArray | None = None
    shift_zmp: NDArray | None = None
    following: int = CATCHING_STEPS

    @property
    def change(self) -> Retarget:
        """The step as a change of a plan."""
        foothold = Foothold(self.pose, self.touch_down)
        return Retarget((foothold,), self.dcm_position, self.com_position, self.following)


@dataclass(frozen=True, slots=True, eq=False)
class Retarget:
    """Change of a plan that is walked, by a command, by step adaptation or by a predictive controller.

    Attributes:
        footholds: Of the step that runs, or of the next one in double support, and of those after it. All later steps
            move and wait with the last of them; after a foot that lands now, given alone, they may come less early.
        dcm_position: From which the DCM reference restarts, [m], shape (2,); None: it continues.
        com_position: From which the CoM reference restarts, [m], shape (3,); None: it continues.
        following: Number of steps that follow the last of the footholds at least: where the plan has fewer, steps that
            bring the feet side by side are appended, so that a step that catches a push is not the last one. Where it
            is not 0 the swing is that of a catch: higher.
        is_quick: Whether the two steps after the last of the footholds come as soon as the planner plans steps of their
            length (``_soonest``).
    """

    footholds: tuple[Foothold, ...]
    dcm_position: NDArray | None = None
    com_position: NDArray | None = None
    following: int = 0
    is_quick: bool = False

    def __post_init__(self) -> None:
        for vector in (self.dcm_position, self.com_position):
            if vector is not None and not all(map(math.isfinite, vector)):
                raise PlanningError(f"retarget: the plan cannot restart from {vector}")

    def lands_at(self, time: float) -> bool:
        """Return whether the first foothold is one of a foot that stands from ``time`` [s] on."""
        touch_down = self.footholds[0].touch_down if self.footholds else None
        return touch_down is not None and abs(touch_down - time) <= TIME_ROUNDING


def retargeted(
    plan: WalkingPlan, change: Retarget, time: float, config: PlannerConfig, limits: FootstepPlanner
) -> WalkingPlan:
    """Return a plan that goes on otherwise from ``time`` [s] on, as ``WalkingPlanner.retarget`` describes it."""
    first = plan.landings.after(time)
    if first == len(plan.landings):
        raise PlanningError("retarget: no step is left, the robot stands or closes its last double support")
    _check_height(config, "retarget")
    phase = plan.phase_at(time)
    lands = phase.swing is not None and change.lands_at(time)
    change = _with_landing(plan, change, first, time) if lands else change
    steps, motion = _moved_steps(plan.landings, first, change, config)
    if lands:
        return _landed(plan, steps, motion, change, time, config, limits)
    _check(plan.landings[first:], steps, phase.feet, change, time, config, limits)
    before = plan if isinstance(plan, RetargetedPlan) and plan.runs_at(time) else None
    base = plan.whole() if before is None else before.base
    total = motion if before is None else before.motion + motion
    after = first + len(steps)
    remainder = Remainder(base, after, total) if after < len(plan.landings) else None
    moved = MovedSteps(steps, phase.feet, remainder, config)
    if phase.swing is None:
        rest = moved.planned(_planning_state(plan, change, time), phase.stance_foot)
        return base.spliced(time - HISTORY, time, rest)
    swing = _rest_of_swing(phase, plan.at(time), moved, change)
    falling = _falling(*phase.rise_at(time), swing.end_time - time)
    swinging = swinging_phase(swing, steps[0].footstep.side, moved.landed, falling)
    piece = moved.until_touch_down(_pendulum_state(plan, change, time), swinging)
    landings = plan.landings.following(
        (*plan.landings[:first], *steps),
        (*plan.landings.times[:first], *(step.touch_down for step in steps)),
        after,
        motion,
    )
    return RetargetedPlan(base, before, moved, swinging, piece, landings, total)


def _with_landing(plan: WalkingPlan, change: Retarget, index: int, time: float) -> Retarget:
    """Return the change with the first foothold where the swing of a step is at ``time`` [s], on its contact plane."""
    landing, *others = change.footholds
    if landing.pose is not None or landing.lift_off is not None:
        raise PlanningError("retarget: a foot that lands now stands where its swing is, without a pose or a lift-off")
    step = plan.landings[index].footstep
    pose = foot_pose(plan.at(time), step.side).near_yaw(step.pose.yaw).on(step.pose.plane)
    return replace(change, footholds=(Foothold(pose, time), *others))


def _landed(
    plan: WalkingPlan,
    steps: Sequence[PlannedStep],
    motion: Motion,
    change: Retarget,
    time: float,
    config: PlannerConfig,
    limits: FootstepPlanner,
) -> WalkingPlan:
    """Return a plan whose swinging foot stands from ``time`` [s] on, and is the one that carries; its ZMP continues.

    Where only this landing is given, the next lift-off may come as late as it was planned (``MovedSteps.waiting``).
    """
    (landing, *following), base, first = steps, plan.whole(), plan.landings.after(time)
    side, pose, reference = landing.footstep.side, landing.footstep.pose, plan.at(time)
    feet = plan.phase_at(time).feet | {side: StandingFoot(pose, config.landing_height)}
    later = replace(change, footholds=change.footholds[1:])
    if following:
        _check(plan.landings[first + 1 :] or following, following, feet, later, time, config, limits)
    remainder = Remainder(base, first + len(steps), motion) if first + len(steps) < len(plan.landings) else None
    start = _planning_state(plan, change, time)
    velocity = start.dcm_velocity + config.natural_frequency * (start.dcm_position - reference.dcm.position)
    start = altered(start, dcm_velocity=velocity, **{f"{side}_foot": pose})
    moved = MovedSteps(following, feet, remainder, config)
    if following and len(change.footholds) == 1:
        moved = moved.waiting(start, side, plan.landings[first].touch_down - time)
    rest = moved.planned(start, side)
    landings = rest.landings.following((landing,), (time,), 0)
    return base.spliced(time - HISTORY, time, WalkingPlan(rest.phases, rest.trajectory, landings, rest.end_time))


def captured(
    plan: WalkingPlan, capture: CaptureStep, time: float, config: PlannerConfig, limits: FootstepPlanner
) -> WalkingPlan:
    """Return a plan that steps at once from standing, as ``WalkingPlanner.capture_step`` describes it."""
    if plan.landings.after(time) < len(plan.landings):
        raise PlanningError("capture step: steps are under way, retarget the running one")
    _check_height(config, "capture step")
    phase, side, change = plan.phase_at(time), capture.side, capture.change
    steps = capture_steps(capture, phase.foot(side).pose.yaw, config)
    _check_times(capture, time)
    _check(steps, steps, phase.feet, change, time, config, limits)
    moved = MovedSteps(steps, phase.feet, None, config)
    foot, landing = phase.foot(side), moved.landed[side]
    top = max(float(landing.placement[0][2]), float(foot.placement[0][2])) + config.adapted_swing_height
    turn = landing.pose.yaw - foot.pose.yaw
    swing = RetargetedSwing.over(top, capture.lift_off, capture.touch_down, foot.at(time), landing.placement, turn)
    phases = standing_phase(time, phase.feet, side.other, is_walking=True), swinging_phase(swing, side, moved.landed)
    piece = _capture_trajectory(moved, capture, _pendulum_state(plan, change, time), phases[1])
    rest = moved.planned_after(piece)
    catching = WalkingPlan(phases, piece, steps[:1], rest.end_time).spliced(time, capture.touch_down, rest)
    return plan.whole().spliced(time - HISTORY, time, catching)


def _capture_trajectory(
    moved: MovedSteps, capture: CaptureStep, start: PendulumState, swinging: ContactPhase
) -> PendulumTrajectory:
    """Return the trajectory until touch-down over one ZMP, or over one until lift-off and another one in the swing."""
    time, lift_off, config = start.time, capture.lift_off, moved.config
    if capture.shift_zmp is None or lift_off <= time:
        return moved.until_touch_down(start, swinging)
    growth = math.exp(config.natural_frequency * (lift_off - time))
    lifted = capture.shift_zmp + growth * (start.dcm_position - capture.shift_zmp)
    shift = PendulumTrajectory.to_landing(start, lift_off, lifted, config)
    dcm, com, _ = shift.at(lift_off)
    swing = moved.until_touch_down(PendulumState(lift_off, dcm.position, com, start.plane), swinging)
    return shift.spliced(time, lift_off, swing)


def capture_steps(capture: CaptureStep, yaw: float, config: PlannerConfig) -> list[PlannedStep]:
    """Return the step that catches, its yaw counted near ``yaw`` [rad], and those that bring the feet side by side."""
    pose, side = capture.pose.near_yaw(yaw), capture.side
    middle = pose.beside(side.other, 0.5 * config.step_width)
    duration = 0.5 * (config.min_step_duration + config.max_step_duration)
    footstep = Footstep(side, pose, duration, UnicycleState(middle.x, middle.y, middle.yaw))
    catching = PlannedStep(footstep, capture.lift_off, capture.touch_down)
    return [catching, *_closing_steps([catching], capture.following, config)]


def capture_offset(capture: CaptureStep, config: PlannerConfig) -> NDArray:
    """Return the ``_offset`` after a capture step, [m], shape (2,)."""
    return _offset(capture_steps(capture, capture.pose.yaw, config), None, config)


def catching_offset(plan: WalkingPlan, index: int, config: PlannerConfig, is_quick: bool) -> tuple[NDArray, float]:
    """Return the ``_offset`` after a step of a plan that catches, [m], shape (2,), and the double support then, [s]."""
    left = len(plan.landings) - 1 - index
    change = Retarget((Foothold(),), following=left or CATCHING_STEPS, is_quick=is_quick)
    steps, motion = _moved_steps(plan.landings, index, change, config)
    remainder = Remainder(plan, index + len(steps), motion) if len(steps) <= left else None
    return _offset(steps, remainder, config), steps[1].lift_off - steps[0].touch_down


def _offset(steps: Sequence[PlannedStep], remainder: Remainder | None, config: PlannerConfig) -> NDArray:
    """Return the DCM less the ZMP point of the landed foot in the middle of the double support after the first step.

    The walk goes on with it over the other steps and the remainder; [m], shape (2,).
    """
    pose, side = steps[0].footstep.pose, steps[0].footstep.side
    feet = {side: StandingFoot(pose), side.other: StandingFoot(pose.beside(side.other, config.step_width))}
    _, _, end = MovedSteps(steps, feet, remainder, config).first_boundary()
    return np.array(end) - pose.zmp_point(side, config.zmp_offset)


def _moved_steps(
    landings: Timeline[PlannedStep], first: int, change: Retarget, config: PlannerConfig
) -> tuple[list[PlannedStep], Motion]:
    """Return the steps that are planned anew, and the motion of those that follow them.

    Planned anew are the steps to the given footholds and the two after them, whose swings begin elsewhere.
    """
    count = max(1, len(change.footholds))
    moved: list[PlannedStep] = []
    motion = Motion()
    for index, step in enumerate(landings[first : first + count + 2]):
        if index >= len(change.footholds):
            if moved and change.is_quick:
                double_support, swing = _soonest(step, landings[first + index - 1], config)
                lift_off = moved[-1].touch_down + double_support
                motion = replace(motion, delay=lift_off + swing - step.touch_down)
                moved.append(PlannedStep(step.footstep.moved(motion), lift_off, lift_off + swing))
            else:
                moved.append(step.moved(motion))
            continue
        foothold, old = change.footholds[index], step.footstep
        lift_off, touch_down = step.lift_off + motion.delay, step.touch_down + motion.delay
        pose = None
        if foothold.pose is not None:
            pose = foothold.pose.near_yaw(old.pose.yaw)
            motion = Motion(pose.x - old.pose.x, pose.y - old.pose.y, motion.delay)
        if foothold.lift_off is not None:
            lift_off = foothold.lift_off
        if foothold.touch_down is not None:
            touch_down = foothold.touch_down
            motion = Motion(motion.x, motion.y, touch_down - step.touch_down)
        moved.append(PlannedStep(old.moved(motion, pose), lift_off, touch_down))
    missing = change.following + count - (len(landings) - first)
    return moved + _closing_steps(moved, missing, config), motion


def _soonest(step: PlannedStep, before: PlannedStep, config: PlannerConfig) -> tuple[float, float]:
    """Return double support and swing of a step after another one, [s]: no longer than planned, as short as any.

    Steps last ``min_step_duration`` at least, and so long that the middle of the feet is no faster than ``max_speed``.
    """
    unicycles = step.footstep.unicycle, before.footstep.unicycle
    way = math.hypot(unicycles[0].x - unicycles[1].x, unicycles[0].y - unicycles[1].y)
    duration = max(config.min_step_duration, way / config.max_speed)
    swing = config.single_support(duration)
    return min(step.lift_off - before.touch_down, duration - swing), min(step.touch_down - step.lift_off, swing)


def _closing_steps(steps: Sequence[PlannedStep], count: int, config: PlannerConfig) -> list[PlannedStep]:
    """Return ``count`` steps on the spot that follow ``steps`` and bring the feet side by side."""
    closing: list[PlannedStep] = []
    last = steps[-1]
    for _ in range(count):
        duration = last.footstep.duration
        side, touch_down = last.footstep.side.other, last.touch_down + duration
        middle = last.footstep.pose.beside(side, 0.5 * config.step_width)
        pose = last.footstep.pose.beside(side, config.step_width)
        footstep = Footstep(side, pose, duration, UnicycleState(middle.x, middle.y, middle.yaw))
        last = PlannedStep(footstep, touch_down - config.single_support(duration), touch_down)
        closing.append(last)
    return closing


def _check(
    old: Sequence[PlannedStep],
    steps: Sequence[PlannedStep],
    feet: dict[Side, StandingFoot],
    change: Retarget,
    time: float,
    config: PlannerConfig,
    limits: FootstepPlanner,
) -> None:
    """Refuse footholds that no step may have, and times that no swing can keep, in place of the ``old`` steps."""
    if old[0].lift_off <= time and min(old[0].touch_down, steps[0].touch_down) < time + FROZEN_TIME:
        raise PlanningError(f"retarget: less than {FROZEN_TIME} s are left until touch-down")
    lift_off = change.footholds[0].lift_off if change.footholds else None
    if lift_off is not None and min(old[0].lift_off, lift_off) <= time:
        raise PlanningError(f"retarget: the foot lifts off at {lift_off:.3f} s, which is not ahead")
    poses = {side: foot.pose for side, foot in feet.items()}
    shortest = config.single_support(config.min_step_duration)
    for index, step in enumerate(steps[: len(change.footholds) + 1]):
        footstep, side = step.footstep, step.footstep.side
        duration = step.touch_down - step.lift_off
        before = old[index] if index < len(old) else step
        is_shortened = duration < before.touch_down - before.lift_off - 1e-9
        if is_shortened and duration < shortest - 1e-9:
            raise PlanningError(
                f"retarget: a single support of {duration:.3f} s, planner.min_step_duration allows {shortest:.3f} s",
                ["planner.min_step_duration"],
            )
        if index < len(change.footholds) or footstep.pose != before.footstep.pose:
            limits.check(footstep.pose, poses[side.other], side)
        poses[side] = footstep.pose


def _check_times(capture: CaptureStep, time: float) -> None:
    """Refuse a capture step that begins before ``time`` [s], or is too short."""
    if not time <= capture.lift_off < capture.touch_down:
        raise PlanningError(
            f"capture step: it is {time:.3f} s; lift-off at {capture.lift_off:.3f} s and touch-down at"
            f" {capture.touch_down:.3f} s have to follow in this order"
        )
    duration = capture.touch_down - capture.lift_off
    if duration < _SHORTEST_CAPTURE - 1e-9:
        raise PlanningError(f"capture step: a single support of {duration:.3f} s, at least {_SHORTEST_CAPTURE} s")


def _falling(height: float, rate: float, duration: float) -> tuple[float, ...]:
    """Return the cubic, lowest power first, with which a rise ends, [m], after a duration [s]; both ends are smooth."""
    return (
        height,
        rate,
        -(3.0 * height / duration + 2.0 * rate) / duration,
        (2.0 * height / duration + rate) / duration**2,
    )


def _check_height(config: PlannerConfig, name: str) -> None:
    if config.pendulum.com_height_amplitude != 0.0:
        raise PlanningError(
            f"{name}: only plans of constant CoM height, set planner.pendulum.com_height_amplitude to 0"
        )


def _pendulum_state(plan: WalkingPlan, change: Retarget, time: float) -> PendulumState:
    """Return DCM and CoM from which a changed plan begins: those of the change, or of the plan."""
    reference = plan.at(time)
    dcm = reference.dcm.position if change.dcm_position is None else change.dcm_position
    com = reference.com_position if change.com_position is None else change.com_position
    return PendulumState(time, dcm, com, plan.plane)


def _planning_state(plan: WalkingPlan, change: Retarget, time: float) -> PlanningState:
    """Return the state from which a plan that is changed in double support begins."""
    reference, phase, start = plan.at(time), plan.phase_at(time), _pendulum_state(plan, change, time)
    left, right, dcm, com = phase.left.pose, phase.right.pose, start.dcm_position, start.com_position
    return PlanningState(time, left, right, dcm, reference.dcm.velocity, com, reference.com_velocity, plan.plane)


def _rest_of_swing(
    phase: ContactPhase, reference: WalkingReference, moved: MovedSteps, change: Retarget
) -> RetargetedSwing:
    """Return the rest of a swing to a new landing: up, and down at the end; higher where it is a catch."""
    running, config, time, old = moved.steps[0], moved.config, reference.time, phase.swing
    side, touch_down = running.footstep.side, running.touch_down
    assert old is not None
    now, after = reference.foot(side), moved.landed[side]
    turn = old.yaw_ahead(time) + after.pose.yaw - phase.foot(side).pose.yaw
    ground = float(after.placement[0][2])
    top = max(ground, float(phase.foot(side.other).placement[0][2]))
    top += config.adapted_swing_height if change.following else config.swing_height
    up_and_down = RetargetedSwing.over(top, time, touch_down, now, after.placement, turn)
    for swing in up_and_down, replace(up_and_down, levels=()):
        if swing.lowest >= min(ground, float(now.position[2])) - _CLEARANCE:
            return swing
    raise PlanningError(
        f"retarget: the {side} foot comes down already and would touch the ground before {touch_down:.2f} s"
    )
