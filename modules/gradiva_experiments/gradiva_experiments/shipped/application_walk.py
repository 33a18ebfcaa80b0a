"""An application beside one process: the same walk over YARP and in a single process, compared."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.middleware import NAMED_ERRORS
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup, robots_with_ports
from gradiva.simulated_walk import (
    COORDINATOR,
    FREE_RUNNING,
    LOCKSTEP,
    SIMULATOR,
    RunningApplication,
    SimulatedWalk,
    WalkerInProcess,
    WalkerOverPorts,
    com_error,
    joined,
    pairs,
    private_network,
    rms_and_max,
)
from gradiva.simulation import Push
from gradiva.telemetry import COM, DCM, REFERENCE, STYLE, LogError, SignalLog, read_mat
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

_CAUGHT = 1.0  # [s] from the push to the second command: the pushed step has landed
_STOPPED = 0.1  # [s] in which a robot that stands has stopped


class Walker(Protocol):
    """A robot with its controller, commanded between two ticks."""

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

    def push(self, push: Push) -> None:
        """Push the robot from now on, and let place and time of its steps be adapted."""
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
        push: Just before the second command, its start aside; None: the robot is not pushed.
        balanced: When the robot has its start posture and balances, [s].
        turn: Time of the second command, [s].
        closed: In which a pause has closed the feet, and the robot stands, [s].
    """

    first: VelocityCommand
    second: VelocityCommand
    duration: float
    push: Push | None = None
    balanced: float = 4.0
    turn: float = 4.0
    closed: float = 5.0

    @property
    def end(self) -> float:
        """Time at which the robot stands again, [s]."""
        return self.balanced + self.duration + self.turn + self.closed

    def follow(self, walker: Walker) -> None:
        """Let ``walker`` do it all.

        Raises:
            NAMED_ERRORS: It refuses a command.
        """
        walker.prepare()
        walker.wait_until(self.balanced)
        walker.start()
        walker.walk(self.first)
        walker.wait_until(self.balanced + self.duration)
        if self.push is not None:
            walker.push(self.push)
            walker.wait_until(self.balanced + self.duration + _CAUGHT)
        walker.walk(self.second)
        walker.wait_until(self.balanced + self.duration + self.turn)
        walker.pause()
        walker.wait_until(self.end)
        walker.stop()
        walker.wait_until(self.end + _STOPPED)


# -- the experiment ----------------------------------------------------------------------------------------------------

LIMIT = 1.2  # [-] of the error in one process
_FIRST, _SECOND = VelocityCommand(0.2), VelocityCommand(0.1, angular=math.radians(10.0))
_DURATION, _QUICK_DURATION = 20.0, 5.0  # [s] of the first command
_MODES = {"lockstep": LOCKSTEP, "free running": FREE_RUNNING}


@dataclass(frozen=True, slots=True)
class ApplicationWalk:
    """Log and status of a walk by an application.

    Attributes:
        log: By its logger.
        status: Of the coordinator at the end.
        health: Of the module that holds the motors.
        truth: Of the simulator.
        result: Of the runner.
    """

    log: SignalLog
    status: dict[str, Any]
    health: dict[str, Any]
    truth: dict[str, Any]
    result: dict[str, Any]


def run_application_walk(run: ExperimentRun) -> None:
    """Walk the chosen robots, else all or if quick one, in one process and in five, in lockstep and free running."""
    quick = run.options.quick
    table = Timetable(_FIRST, _SECOND, _QUICK_DURATION if quick else _DURATION)
    curves: dict[str, dict[str, SignalLog]] = {}
    for robot in run.options.robots or ([run.options.robot] if quick else [each.name for each in robots_with_ports()]):
        curves[robot] = {"one process": walk_in_process(robot, table)}
        for mode in _MODES:
            run.add_row(_row(robot, mode, table, curves[robot]))
            run.report(len(run.rows), None, f"{robot}, {mode}: {run.rows[-1]['outcome']}")
    run.add_figure(com_error_figure(curves), run.name)


def walk_in_process(robot: str, table: Timetable) -> SignalLog:
    """Follow the timetable in this process; return the log."""
    walk = SimulatedWalk(load_setup(robot))
    table.follow(WalkerInProcess(walk))
    return walk.recorder.log


def walk_as_application(robot: str, mode: str, table: Timetable, *more: str) -> ApplicationWalk:
    """Follow the timetable over RPC.

    Args:
        robot: Name.
        mode: ``lockstep`` or ``free running``.
        table: What to do.
        more: Options of modules beside those of the mode, such as ``gradiva-whole-body=--set table.key=value``.

    Raises:
        WalkingError: The application does not come, refuses a command, or leaves no log.
    """
    additions = [word for addition in (*_MODES[mode], *more) for word in ("--add", addition)]
    with tempfile.TemporaryDirectory(prefix="gradiva-walk-") as path, private_network() as network, joined(network):
        folder = Path(path)
        with RunningApplication(f"{robot}-simulation-three", network, folder, *additions) as application:
            walker = WalkerOverPorts(application, mode == "lockstep")
            table.follow(walker)
            status = {**walker.status(), "state": walker.state}
            health = pairs(application.ask(COORDINATOR, "getHealth"))
            truth = pairs(application.ask(SIMULATOR, "getStatus"))
            result = application.stop()
        return ApplicationWalk(_log_in(folder), status, health, truth, result)


def _log_in(folder: Path) -> SignalLog:
    paths = sorted(folder.glob("runs/*-log/log.mat"))
    if not paths:
        raise LogError("the logger has left no log")
    return read_mat(paths[-1]).log


def _row(robot: str, mode: str, table: Timetable, logs: dict[str, SignalLog]) -> Row:
    inputs: Row = {"robot": robot, "time": mode, "walk_s": table.duration, "paper": None}
    try:
        walk = walk_as_application(robot, mode, table)
    except NAMED_ERRORS as error:
        return {**inputs, "value": None, "outcome": "failed", "reason": str(error)}
    logs[mode] = walk.log
    one, five = (rms_and_max(com_error(log)[1]) for log in (logs["one process"], walk.log))
    ratio = five["rms"] / one["rms"]
    complaint = _complaint(walk, ratio)
    return {
        **inputs,
        "com_error_m": five,
        "com_error_in_process_m": one,
        "max_ratio": five["max"] / one["max"],
        "distance_m": _distance(walk.log),
        "distance_in_process_m": _distance(logs["one process"]),
        **_counts(walk),
        "value": ratio,
        "outcome": "failed" if complaint else "met",
        "reason": complaint,
    }


def _counts(walk: ApplicationWalk) -> Row:
    exchange = pairs(walk.status["model_control"])
    return {
        "safety_events": walk.status["safety_events"],
        "asked": exchange["asked"],
        "missed": exchange["missed"],
        "late": exchange["late"],
        "fallback_ticks": exchange["fallback_ticks"],
        "deadline_misses": walk.health["deadline_misses"],
        "real_time_factor": walk.truth["real_time_factor"],
        "exit_statuses": [module["exit_status"] for module in walk.result["modules"]],
    }


def _complaint(walk: ApplicationWalk, ratio: float) -> str:
    if walk.truth["fall"]:
        return f"the robot fell: {walk.truth['fall']}"
    if walk.status["safety_events"] or walk.status["state"] != "stopped":
        return f"{walk.status['state']}: {walk.status['reason']}"
    if any(module["exit_status"] for module in walk.result["modules"]):
        return f"not all modules ended in peace: {walk.result['reason']}"
    return f"the error is {ratio:.2f} of that in one process, {LIMIT} is allowed" if ratio > LIMIT else ""


def _distance(log: SignalLog) -> float:
    """Return the distance between beginning and end by odometry, [m]."""
    path = log["odometry::root_link::position"][:, :2]
    return float(np.linalg.norm(path[-1] - path[0]))


# -- its figure --------------------------------------------------------------------------------------------------------

_COLOURS = (REFERENCE, COM, DCM)
_WIDTHS = (2.2, 1.0, 0.8)  # the first lies below the others
_WIDTH, _HEIGHT = 9.0, 2.2  # [inch], of each robot


def com_error_figure(logs: Mapping[str, Mapping[str, SignalLog]]) -> Figure:
    """Return one panel a robot.

    Args:
        logs: By robot, and by the way in which the walk was run; from the start of the walk on.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _HEIGHT * len(logs)), layout="constrained")
        axes = figure.subplots(len(logs), 1, squeeze=False)[:, 0]
        for axis, (robot, ways) in zip(axes, logs.items(), strict=True):
            axis.set_title(f"{robot}: distance of the CoM from its reference [mm]")
            for (way, log), colour, width in zip(ways.items(), _COLOURS, _WIDTHS, strict=False):
                times, errors = com_error(log)
                axis.plot(times - times[0], 1e3 * errors, color=colour, linewidth=width, label=way)
        axes[0].legend(loc="upper right")
        axes[-1].set_xlabel("time [s]", loc="right")
        return figure


EXPERIMENTS = (
    Experiment(
        "application_walk",
        "Gradiva's own experiment",
        "The application of five processes beside one process: CoM errors, in lockstep and free running.",
        run_application_walk,
        "rms CoM error, of that in one process [-]",
        takes=("robots",),
    ),
)
