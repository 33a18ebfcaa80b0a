"""The present plan: made anew on request, extended where a command has no end."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from gradiva.common import PlanarPose, PlanningError, Side, SoleRectangle, WalkingReference, so3
from gradiva.contacts import SupportPolygon, support_polygon
from gradiva.planner import (
    Command,
    FootPose,
    GoalCommand,
    PathCommand,
    PlanningState,
    StopCommand,
    VelocityCommand,
    WalkingPlan,
    WalkingPlanner,
)

_MISSED = 0.005  # [m] of the landings since the goal was planned, beyond which the way is corrected
_MISSED_YAW = 0.02  # [rad]
_CORRECTION_PERIOD = 2.0  # [s] a stride or more
_LAST_CORRECTION = 3.5  # [s] before the end: after it there is no step left to correct


class PlanFollower:
    """Holds the plan and the command that it fulfils.

    Attributes:
        plan: The present one; None before the robot stands.
    """

    def __init__(self, planner: WalkingPlanner, replan_margin: float) -> None:
        """Take the planner.

        Args:
            planner: Layer 1.
            replan_margin: A command without an end is planned on when the plan has less than this left, [s].
        """
        self._planner = planner
        self._replan_margin = replan_margin
        self._command: Command | None = None
        self._asked: Command | None = None
        self._planned_origin = PlanarPose()
        self._planned_time = 0.0
        self.plan: WalkingPlan | None = None

    def stand(self, time: float) -> None:
        """Begin to stand around the origin, facing x, at ``time`` [s]."""
        self.plan = self._planner.standing(self._planner.at_origin(time))
        self._command = self._asked = None

    def follow(self, command: Command, time: float, plan_origin: PlanarPose) -> None:
        """Plan to fulfil ``command`` from ``time`` [s] on.

        Args:
            command: Places in it are meant in the frame of the odometry.
            time: [s].
            plan_origin: Of the plan's world in that frame.

        Raises:
            PlanningError: It cannot be fulfilled; the present plan stays.
        """
        assert self.plan is not None, "a robot that can walk stands"
        wanted = _in_plan(command, plan_origin.inverse())
        if self.is_moving(time):
            self.plan = self._planner.replan(self.plan, wanted, time)
        else:
            self.plan = self._planner.walk(wanted, _standing_at(self.plan.at(time)))
        self._command, self._asked = wanted, command
        self._planned_origin, self._planned_time = plan_origin, time

    def close_feet(self, time: float) -> None:
        """Plan to stand with the feet side by side as soon as that can be; a plan that stands stays.

        Where that cannot be planned, the present plan is walked to its end, for each ends standing.
        """
        if not self.is_moving(time):
            return
        try:
            self.follow(StopCommand(), time, PlanarPose())
        except PlanningError:
            self._command = self._asked = StopCommand()

    def update(self, time: float, plan_origin: PlanarPose) -> bool:
        """Plan on a command that has no end, correct the way to a goal; return whether the plan was just completed.

        Args:
            time: [s].
            plan_origin: Of the plan's world in the frame of the odometry.

        Raises:
            PlanningError: It cannot be planned on; the present plan goes on to its end.
        """
        if self.plan is None or self._command is None:
            return False
        if time >= self.plan.end_time:
            self._command = None
            return True
        endless = isinstance(self._command, VelocityCommand) and self._command.duration is None
        if endless and time > self.plan.end_time - self._replan_margin:
            wanted, self._command = self._command, StopCommand()  # where it cannot be planned on, the plan's end stands
            self.plan = self._planner.replan(self.plan, wanted, time)
            self._command = wanted
        elif isinstance(self._asked, GoalCommand):
            self._correct_way_to_goal(self._asked, time, plan_origin)
        return False

    def _correct_way_to_goal(self, goal: GoalCommand, time: float, plan_origin: PlanarPose) -> None:
        """Plan again when the odometry has left the plan, unless the robot has all but arrived."""
        assert self.plan is not None, "a command is followed on a plan"
        missed = self._planned_origin.inverse() @ plan_origin
        is_off = max(abs(missed.x), abs(missed.y)) > _MISSED or abs(missed.yaw) > _MISSED_YAW
        is_due = time > self._planned_time + _CORRECTION_PERIOD and time < self.plan.end_time - _LAST_CORRECTION
        if is_off and is_due:
            self._planned_time = time
            with contextlib.suppress(PlanningError):  # the present plan leads there too, not quite as well
                self.follow(goal, time, plan_origin)

    @property
    def present_plan(self) -> WalkingPlan:
        """The plan of a robot that stands on its feet."""
        assert self.plan is not None, "a balancing robot has a plan"
        return self.plan

    def is_moving(self, time: float) -> bool:
        """Whether steps are under way."""
        return self.plan is not None and self._command is not None and time < self.plan.end_time


def foot_pose(reference: WalkingReference, side: Side) -> FootPose:
    """Return where a reference has one foot on the ground plane."""
    foot = reference.foot(side)
    return FootPose(float(foot.position[0]), float(foot.position[1]), so3.yaw(foot.rotation))


def planned_polygon(reference: WalkingReference, sole: SoleRectangle) -> SupportPolygon:
    """Return the support polygon of the feet that a reference has on the ground."""
    sides = [side for side in Side if reference.foot(side).in_contact]
    feet = [foot_pose(reference, side) for side in sides]
    return support_polygon([(foot.x, foot.y, foot.yaw) for foot in feet], sides, sole)


def _standing_at(reference: WalkingReference) -> PlanningState:
    return PlanningState(
        time=reference.time,
        left_foot=foot_pose(reference, Side.LEFT),
        right_foot=foot_pose(reference, Side.RIGHT),
        dcm_position=reference.dcm.position,
        dcm_velocity=reference.dcm.velocity,
        com_position=reference.com_position,
        com_velocity=reference.com_velocity,
    )


def _in_plan(command: Command, origin: PlanarPose) -> Command:
    """Return the command with its places told in the world of the plan."""
    if isinstance(command, GoalCommand):
        goal = origin @ PlanarPose(command.x, command.y, command.yaw or 0.0)
        return replace(command, x=goal.x, y=goal.y, yaw=None if command.yaw is None else goal.yaw)
    if isinstance(command, PathCommand):
        points = [origin @ PlanarPose(x, y) for x, y in command.points]
        return PathCommand(np.array([[point.x, point.y] for point in points]), command.speed)
    return command
