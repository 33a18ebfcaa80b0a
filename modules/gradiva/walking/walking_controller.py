"""The tick: composes the layers, keeps the state machine, decides what happens when a layer fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradiva.common import (
    ControlMode,
    EstimationError,
    JointCommand,
    Measurement,
    NDArray,
    NoSolutionFound,
    RobotPosture,
    RobotState,
    Side,
    WalkingReference,
    so3,
)
from gradiva.contacts import SupportPolygon, pendulum_wrenches, support_polygon
from gradiva.planner import Command, FootPose, PlanningState, StopCommand, WalkingPlan
from gradiva.walking.model_control import DesiredPendulum
from gradiva.walking.preparation import Preparation
from gradiva.walking.walking_layers import WalkingLayers
from gradiva.walking.walking_log import WalkingLog
from gradiva.walking.walking_state import WalkingState, WalkingStateMachine
from gradiva.whole_body import WholeBodyReference

_GRAVITY = 9.81  # [m/s²]


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
        self._start_posture = layers.start_posture
        self._plan: WalkingPlan | None = None
        self._command: Command | None = None
        self._after_stop = WalkingState.PAUSED
        self._preparation: Preparation | None = None
        self._last: JointCommand | None = None
        self._failed_ticks = 0
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
        return self._plan

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

        Raises:
            StateError: The walk has not been started.
            PlanningError: No plan fulfils the command; the present plan goes on.
        """
        self._machine.require("set a goal")
        self._plan_for(command)
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
        except (EstimationError, NoSolutionFound) as error:
            log = self._failed(measurement, time, error)
        self._last = log.command
        return log.command, log

    def _balance(self, measurement: Measurement, time: float) -> WalkingLog:
        self._follow_plan(time)
        assert self._plan is not None, "a balancing robot has a plan"
        plan, layers, period = self._plan, self._layers, self._tick.period
        reference = plan.at(time)
        state = layers.estimator.update(measurement, reference)
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
        body = self._body_reference(plan.at(time + period), desired)
        command = layers.whole_body.command(state, body, period)
        self._lap("whole_body")
        return self._log(time, command, reference, state, desired)

    def _polygon(self, reference: WalkingReference) -> SupportPolygon:
        sides = [side for side in Side if reference.foot(side).in_contact]
        poses = [_ground_pose(reference, side) for side in sides]
        return support_polygon(poses, sides, self._layers.robot.sole)

    def _body_reference(self, reference: WalkingReference, desired: DesiredPendulum) -> WholeBodyReference:
        heading = so3.rotation_z(reference.heading)
        left, right = self._foot_wrenches(reference, desired)
        turn = 0.5 * (reference.left_foot.twist[5] + reference.right_foot.twist[5])
        return WholeBodyReference(
            left_foot=reference.left_foot,
            right_foot=reference.right_foot,
            com_position=desired.com_position,
            com_velocity=desired.com_velocity,
            torso_rotation=heading @ self._layers.torso_rotation,
            pelvis_rotation=heading @ self._start_posture.base_rotation,
            trunk_angular_velocity=np.array([0.0, 0.0, turn]),
            posture=self._start_posture.joint_positions,
            left_foot_wrench=left,
            right_foot_wrench=right,
        )

    def _foot_wrenches(self, reference: WalkingReference, desired: DesiredPendulum) -> tuple[NDArray, NDArray]:
        offset = self._layers.config.planner.zmp_offset
        points = np.array([_foot_pose(reference, side).zmp_point(side, offset) for side in Side])
        frequency = reference.dcm.natural_frequency
        push = frequency**2 * (reference.com_position[:2] - desired.zmp_position)
        force = self._layers.mass * np.array([*push, _GRAVITY])
        zmp = desired.zmp_position + self._layers.swing_momentum.zmp_shift(reference)
        return pendulum_wrenches(force, zmp, (reference.left_foot, reference.right_foot), points)

    # -- plans -------------------------------------------------------------------------------------------------

    def _plan_for(self, command: Command) -> None:
        assert self._plan is not None, "a started walk has a plan"
        planner = self._layers.planner
        if self._is_moving(self._time):
            self._plan = planner.replan(self._plan, command, self._time)
        else:
            self._plan = planner.walk(command, self._standing_at(self._plan.at(self._time)))
        self._command = command
        self._after_stop = WalkingState.PAUSED

    def _follow_plan(self, time: float) -> None:
        """Leave the walking state when the plan is done; extend a command that has no end."""
        if self._machine.state is not WalkingState.WALKING or self._plan is None or self._command is None:
            return
        if time >= self._plan.end_time:
            self._command = None
            self._machine.to(self._after_stop, "the plan is done, both feet on the ground")
        elif getattr(self._command, "duration", 0.0) is None and time > self._plan.end_time - self._tick.replan_margin:
            self._plan = self._layers.planner.replan(self._plan, self._command, time)

    def _close_feet(self, then: WalkingState) -> None:
        if self._is_moving(self._time):
            self._plan_for(StopCommand())
            self._after_stop = then
            self._machine.to(WalkingState.WALKING, "closing the feet")
        else:
            self._command = None
            self._machine.to(then, "standing")

    def _is_moving(self, time: float) -> bool:
        return self._plan is not None and self._command is not None and time < self._plan.end_time

    def _standing_at(self, reference: WalkingReference) -> PlanningState:
        left, right = (_foot_pose(reference, side) for side in Side)
        return PlanningState(
            time=reference.time,
            left_foot=left,
            right_foot=right,
            dcm_position=reference.dcm.position,
            dcm_velocity=reference.dcm.velocity,
            com_position=reference.com_position,
            com_velocity=reference.com_velocity,
        )

    # -- not balancing -----------------------------------------------------------------------------------------

    def _hold(self, measurement: Measurement, time: float) -> WalkingLog:
        if self._machine.state is WalkingState.PREPARING:
            return self._log(time, self._prepare_step(measurement, time))
        return self._log(time, self._last or self._frozen(measurement))

    def _prepare_step(self, measurement: Measurement, time: float) -> JointCommand:
        if not np.isfinite(measurement.joint_positions).all():
            raise EstimationError("joint_positions are not finite")
        if self._preparation is None:
            goal = self._start_posture.joint_positions + self._layers.standing_offset
            start = self._last.values if self._is_holding_positions() else measurement.joint_positions  # type: ignore[union-attr]
            self._preparation = Preparation(time, start, goal, self._tick.prepare_duration, self._tick.prepare_speed)
        if self._preparation.is_over(time):
            self._begin_balance(time)
        return JointCommand(ControlMode.POSITION, self._preparation.at(time))

    def _is_holding_positions(self) -> bool:
        return self._last is not None and self._last.mode is ControlMode.POSITION

    def _begin_balance(self, time: float) -> None:
        layers = self._layers
        layers.estimator.reset()
        layers.model_control.reset()
        layers.whole_body.reset(self._start_posture)
        half_width = 0.5 * layers.robot.step_width
        com = np.array([layers.config.planner.zmp_offset[0], 0.0, layers.robot.com_height])
        feet = FootPose(0.0, half_width, 0.0), FootPose(0.0, -half_width, 0.0)
        self._plan = layers.planner.standing(PlanningState.at_rest(time, *feet, com))
        self._command = None
        self._machine.to(WalkingState.PREPARED, "in the start posture, balancing")

    # -- failures ----------------------------------------------------------------------------------------------

    def _failed(self, measurement: Measurement, time: float, error: Exception) -> WalkingLog:
        self.qp_failures += isinstance(error, NoSolutionFound)
        self._failed_ticks += 1
        if self._failed_ticks > self._layers.config.safety.max_failed_ticks:
            self._machine.to(WalkingState.FAULT, f"{self._failed_ticks} ticks failed in a row, the last one: {error}")
        return self._log(time, self._last or self._frozen(measurement))

    def _frozen(self, measurement: Measurement) -> JointCommand:
        """Where the joints are now, or were last told to be."""
        if self._is_holding_positions():
            return self._last  # type: ignore[return-value]
        return JointCommand(ControlMode.POSITION, measurement.joint_positions)

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


def _foot_pose(reference: WalkingReference, side: Side) -> FootPose:
    return FootPose(*_ground_pose(reference, side))


def _ground_pose(reference: WalkingReference, side: Side) -> tuple[float, float, float]:
    foot = reference.foot(side)
    return float(foot.position[0]), float(foot.position[1]), so3.yaw(foot.rotation)
