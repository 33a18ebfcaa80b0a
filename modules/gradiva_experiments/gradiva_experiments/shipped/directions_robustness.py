"""Walks in all directions, and walks with delays, offsets, other masses and slopes, on each plant."""

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
from gradiva.planner import Command, GoalCommand, PathCommand, VelocityCommand
from gradiva.setup import Plant
from gradiva.simulated_walk import Pose
from gradiva.telemetry import COM, DCM, REFERENCE, STYLE, ZMP
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row
from gradiva_experiments.speed_search import overrides_for
from gradiva_experiments.trial import Trial, TrialResult

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
    """Walk all on each plant; the value is the distance between the robot's and the plan's last place, [m]."""
    walks = commands(run.options.either(_DIRECTIONS_DURATION, _DIRECTIONS_QUICK_DURATION))
    kinds = [(plant, name) for plant in run.options.plants for name in walks]
    trials = [Trial(run.options.robot, walks[name], run.options.overrides, plant) for plant, name in kinds]
    tracks: dict[str, Tracks] = {name: Tracks() for name in walks}
    for index, result in run.pool.results(trials):
        plant, name = kinds[index]
        tracks[name].ways[plant], tracks[name].end = result.track, result.planned_pose
        row = {"robot": run.options.robot, "plant": str(plant), "command": name, **_score(result)}
        run.add_row(row, index)
        run.report(len(run.rows), len(trials), f"{plant}, {name}: {row['outcome']}")
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


_COLOURS = {Plant.IDEAL: COM, Plant.NOISY: DCM, Plant.ROBOT: ZMP}


@dataclass(slots=True, eq=False)
class Tracks:
    """Holds where the robot went with one command.

    Attributes:
        ways: Way of the middle of the feet by plant, [m], each of shape (k, 2).
        end: Pose in which the plan ends; None without a plan.
    """

    ways: dict[Plant, NDArray] = field(default_factory=dict)
    end: Pose | None = None


def tracks_figure(tracks: Mapping[str, Tracks]) -> Figure:
    """Return one panel a walk, by its name, with a line a plant."""
    rows = math.ceil(len(tracks) / _COLUMNS)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_COLUMNS * _PANEL, rows * _PANEL), layout="constrained")
        axes = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
        for axis, (name, walked) in zip(axes, tracks.items(), strict=False):
            _draw(axis, walked)
            axis.set_title(name)
            axis.set_xlabel("x [m]", loc="right")
            axis.set_ylabel("y [m]", loc="top")
        for axis in axes[len(tracks) :]:
            axis.set_axis_off()
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(_COLOURS))
        return figure


def _draw(axis: Axes, walked: Tracks) -> None:
    for plant, colour in _COLOURS.items():
        if plant in walked.ways:
            axis.plot(walked.ways[plant][:, 0], walked.ways[plant][:, 1], color=colour, label=plant)
    if walked.end is not None:
        x, y, yaw = walked.end
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
    """One line of the campaign, on each plant.

    Attributes:
        name: In the table.
        speed: [m/s].
        seeds: How many walks; one where nothing is drawn.
        plant_seeds: How many where only the plant draws; the ideal one does not.
        overrides: ``table.key`` to value.
    """

    name: str
    speed: float
    seeds: int = 1
    plant_seeds: int = 1
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def count(self, plant: Plant) -> int:
        """Return how many seeds differ."""
        return self.seeds if plant is Plant.IDEAL else max(self.seeds, self.plant_seeds)


NOTHING = "nothing else"
DISTURBANCES = (
    Disturbance(NOTHING, _SLOW, plant_seeds=10),
    Disturbance(NOTHING, _FAST, plant_seeds=10),
    Disturbance("10 ms from command to torque", _SLOW, overrides={"simulation.servo.delay": 0.010}),
    Disturbance(
        "encoders offset by up to ±1°",
        _SLOW,
        seeds=3,
        overrides={"simulation.sensors.encoders.encoder_offset": _ONE_DEGREE},
    ),
    Disturbance("mass +10 %", _SLOW, overrides={"simulation.plant.mass_scale": 1.10}),
    Disturbance("2° up", _SLOW, overrides={"simulation.ground.slope_forward": _TWO_DEGREES}),
    Disturbance("2° down", _SLOW, overrides={"simulation.ground.slope_forward": -_TWO_DEGREES}),
    Disturbance("2° to the left", _SLOW, overrides={"simulation.ground.slope_left": _TWO_DEGREES}),
)


def run_robustness(run: ExperimentRun) -> None:
    """Walk each disturbance on each plant with each of its seeds; the value is the largest DCM error, [m]."""
    quick = run.options.quick
    command_time = _ROBUSTNESS_QUICK_DURATION if quick else _ROBUSTNESS_DURATION
    cases = [
        (disturbance, plant, seed)
        for plant in run.options.plants
        for disturbance in DISTURBANCES
        for seed in range(min(disturbance.count(plant), _QUICK_SEEDS) if quick else disturbance.count(plant))
    ]
    robot, settings = run.options.robot, run.options.overrides
    trials = [
        Trial(
            robot,
            VelocityCommand(case.speed, duration=command_time),
            overrides_for(case.speed, robot, {**case.overrides, **settings}, plant),
            plant,
            seed,
        )
        for case, plant, seed in cases
    ]
    for index, result in run.pool.results(trials):
        case, plant, seed = cases[index]
        run.add_row(_row(case, trials[index], result), index)
        text = f"{plant}, {case.name}, {case.speed} m/s, seed {seed}: {result.figures['outcome']}"
        run.report(len(run.rows), len(trials), text)


def _row(case: Disturbance, trial: Trial, result: TrialResult) -> Row:
    """Return a row; on the robot plant, which is disturbed as it is, only the slow walk has to succeed."""
    error = result.figures.get("dcm_error_m", {})
    is_limit = trial.plant is Plant.ROBOT and (case.name, case.speed) != (NOTHING, _SLOW)
    return {
        "robot": trial.robot,
        "plant": str(trial.plant),
        "disturbance": case.name,
        "speed_mps": case.speed,
        "seed": trial.seed,
        "dcm_rms_m": error.get("rms"),
        **({"asked": str(Asked.AS_FOUND)} if is_limit else {}),
        "paper": None,
        "value": error.get("max"),
        "outcome": result.figures["outcome"],
        "reason": result.figures["reason"],
    }


EXPERIMENTS = (
    Experiment(
        "robustness",
        "Gradiva's own experiment",
        "Walks on each plant, and there with delay, encoder offsets, a heavier robot and slopes.",
        run_robustness,
        "largest DCM error [m]",
        plants=tuple(Plant),
        takes=("settings",),
    ),
    Experiment(
        "directions",
        "Gradiva's own experiment",
        "A goal, a curve, backward, sideways and on the spot: does the robot end where it should?",
        run_directions,
        "distance from its place [m]",
        plants=tuple(Plant),
        takes=("settings",),
    ),
)
