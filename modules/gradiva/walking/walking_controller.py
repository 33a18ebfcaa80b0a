"""The tick: composes the layers, keeps the state machine, decides what happens when a layer fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradiva.common import (
    ControlMode,
    EstimationError,
    JointCommand,
    Measurement,
    NoSolutionFound,
    PlanarPose,
    PlanningError,
    RobotPosture,
    RobotState,
    Side,
    StateError,
    WalkingError,
    WalkingReference,
)
from gradiva.contacts import SupportPolygon, support_polygon
from gradiva.planner import Command, WalkingPlan
from gradiva.walking.model_control import DesiredPendulum
from gradiva.walking.plan_follower import PlanFollower, foot_pose
from gradiva.walking.preparation import Preparation
from gradiva.walking.walking_layers import WalkingLayers
from gradiva.walking.walking_log import WalkingLog
from gradiva.walking.walking_state import WalkingState, WalkingStateMachine
from gradiva.whole_body import WholeBodyReference

_DONE = "the plan is done, both feet on the ground"


class WalkingController:
    """Makes a robot stand, walk and stop: a measurement in, a joint command out.

    Requests (``prepare``, ``start``, ``walk``, ``pause``, ``stop``) are taken between two ticks and refused by name
    when the state does not allow them. A failure inside a tick holds the last command; when it lasts, the state
    becomes ``fault`` with its reason, the joints freeze, and ``prepare`` recovers.

    The controller touches no port, file or clock: the same object runs in simulation, in a notebook and on a robot.
    """

    def __init__(self, layers: WalkingLayers, lap: Callable[[str], None] | None = None) -> None:
        """Take the layers.

        Args:
            layers: Everything configured, from ``WalkingLayers``.
            lap: Called with ``estimation``, ``model_control``, ``whole_body`` when that part of a tick is done.
        """
        self._layers = layers
        self._tick = layers.config.walking
        self._lap = lap or (lambda part: None)
        self._machine = WalkingStateMachine()
        self._follower = PlanFollower(layers.planner, self._tick.replan_margin)
        self._when_done = WalkingState.PAUSED
        self._done_reason = _DONE
        self._plan_origin = PlanarPose()
        self._preparation: Preparation | None = None
        self._last: JointCommand | None = None
        self._failed_ticks = 0
        self._relaxed_ticks = 0
        self._time = 0.0
        self.qp_failures = 0

    # -- what can be asked -------------------------------------------------------------------------------------

    @property
    def state(self) -> WalkingState:
        """Where the walk is."""
        return self._machine.state

    @property
    def reason(self) -> str:
        """Why it is there."""
        return self._machine.reason

    @property
    def plan(self) -> WalkingPlan | None:
        """The present plan; None before the robot is prepared."""
        return self._follower.plan

    @property
    def model_failures(self) -> int:
        """How often layer 2 had to fall back on its instantaneous law."""
        return self._layers.model_control.failures

    def prepare(self) -> None:
        """Move slowly to the start posture, then balance.

        Raises:
            StateError: The robot is preparing, walking or paused.
        """
        self._machine.require("prepare")
        self._machine.to(WalkingState.PREPARING, "moving to the start posture")
        self._preparation = None

    def start(self) -> None:
        """Be ready to take goals.

        Raises:
            StateError: The robot is not prepared.
        """
        self._machine.require("start")
        self._machine.to(WalkingState.WALKING, "started")

    def walk(self, command: Command) -> None:
        """Follow a velocity, a goal or a path; while walking, the coming steps are planned anew.

        Goals and paths are told in the frame of the odometry, which begins between the feet of the prepared robot.

        Raises:
            StateError: The walk has not been started.
            PlanningError: No plan fulfils the command; the present plan goes on.
        """
        self._machine.require("set a goal")
        if self._when_done is WalkingState.STOPPED:
            raise StateError("cannot set a goal while stopping: wait for the stop, then prepare the robot again")
        self._follower.follow(command, self._time, self._plan_origin)
        self._done_reason = _DONE
        self._machine.to(WalkingState.WALKING, f"following {command}")

    def pause(self) -> None:
        """Finish the step, close the feet, stand, and wait for the next goal.

        Raises:
            StateError: The robot is not walking.
        """
        self._machine.require("pause")
        self._close_feet(WalkingState.PAUSED)

    def stop(self) -> None:
        """Finish the step, close the feet and stand; to walk again the robot has to be prepared.

        Raises:
            StateError: There is nothing to stop.
        """
        self._machine.require("stop")
        self._close_feet(WalkingState.STOPPED)

    # -- the tick ----------------------------------------------------------------------------------------------

    def step(self, measurement: Measurement, time: float) -> tuple[JointCommand, WalkingLog]:
        """Return the command for the coming period, and what led to it.

        Args:
            measurement: The newest sample of all sensors.
            time: Of the control clock, [s].
        """
        self._time = time
        try:
            log = self._balance(measurement, time) if self._machine.is_balancing else self._hold(measurement, time)
            self._failed_ticks = 0
        except (WalkingError, ValueError) as error:  # nothing that a tick meets may end the process
            log = self._failed(measurement, time, error)
        self._last = log.command
        return log.command, log

    def _balance(self, measurement: Measurement, time: float) -> WalkingLog:
        self._update_plan(time)
        plan, layers, period = self._follower.plan, self._layers, self._tick.period
        assert plan is not None, "a balancing robot has a plan"
        reference = plan.at(time)
        state = layers.estimator.update(measurement, reference)
        self._plan_origin = state.plan_origin
        self._lap("estimation")
        objection = layers.safety.objection(state, reference)
        if objection:
            self._machine.to(WalkingState.FAULT, objection)
            return self._log(time, self._frozen(measurement), reference, state)
        polygon = self._polygon(reference)
        zmp_shift = layers.swing_momentum.zmp_shift(reference)
        desired = layers.model_control.update(
            state, reference, polygon, lambda sample, count: plan.preview(time, sample, count), period, zmp_shift
        )
        self._lap("model_control")
        body = layers.body_references.reference(plan.at(time + period), desired)
        command = self._body_command(state, body)
        self._lap("whole_body")
        return self._log(time, command, reference, state, desired)

    def _update_plan(self, time: float) -> None:
        """Leave the walking state when the plan is done; one that cannot be continued is walked to its end."""
        try:
            is_done = self._follower.update(time, self._plan_origin)
        except PlanningError as error:
            self._done_reason = f"standing: the walk could not be planned on: {error}"
            return
        if is_done and self._machine.state is WalkingState.WALKING:
            self._machine.to(self._when_done, self._done_reason)

    def _body_command(self, state: RobotState, body: WholeBodyReference) -> JointCommand:
        """The command of layer 3; where its problem has no solution, for a while, the nearest thing to one."""
        whole_body, period = self._layers.whole_body, self._tick.period
        try:
            command = whole_body.command(state, body, period)
        except NoSolutionFound:
            self.qp_failures += 1
            self._relaxed_ticks += 1
            if self._relaxed_ticks > self._layers.config.safety.max_relaxed_ticks:
                raise
            return whole_body.command(state, body, period, relaxed=True)
        self._relaxed_ticks = 0
        return command

    def _polygon(self, reference: WalkingReference) -> SupportPolygon:
        sides = [side for side in Side if reference.foot(side).in_contact]
        feet = [foot_pose(reference, side) for side in sides]
        return support_polygon([(foot.x, foot.y, foot.yaw) for foot in feet], sides, self._layers.robot.sole)

    def _close_feet(self, then: WalkingState) -> None:
        if self._follower.is_moving(self._time):
            self._follower.close_feet(self._time)
            self._when_done = then
            self._machine.to(WalkingState.WALKING, "closing the feet")
        else:
            self._machine.to(then, "standing")

    # -- not balancing -----------------------------------------------------------------------------------------

    def _hold(self, measurement: Measurement, time: float) -> WalkingLog:
        if self._machine.state is WalkingState.PREPARING:
            return self._log(time, self._prepare_step(measurement, time))
        return self._log(time, self._last or self._frozen(measurement))

    def _prepare_step(self, measurement: Measurement, time: float) -> JointCommand:
        if not np.isfinite(measurement.joint_positions).all():
            raise EstimationError("joint_positions are not finite")
        if self._preparation is None:
            goal = self._layers.start_posture.joint_positions + self._layers.standing_offset
            held = self._held_positions()
            start = measurement.joint_positions if held is None else held.values
            self._preparation = Preparation(time, start, goal, self._tick.prepare_duration, self._tick.prepare_speed)
        if self._preparation.is_over(time):
            self._begin_balance(time)
        return JointCommand(ControlMode.POSITION, self._preparation.at(time))

    def _held_positions(self) -> JointCommand | None:
        """The last command where it was one of positions."""
        return self._last if self._last is not None and self._last.mode is ControlMode.POSITION else None

    def _begin_balance(self, time: float) -> None:
        layers = self._layers
        layers.estimator.reset()
        layers.model_control.reset()
        layers.whole_body.reset(layers.start_posture)
        self._when_done, self._done_reason = WalkingState.PAUSED, _DONE
        self._follower.stand(time)
        self._plan_origin = PlanarPose()
        self._relaxed_ticks = 0
        self._machine.to(WalkingState.PREPARED, "in the start posture, balancing")

    # -- failures ----------------------------------------------------------------------------------------------

    def _failed(self, measurement: Measurement, time: float, error: Exception) -> WalkingLog:
        self._failed_ticks += 1
        if self._failed_ticks > self._layers.config.safety.max_failed_ticks:
            self._machine.to(WalkingState.FAULT, f"{self._failed_ticks} ticks failed in a row, the last one: {error}")
            return self._log(time, self._frozen(measurement))
        return self._log(time, self._last or self._frozen(measurement))

    def _frozen(self, measurement: Measurement) -> JointCommand:
        """Where the joints were last told to be, or are now; at rest where neither is known."""
        held, now, joints = self._held_positions(), measurement.joint_positions, len(self._layers.robot.joints)
        if held is not None:
            return held
        if now.shape == (joints,) and np.isfinite(now).all():
            return JointCommand(ControlMode.POSITION, now)
        return JointCommand(ControlMode.VELOCITY, np.zeros(joints))

    def _log(
        self,
        time: float,
        command: JointCommand,
        reference: WalkingReference | None = None,
        state: RobotState | None = None,
        desired: DesiredPendulum | None = None,
    ) -> WalkingLog:
        posture: RobotPosture | None = None
        velocities = None
        if desired is not None:
            posture = self._layers.whole_body.desired_posture
            velocities = self._layers.whole_body.desired_velocity[6:]
        return WalkingLog(
            time, self._machine.state, self._machine.reason, command, reference, state, desired, posture, velocities
        )
