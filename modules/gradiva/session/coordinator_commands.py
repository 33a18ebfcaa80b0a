"""Inputs of the coordinator: commands, goals that stream in, the free space; their configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

import numpy as np

from gradiva.common import NDArray, PlanningError, WalkingError, configuration, nearest_name, setting
from gradiva.planner import Command, GoalCommand, PathCommand, PlannerConfig, StopCommand, VelocityCommand
from gradiva.push_recovery import SteppingMode

HELP = (
    "prepareRobot [onTheFly] [anyway]   move slowly to the start posture and balance; onTheFly: balance as the robot"
    " stands now; anyway: although the last exercise found something wrong",
    "startWalking   be ready to take goals",
    "setGoal (x y [yaw])   walk there and stop; metres and degrees, from where the robot was prepared",
    "setGoal (velocity forward [lateral [turn]])   walk on; m/s, m/s to the left, degrees/s counter-clockwise",
    "setGoal (path speed (x y) (x y) ...)   walk along the points; m/s, metres",
    "pauseWalking   finish the step, close the feet and wait for goals",
    "stopWalking   finish the step, close the feet and stand; prepareRobot starts again",
    "goHome   walk back to where the robot was prepared; when it is not walking, as prepareRobot",
    "setStepAdaptation off|place|place_and_time   which changes of the running step a push may cause, from now on",
    "emergencyStop   freeze the joints at once, never refused; prepareRobot recovers",
    "getStatus   state, and how the walk is going",
    "getReason   why it is in this state",
    "dump   write the last minute of all signals to a run folder now; the reply says where",
)
_TOLERANCE = 1e-6  # beyond ±1: rounding of the sender
_ON_THE_FLY, _ANYWAY, _VELOCITY, _PATH = ARGUMENTS = ("onTheFly", "anyway", "velocity", "path")


_START_PERIOD = 0.5  # [s] from the last change of goal:i to a start: a stick that trembles about its middle starts once
_STILL = 0.02  # [-] of full deflection: less is a stick that is let go
PLANNING_LEAD = 0.3  # [s] until a plan that is made beside the tick may begin; a long one takes 0.1 s
PLANNING_TIMEOUT = 1.0  # [s] after which an unanswered planner is asked again


@configuration
class CoordinatorConfig:
    """``[coordinator]`` in ``config/coordinator.toml``.

    Attributes:
        goal_timeout: Longest silence of ``goal:i`` while it drives the walk, [s].
        full_deflection: Fraction of the highest speeds, ahead, sideways and turning, at full deflection, [-].
        reply_timeout: Until an RPC client gets the reply that its command has no result yet, [s].
    """

    goal_timeout: float = setting("s", above=0.0)
    full_deflection: float = setting("-", above=0.0, most=1.0)
    reply_timeout: float = setting("s", above=0.0)


class MalformedCommand(WalkingError):  # noqa: N818 (it reads as the sentence it is)
    """A command, a streamed goal or a free space has the wrong form; the message says which form is expected."""


class Word(StrEnum):
    """Lists the commands; existing clients know the first five."""

    PREPARE = "prepareRobot"
    START = "startWalking"
    SET_GOAL = "setGoal"
    PAUSE = "pauseWalking"
    STOP = "stopWalking"
    STATUS = "getStatus"
    REASON = "getReason"
    GO_HOME = "goHome"
    STEP_ADAPTATION = "setStepAdaptation"
    EMERGENCY_STOP = "emergencyStop"
    DUMP = "dump"


@dataclass(frozen=True, slots=True)
class CoordinatorCommand:
    """Holds one command of a client.

    Attributes:
        word: Its name.
        goal: Of ``setGoal``.
        on_the_fly: Of ``prepareRobot``.
        anyway: Of ``prepareRobot``: although the last exercise found something wrong.
        stepping: Of ``setStepAdaptation``.
    """

    word: Word
    goal: Command | None = None
    on_the_fly: bool = False
    anyway: bool = False
    stepping: SteppingMode | None = None


def parse_command(items: Sequence[object]) -> CoordinatorCommand | None:
    """Return the command in ``items``, or None when the first one is no command of the coordinator.

    Args:
        items: Words and numbers, and lists of them, as the middleware has received them.

    Raises:
        MalformedCommand: The arguments are wrong.
    """
    which = next((candidate for candidate in Word if candidate == items[0]), None) if items else None
    if which is None:
        return None
    arguments = items[1:]
    if which is Word.SET_GOAL:
        return CoordinatorCommand(which, goal=parse_goal(arguments))
    if which is Word.STEP_ADAPTATION:
        return CoordinatorCommand(which, stepping=_stepping_mode(arguments))
    if which is Word.PREPARE and arguments and all(each in (_ON_THE_FLY, _ANYWAY) for each in arguments):
        return CoordinatorCommand(which, on_the_fly=_ON_THE_FLY in arguments, anyway=_ANYWAY in arguments)
    if which is Word.PREPARE and len(arguments) == 1 and isinstance(arguments[0], int):  # generated clients send a bool
        return CoordinatorCommand(which, on_the_fly=bool(arguments[0]))
    if arguments:
        allowed = " but onTheFly and anyway" if which is Word.PREPARE else ""
        raise MalformedCommand(f"{which}: nothing{allowed} may follow, got {len(arguments)} values")
    return CoordinatorCommand(which)


def _stepping_mode(arguments: Sequence[object]) -> SteppingMode:
    """Return the mode in the arguments of ``setStepAdaptation``.

    Raises:
        MalformedCommand: There is none, or more than one value.
    """
    if len(arguments) != 1:
        modes = ", ".join(SteppingMode)
        raise MalformedCommand(f"{Word.STEP_ADAPTATION}: expected one of {modes}, got {len(arguments)} values")
    name = _word(arguments[0])
    if name not in [*SteppingMode]:
        raise MalformedCommand(
            f"{Word.STEP_ADAPTATION}: no mode is called '{name:.20}'{nearest_name(name, SteppingMode)}"
        )
    return SteppingMode(name)


def parse_goal(arguments: Sequence[object]) -> Command:
    """Return the goal of ``setGoal``, in parentheses or without.

    Raises:
        MalformedCommand: It is none.
    """
    items = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], list) else list(arguments)
    kind = _word(items[0]) if items else ""
    try:
        if kind == "":
            x, y, *yaw = _numbers(items, 2, 3, "x y [yaw]")
            return GoalCommand(x, y, math.radians(yaw[0]) if yaw else None)
        if kind == _VELOCITY:
            forward, lateral, turn = [*_numbers(items[1:], 1, 3, "velocity forward [lateral [turn]]"), 0.0, 0.0][:3]
            return VelocityCommand(forward, lateral, math.radians(turn))
        if kind == _PATH:
            return _path(items[1:])
    except WalkingError as error:
        raise MalformedCommand(f"{Word.SET_GOAL}: {error}") from None
    raise MalformedCommand(f"{Word.SET_GOAL}: no goal is called '{kind:.20}'{nearest_name(kind, (_VELOCITY, _PATH))}")


def _path(items: Sequence[object]) -> PathCommand:
    points = [point for point in items[1:] if isinstance(point, list)]
    if not points or len(points) != len(items) - 1:
        raise MalformedCommand("expected path speed (x y) (x y) ...")
    (speed,) = _numbers(items[:1], 1, 1, "path speed (x y) ...")
    return PathCommand(np.array([_numbers(point, 2, 2, "points (x y)") for point in points]), speed)


def _word(item: object) -> str:
    """Return a word; an empty string for anything else."""
    return item if isinstance(item, str) else ""


def _is_number(item: object) -> TypeGuard[int | float]:
    return isinstance(item, (int, float)) and not isinstance(item, bool)


def _numbers(items: Sequence[object], least: int, most: int, form: str) -> list[float]:
    numbers = [float(item) for item in items if _is_number(item)]
    wrong = [str(item) for item in items if not _is_number(item)]
    if wrong or not least <= len(items) <= most:
        what = f"but {wrong[0]:.20} is no number" if wrong else f"got {len(items)} values"
        raise MalformedCommand(f"expected {form}, numbers, {what}")
    if not all(map(math.isfinite, numbers)):
        raise MalformedCommand(f"{form}: a number is not finite")
    return numbers


@dataclass(frozen=True, slots=True, eq=False)
class FreeSpace:
    """Bounds goals by an ellipse: the points :math:`C u + d` with :math:`|u| \\le 1`, in the frame of the odometry.

    Attributes:
        matrix: :math:`C`, [m], shape (2, 2).
        centre: :math:`d`, [m], shape (2,).
    """

    matrix: NDArray
    centre: NDArray

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> FreeSpace:
        """Return the ellipse of a message: the matrix row by row, then the centre.

        Raises:
            MalformedCommand: Not six finite numbers, or an ellipse without area.
        """
        values = np.array(numbers, dtype=float)
        if values.shape != (6,) or not np.isfinite(values).all():
            raise MalformedCommand("freeSpaceEllipse:in: expected six finite numbers, the matrix and the centre")
        matrix = values[:4].reshape(2, 2)
        if abs(np.linalg.det(matrix)) < 1e-9:
            raise MalformedCommand("freeSpaceEllipse:in: the ellipse has no area")
        return cls(matrix, values[4:])

    def require(self, x: float, y: float) -> None:
        """Pass when the place (x, y) [m] is free.

        Raises:
            PlanningError: It is not.
        """
        radius = float(np.linalg.norm(np.linalg.solve(self.matrix, np.array([x, y]) - self.centre)))
        if radius > 1.0:
            raise PlanningError(f"the goal ({x:g}, {y:g}) lies outside the free space, at {radius:.2f} of its radius")


@dataclass(frozen=True, slots=True)
class GoalChange:
    """Holds the command that a stream of goals changes to.

    Attributes:
        command: A velocity, or to stand.
        because: Why the stream's end made this command; empty for one that was sent.
    """

    command: VelocityCommand | StopCommand
    because: str = ""


class GoalStream:
    """Takes ``forward angular lateral``, each from −1 to 1, and returns a command when the walk should change.

    It drives the walk from the first deflection until it has asked to stand; when it is silent meanwhile, the walk
    stops.
    """

    def __init__(self, config: CoordinatorConfig, limits: PlannerConfig) -> None:
        """Take the scales.

        Args:
            config: Fractions of the speeds, times.
            limits: Highest speeds.
        """
        self._config = config
        self._backward = min(limits.commands.max_backward_speed, config.full_deflection * limits.max_speed)
        self._scale = np.array(
            [
                config.full_deflection * limits.max_speed,
                config.full_deflection * limits.commands.max_angular_speed,
                config.full_deflection * limits.commands.max_lateral_speed,
            ]
        )
        self._requested = np.zeros(3)
        self._followed = np.zeros(3)
        self._arrival = -float("inf")
        self._last_change = -float("inf")

    @property
    def is_driving(self) -> bool:
        """Return whether this stream drives the walk."""
        return bool(self._followed.any())

    def take(self, values: Sequence[float], time: float) -> None:
        """Take a message that came at ``time`` [s].

        Raises:
            MalformedCommand: Not two or three finite numbers from −1 to 1.
        """
        deflection = np.array(values, dtype=float)
        if deflection.shape not in ((2,), (3,)) or not np.isfinite(deflection).all():
            raise MalformedCommand("goal:i: expected forward, angular, lateral, finite numbers")
        if np.abs(deflection).max() > 1.0 + _TOLERANCE:
            raise MalformedCommand(f"goal:i: expected numbers from -1 to 1, got {deflection.tolist()}")
        self._requested = np.zeros(3)
        self._requested[: len(deflection)] = np.clip(deflection, -1.0, 1.0)
        self._requested[np.abs(self._requested) < _STILL] = 0.0
        self._arrival = time

    def change(self, time: float) -> GoalChange | None:
        """Return the command that the walk should change to at ``time`` [s], or None."""
        silence = time - self._arrival
        if self.is_driving and silence > self._config.goal_timeout:
            self.release()
            return GoalChange(StopCommand(), f"goal:i has been silent for {silence:.2f} s")
        is_other = not np.array_equal(self._requested, self._followed)
        is_stop = not self._requested.any()
        is_due = is_stop or self.is_driving or time >= self._last_change + _START_PERIOD
        if not (is_other and is_due):
            return None
        self._followed, self._last_change = self._requested, time
        return GoalChange(StopCommand() if is_stop else self._velocity(self._requested))

    def release(self) -> None:
        """Leave the walk to others until a new message comes."""
        self._requested, self._followed = np.zeros(3), np.zeros(3)

    def _velocity(self, deflection: NDArray) -> VelocityCommand:
        forward, angular, lateral = (self._scale * deflection).tolist()
        return VelocityCommand(max(forward, -self._backward), lateral, angular)
