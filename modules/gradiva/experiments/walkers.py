"""Who follows a timetable: a robot and its controller in this process, or the modules of an application."""

from __future__ import annotations

import math
from typing import Any

from gradiva.experiments.running_application import RunningApplication
from gradiva.experiments.simulated_walk import SimulatedWalk
from gradiva.middleware import Element
from gradiva.planner import VelocityCommand

COORDINATOR, SIMULATOR, LOGGER = "/walking-coordinator/rpc", "/simulator/rpc", "/logger/rpc"
LOCKSTEP = (
    "gradiva-simulator=--paused --speed 0 --patience 4",
    "gradiva-whole-body=--set remote.lockstep_patience=3 --set coordinator.reply_patience=10",
)
"""What makes the modules of an application wait for each other also on a machine that has much else to do."""

SPEED = 0.4
"""Simulated seconds a real one where no module waits for another: a slow machine carries five on its two cores."""

FREE_RUNNING = (f"gradiva-simulator=--no-lockstep --speed {SPEED:g}", "gradiva-whole-body=--no-lockstep")
"""What lets each module of an application go by the clock alone, as on a robot."""

_ROUNDING = 1e-3  # [s] of the times that are told


class WalkerInProcess:
    """A `SimulatedWalk`, told between the same ticks as an application in lockstep."""

    def __init__(self, walk: SimulatedWalk) -> None:
        """Take a robot that has not been ticked yet; its first period passes before it is prepared."""
        self._walk = walk
        walk.robot.advance(walk.setup.walking.walking.period)

    def wait_until(self, time: float) -> None:
        """See ``Walker.wait_until``."""
        while self._walk.time < time + _ROUNDING:
            self._walk.tick()

    def prepare(self) -> None:
        """See ``Walker.prepare``."""
        self._walk.controller.prepare()

    def start(self) -> None:
        """See ``Walker.start``."""
        self._walk.controller.start()

    def walk(self, command: VelocityCommand) -> None:
        """See ``Walker.walk``."""
        self._walk.controller.walk(command)

    def pause(self) -> None:
        """See ``Walker.pause``."""
        self._walk.controller.pause()

    def stop(self) -> None:
        """See ``Walker.stop``."""
        self._walk.controller.stop()


class WalkerOverPorts:
    """An application with simulator, coordinator and logger, as an operator tells it over RPC.

    Attributes:
        application: It runs.
    """

    def __init__(self, application: RunningApplication, is_lockstep: bool) -> None:
        """Wait until all is there.

        Args:
            application: Has just been started; in lockstep its simulator with ``--paused``.
            is_lockstep: Whether time stands still but for `wait_until`.

        Raises:
            ApplicationFailed: Something does not come.
        """
        self.application = application
        self._is_lockstep = is_lockstep
        application.wait_until(lambda: self.state == "configured", "the robot is there")
        application.wait_until(self.is_logged, "the logger listens")
        self._start = 0.0 if is_lockstep else self.time

    @property
    def state(self) -> str:
        """Of the coordinator's state machine."""
        return str(self.application.ask(COORDINATOR, "getStatus")[0])

    @property
    def time(self) -> float:
        """Of the last tick, [s]."""
        return float(self.status()["time"])

    @property
    def is_lockstep(self) -> bool:
        """Whether time stands still between two calls."""
        return self._is_lockstep

    def status(self) -> dict[str, Any]:
        """Return what the coordinator tells, by name."""
        return pairs(self.application.ask(COORDINATOR, "getStatus")[1:])

    def wait_until(self, time: float) -> None:
        """See ``Walker.wait_until``."""
        if self._is_lockstep:
            self._advance(max(0.0, time - self._simulated_time()))
        self._await_tick(self._start + time)

    def pass_time(self, duration: float) -> None:
        """Let simulated time pass, [s]; in lockstep also where nobody ticks."""
        if self._is_lockstep:
            self._advance(duration)
        else:
            self._await_tick(self.time + duration)

    def prepare(self) -> None:
        """See ``Walker.prepare``."""
        self.application.ask(COORDINATOR, "prepareRobot")

    def start(self) -> None:
        """See ``Walker.start``."""
        self.application.ask(COORDINATOR, "startWalking")

    def walk(self, command: VelocityCommand) -> None:
        """See ``Walker.walk``."""
        angular = math.degrees(command.angular)
        self.application.ask(COORDINATOR, f"setGoal (velocity {command.forward!r} {command.lateral!r} {angular!r})")

    def pause(self) -> None:
        """See ``Walker.pause``."""
        self.application.ask(COORDINATOR, "pauseWalking")

    def stop(self) -> None:
        """See ``Walker.stop``."""
        self.application.ask(COORDINATOR, "stopWalking")

    def _advance(self, duration: float) -> None:
        self.application.ask(SIMULATOR, f"advance {duration:.9f}")

    def _await_tick(self, time: float) -> None:
        self.application.wait_until(lambda: self.time >= time - _ROUNDING, f"the tick at {time:g} s")

    def _simulated_time(self) -> float:
        return float(pairs(self.application.ask(SIMULATOR, "getStatus"))["time"])

    def is_logged(self) -> bool:
        """Whether the logger hears the walk."""
        return bool(pairs(self.application.ask(LOGGER, "getStatus")[1:])["connected"])


def pairs(items: list[Element]) -> dict[str, Any]:
    """Return a reply of (name value) as a dictionary; values that are such lists themselves stay lists."""
    return {str(item[0]): item[1] if len(item) == 2 else item[1:] for item in items if isinstance(item, list)}
