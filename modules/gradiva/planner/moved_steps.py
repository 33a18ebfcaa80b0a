"""Steps that are planned anew while the robot walks: their swing, and the steps that are translated and delayed."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from gradiva.common import DcmReference, FootReference, NDArray, Side, WalkingReference, so3, unchecked
from gradiva.contacts import ContactPlane
from gradiva.planner.contact_phases import contact_phases
from gradiva.planner.dcm_segments import DcmEnd, PendulumState, SwingResponse, shortest_within, weight_shifts
from gradiva.planner.dcm_trajectory import PendulumTrajectory
from gradiva.planner.footsteps import FootPose, GaitSchedule, Motion, PlannedStep, PlanningState, Point, zmp_points
from gradiva.planner.planner_config import LAST_STEP_ALPHA, PlannerConfig
from gradiva.planner.swing_foot import StandingFoot, second_derivative
from gradiva.planner.walking_plan import HISTORY, ContactPhase, Timeline, WalkingPlan

_SAMPLED_POWERS = np.power.outer(np.linspace(0.0, 1.0, 41), range(6))

_DESCENT = 0.18  # [s] before touch-down, in which the sole of a moved step comes down
_RISE = 0.3  # [s] in which it goes up at most
_SHORTEST_RISE = 0.06  # [s] for less it only comes down
_LIFT_SPEED = 0.2  # [m/s] with which it goes up at most: a knee that is nearly straight follows no faster
_QUINTIC_PEAK = 1.875  # [-] of the speed of a quintic from rest to rest, over way / duration


@dataclass(eq=False)
class RetargetedSwing:
    r"""Rest of a swing whose landing was moved in place or time.

    Position and rotation vector :math:`b`, with :math:`R = \mathrm{Exp}(b) R_0`, are quintics from position, velocity
    and acceleration at the retarget to rest at the new landing; the height has several, with rest between them: a foot
    that moves far, on a robot that tilts, goes up, stays up, and comes down last. At :math:`b = 0` rate and
    acceleration of :math:`b` are those of the rotation, so the swing continues in all derivatives; then

    .. math:: \omega = J \dot b, \quad \dot\omega = J \ddot b + \dot J \dot b, \qquad
              J = I + \frac{1 - \cos\theta}{\theta^2} S(b) + \frac{\theta - \sin\theta}{\theta^3} S(b)^2, \quad
              \theta = |b|

    Attributes:
        start_time: Of the retarget, [s].
        end_time: Touch-down, [s].
        start: Reference of the sole at the retarget.
        end: Position ([m], shape (3,)) and rotation (shape (3, 3)) at touch-down.
        levels: Times ([s]) and heights (world, [m]) on the way at which the height rests.
        turn: Change of heading until touch-down, not wrapped, [rad].
    """

    start_time: float
    end_time: float
    start: FootReference
    end: tuple[NDArray, NDArray]
    levels: tuple[tuple[float, float], ...]
    turn: float

    def __post_init__(self) -> None:
        start, (position, rotation) = self.start, self.end
        self._duration = duration = self.end_time - self.start_time
        vector = so3.log(rotation @ start.rotation.T).tolist()
        begin, end = [*start.position.tolist(), 0.0, 0.0, 0.0], [*position.tolist(), *vector]
        velocity, acceleration = start.twist.tolist(), start.acceleration.tolist()
        self._powers = [quintic(*state, duration) for state in zip(begin, velocity, acceleration, end, strict=True)]
        self._turns = any(vector) or any(velocity[3:]) or any(acceleration[3:])
        state, now = (begin[2], velocity[2], acceleration[2]), self.start_time
        self._heights: list[tuple[float, float, Quintic]] = []  # begin, duration and powers of the pieces
        for time, height in (*self.levels, (self.end_time, end[2])):
            self._heights.append((now, time - now, quintic(*state, height, time - now)))
            state, now = (height, 0.0, 0.0), time

    @classmethod
    def over(
        cls,
        top: float,
        start_time: float,
        end_time: float,
        start: FootReference,
        end: tuple[NDArray, NDArray],
        turn: float,
    ) -> Self:
        """Return the swing that rests at ``top`` (world, [m]), or as high as the time that is left allows."""
        return cls(start_time, end_time, start, end, _levels(start, top, start_time, end_time), turn)

    def yaw_ahead(self, time: float) -> float:
        """Return the change of heading from ``time`` [s] to touch-down, [rad]."""
        return self.turn - _evaluated(self._powers[5], time - self.start_time, self._duration)[0]

    def at(self, time: float) -> FootReference:
        """Return the sole's reference at ``time`` [s]; it rests after the swing."""
        elapsed, duration = time - self.start_time, self._duration
        x, vx, ax = _evaluated(self._powers[0], elapsed, duration)
        y, vy, ay = _evaluated(self._powers[1], elapsed, duration)
        z, vz, az = self._height(time)
        rotation, spin, push = self.start.rotation, np.zeros(3), np.zeros(3)
        if self._turns:
            vector, rate, change = np.array([_evaluated(powers, elapsed, duration) for powers in self._powers[3:]]).T
            rotation = so3.exp(vector).dot(rotation)
            spin, push = _rates_of_rotation(vector, rate, change)
        return unchecked(
            FootReference,
            position=np.array((x, y, z)),
            rotation=rotation,
            twist=np.array((vx, vy, vz, *spin)),
            acceleration=np.array((ax, ay, az, *push)),
            in_contact=False,
        )

    def _height(self, time: float) -> tuple[float, float, float]:
        """Return the height of the sole and its first two derivatives."""
        begin, duration, powers = self._piece(time)
        return _evaluated(powers, time - begin, duration)

    def _piece(self, time: float) -> tuple[float, float, Quintic]:
        """Return begin, duration and powers of the height's quintic at ``time`` [s]."""
        return next((piece for piece in self._heights if time < piece[0] + piece[1]), self._heights[-1])

    @property
    def lowest(self) -> float:
        """Least height of the sole until touch-down, [m]."""
        _, _, powers = self._heights[0]  # the others begin and end at rest: there they have their least height
        return min(float((_SAMPLED_POWERS @ powers).min()), float(self.end[0][2]))

    @property
    def pieces(self) -> NDArray:
        """Durations of the k pieces of the height, [s], shape (k,)."""
        return np.array([duration for _, duration, _ in self._heights])

    def accelerations(self) -> NDArray:
        """Return the linear acceleration in the k pieces, as ``Swing``, shape (k, 4, 3)."""
        rate = 1.0 / self._duration
        cubics = np.zeros((len(self._heights), 4, 3))
        for cubic, (begin, duration, powers) in zip(cubics, self._heights, strict=True):
            for axis in range(2):
                along = second_derivative(self._powers[axis], (begin - self.start_time) * rate, rate)
                cubic[: len(along), axis] = along
            up = second_derivative(powers, 0.0, 1.0 / duration)
            cubic[: len(up), 2] = up
        return cubics


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


Quintic = tuple[float, float, float, float, float, float]


def quintic(position: float, velocity: float, acceleration: float, end: float, duration: float) -> Quintic:
    """Return the quintic from a state to rest at ``end``, in t / duration, lowest power first."""
    way, v, a = end - position, velocity * duration, acceleration * duration * duration
    return (
        position,
        v,
        0.5 * a,
        10.0 * way - 6.0 * v - 1.5 * a,
        -15.0 * way + 8.0 * v + 1.5 * a,
        6.0 * way - 3.0 * v - 0.5 * a,
    )


def _evaluated(powers: Quintic, elapsed: float, duration: float) -> tuple[float, float, float]:
    """Return a quintic in t / duration and its first two derivatives in t."""
    r = min(1.0, max(0.0, elapsed / duration))
    c0, c1, c2, c3, c4, c5 = powers
    value = c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * c5))))
    rate = c1 + r * (2.0 * c2 + r * (3.0 * c3 + r * (4.0 * c4 + r * 5.0 * c5)))
    bend = 2.0 * c2 + r * (6.0 * c3 + r * (12.0 * c4 + r * 20.0 * c5))
    return value, rate / duration, bend / (duration * duration)


def _rates_of_rotation(vector: NDArray, rate: NDArray, acceleration: NDArray) -> tuple[NDArray, NDArray]:
    """Return angular velocity and acceleration of Exp(b) from b and its derivatives, world axes."""
    square = float(vector.dot(vector))
    if square > 1e-4:
        angle = math.sqrt(square)
        sine, cosine = math.sin(angle), math.cos(angle)
        a, b = (1.0 - cosine) / square, (angle - sine) / (square * angle)
        da = (angle * sine - 2.0 * (1.0 - cosine)) / square**2  # of a, over the angle
        db = (3.0 * sine - angle * cosine - 2.0 * angle) / (square**2 * angle)
    else:
        a, b = 0.5 - square / 24.0 + square**2 / 720.0, 1.0 / 6.0 - square / 120.0 + square**2 / 5040.0
        da, db = -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    along = float(vector.dot(rate))
    turned, twice = so3.cross(vector, rate), so3.cross(vector, so3.cross(vector, rate))
    speed = rate + a * turned + b * twice
    bent = so3.cross(vector, acceleration)
    change = acceleration + da * along * turned + a * bent + db * along * twice
    change += b * (so3.cross(rate, turned) + so3.cross(vector, bent))
    return speed, change


@dataclass(frozen=True, slots=True, eq=False)
class Remainder:
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


@dataclass(eq=False)
class MovedSteps:
    """Steps that are planned anew at the times that they have.

    Attributes:
        steps: In order.
        feet: Where the soles stand before the first of them.
        remainder: Steps that follow them; None: the robot stands.
        config: All settings.
    """

    steps: Sequence[PlannedStep]
    feet: dict[Side, StandingFoot]
    remainder: Remainder | None
    config: PlannerConfig

    @cached_property
    def landed(self) -> dict[Side, StandingFoot]:
        """Placements of the soles after the first step."""
        first = self.steps[0].footstep
        return self.feet | {first.side: StandingFoot(first.pose, self.config.landing_height)}

    @property
    def following(self) -> MovedSteps:
        """The steps after the first."""
        return MovedSteps(self.steps[1:], self.landed, self.remainder, self.config)

    @property
    def end_time(self) -> float:
        """End of the last double support, [s]."""
        if self.remainder is None:
            return self.steps[-1].touch_down + self.config.pendulum.last_double_support
        return self.remainder.plan.end_time + self.remainder.motion.delay

    def until_touch_down(self, start: PendulumState, swinging: ContactPhase) -> PendulumTrajectory:
        """Return the trajectory over a constant ZMP until the touch-down of the first step, which swings."""
        touch_down, config = self.steps[0].touch_down, self.config
        if not config.leg_momentum.is_planned:
            return PendulumTrajectory.to_landing(start, touch_down, self._landing_dcm(), config)
        following = self.following
        phases = following._phases(following._schedule(touch_down), self.steps[0].footstep.side.other)
        responses = np.vstack((np.zeros(2), SwingResponse.of(phases, config).at_lift_off))
        swing = SwingResponse.of((swinging,), config)
        return PendulumTrajectory.to_landing(start, touch_down, self._landing_dcm(responses), config, swing)

    def planned(self, start: PlanningState, stance_foot: Side) -> WalkingPlan:
        """Return the plan of the steps from a double support on, with the remainder after them."""
        schedule, phases, swings, end = self._parts(start, stance_foot)
        trajectory = PendulumTrajectory.plan(schedule, start, self.config, swings, end)
        part = WalkingPlan(tuple(phases), trajectory, tuple(self.steps), schedule.end_time)
        return part if self.remainder is None else self.remainder.follows(part)

    def waiting(self, start: PlanningState, stance_foot: Side, longest_wait: float) -> MovedSteps:
        """Return the steps, later by as much as the first lift-off has to wait for a DCM that is late.

        It waits as long as the ZMP of the double support would have to go back, away from the foot that then stands
        alone; where no time up to ``longest_wait`` [s] suffices, for the one in which it goes back least.
        """
        schedule, _, swings, end = self._parts(start, stance_foot)
        longest = self.steps[0].lift_off - start.time + longest_wait
        durations, zmp = weight_shifts(schedule, start, self.config, swings, longest, end)
        way = schedule.supports[0] - zmp[0, 0]
        back = ((zmp[0, 0] - zmp) @ way).max(axis=1) / max(math.hypot(*way), 1e-6)
        wait = shortest_within(self.config.pendulum.zmp_tolerance, back, durations) - durations[0]
        if wait == 0.0:
            return self
        motion, rest = Motion(delay=float(wait)), self.remainder
        rest = None if rest is None else replace(rest, motion=rest.motion + motion)
        return replace(self, steps=[step.moved(motion) for step in self.steps], remainder=rest)

    def planned_after(self, piece: PendulumTrajectory) -> WalkingPlan:
        """Return the plan from the touch-down of the first step on, which ``piece`` ends with."""
        first = self.steps[0]
        dcm, com_position, com_velocity = piece.at(first.touch_down)
        left, right = (self.landed[side].pose for side in Side)
        start = PlanningState(
            first.touch_down, left, right, dcm.position, dcm.velocity, com_position, com_velocity, piece.plane
        )
        return self.following.planned(start, first.footstep.side.other)

    def first_boundary(self, responses: NDArray | None = None) -> tuple[Point, float, Point]:
        """Return the ZMP of the first step, and the end of that step for the DCM, in time and place, by the recursion.

        Args:
            responses: Response of the DCM to the swinging leg at each lift-off, [m], shape (N, 2); None: massless legs.
        """
        steps, zeta = self.steps, self.config.natural_frequency
        supports, landed = zmp_points([step.footstep for step in steps], self._poses, self.config.zmp_offset)
        boundaries = self._boundaries()
        if self.remainder is None:
            x, y = _between(supports[-1], landed[steps[-1].footstep.side], LAST_STEP_ALPHA)
        else:
            x, y = self.remainder.boundary(self.config).tolist()
        for index in range(len(steps) - 1, 0, -1):
            begin = boundaries[index - 1]
            x, y = _between(supports[index], (x, y), math.exp(zeta * (begin - boundaries[index])))
            if responses is not None:
                decay = math.exp(zeta * (begin - steps[index].lift_off))
                x, y = x + decay * responses[index, 0], y + decay * responses[index, 1]
        return supports[0], boundaries[0], (x, y)

    def _landing_dcm(self, responses: NDArray | None = None) -> NDArray:
        """Return the DCM that the recursion over the steps has at the first touch-down."""
        support, boundary, end = self.first_boundary(responses)
        decay = math.exp(self.config.natural_frequency * (self.steps[0].touch_down - boundary))
        return np.array(_between(support, end, decay))

    def _boundaries(self) -> list[float]:
        """Return the middle of the double support that follows each step, [s]."""
        if not self.steps:
            return []
        last = self.steps[-1].footstep.duration
        after = self.steps[-1].touch_down + last - self.config.single_support(last)
        lift_offs = [step.lift_off for step in self.steps[1:]]
        lift_offs.append(after if self.remainder is None else self.remainder.lift_off)
        return [0.5 * (step.touch_down + lift_off) for step, lift_off in zip(self.steps, lift_offs, strict=True)]

    def _schedule(self, time: float) -> GaitSchedule:
        """Return the schedule from a double support at ``time`` [s] on."""
        end_time = (self.steps[-1].touch_down if self.steps else time) + self.config.pendulum.last_double_support
        return GaitSchedule.of(
            self.steps,
            self._poses,
            self.config.zmp_offset,
            start_time=time,
            boundaries=np.array(self._boundaries()),
            end_time=end_time if self.remainder is None else self.remainder.lift_off,
        )

    def _parts(
        self, start: PlanningState, stance_foot: Side
    ) -> tuple[GaitSchedule, list[ContactPhase], SwingResponse, DcmEnd | None]:
        """Return schedule, phases, response to the swinging legs, and end of the steps from a double support on."""
        schedule = self._schedule(start.time)
        phases = self._phases(schedule, stance_foot)
        end = None if self.remainder is None else self.remainder.end(self.config)
        return schedule, phases, SwingResponse.of(phases, self.config), end

    def _phases(self, schedule: GaitSchedule, stance_foot: Side) -> list[ContactPhase]:
        return contact_phases(schedule, self.feet, stance_foot, self.config)

    @property
    def _poses(self) -> dict[Side, FootPose]:
        return {side: foot.pose for side, foot in self.feet.items()}


def _between(begin: Point, end: Point, ratio: float) -> Point:
    """Return the point at a fraction of the way between two."""
    return begin[0] + ratio * (end[0] - begin[0]), begin[1] + ratio * (end[1] - begin[1])


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
        moved: MovedSteps,
        phase: ContactPhase,
        piece: PendulumTrajectory,
        steps: Timeline[PlannedStep],
        motion: Motion,
    ) -> None:
        """Take the parts; ``before`` is the plan after the change before this one, of the same step."""
        self.base, self.phase, self.piece, self.steps, self.motion = base, phase, piece, steps, motion
        self.touch_down, self.start_time, self.end_time = moved.steps[0].touch_down, base.start_time, moved.end_time
        self._moved = moved
        self._before = None if before is None else (before.phase, before.piece)
        self._running = WalkingPlan((phase,), piece, (moved.steps[0],), moved.end_time)
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

    def _part_at(self, time: float) -> WalkingPlan:
        return self._running if self.runs_at(time) else self._whole

    def at(self, time: float) -> WalkingReference:
        """See ``WalkingPlan.at``."""
        return self._part_at(time).at(time)

    def phase_at(self, time: float) -> ContactPhase:
        """See ``WalkingPlan.phase_at``."""
        return self._part_at(time).phase_at(time)

    @property
    def plane(self) -> ContactPlane:
        """See ``WalkingPlan.plane``."""
        return self.piece.plane

    def dcm_at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """See ``WalkingPlan.dcm_at``."""
        return self._part_at(time).dcm_at(time)

    def whole(self) -> WalkingPlan:
        """See ``WalkingPlan.whole``."""
        return self._whole

    def _completed(self) -> WalkingPlan:
        rest = self._moved.planned_after(self.piece)
        start = self.phase.start_time
        past = self.base
        if self._before is not None:
            phase, piece = self._before
            lands = past.landings.times[self.landings.times.index(self.touch_down)]  # as base has it: it may be later
            before = WalkingPlan((phase,), piece, (), rest.end_time)
            past = past.spliced(start - HISTORY, min(phase.start_time, lands), before)
        whole = past.spliced(start - HISTORY, start, self._running.spliced(start, self.touch_down, rest))
        return WalkingPlan(whole.phases, whole.trajectory, self.steps, rest.end_time)  # old ones too: base's indices
