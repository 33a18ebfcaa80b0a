"""A walk of an application that a drill brings to the middle of a step, where something goes wrong."""

from __future__ import annotations

import math
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.middleware import ask, yarp
from gradiva.planner import VelocityCommand
from gradiva.setup import Setup
from gradiva.simulated_walk import (
    COORDINATOR,
    FREE_RUNNING,
    LOCKSTEP,
    SIMULATOR,
    ApplicationFailed,
    NameServerProcess,
    RunningApplication,
    WalkerOverPorts,
    joined,
    pairs,
    plan_from_start,
)
from gradiva.simulation import Bump

COMMAND = VelocityCommand(0.2)
_EARLIEST = 0.5  # [s] after the command: the first swing is found
_LOOK = 0.25  # [s] of simulated time between two looks at the state
_LONGEST = 20.0  # [s] of simulated time for what should happen
SETTLED = 0.5  # [s]
STREAM_PERIOD = 0.1  # [s] of simulated time
_RESTART = 60.0  # [s] by the wall, until a module that was started again answers
_ANSWER = 5.0  # [s] of the machine for a port that is there to answer
_SHORT_PREPARATION = "gradiva-whole-body=--set walking.prepare_duration=0.5"
_BUMPS = "simulation.ground.bumps"
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
        """State of the coordinator's state machine."""
        return self.walker.state

    @property
    def reason(self) -> str:
        """Reason of that state, with remarks."""
        return str(self.application.ask(COORDINATOR, "getReason")[0])

    def truth(self) -> dict[str, Any]:
        """Return the status that the simulator reports, by name."""
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
        self.walker.pass_time(SETTLED)
        self.walker.start()

    def end_walk(self) -> None:
        """Let a robot that walks close its feet; one that is doing so already is waited for."""
        self.walker.pass_time(_LOOK)  # the effect of the last command is reported after a tick
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

    def answered(self, layer: str) -> int:
        """Return how many requests of the coordinator a layer has answered."""
        return int(pairs(self.walker.status()[layer])["answered"])

    def await_answer(self, layer: str, before: int) -> None:
        """Pass time until a layer that was started again has answered more often than before; it starts by the wall.

        Raises:
            ApplicationFailed: It does not.
        """
        deadline = time.monotonic() + _RESTART
        while self.answered(layer) <= before:
            if time.monotonic() > deadline:
                raise ApplicationFailed(f"the {layer} that was started again has not answered within {_RESTART:g} s")
            self.walker.pass_time(STREAM_PERIOD)

    def await_port(self, port: str) -> None:
        """Wait until a port answers, by the clock of the machine."""
        health = yarp.Bottle("getHealth")
        self.application.wait_until(lambda: ask(port, health, _ANSWER) is not None, f"{port} answers again")

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


@contextmanager
def drilled_application(setup: Setup, is_lockstep: bool, bumps: Sequence[Bump] = ()) -> Iterator[DrilledWalk]:
    """Start simulator, three layers and logger on a network of their own, bumps on the floor; end them all.

    Raises:
        WalkingError: They do not come.
    """
    wanted = (*(LOCKSTEP if is_lockstep else FREE_RUNNING), _SHORT_PREPARATION)
    plant = ("--plant", str(setup.plant))
    floor = (f"gradiva-simulator=--set {_BUMPS}={_as_toml(bumps)}",) if bumps else ()
    additions = [word for addition in (*wanted, *floor) for word in ("--add", addition)]
    name = f"{setup.robot.name}-simulation-three"
    with (
        tempfile.TemporaryDirectory(prefix="gradiva-drill-") as path,
        NameServerProcess(Path(path)) as names,
        joined(names.environment),
        RunningApplication(name, names.environment, Path(path), "--restart", *plant, *additions) as application,
    ):
        yield DrilledWalk(WalkerOverPorts(application, is_lockstep), names, setup)


def _as_toml(bumps: Sequence[Bump]) -> str:
    return f"[{','.join(f'{{x={bump.x:.3f},y={bump.y:.3f},height={bump.height:g}}}' for bump in bumps)}]"
