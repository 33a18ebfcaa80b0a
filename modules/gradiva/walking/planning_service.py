"""Planning services: make plans within the tick, or beside it in a thread or another process."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Protocol, TypeGuard

import numpy as np

from gradiva.common import TIME_ROUNDING, NDArray, PlanarPose, PlanningError, Side, so3
from gradiva.planner import (
    Command,
    GoalCommand,
    PathCommand,
    PlanningState,
    VelocityCommand,
    WalkingPlan,
    WalkingPlanner,
    foot_pose,
)
from gradiva.safety import failed_tick

HORIZON = 5.0  # [s] of a velocity without an end: what comes later does not move the DCM, and is planned anew
_LAST_MOMENT = 0.025  # [s] before a touch-down from which on it is planned with the newest velocity: two ticks
_SHORTEST = 1e-3  # [s] rest of a velocity whose last step is under way


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """Request to a planner.

    Attributes:
        number: Grows with each request; the reply repeats it.
        command: To be fulfilled, places in the world of the plan.
        plan: The present one, which the new one continues.
        time: Up to here the present plan is walked, [s].
        is_moving: Whether steps of the present plan are under way; else the robot stands as the plan does at ``time``.
    """

    number: int
    command: Command
    plan: WalkingPlan
    time: float
    is_moving: bool

    @property
    def merge_time(self) -> float:
        """Time from which the new plan differs from the present one, [s]: it must be there by then."""
        if not self.is_moving:
            return self.time
        return next_touch_down(self.plan, self.time)


@dataclass(frozen=True, slots=True, eq=False)
class PlanReply:
    """Reply of a planner.

    Attributes:
        number: Of the request.
        plan: None where no plan fulfils the command.
        error: Reason why there is none.
        is_defect: Whether the planner raised an unexpected error, which is no refusal of the command.
    """

    number: int
    plan: WalkingPlan | None
    error: str = ""
    is_defect: bool = False


class Purpose(Enum):
    """Purpose of a requested plan, which decides on the effect of its refusal."""

    COMMAND = auto()  # the caller gets the refusal
    EXTENSION = auto()  # the walk cannot go on
    CORRECTION = auto()  # no effect: the present plan leads there too, less exactly
    CLOSING = auto()  # the present plan is walked to its end


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """Request to the planner that is not answered yet.

    Attributes:
        purpose: Of the plan.
        command: As it was given.
        origin: Of the plan's world by odometry, when it was asked for.
        request: To the service.
        time: [s].
        since: Time of the first attempt, [s].
        attempt: Number of the present attempt.
    """

    purpose: Purpose
    command: Command
    origin: PlanarPose
    request: PlanRequest
    time: float
    since: float
    attempt: int = 1


class VelocityStream:
    """Holds the newest velocity of a stream until the next touch-down is near, from which on it is planned.

    A stream costs one plan of a few steps for each step, and no foothold moves whose foot is in the air.

    Attributes:
        newest: No step has been planned with it; None where there is none.
    """

    def __init__(self) -> None:
        self.newest: VelocityCommand | None = None
        self._touch_down = -math.inf  # from which on the last one is followed

    def due(self, plan: WalkingPlan, time: float) -> VelocityCommand | None:
        """Return, once, the newest velocity in the last moment in which a touch-down after ``time`` [s] follows it."""
        touch_down = next_touch_down(plan, time)
        if self.newest is None or not self._touch_down + _LAST_MOMENT < touch_down <= time + _LAST_MOMENT:
            return None
        due, self.newest, self._touch_down = self.newest, None, touch_down
        return due


class VelocityProgress:
    """Heading of a velocity command by odometry, and its duration, as far as its steps have been planned with them."""

    def __init__(self) -> None:
        self._yaw = self._yaw_before = 0.0
        self._merge_time = -math.inf
        self._unplanned = 0.0

    def continued(self, request: PlanRequest, command: VelocityCommand, yaw: float, is_rest: bool) -> VelocityCommand:
        """Return a velocity that goes on from the one of the present plan.

        Args:
            request: For its plan.
            command: As it was given.
            yaw: Of the plan's world by odometry, [rad].
            is_rest: Whether it is the rest of the same command, which keeps its end.
        """
        is_later = request.merge_time > self._merge_time + TIME_ROUNDING
        error = so3.wrap_angle(yaw - (self._yaw if is_later else self._yaw_before))
        duration = command.duration
        if is_rest and duration is not None:
            duration = max(_walked(request.plan, request.merge_time) - self._unplanned, _SHORTEST)
        return replace(command, duration=duration, heading_error=error)

    def retimed(self, before: float, after: float) -> None:
        """Take that the touch-down of the running step was moved, [s]: it may be that from which on the plan holds."""
        if abs(before - self._merge_time) <= TIME_ROUNDING:
            self._merge_time = after

    def note(self, plan: WalkingPlan, request: PlanRequest, yaw: float, continues: bool) -> None:
        """Take the plan that a request was answered with.

        Args:
            plan: The answer.
            request: For it.
            yaw: Of the plan's world by odometry when it was asked for, [rad].
            continues: Whether a velocity was under way; otherwise the heading begins with this plan.
        """
        command = request.command
        if isinstance(command, VelocityCommand) and command.duration is not None:
            self._unplanned = _walked(plan, request.merge_time) - command.duration
        if not continues:
            self._yaw_before = yaw
        elif request.merge_time > self._merge_time + TIME_ROUNDING:
            self._yaw_before = self._yaw
        self._merge_time, self._yaw = request.merge_time, yaw


def is_endless(command: Command | None) -> TypeGuard[VelocityCommand]:
    """Return whether a command is a velocity without an end."""
    return isinstance(command, VelocityCommand) and command.duration is None


def in_plan(command: Command, origin: PlanarPose) -> Command:
    """Return a command with its places in the world of a plan, which has ``origin`` in the frame of the odometry."""
    inverse = origin.inverse()
    if isinstance(command, GoalCommand):
        goal = inverse @ PlanarPose(command.x, command.y, command.yaw or 0.0)
        return replace(command, x=goal.x, y=goal.y, yaw=None if command.yaw is None else goal.yaw)
    if isinstance(command, PathCommand):
        c, s = math.cos(inverse.yaw), math.sin(inverse.yaw)
        points = command.points @ np.array([[c, s], [-s, c]]) + [inverse.x, inverse.y]
        return PathCommand(points, command.speed, None if command.yaw is None else command.yaw + inverse.yaw)
    return command


def next_touch_down(plan: WalkingPlan, time: float) -> float:
    """Return when the step that is under way at ``time`` lands, or the next one; without one the plan's end, [s]."""
    touch_downs = (step.touch_down for step in plan.steps if step.touch_down > time)
    return next(touch_downs, max(time, plan.end_time))


def final_place(plan: WalkingPlan) -> NDArray:
    """Return the middle of the feet at the end of a plan, world, [m], shape (2,)."""
    left, right = (plan.phase_at(plan.end_time).foot(side).pose for side in Side)
    return 0.5 * np.array([left.x + right.x, left.y + right.y])


def _walked(plan: WalkingPlan, time: float) -> float:
    """Return how long the steps of a plan last that land after ``time`` [s], but for the last: it closes the feet."""
    return sum(step.footstep.duration for step in plan.landings[plan.landings.after(time) :][:-1])


class PlanningService(Protocol):
    """Makes plans on request; the newest request counts, a reply to an older one need not come.

    Attributes:
        lead: Duration of planning: a plan may differ from the present one this long after its request, [s].
        timeout: A request that is not answered for so long is made again, [s].
    """

    lead: float
    timeout: float

    def submit(self, request: PlanRequest) -> None:
        """Begin to plan; does not wait."""
        ...

    def poll(self) -> PlanReply | None:
        """Return a reply that has come since the last poll, or None; does not wait."""
        ...


class SynchronousPlanning:
    """Plans within ``submit``: the plan is there at once and the same in every run."""

    lead = 0.0
    timeout = float("inf")

    def __init__(self, planner: WalkingPlanner) -> None:
        self._planner = planner
        self._reply: PlanReply | None = None

    def submit(self, request: PlanRequest) -> None:
        """See ``PlanningService.submit``."""
        self._reply = answered(self._planner, request)

    def poll(self) -> PlanReply | None:
        """See ``PlanningService.poll``."""
        reply, self._reply = self._reply, None
        return reply


def answered(planner: WalkingPlanner, request: PlanRequest) -> PlanReply:
    """Return the reply to a request, planned from the steps that are under way or from standing."""
    try:
        if request.is_moving:
            plan = planner.replan(request.plan, request.command, request.time)
        else:
            plan = planner.plan(request.command, standing_at(request.plan, request.time))
    except PlanningError as error:
        return PlanReply(request.number, None, str(error))
    except Exception as error:
        return PlanReply(request.number, None, f"the planner failed: {failed_tick(error).text}", is_defect=True)
    return PlanReply(request.number, plan)


def standing_at(plan: WalkingPlan, time: float) -> PlanningState:
    """Return the state of a plan that stands at ``time`` [s] as the start of another one, on the same ground."""
    reference, phase = plan.at(time), plan.phase_at(time)
    left, right = (
        replace(foot_pose(reference, side), z=phase.foot(side).pose.z, normal=phase.foot(side).pose.normal)
        for side in Side
    )
    return PlanningState(
        time=reference.time,
        left_foot=left,
        right_foot=right,
        dcm_position=reference.dcm.position,
        dcm_velocity=reference.dcm.velocity,
        com_position=reference.com_position,
        com_velocity=reference.com_velocity,
    )
