"""The tick of a walk: composes the layers, keeps the state machine, decides when a layer fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gradiva.common import (
    ClockJump,
    ControlClock,
    ControlMode,
    EstimationError,
    JointCommand,
    Measurement,
    NDArray,
    PlanarPose,
    PlanningError,
    RobotState,
    SoleRectangle,
    StateError,
    WalkingReference,
)
from gradiva.planner import Command, Retarget, WalkingPlan, planned_polygon
from gradiva.push_recovery import StepAdaptation, SteppingLog, SteppingMode
from gradiva.safety import Finding, LastCommand, Response, SafetyEvent, SafetyKind, failed_tick
from gradiva.simplified_model import BalancePlan, BalanceReference
from gradiva.walking.fallbacks import CommandLimiter, RelaxingWholeBody, StandInBalance
from gradiva.walking.plan_follower import PlanFollower
from gradiva.walking.planning_service import PlanningService
from gradiva.walking.start import FirstTick, Preparation, StandingStart, first_tick, off_in_words, standing_with_com
from gradiva.walking.walking_layers import WalkingLayers
from gradiva.walking.walking_log import WalkingLog, own_signals
from gradiva.walking.walking_state import WalkingState, WalkingStateMachine
from gradiva.whole_body import WholeBodyReference

_DONE = "the plan is done, both feet on the ground"
_PAUSED = "paused as commanded, both feet on the ground"
_STOPPED = "stopped as commanded, both feet on the ground"
_ORDERLY = (_DONE, _PAUSED, _STOPPED)


class WalkingController:
    """Makes a robot stand, walk and stop: a measurement in, a joint command out.

    Requests (``prepare``, ``start``, ``walk``, ``pause``, ``stop``) are taken between two ticks and refused by name
    when the state does not allow them; ``emergency_stop`` is never refused. A violation is a ``SafetyEvent``: the
    robot finishes the step and stands, state ``stopped``, or the joints freeze, state ``fault``; ``prepare`` recovers
    from both. A tick that fails holds the last command, until too many have.

    The controller touches no port, file or clock of the machine: the same object runs in simulation, in a notebook and
    on a robot.

    Attributes:
        clock: Control time, which ``step`` updates; see ``tick``.
    """

    def __init__(
        self, layers: WalkingLayers, lap: Callable[[str], None] | None = None, planning: PlanningService | None = None
    ) -> None:
        """Take the layers.

        Args:
            layers: Everything configured, from ``WalkingLayers``.
            lap: Called with ``estimation``, ``model_control``, ``whole_body`` when that part of a tick is done.
            planning: Makes the plans of walking; by default layer 1, within the tick.
        """
        self._layers = layers
        self._tick = layers.config.walking
        self._lap = lap or (lambda part: None)
        self._machine = WalkingStateMachine()
        self._own_shapes: dict[str, tuple[int, ...]] = {}  # of signals of the user's own
        self._follower = PlanFollower(layers.planner, planning)
        self._when_done = WalkingState.PAUSED
        self._done_reason = _DONE
        self._plan_origin = PlanarPose()
        self._commanded_zmp: NDArray | None = None  # of the last tick
        self._commanded: LastCommand  # likewise, from the beginning of the balance on
        self._preparation: Preparation | None = None
        self._standing: StandingStart | None = None
        self._held = CommandLimiter(layers.joint_bounds, layers.config.torque_control.torque_rate)
        failures = layers.config.safety.failures
        self._balancing = StandInBalance(layers.config.balance, failures.failed_duration)
        self._whole_body = RelaxingWholeBody(layers.whole_body, failures.relaxed_duration)
        self.clock = ControlClock(self._tick.period)
        self._time = 0.0
        self._has_begun = False  # to balance, a tick ago or more
        self._jump: ClockJump | None = None  # of the clock, that is no event yet
        self._worst: set[str] = set()  # types of the errors of safety itself that are events

    # -- requests ----------------------------------------------------------------------------------------------

    def prepare(self, standing: NDArray | None = None) -> None:
        """Move slowly to the start posture, then balance.

        Args:
            standing: Joint positions of a robot that stands on the ground and is to balance as it stands, without
                that move, [rad], shape (n,).

        Raises:
            StateError: The robot is preparing, walking or paused; or it cannot begin as it stands.
        """
        self._machine.require("prepare")
        self._standing = None if standing is None else self._layers.standing_start(standing)
        self._machine.to(WalkingState.PREPARING, "moving to the start posture")
        self._preparation = None
        self._worst.clear()
        self._layers.safety.reset()

    def start(self) -> None:
        """Be ready to take goals.

        Raises:
            StateError: The robot is not prepared.
        """
        self._machine.require("start")
        self._machine.to(WalkingState.WALKING, "started")

    def walk(self, command: Command) -> None:
        """Follow a velocity, a goal or a path; while walking, the coming steps are planned anew.

        Velocities without an end may be given in each tick: the steps from each lift-off on follow the newest.
        Goals and paths are given in the frame of the odometry, which begins between the feet of the prepared robot.

        Raises:
            StateError: The walk has not been started.
            PlanningError: No plan fulfils the command; the present plan goes on. Where planning takes longer than
                the call, the ``reason`` holds it.
        """
        self._machine.require("set a goal")
        self._refuse_while_stopping("set a goal")
        self._follower.follow(command, self._time, self._plan_origin)
        self._done_reason = _DONE
        self._machine.to(WalkingState.WALKING, f"walking {command}")

    def retarget(self, change: Retarget) -> None:
        """Move the running swing and the next footholds, in place and time.

        Raises:
            StateError: The robot does not walk.
            PlanningError: The footholds or times are impossible; the present plan goes on.
        """
        self._machine.require("retarget a step")
        self._follower.retarget(change, self._time)

    def adapt_steps(self, adaptation: StepAdaptation) -> None:
        """Let ``adaptation`` move the next footholds from the next tick on, in the place of the configured one."""
        self._layers.adapt_steps(adaptation)

    @property
    def step_adaptation(self) -> SteppingMode:
        """Return what step adaptation may change; set it in any state."""
        return self._layers.push_recovery.steps.mode

    @step_adaptation.setter
    def step_adaptation(self, mode: SteppingMode) -> None:
        self._layers.push_recovery.set_mode(mode)

    def pause(self) -> None:
        """Finish the step, close the feet, stand, and wait for the next goal.

        Raises:
            StateError: The robot is not walking.
        """
        self._machine.require("pause")
        self._refuse_while_stopping("pause")
        self._end_orderly(_PAUSED)
        self._close_feet(WalkingState.PAUSED)

    def stop(self) -> None:
        """Finish the step, close the feet and stand; to walk again the robot has to be prepared.

        Raises:
            StateError: There is nothing to stop.
        """
        self._machine.require("stop")
        self._end_orderly(_STOPPED)
        self._close_feet(WalkingState.STOPPED)

    def emergency_stop(self) -> None:
        """Freeze the joints in position mode from the next tick on, whatever the state; ``prepare`` recovers."""
        self._machine.to(WalkingState.FAULT, "emergency stop")
        self._layers.safety.note([Finding(SafetyKind.EMERGENCY_STOP, "", "emergency stop")], self._time)

    def report(self, findings: Sequence[Finding]) -> None:
        """Take findings from outside of the layers, such as motors that do not obey, and respond to them."""
        self._obey(self._layers.safety.note(findings, self._time))

    def report_jump(self, jump: ClockJump) -> None:
        """Take a jump of ``clock`` that a caller of ``tick`` has found."""
        self._layers.estimator.note_gap()
        self._obey(self._layers.safety.note_jump(jump, self._time))

    def _refuse_while_stopping(self, request: str) -> None:
        if self._when_done is WalkingState.STOPPED:
            raise StateError(f"cannot {request} while stopping: wait for the stop, then prepare the robot again")

    # -- reports -----------------------------------------------------------------------------------------------

    @property
    def state(self) -> WalkingState:
        """State of the walk."""
        return self._machine.state

    @property
    def is_balancing(self) -> bool:
        """Whether the control loop runs."""
        return self._machine.is_balancing

    @property
    def reason(self) -> str:
        """Reason of the state."""
        return self._machine.reason

    @property
    def plan(self) -> WalkingPlan | None:
        """The present plan; None before the robot is prepared."""
        return self._follower.plan

    @property
    def is_planning(self) -> bool:
        """Whether it is not known yet if the last command of ``walk`` can be fulfilled."""
        return self._follower.is_planning_command

    @property
    def displacement(self) -> NDArray:
        """Return the displacement of the end of the command by steps that were moved, plan's world, [m], shape (2,)."""
        return self._follower.displacement

    @property
    def plan_refusal(self) -> str:
        """Reason why the last command of ``walk`` cannot be fulfilled; empty where it can, or is not known yet."""
        return self._follower.refusal

    @property
    def bridged_readings(self) -> dict[str, int]:
        """Number of readings that were not finite and bridged since the robot was prepared, by sensor."""
        return self._layers.safety.bridged_readings

    @property
    def safety_events(self) -> tuple[SafetyEvent, ...]:
        """All safety events so far."""
        return tuple(self._layers.safety.events)

    @property
    def qp_failures(self) -> int:
        """Number of ticks in which layer 3 had no solution."""
        return self._whole_body.failures

    @property
    def model_failures(self) -> int:
        """Number of times that layer 2 fell back on its instantaneous law."""
        return self._layers.model_control.failures + self._balancing.failures

    @property
    def adaptations(self) -> int:
        """Number of changes of running steps by reactive stepping or layer 2 since the robot was prepared."""
        aimed = self._follower.aimed
        return self._layers.push_recovery.steps.log.changes + (0 if aimed is None else aimed.changes)

    # -- the tick ----------------------------------------------------------------------------------------------

    def step(self, measurement: Measurement, time: float) -> tuple[JointCommand, WalkingLog]:
        """Return the command for the coming period, and the log of the tick.

        Args:
            measurement: The newest sample of all sensors.
            time: Of any clock, [s]: control time goes on beside it without a jump (`ControlClock`), and stands in the
                log. The measurement's time is on the same clock.
        """
        return self._guarded(measurement, lambda: self._followed(measurement, time))

    def tick(self, measurement: Measurement) -> tuple[JointCommand, WalkingLog]:
        """Return as ``step`` does, at the present time of ``clock``, on which the measurement is stamped.

        For a caller whose other parts need the control time as well: it updates ``clock`` once a tick, brings the
        measurement to it (``clock.stamped``), and hands its jumps to ``report_jump``.
        """
        return self._guarded(measurement, lambda: measurement)

    def _guarded(
        self, measurement: Measurement, on_control_time: Callable[[], Measurement]
    ) -> tuple[JointCommand, WalkingLog]:
        before = self._time
        try:
            log = self._tick_of(on_control_time())
        except Exception as error:  # nothing that a tick meets may end it without a command
            if self._time == before:
                self._time = max(self.clock.time, before + self._tick.period)
            try:
                log = self._failed(measurement, error)
            except Exception as worse:
                log = self.freeze_without_safety(measurement, (error, worse))
        self._held.last = log.command
        return log.command, log

    def work_ahead(self) -> None:
        """Begin the work that no command waits for; called after ``step``, when its command has been sent."""
        self._layers.model_control.work_ahead()

    def _followed(self, measurement: Measurement, source: float) -> Measurement:
        """Let control time follow ``source`` [s]; return the measurement with its times on it."""
        self.clock.update(source)
        self._jump = self.clock.jump or self._jump
        return self.clock.stamped(measurement)

    def _tick_of(self, measurement: Measurement) -> WalkingLog:
        self._time = time = self.clock.time
        if self._jump is not None or self._follower.defect:
            self._note_outside()
        if self._standing is not None and self._machine.state is WalkingState.PREPARING:
            self._begin_balance(time, self._standing)
        if self._held.last is not None:
            self._layers.estimator.note_command(self._held.last)
        log = self._balance(measurement, time) if self._machine.is_balancing else self._hold(measurement, time)
        self._layers.safety.succeeded()
        return log

    def _note_outside(self) -> None:
        """Make events of jumps of the clock and of defects of the planner."""
        if self._jump is not None:
            self.report_jump(self._jump)
        if self._follower.defect:
            self.report([Finding(SafetyKind.FAILED_TICK, "planner", self._follower.defect)])
        self._jump, self._follower.defect = None, ""

    def _balance(self, measurement: Measurement, time: float) -> WalkingLog:
        self._update_plan(time)
        layers, follower, last = self._layers, self._follower, self._commanded
        planned = follower.present_plan
        reference = planned.at(time)
        measurement = layers.safety.checked(measurement, last, time)
        state = layers.estimator.update(measurement, reference, time, self._commanded_zmp)
        self._plan_origin = state.plan_origin
        now = FirstTick(state, planned, reference)
        seen, planned, reference, begun = now if self._has_begun else self._begun(state, reference)
        pendulum, change = layers.push_recovery.update(seen, reference, planned, layers.safety.suspected_foot)
        if change is not None:
            planned, reference = follower.adapted(change, time)
        self._lap("estimation")
        self._obey(layers.safety.check(measurement, last, state, reference, time))
        if not self._machine.is_balancing:
            return self._log(time, self._frozen(measurement), reference, state)
        shift = layers.swing_momentum.zmp_shift(reference) + layers.push_recovery.trunk.zmp_shift
        plan = balance_plan(planned, time, layers.robot.sole, reference, shift)
        desired = self._balance_reference(pendulum, plan, time)
        self._lap("model_control")
        body = self._body_reference(state, pendulum, plan, desired, time)
        command = self._joint_command(state, body, measurement.joint_torques)
        self._lap("whole_body")
        return self._log(time, command, begun or reference, state, desired)

    def _begun(self, state: RobotState, reference: WalkingReference) -> FirstTick:
        """Begin the plan where the CoM is; return what layer 2 sees, its plan and reference, and another one to log."""
        self._has_begun, plan = True, self._follower.present_plan
        if (start := standing_with_com(plan, state, self._time)) is None:
            return FirstTick(state, plan, reference)
        self._follower.begin_at(start, self._plan_origin)
        self._machine.to(self._machine.state, f"{self._machine.reason}; {off_in_words(start, reference)}")
        return first_tick(self._layers, state, (plan, reference), start, self._follower.present_plan)

    def _note_commanded(self) -> None:
        whole_body = self._layers.whole_body
        self._commanded = LastCommand(whole_body.desired_joint_positions, whole_body.desired_velocity[6:])

    def _balance_reference(self, pendulum: RobotState, plan: BalancePlan, time: float) -> BalanceReference:
        """Return the reference of layer 2, and let the foot in the air land where that has it land."""
        desired = self._balancing.update(self._layers.model_control, pendulum, plan, time, self._tick.period)
        self._commanded_zmp = desired.zmp_position
        if desired.contact_targets is not None:
            self._follower.aim(desired.contact_targets, pendulum, plan.reference, time)
        if self._balancing.findings:
            self._obey(self._layers.safety.note(self._balancing.findings, time))
        return desired

    def _body_reference(
        self, state: RobotState, pendulum: RobotState, plan: BalancePlan, desired: BalanceReference, time: float
    ) -> WholeBodyReference:
        """Return the reference of layer 3 at the end of the period, as trunk and soles answer a push."""
        layers, follower, lead = self._layers, self._follower, self._layers.reference_lead
        is_trusted = not layers.safety.untrusted_feet
        push = layers.push_recovery.push(time, follower.is_catching(time), follower.walks, is_trusted)
        ahead = follower.present_plan.at(time + lead) if lead else plan.reference
        body = layers.body_references.reference(ahead, desired)
        return layers.push_recovery.answered(body, state, pendulum, plan, ahead, push)

    def _joint_command(self, state: RobotState, body: WholeBodyReference, torques: NDArray) -> JointCommand:
        """Return the command of layer 3 within the limits of the joints, of which ``torques`` are measured."""
        command, period = self._whole_body.command(state, body, self._tick.period), self._tick.period
        self._note_commanded()
        if self._whole_body.findings:
            self._obey(self._layers.safety.note(self._whole_body.findings, self._time))
        return self._held.limited(command, self._commanded.positions, torques, period)

    def _update_plan(self, time: float) -> None:
        """Leave the walking state when the plan is done; one that cannot be continued is walked to its end."""
        follower = self._follower
        try:
            is_done = follower.update(time, self._plan_origin)
        except Exception as error:  # the present plan ends standing, whatever happened to the next one
            is_done = not follower.is_moving(time)
            why = error if isinstance(error, PlanningError) else failed_tick(error).text
            finding = Finding(SafetyKind.STALE_REFERENCE, "", f"the walk could not be planned on: {why}")
            self._obey(self._layers.safety.note([finding], time))
        if self._machine.state is WalkingState.WALKING:
            refusal, follower.new_refusal = follower.new_refusal, ""
            if is_done or (refusal and not follower.is_moving(time)):
                self._machine.to(self._when_done, refusal or self._done_reason)

    def _end_orderly(self, reason: str) -> None:
        """Take the reason of an end that was commanded, unless an event ends the walk already."""
        if self._done_reason in _ORDERLY:
            self._done_reason = reason

    def _close_feet(self, then: WalkingState) -> None:
        if self._follower.is_moving(self._time):
            self._when_done = then
            self._machine.to(WalkingState.WALKING, "closing the feet")
        else:
            self._machine.to(then, self._done_reason)
        self._follower.close_feet(self._time)

    # -- not balancing -----------------------------------------------------------------------------------------

    def _hold(self, measurement: Measurement, time: float) -> WalkingLog:
        if self._machine.state is WalkingState.PREPARING:
            self._obey(self._layers.safety.check_at_rest(measurement, time))
        if self._machine.state is WalkingState.PREPARING:
            return self._log(time, self._prepare_step(measurement, time))
        return self._log(time, self._frozen(measurement))

    def _prepare_step(self, measurement: Measurement, time: float) -> JointCommand:
        if not np.isfinite(measurement.joint_positions).all():
            raise EstimationError("joint_positions are not finite")
        if self._preparation is None:
            self._preparation = self._layers.preparation(time, self._held.start_of_move(measurement))
        if self._preparation.is_done(time):
            self._begin_balance(time)
        return JointCommand(ControlMode.POSITION, self._preparation.at(time))

    def _begin_balance(self, time: float, standing: StandingStart | None = None) -> None:
        layers = self._layers
        for part in (layers.estimator, layers.model_control, self._balancing, layers.push_recovery):
            part.reset()
        layers.whole_body.reset(standing.posture if standing else layers.start_posture)
        self._note_commanded()
        self._when_done, self._done_reason = WalkingState.PAUSED, _DONE
        self._follower.stand(time, standing.at(time) if standing else None)
        self._plan_origin, self._standing, self._commanded_zmp = PlanarPose(), None, None
        self._whole_body.reset()
        self._held.reset()
        self._has_begun = False
        posture = "as it stood" if standing else "in the start posture"
        self._machine.to(WalkingState.PREPARED, f"{posture}, balancing")

    # -- failures ----------------------------------------------------------------------------------------------

    def _obey(self, event: SafetyEvent | None) -> None:
        """Freeze, or finish the step and stand for good; a robot that does not balance has no step to finish."""
        if event is None or event.response is Response.WARN:
            return
        if event.response is Response.FREEZE or not self._machine.is_balancing:
            self._machine.to(WalkingState.FAULT, event.text)
        elif self._done_reason in _ORDERLY:  # the first one is the reason
            self._done_reason = event.text
            if self._machine.state is not WalkingState.STOPPED and self._when_done is not WalkingState.STOPPED:
                self._close_feet(WalkingState.STOPPED)
            self._machine.to(self._machine.state, event.text)

    def _failed(self, measurement: Measurement, error: Exception) -> WalkingLog:
        """Hold the last command; freeze when that has lasted too long."""
        self._obey(self._layers.safety.failed(error, self._time))
        if self._held.last is None or self._machine.state is WalkingState.FAULT:
            return self._log(self._time, self._frozen(measurement))
        return self._log(self._time, self._held.last)

    def freeze_without_safety(self, measurement: Measurement, errors: Sequence[Exception]) -> WalkingLog:
        """Freeze without the safety supervisor, which failed itself; raises nothing."""
        text = types = "; then ".join(type(error).__name__ for error in errors)
        with suppress(Exception):
            text = "; then ".join(failed_tick(error).text for error in errors)
        if self._machine.state is not WalkingState.FAULT:
            self._machine.to(WalkingState.FAULT, text)
        if types not in self._worst:
            self._worst.add(types)
            event = SafetyEvent(self._time, Finding(SafetyKind.FAILED_TICKS, "safety", text), Response.FREEZE)
            with suppress(Exception):
                self._layers.safety.events.append(event)
        command = self._held.last or self._held.at_rest
        with suppress(Exception):
            command = self._held.frozen(measurement, self._layers.safety.joint_positions)
        return self._log(self._time, command if command.mode is ControlMode.POSITION else self._held.at_rest)

    def _frozen(self, measurement: Measurement) -> JointCommand:
        return self._held.frozen(measurement, self._layers.safety.joint_positions)

    def _log(
        self,
        time: float,
        command: JointCommand,
        reference: WalkingReference | None = None,
        state: RobotState | None = None,
        desired: BalanceReference | None = None,
    ) -> WalkingLog:
        entry = time, self._machine.state, self._machine.reason, command, reference, state
        if desired is None:
            return WalkingLog(*entry)
        contradiction = self._whole_body.contradiction
        return WalkingLog(
            *entry,
            desired,
            self._commanded.positions,
            self._commanded.velocities,
            "" if contradiction is None else contradiction.task or "",
            self._stepping_log(reference),
            own_signals(sources, self._own_shapes) if (sources := self._layers.own_signal_sources) else {},
        )

    def _stepping_log(self, reference: WalkingReference | None) -> SteppingLog:
        """Return the log of step adaptation: of layer 2 while a foot that it has moved is in the air.

        Where reactive stepping works beside it, mode and delay are those of reactive stepping, and so is the foothold,
        which either may have moved last; the nominal one is that before the first move by layer 2.
        """
        reactive = self._layers.push_recovery.steps.log
        if reference is None or self._follower.aimed is None:
            return reactive
        aimed = self._follower.aimed_at(reference)
        if reactive.mode is SteppingMode.OFF:
            return aimed
        nominal = reactive.nominal if aimed.side is None else aimed.nominal
        return replace(reactive, nominal=nominal, changes=self.adaptations)


def balance_plan(
    plan: WalkingPlan,
    time: float,
    sole: SoleRectangle,
    reference: WalkingReference | None = None,
    zmp_shift: NDArray | None = None,
) -> BalancePlan:
    """Return a plan as layer 2 reads it at ``time`` [s], for a robot with this left sole; see ``BalancePlan``."""
    reference = plan.at(time) if reference is None else reference
    return BalancePlan(
        reference,
        planned_polygon(reference, sole),
        lambda sample, count: plan.preview(time, sample, count),
        np.zeros(2) if zmp_shift is None else zmp_shift,
        lambda duration: plan.contacts(time, duration),
        lambda sample, count: plan.dcm_ahead(time, sample, count),
    )
