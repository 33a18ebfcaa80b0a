"""An application whose robot is in the middle of a step, for something to go wrong."""

from __future__ import annotations

import math
import os
import signal
from contextlib import suppress
from typing import Any

import numpy as np

from gradiva.experiments.planned_walk import plan_from_start
from gradiva.experiments.private_network import NameServerProcess
from gradiva.experiments.running_application import ApplicationFailed
from gradiva.experiments.walkers import COORDINATOR, SIMULATOR, WalkerOverPorts, pairs
from gradiva.planner import VelocityCommand
from gradiva.setup import Setup

COMMAND = VelocityCommand(0.2)
_EARLIEST = 1.0  # [s] after the command: the weight has been shifted
_LOOK = 0.25  # [s] of simulated time between two looks at the state
_LONGEST = 20.0  # [s] of simulated time for what should happen
_SETTLED = 0.5  # [s]
_LOWEST, _STEEPEST = 0.8, 20.0  # [-] of the height at the start, [deg]: beyond either the robot does not stand


class DrilledWalk:
    """A walk that is brought to the middle of a step and back to its beginning, by RPC alone.

    Attributes:
        walker: Its modules.
        application: The same, as processes.
        names: The name server.
        setup: Of the robot.
    """

    def __init__(self, walker: WalkerOverPorts, names: NameServerProcess, setup: Setup) -> None:
        """Take an application that is there."""
        self.walker, self.application, self.names, self.setup = walker, walker.application, names, setup
        self._height = float(self.truth()["base_height"])
        self._swing = swing_time(setup)

    @property
    def state(self) -> str:
        """Of the coordinator's state machine."""
        return self.walker.state

    @property
    def reason(self) -> str:
        """Why it is in that state, and what else there is to know."""
        return str(self.application.ask(COORDINATOR, "getReason")[0])

    def truth(self) -> dict[str, Any]:
        """Return what the simulator tells, by name."""
        return pairs(self.application.ask(SIMULATOR, "getStatus"))

    def is_standing(self) -> bool:
        """Whether the robot is upright, by the simulator's truth."""
        truth = self.truth()
        return not truth["fall"] and truth["base_height"] > _LOWEST * self._height and truth["tilt"] < _STEEPEST

    def get_ready(self) -> None:
        """End the walk if there is one, prepare the robot and start.

        Raises:
            ApplicationFailed: That is refused, or does not succeed.
        """
        self.end_walk()
        if self.state == "paused":
            self.walker.stop()
        self.walker.prepare()
        self.wait_for("prepared")
        self.walker.pass_time(_SETTLED)
        self.walker.start()

    def end_walk(self) -> None:
        """Let a robot that walks close its feet; one that is doing so already is waited for."""
        self.walker.pass_time(_LOOK)  # what the last command did is told after a tick
        if self.state == "walking":
            with suppress(ApplicationFailed):
                self.walker.pause()
            self.wait_for("paused", "stopped", "fault")

    def walk_to_swing(self) -> None:
        """Walk until a foot is in the air."""
        self.walker.walk(COMMAND)
        self.walker.pass_time(self._swing)

    def close_feet(self) -> None:
        """Pause the walk."""
        self.walker.pause()
        self.wait_for("paused")

    def wait_for(self, *states: str) -> None:
        """Let time pass until the coordinator is in one of ``states``.

        Raises:
            ApplicationFailed: It does not get there.
        """
        for _ in range(math.ceil(_LONGEST / _LOOK)):
            self.walker.pass_time(_LOOK)
            if self.state in states:
                return
        raise ApplicationFailed(f"{self.state}, not {' or '.join(states)}, after {_LONGEST:g} s: {self.reason}")

    def send(self, module: str, number: signal.Signals) -> None:
        """Send a signal to a module; one that it kills is started again by the application's runner."""
        os.kill(self.application.process_of(module), number)


def swing_time(setup: Setup) -> float:
    """Return when a foot is in the middle of its swing, [s] after the command."""
    plan = plan_from_start(setup, COMMAND)
    times = np.arange(_EARLIEST, _EARLIEST + 4.0, setup.walking.walking.period)
    swings = np.array([not plan.at(time).is_double_support for time in times])
    begin = int(np.argmax(np.diff(swings.astype(int)) == 1)) + 1
    return float(times[begin + int(np.argmin(swings[begin:])) // 2])
