"""An application as a process, operated over RPC, and the walkers that command it or a walk in one process."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradiva.common import WalkingError
from gradiva.middleware import Element, Vocab32, as_items, ask, yarp
from gradiva.planner import VelocityCommand
from gradiva.simplified_model import SteppingMode
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulation import Push

TIMEOUT = 120.0  # [s] of the machine, for what takes some seconds of it while nothing else runs
_LOOK = 0.02  # [s]
_RESULT = "result.json"


class ApplicationFailed(WalkingError):  # noqa: N818
    """An application did not do as commanded; carries what its runner or its modules said."""


class RunningApplication:
    """One run of an application, its records and logs in a folder of its own; to be entered as a context.

    Attributes:
        folder: All that the run writes lies in it.
        result: Report of the runner in the end; empty before.
    """

    def __init__(self, name: str, network: Mapping[str, str], folder: Path, *options: str) -> None:
        """Start it.

        Args:
            name: As in ``gradiva app list``.
            network: Environment in which processes find their name server; this process has joined it as well.
            folder: Exists, and is empty.
            options: Further ones of ``gradiva app run``.
        """
        self.folder = folder
        self.result: dict[str, Any] = {}
        command = [sys.executable, "-m", "gradiva.cli", "app", "run", name, "--json", _RESULT, *options]
        with (folder / "runner.log").open("wb") as log:
            self._runner = subprocess.Popen(
                command,
                cwd=folder,
                env={**network, "XDG_STATE_HOME": str(folder / "state")},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> RunningApplication:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner.poll() is None:
            self.stop()

    def ask(self, port: str, command: str) -> list[Element]:
        """Return what a port replies to a command, behind ``[ok]``.

        Raises:
            ApplicationFailed: It refuses, or does not answer.
        """
        reply = ask(port, yarp.Bottle(command), TIMEOUT)
        items = [] if reply is None else as_items(reply)
        if not items or not isinstance(items[0], Vocab32) or yarp.decode(int(items[0])) != "ok":
            answer = "no answer" if reply is None else reply.toString()
            raise ApplicationFailed(f"{port}: {command}: {answer}")
        return items[1:]

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until ``condition`` holds; an answer that does not come yet is one that does not hold.

        Raises:
            ApplicationFailed: The runner has ended, or it takes longer than the timeout.
        """
        deadline = time.monotonic() + TIMEOUT
        while not _holds(condition):
            if self._runner.poll() is not None:
                raise ApplicationFailed(f"{what}: the application ended: {self._last_words()}")
            if time.monotonic() > deadline:
                raise ApplicationFailed(f"{what}: not within {TIMEOUT:g} s")
            time.sleep(_LOOK)

    def process_of(self, module: str) -> int:
        """Return the number of a module's process.

        Raises:
            ApplicationFailed: It does not run.
        """
        numbers = {each["name"]: each["process"] for each in self._status().get("modules", [])}
        if numbers.get(module) is None:
            raise ApplicationFailed(f"{module} does not run; there are {', '.join(numbers)}")
        return int(numbers[module])

    def stop(self) -> dict[str, Any]:
        """End it as Ctrl-C does; return the runner's report.

        Raises:
            ApplicationFailed: It does not end.
        """
        self._runner.send_signal(signal.SIGINT)
        try:
            self._runner.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self._runner.kill()
            self._runner.wait()
            raise ApplicationFailed(f"the runner did not end: {self._last_words()}") from None
        if (self.folder / _RESULT).is_file():
            self.result = json.loads((self.folder / _RESULT).read_text(encoding="utf-8"))
        return self.result

    def _status(self) -> dict[str, Any]:
        found = sorted(self.folder.glob("runs/*/status.json"))
        return dict(json.loads(found[-1].read_text(encoding="utf-8"))) if found else {}

    def _last_words(self) -> str:
        lines = (self.folder / "runner.log").read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "without a word")


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except ApplicationFailed:
        return False


# -- walkers -----------------------------------------------------------------------------------------------------------

COORDINATOR, SIMULATOR, LOGGER = "/walking-coordinator/rpc", "/simulator/rpc", "/logger/rpc"
LOCKSTEP = (
    "gradiva-simulator=--paused --speed 0 --timeout 4",
    "gradiva-whole-body=--set remote.lockstep_timeout=3 --set coordinator.reply_timeout=10",
)
"""Settings with which the modules of an application wait for each other also on a loaded machine."""

FREE_RUNNING_SPEED = 0.4
"""Simulated seconds a real one where no module waits for another: a slow machine carries five on its two cores."""

FREE_RUNNING = (f"gradiva-simulator=--no-lockstep --speed {FREE_RUNNING_SPEED:g}", "gradiva-whole-body=--no-lockstep")
"""Settings with which each module of an application goes by the clock alone, as on a robot."""

_ROUNDING = 1e-3  # [s] of the times that are reported


class WalkerInProcess:
    """A `SimulatedWalk`, commanded between the same ticks as an application in lockstep."""

    def __init__(self, walk: SimulatedWalk) -> None:
        """Take a robot that has not been ticked yet."""
        self._walk = walk

    def wait_until(self, time: float) -> None:
        """See ``Walker.wait_until``; a tick ends with its command, so that a push begins where it does over ports."""
        while self._walk.time < time - _ROUNDING:
            self._walk.robot.advance(self._walk.setup.walking.walking.period)
            self._walk.control()

    def prepare(self) -> None:
        """See ``Walker.prepare``."""
        self._walk.controller.prepare()

    def start(self) -> None:
        """See ``Walker.start``."""
        self._walk.controller.start()

    def walk(self, command: VelocityCommand) -> None:
        """See ``Walker.walk``."""
        self._walk.controller.walk(command)

    def push(self, push: Push) -> None:
        """See ``Walker.push``."""
        self._walk.controller.step_adaptation = SteppingMode.PLACE_AND_TIME
        self._walk.robot.push(replace(push, start=self._walk.time))

    def pause(self) -> None:
        """See ``Walker.pause``."""
        self._walk.controller.pause()

    def stop(self) -> None:
        """See ``Walker.stop``."""
        self._walk.controller.stop()


class WalkerOverPorts:
    """An application with simulator, coordinator and logger, as an operator commands it over RPC.

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
        """State of the coordinator's state machine."""
        return str(self.application.ask(COORDINATOR, "getStatus")[0])

    @property
    def time(self) -> float:
        """Time of the last tick, [s]."""
        return float(self.status()["time"])

    @property
    def is_lockstep(self) -> bool:
        """Whether time stands still between two calls."""
        return self._is_lockstep

    def status(self) -> dict[str, Any]:
        """Return the status of the coordinator, by name."""
        return pairs(self.application.ask(COORDINATOR, "getStatus")[1:])

    def wait_until(self, time: float) -> None:
        """See ``Walker.wait_until``."""
        if self._is_lockstep:
            self._advance(max(0.0, time - self._simulated_time()))
        self._await_tick(self._start + time)

    def pass_time(self, duration: float) -> None:
        """Let simulated time pass, [s]; in lockstep also where no controller ticks."""
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

    def push(self, push: Push) -> None:
        """See ``Walker.push``."""
        self.application.ask(COORDINATOR, f"setStepAdaptation {SteppingMode.PLACE_AND_TIME}")
        numbers = " ".join(f"{number:.9g}" for number in (*push.force, *push.torque, push.duration))
        reply = ask(SIMULATOR, yarp.Bottle(f"push {push.link} {numbers}"), TIMEOUT)  # answers as Gazebo's plug-in
        if reply is None or "[ACK]" not in reply.toString():
            raise ApplicationFailed(f"{SIMULATOR}: push: {'no answer' if reply is None else reply.toString()}")

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
