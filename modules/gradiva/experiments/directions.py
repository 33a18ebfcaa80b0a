"""Walks to a goal, along a curve, backward, sideways and on the spot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradiva.common import NDArray, so3
from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.planned_walk import Pose
from gradiva.experiments.tracks_figure import tracks_figure
from gradiva.experiments.trial import Trial, TrialResult
from gradiva.planner import Command, GoalCommand, PathCommand, VelocityCommand

TOLERANCE = 0.10  # [m] between where the robot stands at the end and where it should
_SPEED = 0.19  # [m/s]
_DURATION, _QUICK_DURATION = 12.0, 6.0  # [s] of the velocity commands


def curved_path() -> NDArray:
    """Return a quarter of a circle of 1.5 m to the left, [m], shape (16, 2)."""
    angle = np.linspace(0.0, 0.5 * math.pi, 16)
    return 1.5 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])


def commands(duration: float) -> dict[str, Command]:
    """Return the walks by name; velocities last ``duration`` [s]."""
    return {
        "goal (1.5, 1.0) m": GoalCommand(1.5, 1.0, speed=_SPEED),
        "quarter circle of 1.5 m": PathCommand(curved_path(), _SPEED),
        "backward at 0.15 m/s": VelocityCommand(-0.15, duration=duration),
        "to the left at 0.08 m/s": VelocityCommand(0.0, lateral=0.08, duration=duration),
        "to the right at 0.08 m/s": VelocityCommand(0.0, lateral=-0.08, duration=duration),
        "on the spot at 20°/s": VelocityCommand(0.0, angular=math.radians(20.0), duration=duration),
    }


def run_directions(run: ExperimentRun) -> None:
    """Walk all; the value is the distance between the robot's and the plan's last place, [m]."""
    walks = commands(_QUICK_DURATION if run.options.quick else _DURATION)
    names = list(walks)
    trials = [Trial(run.options.robot, command) for command in walks.values()]
    tracks: dict[str, tuple[NDArray, Pose | None]] = dict.fromkeys(names, (np.zeros((0, 2)), None))
    for index, result in run.pool.results(trials):
        tracks[names[index]] = (result.track, result.planned_pose)
        row = {"robot": run.options.robot, "command": names[index], **_score(result)}
        run.add_row(row, index)
        run.report(len(run.rows), len(trials), f"{names[index]}: {row['outcome']}")
    run.add_figure(tracks_figure(tracks), run.name)


def _score(result: TrialResult) -> dict[str, Any]:
    figures, planned = result.figures, result.planned_pose
    if planned is None:
        return {"paper": None, "value": None, "outcome": figures["outcome"], "reason": figures["reason"]}
    x, y, yaw = figures["final_pose"]
    error = figures["goal_error_m"]
    if error is None:
        error = math.hypot(x - planned[0], y - planned[1])
    outcome, reason = figures["outcome"], figures["reason"]
    if result.walked and error > TOLERANCE:
        outcome, reason = (
            "missed",
            f"{100 * error:.0f} cm from where it should be, {100 * TOLERANCE:.0f} cm are allowed",
        )
    return {
        "final_pose": figures["final_pose"],
        "heading_error_rad": abs(so3.wrap_angle(yaw - planned[2])),
        "tolerance_m": TOLERANCE,
        "paper": None,
        "value": error,
        "outcome": outcome,
        "reason": reason,
    }
