"""Retarget of a plan: the running swing and the next footholds are moved in place and time while the robot walks."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradiva.common import DcmReference, FootReference, NDArray, PlanningError, Side
from gradiva.contacts import ContactPlane
from gradiva.planner.dcm_trajectory import DcmEnd, PendulumState, PendulumTrajectory, SwingResponse
from gradiva.planner.footstep_planner import FootstepPlanner
from gradiva.planner.footsteps import (
    FootPose,
    Footstep,
    GaitSchedule,
    Motion,
    PlannedStep,
    PlanningState,
)
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.unicycle import UnicycleState
from gradiva.planner.walking_plan import (
    ContactPhase,
    RetargetedSwing,
    StandingFoot,
    Timeline,
    WalkingPlan,
    contact_phases,
    standing_phase,
    swinging_phase,
)

_HISTORY = 30.0  # [s] of the past that a plan keeps

_FROZEN = 0.06  # [s] before touch-down, in which no sole can follow another landing
_DESCENT = 0.18  # [s] before touch-down, in which the sole of a moved step comes down
_RISE = 0.3  # [s] in which it goes up at most
_SHORTEST_RISE = 0.06  # [s] for less it only comes down
_LIFT_SPEED = 0.2  # [m/s] with which it goes up at most: a knee that is nearly straight follows no faster
_QUINTIC_PEAK = 1.875  # [-] of the speed of a quintic from rest to rest, over way / duration
_SHORTEST_CAPTURE = 0.2  # [s] single support of a capture step, in which no sole gets far
_CLEARANCE = 1e-3  # [m] of the rest of a swing below its landing, at most


@dataclass(frozen=True, slots=True)
class Foothold:
    """New landing of one step; what is None stays.

    Attributes:
        pose: Where the foot lands (world).
        touch_down: [s].
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
    following: int = 2

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
            move and wait with the last of them.
        dcm_position: From which the DCM reference restarts, [m], shape (2,); None: it continues.
        com_position: From which the CoM reference restarts, [m], shape (3,); None: it continues.
        following: Number of steps that follow the last of the footholds at least: where the plan has fewer, steps that
            bring the feet side by side are appended, so that a step that catches a push is not the last one. Where it
            is not 0 the swing is that of a catch: higher.
    """

    footholds: tuple[Foothold, ...]
    dcm_position: NDArray | None = None
    com_position: NDArray | None = None
    following: int = 0

    def __post_init__(self) -> None:
        for vector in (self.dcm_position, self.com_position):
            if vector is not None and not all(map(math.isfinite, vector)):
                raise PlanningError(f"retarget: the plan cannot restart from {vector}")


class RetargetedPlan(WalkingPlan):
    """Plan whose running step was moved: what follows its touch-down is translated and delayed when it is asked for.

    Until touch-down a change takes the place of the last one, so that a plan does not grow with the number of changes.

    Attributes:
        base: The plan as it was before the first change of the running step.
        phase: The running swing, from the change on.
        piece: DCM and CoM until touch-down.
        motion: Of the steps of ``base`` that follow the moved ones.
        touch_down: Of the running step, [s].
    """

    def __init__(
        self,
        base: WalkingPlan,
        before: RetargetedPlan | None,
        running: tuple[PlannedStep, ContactPhase, PendulumTrajectory],
        steps: Timeline[PlannedStep],
        motion: Motion,
        end_time: float,
        make_rest: Callable[[], WalkingPlan],
    ) -> None:
        """Take the parts.

        Args:
            base: See above.
            before: The plan after the change before this one, of the same step.
            running: Step, swing and pendulum until touch-down.
            steps: All steps.
            motion: See above.
            end_time: Of the last double support, [s].
            make_rest: Returns the plan from touch-down on.
        """
        step, self.phase, self.piece = running
        self.base, self.motion, self.touch_down = base, motion, step.touch_down
        self.steps, self.end_time = steps, end_time
        self.start_time = base.start_time
        self._step, self._make_rest = step, make_rest
        self._before = None if before is None else (before.phase, before.piece)
        self._prepare()

    def __getattr__(self, name: str) -> Any:
        if name not in ("phases", "trajectory", "_whole"):
            raise AttributeError(f"{type(self).__name__} has no {name}")
        whole = self._whole = self._completed()
        self.phases, self.trajectory = whole.phases, whole.trajectory
        return getattr(self, name)

    def runs_at(self, time: float) -> bool:
        """Return whether the foot of the moved step is in the air at ``time`` [s], after the change."""
        return self.phase.start_time <= time < self.touch_down

    def phase_at(self, time: float) -> ContactPhase:
        """See ``WalkingPlan.phase_at``."""
        return self.phase if self.runs_at(time) else super().phase_at(time)

    @property
    def plane(self) -> ContactPlane:
        """See ``WalkingPlan.plane``."""
        return self.piece.plane

    def dcm_at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """See ``WalkingPlan.dcm_at``."""
        return self.piece.at(time) if self.runs_at(time) else super().dcm_at(time)

    def whole(self) -> WalkingPlan:
        """See ``WalkingPlan.whole``."""
        whole: WalkingPlan = self._whole
        return whole

    def _completed(self) -> WalkingPlan:
        rest = self._make_rest()
        start = self.phase.start_time
        running = WalkingPlan((self.phase,), self.piece, (self._step,), rest.end_time)
        past = self.base
        if self._before is not None:
            phase, piece = self._before
            past = past.spliced(start - _HISTORY, phase.start_time, WalkingPlan((phase,), piece, (), rest.end_time))
        return past.spliced(start - _HISTORY, start, running.spliced(start, self.touch_down, rest))


@dataclass(frozen=True, slots=True, eq=False)
class _Remainder:
    """Steps of a plan that are translated and delayed, from one index on.

    Attributes:
        plan: To which they belong.
        first: Index of the first one.
        motion: Their translation and delay.
    """

    plan: WalkingPlan
    first: int
    motion: Motion

    @property
    def lift_off(self) -> float:
        """Lift-off of the first of them, delayed, [s]."""
        return self.plan.landings[self.first].lift_off + self.motion.delay

    def boundary(self, config: PlannerConfig) -> NDArray:
        """Return the DCM in the middle of the double support before them, which the recursion needs.

        That of the plan is remembered: a step is moved many times.
        """
        known = self.plan.boundaries.get(self.first)
        if known is None:
            known = self.plan.boundaries[self.first] = self._planned_boundary(config)
        boundary: NDArray = known + np.array((self.motion.x, self.motion.y))
        return boundary

    def _planned_boundary(self, config: PlannerConfig) -> NDArray:
        before, last, following = self.plan.landings[self.first - 2 : self.first + 1]
        support = before.footstep.pose.zmp_point(before.footstep.side, config.zmp_offset)
        landing = self.plan.dcm_at(last.touch_down)[0].position
        growth = math.exp(0.5 * config.natural_frequency * (following.lift_off - last.touch_down))
        boundary: NDArray = support + growth * (landing - support)
        return boundary

    def end(self, config: PlannerConfig) -> DcmEnd:
        """Return the DCM at which the steps before them have to end."""
        lift_off = self.plan.dcm_at(self.lift_off - self.motion.delay)[0]
        shift = np.array((self.motion.x, self.motion.y))
        return DcmEnd(self.boundary(config), lift_off.position + shift, lift_off.velocity)

    def follows(self, part: WalkingPlan) -> WalkingPlan:
        """Return ``part`` with these steps after it, instead of the stand at its end."""
        old, motion = self.plan, self.motion
        lift_off, com_position = old.landings[self.first].lift_off, part.trajectory.at(self.lift_off)[1]
        index = bisect_left(old.supports.times, lift_off - 1e-9)
        assert isinstance(old.trajectory, PendulumTrajectory)
        trajectory = old.trajectory.moved(lift_off, motion, com_position)
        return WalkingPlan(
            old.supports.following(part.supports[:-1], part.supports.times[:-1], index, motion),
            part.trajectory.spliced(part.start_time, self.lift_off, trajectory),
            old.landings.following(part.steps, part.landings.times, self.first, motion),
            old.end_time + motion.delay,
        )


def retargeted(
    plan: WalkingPlan, change: Retarget, time: float, config: PlannerConfig, limits: FootstepPlanner
) -> WalkingPlan:
    """Return a plan that goes on otherwise from ``time`` [s] on, as ``WalkingPlanner.retarget`` describes it."""
    first = plan.landings.after(time)
    if first == len(plan.landings):
        raise PlanningError("retarget: no step is left, the robot stands or closes its last double support")
    if config.com_height_amplitude != 0.0:
        raise PlanningError("retarget: only plans of constant CoM height, set planner.com_height_amplitude to 0")
    phase = plan.phase_at(time)
    steps, motion = _moved_steps(plan.landings, first, change, config)
    feet = {side: phase.foot(side) for side in Side}
    _check(plan.landings, first, steps, feet, change, time, config, limits)
    before = plan if isinstance(plan, RetargetedPlan) and plan.runs_at(time) else None
    base = plan.whole() if before is None else before.base
    total = motion if before is None else before.motion + motion
    after = first + len(steps)
    remainder = _Remainder(base, after, total) if after < len(plan.landings) else None
    reference = plan.at(time)
    dcm = reference.dcm.position if change.dcm_position is None else change.dcm_position
    com = reference.com_position if change.com_position is None else change.com_position
    if phase.swing is None:
        left, right = phase.left.pose, phase.right.pose
        start = PlanningState(time, left, right, dcm, reference.dcm.velocity, com, reference.com_velocity, plan.plane)
        rest = _planned_on(steps, start, feet, phase.stance_foot, remainder, config)
        return base.spliced(time - _HISTORY, time, rest)
    landing = StandingFoot(steps[0].footstep.pose, config.landing_height)
    foot = reference.foot(steps[0].footstep.side)
    swing = _rest_of_swing(phase, foot, steps[0], landing, time, change, config)
    landed = feet | {steps[0].footstep.side: landing}
    swinging = swinging_phase(swing, steps[0].footstep.side, landed)
    piece = _until_touch_down(steps, PendulumState(time, dcm, com, plan.plane), swinging, feet, remainder, config)
    moved = plan.landings.following(
        (*plan.landings[:first], *steps),
        (*plan.landings.times[:first], *(step.touch_down for step in steps)),
        first + len(steps),
        motion,
    )

    is_last = remainder is None
    end_time = steps[-1].touch_down + config.last_double_support if is_last else base.end_time + total.delay

    def rest_of_plan() -> WalkingPlan:
        state = _state(piece, steps[0].touch_down, landed)
        return _planned_on(steps[1:], state, landed, steps[0].footstep.side.other, remainder, config)

    return RetargetedPlan(base, before, (steps[0], swinging, piece), moved, total, end_time, rest_of_plan)


def captured(
    plan: WalkingPlan, capture: CaptureStep, time: float, config: PlannerConfig, limits: FootstepPlanner
) -> WalkingPlan:
    """Return a plan that steps at once from standing, as ``WalkingPlanner.capture_step`` describes it."""
    if plan.landings.after(time) < len(plan.landings):
        raise PlanningError("capture step: steps are under way, retarget the running one")
    if config.com_height_amplitude != 0.0:
        raise PlanningError("capture step: only plans of constant CoM height, set planner.com_height_amplitude to 0")
    change, phase = capture.change, plan.phase_at(time)
    feet = {side: phase.foot(side) for side in Side}
    steps = capture_steps(capture, feet[capture.side].pose.yaw, config)
    if not time <= capture.lift_off < capture.touch_down:
        raise PlanningError(
            f"capture step: it is {time:.3f} s; lift-off at {capture.lift_off:.3f} s and touch-down at"
            f" {capture.touch_down:.3f} s have to follow in this order"
        )
    if capture.touch_down - capture.lift_off < _SHORTEST_CAPTURE - 1e-9:
        duration = capture.touch_down - capture.lift_off
        raise PlanningError(f"capture step: a single support of {duration:.3f} s, at least {_SHORTEST_CAPTURE} s")
    _check(Timeline(steps, [step.touch_down for step in steps]), 0, steps, feet, change, time, config, limits)
    reference = plan.at(time)
    dcm = reference.dcm.position if change.dcm_position is None else change.dcm_position
    com = reference.com_position if change.com_position is None else change.com_position
    landing = StandingFoot(steps[0].footstep.pose, config.landing_height)
    landed = feet | {capture.side: landing}
    foot, lift_off, touch_down = feet[capture.side], capture.lift_off, capture.touch_down
    top = max(float(landing.placement[0][2]), float(foot.placement[0][2])) + config.adapted_swing_height
    swing = RetargetedSwing(
        lift_off,
        touch_down,
        foot.at(time),
        landing.placement,
        _levels(foot.at(time), top, lift_off, touch_down),
        landing.pose.yaw - foot.pose.yaw,
    )
    phases = (
        standing_phase(time, feet, capture.side.other, is_walking=True),
        swinging_phase(swing, capture.side, landed),
    )
    start, shift = PendulumState(time, dcm, com, plan.plane), None
    if capture.shift_zmp is not None and capture.lift_off > time:
        growth = math.exp(config.natural_frequency * (capture.lift_off - time))
        lifted = capture.shift_zmp + growth * (dcm - capture.shift_zmp)
        shift = PendulumTrajectory.over_zmp(start, capture.lift_off, lifted, config)
        at_lift_off, com, _ = shift.at(capture.lift_off)
        start = PendulumState(capture.lift_off, at_lift_off.position, com, plan.plane)
    piece = _until_touch_down(steps, start, phases[1], feet, None, config)
    if shift is not None:
        piece = shift.spliced(time, capture.lift_off, piece)
    state = _state(piece, capture.touch_down, landed)
    rest = _planned_on(steps[1:], state, landed, capture.side.other, None, config)
    catching = WalkingPlan(phases, piece, steps[:1], rest.end_time).spliced(time, capture.touch_down, rest)
    return plan.whole().spliced(time - _HISTORY, time, catching)


def capture_steps(capture: CaptureStep, yaw: float, config: PlannerConfig) -> list[PlannedStep]:
    """Return the step that catches, its yaw counted near ``yaw`` [rad], and those that bring the feet side by side."""
    pose, side = capture.pose.near_yaw(yaw), capture.side
    middle = pose.beside(side.other, 0.5 * config.step_width)
    duration = 0.5 * (config.min_step_duration + config.max_step_duration)
    footstep = Footstep(side, pose, duration, UnicycleState(middle.x, middle.y, middle.yaw))
    catching = PlannedStep(footstep, capture.lift_off, capture.touch_down)
    return [catching, *_closing_steps([catching], capture.following, config)]


def capture_offset(capture: CaptureStep, config: PlannerConfig) -> NDArray:
    """Return the DCM less the ZMP point of the landing foot in the middle of the double support after it, [m]."""
    steps = capture_steps(capture, capture.pose.yaw, config)
    beside = capture.pose.beside(capture.side.other, config.step_width)
    feet = {capture.side: StandingFoot(capture.pose), capture.side.other: StandingFoot(beside)}
    _, _, end = _first_boundary(steps, feet, None, config, None)
    return np.array(end) - capture.pose.zmp_point(capture.side, config.zmp_offset)


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


def _closing_steps(steps: Sequence[PlannedStep], count: int, config: PlannerConfig) -> list[PlannedStep]:
    """Return ``count`` steps on the spot that follow ``steps`` and bring the feet side by side."""
    closing: list[PlannedStep] = []
    last = steps[-1]
    for _ in range(count):
        side, duration = last.footstep.side, last.footstep.duration
        middle = last.footstep.pose.beside(side.other, 0.5 * config.step_width)
        pose = last.footstep.pose.beside(side.other, config.step_width)
        footstep = Footstep(side.other, pose, duration, UnicycleState(middle.x, middle.y, middle.yaw))
        last = PlannedStep(
            footstep, last.touch_down + duration - config.single_support(duration), last.touch_down + duration
        )
        closing.append(last)
    return closing


def _check(
    old: Timeline[PlannedStep],
    first: int,
    steps: Sequence[PlannedStep],
    feet: dict[Side, StandingFoot],
    change: Retarget,
    time: float,
    config: PlannerConfig,
    limits: FootstepPlanner,
) -> None:
    """Refuse footholds that no step may have, and times that no swing can keep."""
    if old[first].lift_off <= time and min(old[first].touch_down, steps[0].touch_down) < time + _FROZEN:
        raise PlanningError(f"retarget: less than {_FROZEN} s are left until touch-down")
    lift_off = change.footholds[0].lift_off if change.footholds else None
    if lift_off is not None and min(old[first].lift_off, lift_off) <= time:
        raise PlanningError(f"retarget: the foot lifts off at {lift_off:.3f} s, which is not ahead")
    poses = {side: foot.pose for side, foot in feet.items()}
    shortest = config.single_support(config.min_step_duration)
    for index, step in enumerate(steps[: len(change.footholds) + 1]):
        footstep, side = step.footstep, step.footstep.side
        duration = step.touch_down - step.lift_off
        before = old[first + index] if first + index < len(old) else step
        is_shortened = duration < before.touch_down - before.lift_off - 1e-9
        if is_shortened and duration < shortest - 1e-9:
            raise PlanningError(
                f"retarget: a single support of {duration:.3f} s, planner.min_step_duration allows {shortest:.3f} s",
                ["planner.min_step_duration"],
            )
        if index < len(change.footholds) or footstep.pose != before.footstep.pose:
            limits.check(footstep.pose, poses[side.other], side)
        poses[side] = footstep.pose


def _until_touch_down(
    steps: Sequence[PlannedStep],
    start: PendulumState,
    swinging: ContactPhase,
    feet: dict[Side, StandingFoot],
    remainder: _Remainder | None,
    config: PlannerConfig,
) -> PendulumTrajectory:
    """Return the trajectory over a constant ZMP until the touch-down of the first step."""
    touch_down = steps[0].touch_down
    if not config.leg_momentum.is_planned:
        landing = _landing_dcm(steps, feet, remainder, config)
        return PendulumTrajectory.over_zmp(start, touch_down, landing, config)
    landed = {side: swinging.foot(side) for side in Side}
    following = [step.footstep for step in steps[1:]]
    schedule = _schedule(steps[1:], landed, touch_down, remainder, config)
    phases = contact_phases(following, schedule, landed, steps[0].footstep.side.other, config)
    responses = np.vstack((np.zeros(2), SwingResponse.of(phases, config).at_lift_off))
    landing = _landing_dcm(steps, feet, remainder, config, responses)
    return PendulumTrajectory.to_landing(start, touch_down, landing, config, SwingResponse.of((swinging,), config))


def _landing_dcm(
    steps: Sequence[PlannedStep],
    feet: dict[Side, StandingFoot],
    remainder: _Remainder | None,
    config: PlannerConfig,
    responses: NDArray | None = None,
) -> NDArray:
    """Return the DCM that the recursion over moved footsteps has at the first touch-down.

    Args:
        steps: That are planned anew.
        feet: Where they stood before.
        remainder: Steps that follow.
        config: Frequency, α, ZMP offset.
        responses: Response of the DCM to the swinging leg at each lift-off, [m], shape (N, 2); None: massless legs.
    """
    support, boundary, end = _first_boundary(steps, feet, remainder, config, responses)
    return np.array(_between(support, end, math.exp(config.natural_frequency * (steps[0].touch_down - boundary))))


_Point = tuple[float, float]


def _first_boundary(
    steps: Sequence[PlannedStep],
    feet: dict[Side, StandingFoot],
    remainder: _Remainder | None,
    config: PlannerConfig,
    responses: NDArray | None,
) -> tuple[_Point, float, _Point]:
    """Return the ZMP of the first step, and the end of that step for the DCM, in time and place, by the recursion."""
    zeta, (forward, outward) = config.natural_frequency, config.zmp_offset
    zmps = {side: feet[side].pose.point(forward, side.sign * outward) for side in Side}
    supports = []
    for step in steps:
        side = step.footstep.side
        supports.append(zmps[side.other])
        zmps[side] = step.footstep.pose.point(forward, side.sign * outward)
    boundaries = _boundaries(steps, remainder, config)
    if remainder is None:
        x, y = _between(supports[-1], zmps[steps[-1].footstep.side], config.last_step_alpha)
    else:
        x, y = remainder.boundary(config).tolist()
    for index in range(len(steps) - 1, 0, -1):
        begin = boundaries[index - 1]
        x, y = _between(supports[index], (x, y), math.exp(zeta * (begin - boundaries[index])))
        if responses is not None:
            decay = math.exp(zeta * (begin - steps[index].lift_off))
            x, y = x + decay * responses[index, 0], y + decay * responses[index, 1]
    return supports[0], boundaries[0], (x, y)


def _between(begin: _Point, end: _Point, ratio: float) -> _Point:
    """Return the point at a fraction of the way between two."""
    return begin[0] + ratio * (end[0] - begin[0]), begin[1] + ratio * (end[1] - begin[1])


def _boundaries(steps: Sequence[PlannedStep], remainder: _Remainder | None, config: PlannerConfig) -> list[float]:
    """Return the middle of the double support that follows each step, [s]."""
    last = steps[-1].footstep.duration
    after = steps[-1].touch_down + last - config.single_support(last) if remainder is None else remainder.lift_off
    lift_offs = [*(step.lift_off for step in steps[1:]), after]
    return [0.5 * (step.touch_down + lift_off) for step, lift_off in zip(steps, lift_offs, strict=True)]


def _planned_on(
    steps: Sequence[PlannedStep],
    start: PlanningState,
    feet: dict[Side, StandingFoot],
    stance_foot: Side,
    remainder: _Remainder | None,
    config: PlannerConfig,
) -> WalkingPlan:
    """Return the plan of ``steps`` from a double support on, with the remainder after them."""
    footsteps = [step.footstep for step in steps]
    schedule = _schedule(steps, feet, start.time, remainder, config)
    phases = contact_phases(footsteps, schedule, feet, stance_foot, config)
    swings = SwingResponse.of(phases, config)
    end = None if remainder is None else remainder.end(config)
    trajectory = PendulumTrajectory.plan(schedule, start, config, swings, end)
    part = WalkingPlan(tuple(phases), trajectory, tuple(steps), schedule.end_time)
    return part if remainder is None else remainder.follows(part)


def _schedule(
    steps: Sequence[PlannedStep],
    feet: dict[Side, StandingFoot],
    time: float,
    remainder: _Remainder | None,
    config: PlannerConfig,
) -> GaitSchedule:
    """Return the schedule of steps from a double support at ``time`` [s] on, with the times that they really have."""
    zmps = {side: feet[side].pose.zmp_point(side, config.zmp_offset) for side in Side}
    supports = np.empty((len(steps), 2))
    for row, step in enumerate(steps):
        supports[row] = zmps[step.footstep.side.other]
        zmps[step.footstep.side] = step.footstep.pose.zmp_point(step.footstep.side, config.zmp_offset)
    touch_downs = np.array([step.touch_down for step in steps])
    last_landing = zmps[steps[-1].footstep.side] if steps else supports
    end_time = (steps[-1].touch_down if steps else time) + config.last_double_support
    return GaitSchedule(
        start_time=time,
        lift_offs=np.array([step.lift_off for step in steps]),
        touch_downs=touch_downs,
        boundaries=np.array(_boundaries(steps, remainder, config) if steps else []),
        end_time=end_time if remainder is None else remainder.lift_off,
        supports=supports,
        last_landing=last_landing,
        middle=0.5 * (zmps[Side.LEFT] + zmps[Side.RIGHT]),
    )


def _rest_of_swing(
    phase: ContactPhase,
    now: FootReference,
    running: PlannedStep,
    after: StandingFoot,
    time: float,
    change: Retarget,
    config: PlannerConfig,
) -> RetargetedSwing:
    """Return the rest of a swing to a new landing: up, and down at the end; higher where it is a catch."""
    side, touch_down = running.footstep.side, running.touch_down
    old = phase.swing
    assert old is not None
    left = old.yaw_ahead(time) + after.pose.yaw - phase.foot(side).pose.yaw
    ground = float(after.placement[0][2])
    top = max(ground, float(phase.foot(side.other).placement[0][2]))
    top += config.adapted_swing_height if change.following else config.swing_height
    for levels in _levels(now, top, time, touch_down), ():
        swing = RetargetedSwing(time, touch_down, now, after.placement, levels, left)
        if swing.lowest >= min(ground, float(now.position[2])) - _CLEARANCE:
            return swing
    raise PlanningError(
        f"retarget: the {side} foot comes down already and would touch the ground before {touch_down:.2f} s"
    )


def _levels(foot: FootReference, top: float, time: float, touch_down: float) -> tuple[tuple[float, float], ...]:
    """Return times and heights at which the height rests: as high as the time that is left allows."""
    up = touch_down - _DESCENT - time
    if up < _SHORTEST_RISE:
        return ()
    rise = min(up, _RISE)
    height, velocity = float(foot.position[2]), float(foot.twist[2])
    level = min(top, height + rise * max(_LIFT_SPEED / _QUINTIC_PEAK, 0.5 * velocity))
    if up - rise < 1e-3:
        return ((time + up, level),)
    return (time + rise, level), (time + up, level)


def _state(piece: PendulumTrajectory, time: float, feet: dict[Side, StandingFoot]) -> PlanningState:
    """Return the state at the end of a piece of a plan, with the feet on the ground."""
    dcm, com_position, com_velocity = piece.at(time)
    left, right = (feet[side].pose for side in Side)
    return PlanningState(time, left, right, dcm.position, dcm.velocity, com_position, com_velocity, piece.plane)
