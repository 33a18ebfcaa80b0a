"""The application of five processes walks as one process does: errors of the CoM side by side."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.experiments.com_error_figure import com_error_figure
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.private_network import joined, private_network
from gradiva.experiments.running_application import RunningApplication
from gradiva.experiments.simulated_walk import SimulatedWalk
from gradiva.experiments.walk_score import com_error, rms_and_max
from gradiva.experiments.walked_timetable import Timetable
from gradiva.experiments.walkers import (
    COORDINATOR,
    FREE_RUNNING,
    LOCKSTEP,
    SIMULATOR,
    WalkerInProcess,
    WalkerOverPorts,
    pairs,
)
from gradiva.middleware import NAMED_ERRORS
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup, robots_with_ports
from gradiva.telemetry import LogError, SignalLog, read_mat

LIMIT = 1.2  # [-] of the error in one process
_FIRST, _SECOND = VelocityCommand(0.2), VelocityCommand(0.1, angular=math.radians(10.0))
_DURATION, _QUICK_DURATION = 20.0, 5.0  # [s] of the first command
_MODES = {"lockstep": LOCKSTEP, "free running": FREE_RUNNING}


@dataclass(frozen=True, slots=True)
class ApplicationWalk:
    """How an application has walked.

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
    """Walk every robot, or if quick the chosen one, in one process and in five, in lockstep and free running."""
    quick = run.options.quick
    table = Timetable(_FIRST, _SECOND, _QUICK_DURATION if quick else _DURATION)
    curves: dict[str, dict[str, SignalLog]] = {}
    for robot in [run.options.robot] if quick else [each.name for each in robots_with_ports()]:
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


def walk_as_application(robot: str, mode: str, table: Timetable) -> ApplicationWalk:
    """Follow the timetable over RPC; ``mode`` is ``lockstep`` or ``free running``.

    Raises:
        WalkingError: The application does not come, refuses a command, or leaves no log.
    """
    additions = [word for addition in _MODES[mode] for word in ("--add", addition)]
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
    """How far apart beginning and end are by odometry, [m]."""
    path = log["odometry::root_link::position"][:, :2]
    return float(np.linalg.norm(path[-1] - path[0]))
