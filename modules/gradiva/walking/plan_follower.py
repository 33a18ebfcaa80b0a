"""The present plan: replanned on request, extended where a command has no end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gradiva.common import TIME_ROUNDING, PlanarPose, PlanningError, RobotState, Side, WalkingReference, so3
from gradiva.planner import (
    CATCHING_STEPS,
    CaptureStep,
    Command,
    Foothold,
    FootPose,
    GoalCommand,
    PathCommand,
    PathProgress,
    PlanningState,
    Retarget,
    StopCommand,
    VelocityCommand,
    WalkingPlan,
    WalkingPlanner,
)
from gradiva.push_recovery import StepChange, SteppingLog, SteppingMode
from gradiva.walking.planning_service import (
    HORIZON,
    PendingRequest,
    PlanningService,
    PlanRequest,
    Purpose,
    SynchronousPlanning,
    VelocityProgress,
    VelocityStream,
    answered,
    final_place,
    in_plan,
    is_endless,
    next_touch_down,
)

_MISSED = 0.005  # [m] of the landings since the goal was planned, beyond which the way is corrected
_MISSED_YAW = 0.01  # [rad]
_CORRECTION_PERIOD = 2.0  # [s] a stride or more
_HEADING_PERIOD = 1.0  # [s] a step or two
_LAST_HEADING = 2.0  # [s] before the end, which leaves a step beside that which closes the feet
_LAST_CORRECTION = 3.5  # [s] before the end: after it there is no step left to correct
_LONGEST_DETOUR = 1.5  # [s] by which a correction may end later: one that turns round for centimetres is none
_SAME_LANDING = 1e-4  # [m, rad] of a contact target from the planned landing, which then stays
_PAUSE = 0.1  # [s] between two requests for the same plan because steps were moved, as in each tick of a push
_FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)  # [-] of the way to a target that is out of reach, one after the other
_REPLAN_MARGIN = 4.5  # [s] left of such a plan when it is planned on: before its speed falls
_ATTEMPTS = 3  # for a command: then it is refused
_LONGEST_LEAD = 1.2  # [s] until a plan begins that did not come in time before: three attempts double it to this


class PlanFollower:
    """Holds the plan and the command that it fulfils.

    Plans come from a `PlanningService`. Until one has come, the present one goes on; each ends standing, so that
    without a planner the walk only ends. A plan that closes the feet is waited for until the timeout of the service:
    then it is made here. A plan that comes after its merge time is refused and requested again.

    Velocities without an end may stream in, one in each tick, see ``VelocityStream``.

    Attributes:
        plan: The present one; None before the robot stands.
        captures: Number of capture steps.
        displacement: Of the end of the command by steps that were moved, in the world of the plan, [m], shape (2,).
        aimed: The last foothold that layer 2 has moved, and how often it did; None before the first.
        late_plans: Number of plans that came too late.
        refused_changes: Number of changes by step adaptation that were impossible.
        defect: Unexpected error of the planner, until it is cleared; empty where there is none.
        refusal: Reason why the last command cannot be fulfilled; empty where it can, or is not known yet.
        new_refusal: The same, until it is cleared.
    """

    def __init__(self, planner: WalkingPlanner, service: PlanningService | None = None) -> None:
        """Take the planner.

        Args:
            planner: Layer 1; it makes the plan of standing.
            service: Makes all other plans; by default at once.
        """
        self._planner = planner
        self._service = service or SynchronousPlanning(planner)
        self._command: Command | None = None
        self._given: Command | None = None
        self._stream = VelocityStream()
        self._planned_origin = PlanarPose()
        self._planned_time = 0.0
        self._velocity = VelocityProgress()
        self._route: PathProgress | None = None
        self._number = 0
        self._asked: PendingRequest | None = None
        self._coming: tuple[WalkingPlan, PendingRequest] | None = None
        self._has_left_way = self._is_stale = False
        self.aimed: SteppingLog | None = None
        self._asked_after_change = self._caught = self._caught_until = -math.inf
        self.refusal = self.new_refusal = self.defect = ""
        self.plan: WalkingPlan | None = None
        self.late_plans = self.refused_changes = self.captures = 0
        self.displacement = np.zeros(2)

    def stand(self, time: float, start: PlanningState | None = None) -> None:
        """Begin to stand at ``time`` [s]: around the origin, facing x, or from ``start``."""
        self.plan = self._planner.standing(start or self._planner.at_origin(time))
        self._command = self._given = None
        self._caught = self._caught_until = -math.inf
        self.aimed = None
        self.cancel()

    def begin_at(self, start: PlanningState, plan_origin: PlanarPose) -> None:
        """Stand from ``start``, and follow from there the command that has come before, if one has; see ``follow``."""
        asked = self._asked if self._coming is None else self._coming[1]
        given = self._given if asked is None else asked.command
        self.stand(start.time, start)
        if given is not None:
            self._ask(Purpose.COMMAND, given, start.time, plan_origin)

    def follow(self, command: Command, time: float, plan_origin: PlanarPose) -> None:
        """Plan to fulfil ``command`` from ``time`` [s] on.

        Args:
            command: Places in it are meant in the frame of the odometry.
            time: [s].
            plan_origin: Of the plan's world in that frame.

        Raises:
            PlanningError: It cannot be fulfilled; the present plan stays. A service that answers later refuses by
                ``new_refusal``, and so does a velocity of a stream that is within its limits.
        """
        if is_endless(command) and self._is_streaming(time):
            self._planner.check_velocity(command)
            is_followed = command == self._given and self._asked is None and self._coming is None
            self._stream.newest = None if is_followed else command
            return
        self.refusal, self.new_refusal, self._stream.newest = "", "", None
        self._ask(Purpose.COMMAND, command, time, plan_origin)
        refusal, self.new_refusal = self.new_refusal, ""
        if refusal:
            raise PlanningError(refusal)

    def _is_streaming(self, time: float) -> bool:
        """Return whether the robot walks by a velocity without an end, or is about to."""
        asked = self._asked if self._coming is None else self._coming[1]
        if asked is not None and asked.purpose is Purpose.COMMAND:
            return is_endless(asked.command)
        return self.is_moving(time) and is_endless(self._given)

    def close_feet(self, time: float) -> None:
        """Plan to stand with the feet side by side as soon as that can be; a plan that stands stays.

        Where that cannot be planned, the present plan is walked to its end, for each ends standing.
        """
        self._stream.newest = None
        if self.is_moving(time):
            self._ask(Purpose.CLOSING, StopCommand(), time, PlanarPose())
        else:
            self.cancel()

    def adapted(self, change: StepChange, time: float) -> tuple[WalkingPlan, WalkingReference]:
        """Return the plan after step adaptation, and at ``time`` [s]; an impossible change is counted and dropped."""
        if change.falls_away:
            self._note_catch(time)
        try:
            if change.capture is not None:
                self.capture(change.capture, time)
                self._note_catch(time)
            elif change.retarget is not None:
                self.retarget(replace(change.retarget, following=change.retarget.following or CATCHING_STEPS), time)
                self._note_catch(time)
        except PlanningError:
            self.refused_changes += 1
        return self.present_plan, self.present_plan.at(time)

    def aim(
        self, targets: Sequence[PlanarPose | None], state: RobotState, reference: WalkingReference, time: float
    ) -> None:
        """Let the foot in the air land on its target, of left and right, on the contact plane of its planned foothold.

        DCM and CoM references restart at the measured ones, for which the target was chosen. A target on which the foot
        lands already changes nothing; of one that is out of reach the foot goes part of the way; without any, the
        change is counted and dropped.
        """
        for side, target in zip(Side, targets, strict=True):
            if target is None or reference.foot(side).in_contact:
                continue
            if not self._aim_foot(side, target, state, time):
                self.refused_changes += 1

    def _aim_foot(self, side: Side, target: PlanarPose, state: RobotState, time: float) -> bool:
        """Move the landing of a foot in the air to its target, or part of the way; return whether that is possible."""
        if not all(map(math.isfinite, (target.x, target.y, target.yaw))):
            return False
        landing = self.present_plan.phase_at(time).foot(side).pose
        pose = FootPose(target.x, target.y, target.yaw).near_yaw(landing.yaw)
        if pose.is_close(landing, _SAME_LANDING):
            return True
        for fraction in _FRACTIONS:
            x, y, yaw = (
                old + fraction * (new - old)
                for old, new in ((landing.x, pose.x), (landing.y, pose.y), (landing.yaw, pose.yaw))
            )
            with suppress(PlanningError):
                foothold = Foothold(FootPose(x, y, yaw).on(landing.plane))
                self.retarget(Retarget((foothold,), state.dcm_position, state.com_position, CATCHING_STEPS), time)
                self._note_aim(side, landing, PlanarPose(x, y, yaw), time)
                return True
        return False

    def _note_aim(self, side: Side, landing: FootPose, target: PlanarPose, time: float) -> None:
        """Remember what layer 2 has moved, and until when the robot is being caught."""
        self._note_catch(time)
        last, nominal = self.aimed, landing.planar
        if last is not None and last.side is side and last.nominal is not None:
            nominal = last.nominal
        changes = 1 if last is None else last.changes + 1
        self.aimed = SteppingLog(SteppingMode.PLACE, True, side, nominal, target, changes=changes)

    def aimed_at(self, reference: WalkingReference) -> SteppingLog:
        """Return what layer 2 has moved, with the foothold while its foot is in the air."""
        assert self.aimed is not None, "layer 2 has moved a foothold"
        if self.aimed.side is not None and reference.foot(self.aimed.side).in_contact:
            self.aimed = SteppingLog(SteppingMode.PLACE, changes=self.aimed.changes)
        return self.aimed

    def retarget(self, change: Retarget, time: float) -> None:
        """Move the running swing and the next footholds from ``time`` [s] on.

        A plan that is being made continues one that is gone: it is asked for again. The way to a goal or along a path
        is corrected afterwards.

        Raises:
            PlanningError: The footholds or times are impossible; the present plan stays.
        """
        touch_down = time if change.lands_at(time) else None
        self._change(self._planner.retarget(self.present_plan, change, time), time, touch_down)
        self._has_left_way = True
        self._ask_after_change(time)

    def capture(self, step: CaptureStep, time: float) -> None:
        """Step at once from standing, at ``time`` [s]; then stand again. A plan that is being made begins afterwards.

        Raises:
            PlanningError: Steps are under way, or the step is impossible; the present plan stays.
        """
        self._change(self._planner.capture_step(self.present_plan, step, time), time)
        self._command = self._given = StopCommand()
        self._stream.newest = None
        self.captures += 1
        self._ask_after_change(time)

    def _change(self, plan: WalkingPlan, time: float, touch_down: float | None = None) -> None:
        self.displacement = self.displacement + final_place(plan) - final_place(self.present_plan)
        touch_down = next_touch_down(plan, time) if touch_down is None else touch_down
        self._velocity.retimed(next_touch_down(self.present_plan, time), touch_down)
        self.plan = plan

    def _ask_after_change(self, time: float) -> None:
        """Ask again for a plan that would continue one that is gone, a tenth of a second after the last time."""
        asked = self._asked if self._coming is None else self._coming[1]
        if asked is None:
            return
        self._asked, self._coming, self._is_stale = asked, None, True
        if time + TIME_ROUNDING >= self._asked_after_change + _PAUSE:
            self._asked_after_change = time
            request = self._request(asked.purpose, asked.command, asked.origin, time, asked.attempt)
            self._submit(replace(asked, request=request, time=time))

    def cancel(self) -> None:
        """Drop the requested plan."""
        self._asked = self._coming = self._stream.newest = None
        self.new_refusal, self._is_stale = "", False

    @property
    def present_plan(self) -> WalkingPlan:
        """The present plan of a robot that balances."""
        assert self.plan is not None, "a balancing robot has a plan"
        return self.plan

    @property
    def is_planning_command(self) -> bool:
        """Whether it is not known yet if the last command can be fulfilled."""
        return self._asked is not None and self._asked.purpose is Purpose.COMMAND

    def update(self, time: float, plan_origin: PlanarPose) -> bool:
        """Plan on a command that has no end, correct the way to others; return whether the plan was just completed.

        Args:
            time: [s].
            plan_origin: Of the plan's world in the frame of the odometry.

        Raises:
            PlanningError: It cannot be planned on; the present plan goes on to its end.
        """
        self._look_for_reply(time)
        if self.plan is None or self._command is None:
            return False
        if time >= self.plan.end_time:
            return self._complete(time)
        if self._asked is not None or self._coming is not None:
            return False
        if self._stream.newest is not None:
            self._follow_stream(time, plan_origin)
        elif isinstance(self._given, VelocityCommand):
            self._continue_velocity(self._given, time, plan_origin)
        elif isinstance(self._given, GoalCommand | PathCommand):
            self._correct_way(self._given, time, plan_origin)
        return False

    def is_moving(self, time: float) -> bool:
        """Return whether steps are under way."""
        return self.plan is not None and self._command is not None and time < self.plan.end_time

    def is_catching(self, time: float) -> bool:
        """Return whether a step that catches a push is under way, or the one after it."""
        return time + TIME_ROUNDING < self._caught_until

    @property
    def walks(self) -> bool:
        """Whether a command other than to stand is being fulfilled."""
        return self._command is not None and not isinstance(self._command, StopCommand)

    def _note_catch(self, time: float) -> None:
        """Remember until when a push at ``time`` [s] is being caught: to the touch-down after the next one."""
        landings = self.present_plan.landings
        self._caught, first = time, landings.after(time)
        self._caught_until = landings.times[min(first + 1, len(landings) - 1)]

    def _complete(self, time: float) -> bool:
        """Note that the plan is done; a command that is being planned keeps the walk from being done."""
        self._command = None
        asked = self._asked
        if asked is not None and asked.purpose is Purpose.EXTENSION:
            self.cancel()
            silence = f"the planner has not answered for {time - asked.since:.1f} s"
            raise PlanningError(f"{silence}; the present plan was walked to its end")
        return not self.is_planning_command and self._coming is None

    def _correct_way(self, given: GoalCommand | PathCommand, time: float, plan_origin: PlanarPose) -> None:
        """Plan again when the odometry has left the plan, unless the robot has all but arrived."""
        if self._route is not None:
            x, y = self.present_plan.at(time).com_position[:2].tolist()
            place = plan_origin @ PlanarPose(x, y)
            self._route.follow((place.x, place.y), time)
        missed = self._planned_origin.inverse() @ plan_origin
        is_off = self._has_left_way or max(abs(missed.x), abs(missed.y)) > _MISSED or abs(missed.yaw) > _MISSED_YAW
        is_caught = self._caught > self._planned_time and time > self._caught + _PAUSE
        is_due = time > self._planned_time + _CORRECTION_PERIOD and time < self.present_plan.end_time - _LAST_CORRECTION
        is_due = is_due or (is_caught and time > self.present_plan.end_time - _LAST_CORRECTION)
        if is_off and is_due:
            self._planned_time = time
            rest = given if self._route is None else self._route.rest
            self._ask(Purpose.CORRECTION, rest, time, plan_origin)

    def _follow_stream(self, time: float, plan_origin: PlanarPose) -> None:
        """Plan with the newest velocity of a stream in the last moment before a touch-down."""
        newest = self._stream.due(self.present_plan, time + self._service.lead)
        if newest is not None:
            self._ask(Purpose.COMMAND, newest, time, plan_origin)

    def _continue_velocity(self, given: VelocityCommand, time: float, plan_origin: PlanarPose) -> None:
        """Plan on a velocity that has no end before its plan slows down; correct the heading of any."""
        if given.duration is None and self.walks and time > self.present_plan.end_time - _REPLAN_MARGIN:
            self._command = StopCommand()  # where it cannot be planned on, the plan's end stands
            self._ask(Purpose.EXTENSION, given, time, plan_origin)
        else:
            self._correct_heading(given, time, plan_origin)

    def _correct_heading(self, given: VelocityCommand, time: float, plan_origin: PlanarPose) -> None:
        """Plan a velocity again when its heading by odometry has left the plan; not while a push is being caught."""
        is_due = self._planned_time + _HEADING_PERIOD < time < self.present_plan.end_time - _LAST_HEADING
        if not is_due or self.is_catching(time):
            return
        if abs(so3.wrap_angle(plan_origin.yaw - self._planned_origin.yaw)) > _MISSED_YAW:
            self._planned_time = time
            self._ask(Purpose.CORRECTION, given, time, plan_origin)

    # -- requests to the planner -------------------------------------------------------------------------------

    def _ask(self, purpose: Purpose, command: Command, time: float, plan_origin: PlanarPose) -> None:
        request = self._request(purpose, command, plan_origin, time)
        self._submit(PendingRequest(purpose, command, plan_origin, request, time, since=time))

    def _request(
        self, purpose: Purpose, command: Command, origin: PlanarPose, time: float, attempt: int = 1
    ) -> PlanRequest:
        """Ask for a plan that begins after the service's lead; twice as late with each attempt on a slow machine."""
        self._number += 1
        lead = min(self._service.lead * 2.0 ** (attempt - 1), _LONGEST_LEAD)
        wanted = in_plan(command, origin)
        request = PlanRequest(self._number, wanted, self.present_plan, time + lead, self.is_moving(time))
        if not isinstance(wanted, VelocityCommand):
            return request
        if request.is_moving and isinstance(self._given, VelocityCommand):
            wanted = self._velocity.continued(request, wanted, origin.yaw, purpose is Purpose.CORRECTION)
        return replace(request, command=replace(wanted, duration=wanted.duration or HORIZON))

    def _submit(self, asked: PendingRequest) -> None:
        if self._asked is not None and self._asked.purpose is Purpose.EXTENSION:  # it is asked for again if need be
            self._command = self._asked.request.command
        self._asked, self._coming, self._is_stale = asked, None, False
        self._service.submit(asked.request)
        self._look_for_reply(asked.time)

    def _look_for_reply(self, time: float) -> None:
        """Take over a plan that has come, if it is not too late."""
        if self._coming is not None and time >= self._coming[0].start_time:
            self._take_over(*self._coming)
        if self._is_stale:
            self._service.poll()  # its answer continues a plan that is gone
            self._ask_after_change(time)
        asked = self._asked
        if asked is None or self._is_stale:
            return
        reply = self._service.poll()
        if reply is None or reply.number != asked.request.number:
            is_closing = asked.purpose is Purpose.CLOSING  # steps that move ask for it anew, and gain no time by that
            if time > (asked.since if is_closing else asked.time) + self._service.timeout:
                self._ask_again(asked, time, f"the planner has not answered for {time - asked.since:.1f} s")
        elif reply.plan is None:
            self.defect = reply.error if reply.is_defect else self.defect
            self._give_up(asked, reply.error)
        elif time > asked.request.merge_time:
            self.late_plans += 1
            self._ask_again(asked, time, f"the plan came {time - asked.request.merge_time:.2f} s too late")
        elif self._is_detour(reply.plan, asked):
            self._give_up(asked, "a detour")
        elif reply.plan.start_time > time:  # the robot stands until then
            self._asked, self._coming = None, (reply.plan, asked)
        else:
            self._take_over(reply.plan, asked)

    def _is_detour(self, plan: WalkingPlan, asked: PendingRequest) -> bool:
        """Return whether a corrected plan makes a turn: near a goal that was overshot by centimetres."""
        is_way = asked.purpose is Purpose.CORRECTION and not isinstance(asked.command, VelocityCommand)
        is_correction = is_way and self._caught < asked.time - _CORRECTION_PERIOD
        return is_correction and plan.end_time > self.present_plan.end_time + _LONGEST_DETOUR

    def _ask_again(self, asked: PendingRequest, time: float, because: str) -> None:
        if asked.purpose in (Purpose.COMMAND, Purpose.CORRECTION) and asked.attempt >= _ATTEMPTS:
            self._give_up(asked, because)
            return
        if asked.purpose is Purpose.CLOSING:
            self._close_without_service(asked, time)
            return
        attempt = asked.attempt + 1
        request = self._request(asked.purpose, asked.command, asked.origin, time, attempt)
        self._submit(replace(asked, request=request, time=time, attempt=attempt))

    def _close_without_service(self, asked: PendingRequest, time: float) -> None:
        """Plan here: one late tick is better than a walk that cannot be stopped before its end."""
        reply = answered(self._planner, self._request(asked.purpose, asked.command, asked.origin, time))
        if reply.plan is None:
            self.defect = reply.error if reply.is_defect else self.defect
            self._give_up(asked, reply.error)
        else:
            self._asked, self._coming = None, (reply.plan, asked)

    def _take_over(self, plan: WalkingPlan, asked: PendingRequest) -> None:
        continues = asked.request.is_moving and isinstance(self._given, VelocityCommand)
        self._velocity.note(plan, asked.request, asked.origin.yaw, continues)
        self.plan, self._command = plan, asked.request.command
        self._asked = self._coming = None
        if asked.purpose is Purpose.COMMAND:
            self.displacement, self.refusal, self.new_refusal = np.zeros(2), "", ""
        self._given = asked.command
        self._route = (
            PathProgress(asked.command, self._planner.config) if isinstance(asked.command, PathCommand) else None
        )
        self._planned_origin, self._planned_time, self._has_left_way = asked.origin, asked.time, False

    def _give_up(self, asked: PendingRequest, because: str) -> None:
        self._asked = None
        if asked.purpose is Purpose.COMMAND:
            self._stream.newest = None
            self.refusal = self.new_refusal = because
        elif asked.purpose is Purpose.EXTENSION:
            raise PlanningError(because)
        elif asked.purpose is Purpose.CLOSING:
            self._command = self._given = StopCommand()
