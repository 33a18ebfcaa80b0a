"""What the coordinator can be told, and how it is written on the wire."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gradiva.common import nearest_name
from gradiva.middleware import NAMED_ERRORS, MalformedMessage
from gradiva.planner import Command, GoalCommand, PathCommand, VelocityCommand
from gradiva.yarp_modules.command_reply import is_called, word
from pureyarp.wire.elements import Element, Vocab32


class Word(StrEnum):
    """The commands; existing clients know the first five."""

    PREPARE = "prepareRobot"
    START = "startWalking"
    SET_GOAL = "setGoal"
    PAUSE = "pauseWalking"
    STOP = "stopWalking"
    STATUS = "getStatus"
    REASON = "getReason"
    GO_HOME = "goHome"
    EMERGENCY_STOP = "emergencyStop"


HELP = (
    "prepareRobot [onTheFly]   move slowly to the start posture and balance; onTheFly: balance as the robot stands now",
    "startWalking   be ready to take goals",
    "setGoal (x y [yaw])   walk there and stop; metres and degrees, from where the robot was prepared",
    "setGoal (velocity forward [lateral [turn]])   walk on; m/s, m/s to the left, degrees/s counter-clockwise",
    "setGoal (path speed (x y) (x y) ...)   walk along the points; m/s, metres",
    "pauseWalking   finish the step, close the feet and wait for goals",
    "stopWalking   finish the step, close the feet and stand; prepareRobot starts again",
    "goHome   walk back to where the robot was prepared; when it is not walking, as prepareRobot",
    "emergencyStop   freeze the joints at once, never refused; prepareRobot recovers",
    "getStatus   state, and how the walk is going",
    "getReason   why it is in this state",
)


@dataclass(frozen=True, slots=True)
class CoordinatorCommand:
    """One command.

    Attributes:
        word: Which one.
        goal: Of ``setGoal``.
        on_the_fly: Of ``prepareRobot``.
    """

    word: Word
    goal: Command | None = None
    on_the_fly: bool = False


def parse_command(items: Sequence[Element]) -> CoordinatorCommand | None:
    """Return the command that ``items`` tell, or None when the first one is no word of the coordinator.

    Raises:
        MalformedMessage: What follows the word is not what belongs there.
    """
    which = next((candidate for candidate in Word if is_called(items[0], candidate)), None) if items else None
    if which is None:
        return None
    arguments = items[1:]
    if which is Word.SET_GOAL:
        return CoordinatorCommand(which, goal=parse_goal(arguments))
    if which is Word.PREPARE and len(arguments) == 1 and is_called(arguments[0], "onTheFly"):
        return CoordinatorCommand(which, on_the_fly=True)
    if which is Word.PREPARE and len(arguments) == 1 and isinstance(arguments[0], int):  # generated clients send a bool
        return CoordinatorCommand(which, on_the_fly=bool(arguments[0]))
    if arguments:
        allowed = " but onTheFly" if which is Word.PREPARE else ""
        raise MalformedMessage(f"{which}: nothing{allowed} may follow, got {len(arguments)} values")
    return CoordinatorCommand(which)


def parse_goal(arguments: Sequence[Element]) -> Command:
    """Return the goal that stands behind ``setGoal``, in parentheses or without.

    Raises:
        MalformedMessage: It is none.
    """
    items = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], list) else list(arguments)
    kind = word(items[0]) if items else ""
    try:
        if kind == "":
            x, y, *yaw = _numbers(items, 2, 3, "x y [yaw]")
            return GoalCommand(x, y, math.radians(yaw[0]) if yaw else None)
        if is_called(items[0], "velocity"):
            forward, lateral, turn = [*_numbers(items[1:], 1, 3, "velocity forward [lateral [turn]]"), 0.0, 0.0][:3]
            return VelocityCommand(forward, lateral, math.radians(turn))
        if is_called(items[0], "path"):
            return _path(items[1:])
    except MalformedMessage:
        raise
    except NAMED_ERRORS as error:  # not finite
        raise MalformedMessage(f"setGoal: {error}") from None
    raise MalformedMessage(f"setGoal: no goal is called '{kind:.20}'{nearest_name(kind, ('velocity', 'path'))}")


def _path(items: Sequence[Element]) -> PathCommand:
    points = [point for point in items[1:] if isinstance(point, list)]
    if not points or len(points) != len(items) - 1:
        raise MalformedMessage("setGoal: expected path speed (x y) (x y) ...")
    (speed,) = _numbers(items[:1], 1, 1, "path speed (x y) ...")
    return PathCommand(np.array([_numbers(point, 2, 2, "points (x y)") for point in points]), speed)


def _numbers(items: Sequence[Element], least: int, most: int, form: str) -> list[float]:
    numbers = [float(item) for item in items if isinstance(item, (int, float)) and not isinstance(item, Vocab32)]
    if len(numbers) != len(items) or not least <= len(items) <= most:
        raise MalformedMessage(f"setGoal: expected {form}, numbers, got {len(items)} values")
    if not all(map(math.isfinite, numbers)):
        raise MalformedMessage(f"setGoal: {form}: a number is not finite")
    return numbers
