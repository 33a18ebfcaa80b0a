"""Ticks a robot with its walking controller and coordinator, and takes commands from any thread."""

from __future__ import annotations

import logging
import threading
import time as machine_time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Protocol, runtime_checkable

from gradiva.common import (
    ControlModeLost,
    JointCommand,
    Measurement,
    PlanarPose,
    RobotInterface,
    StateError,
    WalkingError,
)
from gradiva.planner import WalkingPlanner
from gradiva.safety import Finding, SafetyKind, silent_sources
from gradiva.session.coordinator import Answer, Coordinator, Reply, WalkingStatus
from gradiva.session.coordinator_commands import CoordinatorCommand, CoordinatorConfig, Word
from gradiva.walking import PlanReply, PlanRequest, WalkingController, WalkingLog, WalkingState, answered

_LOGGER = logging.getLogger("gradiva.module")
_STALL = 1.0  # [s] of the machine without a tick, after which each answer says so
_MOST_WAITING = 16  # commands; a flood of them is refused at the door
_MOST_AT_ONCE = 4  # carried out in one tick
_GRACE = 1.0  # [s] beyond the timeout for a command that is being carried out: its own reply has the better reason


@runtime_checkable
class Rearmable(Protocol):
    """Is a robot whose motors can be switched to their mode anew."""

    def rearm(self) -> None:
        """Take the motors, from any mode."""
        ...


class WalkingSession:
    """Ticks one robot; commands may come from any thread and are carried out between two ticks.

    Until it is prepared for the first time the motors are left alone: another program may use them. A robot that
    cannot be read or written is a failed tick for the controller's safety, never the end: when its `read` or
    `write` raises, commands and the emergency stop are carried out in the same tick.

    Time is that of the controller's `ControlClock`: where the source jumps (a simulation that begins anew, a late
    tick), control time goes on by one period, and a ``clock_jump`` is reported. As long as the robot is not
    controlled, control time is that of the source: a simulator in lockstep waits only for the modules that command it.

    Attributes:
        controller: The walking controller.
        coordinator: Carries out the commands.
        measurement: The last one; None before the first.
        refused_messages: Malformed ones so far, as the middleware counts them.
    """

    def __init__(
        self,
        robot: RobotInterface,
        controller: WalkingController,
        coordinator: Coordinator,
        config: CoordinatorConfig,
        warn: Callable[..., None],
        why_stalled: Callable[[], str] = str,
    ) -> None:
        """Take the parts.

        Args:
            robot: Simulated or over a middleware.
            controller: Of this robot.
            coordinator: Of this controller.
            config: Of the coordinator.
            warn: Logs what fails within ticks, at a limited rate: a text, the arguments of its ``%`` places, and
                ``trace``, whether the traceback belongs to it.
            why_stalled: Returns why nothing ticks, as far as it is known; from the thread of a command.
        """
        self._why_stalled = why_stalled
        self._ticked = machine_time.monotonic()
        self._robot = robot
        self._has_taken_motors = False  # in the last tick
        self.controller = controller
        self.coordinator = coordinator
        self.measurement: Measurement | None = None
        self._status = WalkingStatus("waiting", "no sample of the robot has come yet")
        self.refused_messages = 0
        self._requests = RequestQueue(config.reply_timeout)
        self._warn = warn
        self._logged_line = ""

    @property
    def status(self) -> WalkingStatus:
        """State of the walk after the last tick; its reason says first where nothing ticks. From any thread."""
        stall, status = self.stall(), self._status
        return replace(status, reason=f"{stall}; before: {status.reason}") if stall else status

    def answer(self, command: CoordinatorCommand) -> Reply:
        """Return the reply to a command that acts; waits for the next tick, from any other thread.

        Raises:
            StateError: Nothing ticks, or too many commands wait.
        """
        stall = self.stall()
        try:
            reply = self._requests.ask(command, is_urgent=command.word is Word.EMERGENCY_STOP)
        except StateError as error:
            raise StateError(f"{error}; {stall}" if stall else str(error)) from None
        return replace(reply, remark=stall)

    def stall(self) -> str:
        """Return for how long nothing has ticked, and why; empty while it ticks. From any thread."""
        duration = machine_time.monotonic() - self._ticked
        if duration < _STALL:
            return ""
        why = self._why_stalled()
        return f"the control loop has not turned for {duration:.0f} s" + (f": {why}" if why else "")

    @property
    def time(self) -> float:
        """Control time of the last tick, [s]; goals that stream in are stamped with it."""
        return self.controller.clock.time

    def tick(self, source_time: float) -> WalkingLog | None:
        """Read, carry out commands, control, write; None where the robot is not controlled yet.

        Args:
            source_time: Of the clock that control time follows, and on which samples are stamped, [s].
        """
        self._ticked = machine_time.monotonic()
        time = self._follow_clock(source_time)
        self._guarded("read the robot", self._take_sample)
        self.serve()
        self._guarded("follow the goals", lambda: self.coordinator.update(time))
        log = None
        if self.measurement is not None and self.controller.state is not WalkingState.CONFIGURED:
            command, log = self.controller.tick(self.measurement)
            self._guarded("command the robot", lambda: self._command(command))
            self._guarded("work ahead", self.controller.work_ahead)
        self._status = self._present_status(log)
        self._log_change()
        return log

    def serve(self) -> None:
        """Carry out the commands that wait: in a tick, and where there is no sample to tick by."""
        state = self.controller.state
        self._requests.serve(self._carry_out)
        self._take_motors(before=state)

    def _carry_out(self, command: CoordinatorCommand, answer: Answer) -> None:
        try:
            self.coordinator.carry_out(command, self.time, answer)
        except Exception as error:  # the commands behind it are carried out all the same, an emergency stop among them
            answer(Reply(_text_of(error)))
            self._report(f"carry out {command.word}", error)

    def _take_sample(self) -> None:
        """Take the newest sample; where none can be had the last one stays, and its time shows that it is old."""
        self.measurement = self.controller.clock.stamped(self._robot.read())
        self.coordinator.joint_positions = self.measurement.joint_positions
        self.coordinator.silent = silent_sources(self.measurement, self.time)

    def _follow_clock(self, source_time: float) -> float:
        """Return the control time of a tick, [s]; report a jump, but for that of a simulator that begins to wait."""
        clock = self.controller.clock
        if self.controller.state is WalkingState.CONFIGURED:
            clock.restart()
        time, jump = clock.update(source_time), clock.jump
        if jump is not None and not self._has_taken_motors:
            self._warn("%s; control time, and the plan, go on by one period", jump)
            self._guarded("report a jump of the clock", lambda: self.controller.report_jump(jump))
        self._has_taken_motors = False
        return time

    def _take_motors(self, before: WalkingState) -> None:
        """Let a robot that begins to be prepared switch its motors anew: another program may have had them."""
        begins = self.controller.state is WalkingState.PREPARING and before is not WalkingState.PREPARING
        self._has_taken_motors |= begins
        if begins and isinstance(self._robot, Rearmable):
            self._guarded("take the motors", self._robot.rearm)

    def _command(self, command: JointCommand) -> None:
        try:
            self._robot.write(command)
        except ControlModeLost as lost:
            self.controller.report([Finding(SafetyKind.CONTROL_MODE, ", ".join(lost.joints), str(lost))])
            raise

    def _guarded(self, what: str, action: Callable[[], None]) -> None:
        """Run ``action``; where it raises anything, log it and go on with the tick."""
        try:
            action()
        except Exception as error:
            self._report(what, error)

    def _report(self, what: str, error: Exception) -> None:
        """Log an exception that is being handled, rate limited, and keep it as the notice of the status."""
        self._warn("cannot %s: %s", what, _text_of(error), trace=not isinstance(error, WalkingError))
        self.coordinator.notice = f"cannot {what}: {_text_of(error)}"

    def _present_status(self, log: WalkingLog | None) -> WalkingStatus:
        if self.measurement is None:
            return replace(self._status, notice=self.coordinator.notice, time=self.time)
        controller, plan, events = self.controller, self.controller.plan, self.controller.safety_events
        return WalkingStatus(
            state=str(controller.state),
            reason=controller.reason,
            notice=self.coordinator.notice,
            time=self.time,
            remaining=0.0 if plan is None else max(0.0, plan.end_time - self.time),
            pose=self._status.pose if log is None else _pose(log) or self._status.pose,
            planning=controller.is_planning,
            qp_failures=controller.qp_failures,
            model_failures=controller.model_failures,
            safety_events=len(events),
            last_event=str(events[-1].kind) if events else "",
            bridged_readings=tuple(controller.bridged_readings.items()),
            refused_messages=self.refused_messages,
            step_adaptation=str(controller.step_adaptation),
            adaptations=controller.adaptations,
            deflections=_deflections(log),
        )

    def _log_change(self) -> None:
        line = f"{self._status.state}: {self._status.full_reason}"
        if line != self._logged_line:
            self._logged_line = line
            _LOGGER.info("%s", line)


class RequestQueue:
    """Hands commands from any thread to the one that ticks; urgent ones overtake the others."""

    def __init__(self, timeout: float) -> None:
        """Take the timeout of a request, [s]."""
        self._timeout = timeout
        self._waiting: deque[tuple[CoordinatorCommand, Future[Reply]]] = deque()
        self._lock = threading.Lock()

    def ask(self, command: CoordinatorCommand, is_urgent: bool = False) -> Reply:
        """Return the reply to ``command``; waits for the next tick, or for several where the command takes several.

        A command whose client has given up before its turn is not carried out any more, unless it is urgent.

        Raises:
            StateError: Too many are waiting; or nothing ticks; or the tick has no reply yet.
        """
        reply: Future[Reply] = Future()
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING and not is_urgent:
                raise StateError(f"too busy: {_MOST_WAITING} commands are waiting already")
            (self._waiting.appendleft if is_urgent else self._waiting.append)((command, reply))
        with suppress(TimeoutError):
            return reply.result(self._timeout)
        if not (reply.running() or reply.done()) if is_urgent else reply.cancel():
            later = "; it is carried out as soon as it does" if is_urgent else ""
            raise StateError(f"no answer within {self._timeout:g} s: the control loop does not run{later}")
        with suppress(TimeoutError):
            return reply.result(_GRACE)
        raise StateError("it is still being carried out; getReason has the result")

    def serve(self, carry_out: Callable[[CoordinatorCommand, Answer], None]) -> None:
        """Let up to four of the commands that wait be carried out; called by the thread that ticks."""
        for _ in range(_MOST_AT_ONCE):
            with self._lock:
                if not self._waiting:
                    return
                command, reply = self._waiting.popleft()
            if reply.set_running_or_notify_cancel():
                carry_out(command, reply.set_result)


class PlanningWorker:
    """Is a `PlanningService` in a thread, which never holds up the tick; of several requests the newest is planned.

    Attributes:
        lead: See `PlanningService`.
        timeout: See `PlanningService`.
    """

    def __init__(self, planner: WalkingPlanner, lead: float, timeout: float) -> None:
        """Take the planner; ``lead`` and ``timeout`` in [s]."""
        self.lead = lead
        self.timeout = timeout
        self._planner = planner
        self._thread = ThreadPoolExecutor(1, "planner")
        self._reply: Future[PlanReply] | None = None

    def submit(self, request: PlanRequest) -> None:
        """See ``PlanningService.submit``; a former request that is not being planned yet is dropped."""
        if self._reply is not None:
            self._reply.cancel()
        self._reply = self._thread.submit(answered, self._planner, request)

    def poll(self) -> PlanReply | None:
        """Return the reply to the newest request, once, or None."""
        if self._reply is None or not self._reply.done():
            return None
        reply, self._reply = self._reply.result(), None
        return reply

    def close(self) -> None:
        """End the thread after the plan that it is making."""
        self._thread.shutdown(cancel_futures=True)


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, WalkingError) else f"{type(error).__name__}: {error}"


def _deflections(log: WalkingLog | None) -> tuple[float, ...]:
    """Return the estimated deflections, [rad]; none while the robot does not balance."""
    state = None if log is None else log.robot_state
    return () if state is None else tuple(state.flexible_positions.tolist())


def _pose(log: WalkingLog) -> PlanarPose | None:
    """Return the middle of the feet and the heading, by odometry; None where the robot does not balance."""
    state, reference = log.robot_state, log.reference
    if state is None or reference is None:
        return None
    middle = 0.5 * (state.left_foot_position + state.right_foot_position)
    return state.plan_origin @ PlanarPose(float(middle[0]), float(middle[1]), reference.heading)
