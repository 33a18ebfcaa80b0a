"""Steps that are planned anew while the robot walks, and those after them, which are only translated and delayed."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.planner.dcm_trajectory import DcmEnd, PendulumState, PendulumTrajectory, SwingResponse
from gradiva.planner.footsteps import FootPose, GaitSchedule, Motion, PlannedStep, PlanningState, Point, zmp_points
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.swing_foot import StandingFoot
from gradiva.planner.walking_plan import ContactPhase, WalkingPlan, contact_phases


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
            return self.steps[-1].touch_down + self.config.last_double_support
        return self.remainder.plan.end_time + self.remainder.motion.delay

    def until_touch_down(self, start: PendulumState, swinging: ContactPhase) -> PendulumTrajectory:
        """Return the trajectory over a constant ZMP until the touch-down of the first step, which swings."""
        touch_down, config = self.steps[0].touch_down, self.config
        if not config.leg_momentum.is_planned:
            return PendulumTrajectory.over_zmp(start, touch_down, self._landing_dcm(), config)
        following = self.following
        phases = following._phases(following._schedule(touch_down), self.steps[0].footstep.side.other)
        responses = np.vstack((np.zeros(2), SwingResponse.of(phases, config).at_lift_off))
        swing = SwingResponse.of((swinging,), config)
        return PendulumTrajectory.to_landing(start, touch_down, self._landing_dcm(responses), config, swing)

    def planned(self, start: PlanningState, stance_foot: Side) -> WalkingPlan:
        """Return the plan of the steps from a double support on, with the remainder after them."""
        config, remainder = self.config, self.remainder
        schedule = self._schedule(start.time)
        phases = self._phases(schedule, stance_foot)
        end = None if remainder is None else remainder.end(config)
        trajectory = PendulumTrajectory.plan(schedule, start, config, SwingResponse.of(phases, config), end)
        part = WalkingPlan(tuple(phases), trajectory, tuple(self.steps), schedule.end_time)
        return part if remainder is None else remainder.follows(part)

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
            x, y = _between(supports[-1], landed[steps[-1].footstep.side], self.config.last_step_alpha)
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
        end_time = (self.steps[-1].touch_down if self.steps else time) + self.config.last_double_support
        return GaitSchedule.of(
            [step.footstep for step in self.steps],
            self._poses,
            self.config.zmp_offset,
            start_time=time,
            lift_offs=np.array([step.lift_off for step in self.steps]),
            touch_downs=np.array([step.touch_down for step in self.steps]),
            boundaries=np.array(self._boundaries()),
            end_time=end_time if self.remainder is None else self.remainder.lift_off,
        )

    def _phases(self, schedule: GaitSchedule, stance_foot: Side) -> list[ContactPhase]:
        return contact_phases([step.footstep for step in self.steps], schedule, self.feet, stance_foot, self.config)

    @property
    def _poses(self) -> dict[Side, FootPose]:
        return {side: foot.pose for side, foot in self.feet.items()}


def _between(begin: Point, end: Point, ratio: float) -> Point:
    """Return the point at a fraction of the way between two."""
    return begin[0] + ratio * (end[0] - begin[0]), begin[1] + ratio * (end[1] - begin[1])
