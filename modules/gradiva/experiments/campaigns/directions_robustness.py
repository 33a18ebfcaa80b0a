"""Walks in all directions, and walks under noise, delays, offsets, other masses and slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray, so3
from gradiva.experiments.experiment import Experiment, ExperimentRun, Row
from gradiva.experiments.trial import Trial, TrialResult
from gradiva.experiments.walk_result import Pose
from gradiva.planner import Command, GoalCommand, PathCommand, VelocityCommand
from gradiva.setup import Plant
from gradiva.telemetry import COM, REFERENCE, STYLE

# -- directions --------------------------------------------------------------------------------------------------------

TOLERANCE = 0.10  # [m] between where the robot stands at the end and where it should
_SPEED = 0.19  # [m/s]
_DIRECTIONS_DURATION, _DIRECTIONS_QUICK_DURATION = 12.0, 6.0  # [s] of the velocity commands


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
    walks = commands(_DIRECTIONS_QUICK_DURATION if run.options.quick else _DIRECTIONS_DURATION)
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


_COLUMNS = 3
_PANEL = 2.6  # [inch]
_ARROW = 0.12  # [m] shows a heading
_LEAST_EXTENT = 0.3  # [m] of a panel to each side, so that a spot stays a spot


def tracks_figure(tracks: Mapping[str, tuple[NDArray, Pose | None]]) -> Figure:
    """Return one panel a walk.

    Args:
        tracks: Name to the way of the middle of the feet, [m], shape (k, 2), and the pose in which the plan ends.
    """
    rows = math.ceil(len(tracks) / _COLUMNS)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_COLUMNS * _PANEL, rows * _PANEL), layout="constrained")
        axes = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
        for axis, (name, (track, end)) in zip(axes, tracks.items(), strict=False):
            _draw(axis, track, end)
            axis.set_title(name)
            axis.set_xlabel("x [m]", loc="right")
            axis.set_ylabel("y [m]", loc="top")
        for axis in axes[len(tracks) :]:
            axis.set_axis_off()
        return figure


def _draw(axis: Axes, track: NDArray, end: Pose | None) -> None:
    axis.plot(track[:, 0], track[:, 1], color=COM)
    if end is not None:
        x, y, yaw = end
        axis.plot(x, y, "o", color=REFERENCE, markersize=4)
        axis.annotate(
            "",
            (x + _ARROW * math.cos(yaw), y + _ARROW * math.sin(yaw)),
            (x, y),
            arrowprops={"arrowstyle": "->", "color": REFERENCE},
        )
    axis.set_aspect("equal", adjustable="datalim")
    axis.plot([-_LEAST_EXTENT, _LEAST_EXTENT], [-_LEAST_EXTENT, _LEAST_EXTENT], alpha=0.0)


# -- robustness --------------------------------------------------------------------------------------------------------

_SLOW, _FAST = 0.19, 0.34  # [m/s]
_ROBUSTNESS_DURATION, _ROBUSTNESS_QUICK_DURATION = 20.0, 8.0  # [s]
_QUICK_SEEDS = 2
_TWO_DEGREES = 0.0349066  # [rad]
_ONE_DEGREE = 0.0174533  # [rad]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One line of the campaign.

    Attributes:
        name: In the table.
        speed: [m/s].
        seeds: How many walks; one where nothing is random.
        plant: Whose preset is laid over the simulation.
        overrides: ``table.key`` to value.
    """

    name: str
    speed: float
    seeds: int = 1
    plant: Plant = Plant.IDEAL
    overrides: Mapping[str, Any] = field(default_factory=dict)


DISTURBANCES = (
    Disturbance("noise preset", _SLOW, seeds=10, plant=Plant.NOISY),
    Disturbance("noise preset", _FAST, seeds=10, plant=Plant.NOISY),
    Disturbance("10 ms from command to torque", _SLOW, overrides={"simulation.servo.delay": 0.010}),
    Disturbance(
        "encoders offset by up to ±1°",
        _SLOW,
        seeds=3,
        overrides={"simulation.sensors.encoder_offset": _ONE_DEGREE},
    ),
    Disturbance("mass +10 %", _SLOW, overrides={"simulation.plant.mass_scale": 1.10}),
    Disturbance("2° up", _SLOW, overrides={"simulation.ground.slope_forward": _TWO_DEGREES}),
    Disturbance("2° down", _SLOW, overrides={"simulation.ground.slope_forward": -_TWO_DEGREES}),
    Disturbance("2° to the left", _SLOW, overrides={"simulation.ground.slope_left": _TWO_DEGREES}),
)


def run_robustness(run: ExperimentRun) -> None:
    """Walk each disturbance with each of its seeds; the value is the largest DCM error, [m]."""
    quick = run.options.quick
    command_time = _ROBUSTNESS_QUICK_DURATION if quick else _ROBUSTNESS_DURATION
    cases = [
        (disturbance, seed)
        for disturbance in DISTURBANCES
        for seed in range(min(disturbance.seeds, _QUICK_SEEDS) if quick else disturbance.seeds)
    ]
    trials = [
        Trial(run.options.robot, VelocityCommand(case.speed, duration=command_time), case.overrides, case.plant, seed)
        for case, seed in cases
    ]
    for index, result in run.pool.results(trials):
        case, seed = cases[index]
        run.add_row(_row(case, trials[index], result), index)
        text = f"{case.name}, {case.speed} m/s, seed {seed}: {result.figures['outcome']}"
        run.report(len(run.rows), len(trials), text)


def _row(case: Disturbance, trial: Trial, result: TrialResult) -> Row:
    error = result.figures.get("dcm_error_m", {})
    return {
        "robot": trial.robot,
        "disturbance": case.name,
        "speed_mps": case.speed,
        "seed": trial.seed,
        "dcm_rms_m": error.get("rms"),
        "paper": None,
        "value": error.get("max"),
        "outcome": result.figures["outcome"],
        "reason": result.figures["reason"],
    }


EXPERIMENTS = (
    Experiment(
        "robustness",
        "Gradiva's own campaign",
        "Walks under noise, delay, encoder offsets, a heavier robot and slopes.",
        run_robustness,
        "largest DCM error [m]",
    ),
    Experiment(
        "directions",
        "Gradiva's own campaign",
        "A goal, a curve, backward, sideways and on the spot: does the robot end where it should?",
        run_directions,
        "distance from its place [m]",
    ),
)
