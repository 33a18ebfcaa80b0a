"""Carries out the coordinator's commands between ticks and reports the state of the walk."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradiva.common import LateSource, NDArray, PlanarPose, StateError, WalkingError
from gradiva.planner import Command, GoalCommand, PlannerConfig, StopCommand
from gradiva.session.coordinator_commands import CoordinatorCommand, CoordinatorConfig, FreeSpace, GoalStream, Word
from gradiva.walking import WalkingController, WalkingState

_UNDER_WAY = (WalkingState.WALKING, WalkingState.PAUSED)


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds the reply to a command.

    Attributes:
        refusal: Why it was not carried out; None where it was.
        remark: What its client should know besides; empty for nothing.
    """

    refusal: str | None = None
    remark: str = ""


Answer = Callable[[Reply], None]
"""Takes the reply to a command, at once or some ticks later."""


@dataclass(frozen=True, slots=True)
class WalkingStatus:
    """Holds the state of the walk after a tick.

    Attributes:
        state: Of the state machine; ``waiting`` while there is no robot yet.
        reason: Why it is in this state.
        notice: A remark beside the reason; empty for none.
        time: Of the control clock, [s].
        remaining: Until the present plan ends, [s]; 0 when it has.
        pose: Of the middle of the feet by odometry, from where the robot was prepared.
        planning: Whether a goal is being planned.
        qp_failures: Ticks in which layer 3 had no solution.
        model_failures: Ticks in which layer 2 fell back.
        safety_events: Their number.
        last_event: Kind of the last of them; empty for none.
        bridged_readings: Number of readings that were not finite, by sensor.
        refused_messages: Malformed ones at the module's ports.
        step_adaptation: Its mode.
        adaptations: Changes of running steps since the robot was prepared.
        deflections: Estimated ones of the links that bend, [rad]; none of a rigid robot.
    """

    state: str
    reason: str
    notice: str = ""
    time: float = 0.0
    remaining: float = 0.0
    pose: PlanarPose = PlanarPose()
    planning: bool = False
    qp_failures: int = 0
    model_failures: int = 0
    safety_events: int = 0
    last_event: str = ""
    bridged_readings: tuple[tuple[str, int], ...] = ()
    refused_messages: int = 0
    step_adaptation: str = ""
    adaptations: int = 0
    deflections: tuple[float, ...] = ()

    @property
    def full_reason(self) -> str:
        """The reason, and the notice where there is one."""
        return f"{self.reason}; {self.notice}" if self.notice else self.reason

    def as_table(self) -> dict[str, object]:
        """Return all but the state by name, as it is reported: rounded, the yaw of the pose in degrees."""
        table = {name: getattr(self, name) for name in self.__slots__[1:]}
        return table | {
            "time": round(self.time, 4),
            "remaining": round(self.remaining, 3),
            "pose": (round(self.pose.x, 4), round(self.pose.y, 4), round(math.degrees(self.pose.yaw), 2)),
            "planning": int(self.planning),
            "deflections": [round(angle, 5) for angle in self.deflections],
        }


@dataclass(frozen=True, slots=True)
class _PendingGoal:
    """Holds a goal until its plan is there or refused."""

    answer: Answer
    since: float  # [s]


class Coordinator:
    """Carries out commands between ticks.

    `setGoal` and `goHome` are answered when their plan is there or refused; all others at once.

    Attributes:
        joint_positions: Where the joints are, [rad], shape (n,); None before the first sample.
        silent: Sources of the robot's readings that do not send any more.
        free_space: Where goals may be; None as long as no message has come.
        notice: The last action without a command, or the last refusal of a streamed goal; empty for none.
    """

    def __init__(self, controller: WalkingController, config: CoordinatorConfig, limits: PlannerConfig) -> None:
        """Take the controller.

        Args:
            controller: Refuses what its state does not allow.
            config: Times and scales.
            limits: Of the planner, for the scales.
        """
        self._controller = controller
        self._config = config
        self._goals = GoalStream(config, limits)
        self._takes_goals = False
        self._pending_goal: _PendingGoal | None = None
        self.joint_positions: NDArray | None = None
        self.silent: Sequence[LateSource] = ()
        self.free_space: FreeSpace | None = None
        self.notice = ""

    def carry_out(self, command: CoordinatorCommand, time: float, answer: Answer) -> None:
        """Carry out ``command`` and hand the reply to ``answer``."""
        try:
            self._execute(command)
        except WalkingError as error:
            answer(Reply(str(error)))
            return
        self._settle(Reply(f"given up: {command.word} came before the plan was there"))
        if self._controller.is_planning and command.word in (Word.SET_GOAL, Word.GO_HOME):
            self._pending_goal = _PendingGoal(answer, time)
        else:
            answer(Reply())

    def take_goal(self, values: Sequence[float], time: float) -> None:
        """Take a message of ``goal:i``: forward, angular, lateral, from −1 to 1, at ``time`` [s].

        Raises:
            MalformedCommand: It is no such message.
        """
        self._goals.take(values, time)

    def update(self, time: float) -> None:
        """Follow the stream of goals, stop when it is silent, answer clients that wait for a plan; before each tick."""
        self._watch_plan(time)
        refused = f"goal:i: {self._controller.plan_refusal}" if self._controller.plan_refusal else ""
        if self._goals.is_driving and refused:
            self.notice = refused
        if self._controller.state not in _UNDER_WAY:
            self._takes_goals = False
        if not self._takes_goals:
            self._goals.release()
            return
        change = self._goals.change(time)
        if change is None or not self._may_follow(change.command):
            return
        try:
            self._controller.walk(change.command)
            self.notice = f"{change.because}: closing the feet" if change.because else refused
        except WalkingError as error:
            self.notice = f"goal:i: {error}"

    def _may_follow(self, command: Command) -> bool:
        """Return whether a streamed command changes the walk: a robot that stands does not stop."""
        return not (isinstance(command, StopCommand) and self._controller.state is WalkingState.PAUSED)

    def _execute(self, command: CoordinatorCommand) -> None:
        controller = self._controller
        match command.word:
            case Word.PREPARE:
                self._prepare(command.on_the_fly)
            case Word.START:
                controller.start()
                self._takes_goals = True
            case Word.SET_GOAL if command.goal is not None:
                self._walk(command.goal)
            case Word.PAUSE:
                controller.pause()
                self._takes_goals = False
            case Word.STOP:
                controller.stop()
                self._takes_goals = False
            case Word.GO_HOME:
                self._go_home()
            case Word.STEP_ADAPTATION if command.stepping is not None:
                controller.step_adaptation = command.stepping
            case Word.EMERGENCY_STOP:
                controller.emergency_stop()
        self.notice = ""

    def _prepare(self, on_the_fly: bool) -> None:
        if self.joint_positions is None:
            raise StateError("cannot prepare: no sample of the robot has come yet")
        if self.silent:
            raise StateError(f"cannot prepare: no new readings of {', '.join(map(str, self.silent))}")
        self._controller.prepare(self.joint_positions if on_the_fly else None)

    def _walk(self, goal: Command) -> None:
        if isinstance(goal, GoalCommand) and self.free_space is not None:
            self.free_space.require(goal.x, goal.y)
        self._controller.walk(goal)
        self._goals.release()
        self._takes_goals = True

    def _go_home(self) -> None:
        """Walk to where the robot was prepared; a robot that does not walk goes to its start posture."""
        if self._controller.state in _UNDER_WAY:
            self._walk(GoalCommand(0.0, 0.0, 0.0))
        else:
            self._prepare(on_the_fly=False)

    def _watch_plan(self, time: float) -> None:
        """Answer the client that waits for a plan as soon as it is there or refused."""
        if self._pending_goal is None:
            return
        if not self._controller.is_planning:
            refusal = self._controller.plan_refusal
            self._settle(Reply(refusal or None))
        elif time > self._pending_goal.since + self._config.reply_timeout:
            self._settle(Reply("the plan is still being made; getReason has the result"))

    def _settle(self, reply: Reply) -> None:
        pending, self._pending_goal = self._pending_goal, None
        if pending is not None:
            pending.answer(reply)
