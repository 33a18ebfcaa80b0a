"""One timetable of commands, followed by a robot in this process or by an application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gradiva.planner import VelocityCommand

_BALANCED = 4.0  # [s] after which the robot has its start posture and balances
_TURN = 4.0  # [s] of the second command
_CLOSED = 5.0  # [s] in which a pause has closed the feet, and the robot stands
_STOPPED = 0.1  # [s] in which a robot that stands has stopped


class Walker(Protocol):
    """A robot with its controller, told what to do between two ticks."""

    def wait_until(self, time: float) -> None:
        """Let simulated time pass, up to the tick at ``time`` [s] after the start."""
        ...

    def prepare(self) -> None:
        """Move to the start posture, then balance."""
        ...

    def start(self) -> None:
        """Take commands."""
        ...

    def walk(self, command: VelocityCommand) -> None:
        """Walk on by a velocity."""
        ...

    def pause(self) -> None:
        """Close the feet."""
        ...

    def stop(self) -> None:
        """Walk no more."""
        ...


@dataclass(frozen=True, slots=True)
class Timetable:
    """Prepare, walk, walk otherwise, pause, stop.

    Attributes:
        first: The first command.
        second: The second one.
        duration: From the first command to the second, [s].
    """

    first: VelocityCommand
    second: VelocityCommand
    duration: float

    @property
    def walking(self) -> float:
        """When the first command is given, [s]."""
        return _BALANCED

    @property
    def end(self) -> float:
        """When the robot stands again, [s]."""
        return _BALANCED + self.duration + _TURN + _CLOSED

    def follow(self, walker: Walker) -> None:
        """Let ``walker`` do it all.

        Raises:
            WalkingError: It refuses a command.
        """
        walker.prepare()
        walker.wait_until(_BALANCED)
        walker.start()
        walker.walk(self.first)
        walker.wait_until(_BALANCED + self.duration)
        walker.walk(self.second)
        walker.wait_until(_BALANCED + self.duration + _TURN)
        walker.pause()
        walker.wait_until(self.end)
        walker.stop()
        walker.wait_until(self.end + _STOPPED)
