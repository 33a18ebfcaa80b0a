"""Straight walks of the thesis: highest speed, specific energetic cost (chapters 7 and 10), tracking (chapter 10)."""

from __future__ import annotations

from functools import partial
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.planner import VelocityCommand
from gradiva.setup import Plant
from gradiva.simulated_walk import WalkOutcome
from gradiva.telemetry import COM, DCM, REFERENCE, STYLE, ZMP, SignalLog
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row
from gradiva_experiments.speed_search import bars_figure, run_speed_table
from gradiva_experiments.trial import Trial, TrialResult, walk_trial

# -- tables 7.1 and 7.2 ------------------------------------------------------------------------------------------------

SPEED_PAPER = {  # [m/s] of iCub v2.7, by model and control
    ("dcm", "torque"): 0.2120,
    ("dcm_mpc", "torque"): 0.1448,
}


def run_table_7_1(run: ExperimentRun) -> None:
    """Search the highest speed with both laws of layer 2."""
    run_speed_table(run, SPEED_PAPER, "thesis, simulation")


SPEED = 0.2120  # [m/s]
COST_PAPER = {"position": 4.82, "torque": 2.55}  # [J/kg/m] of iCub v2.7, by control
_PAPER_ROBOT = "icub_v2_7"
_DURATION, _QUICK_DURATION = 20.0, 6.0  # [s]


def run_table_7_2(run: ExperimentRun) -> None:
    """Walk alike in both on each plant; the value is positive work over mass and distance."""
    duration = run.options.either(_DURATION, _QUICK_DURATION)
    command = VelocityCommand(SPEED, duration=duration)
    kinds = [(plant, control) for plant in run.options.plants for control in COST_PAPER]
    trials = [Trial(run.options.robot, command, {"walking.control": control}, plant) for plant, control in kinds]
    for place, result in run.pool.results(trials):
        plant, control = kinds[place]
        run.add_row(_row(run, plant, control, result), place)
        run.report(len(run.rows), len(trials), f"{plant} plant, {control}: {result.figures['outcome']}")
    run.add_figure(bars_figure(run.rows, ("plant", "control"), run.value_title, "thesis, simulation"), run.name)


def _row(run: ExperimentRun, plant: Plant, control: str, result: TrialResult) -> Row:
    """Return a row; only the walk on the ideal plant has to succeed, that on others is as found."""
    figures, robot = result.figures, run.options.robot
    return {
        "robot": robot,
        "plant": str(plant),
        "control": control,
        "asked": str(Asked.TO_WALK if plant is Plant.IDEAL else Asked.AS_FOUND),
        "speed_mps": SPEED,
        "mean_speed_mps": figures.get("mean_speed_mps"),
        "distance_m": figures.get("distance_m"),
        "com_error_m": figures.get("com_error_m", {}).get("max"),
        "paper": COST_PAPER[control] if robot == _PAPER_ROBOT and plant is Plant.IDEAL else None,
        "value": figures.get("specific_energetic_cost"),
        "outcome": figures["outcome"],
        "reason": figures["reason"],
    }


# -- table 10.1 --------------------------------------------------------------------------------------------------------

PAPER = {  # [m/s] of iCub v2.7, by model and control
    ("dcm_mpc", "velocity"): 0.1563,
    ("dcm_mpc", "position"): 0.1645,
    ("dcm", "velocity"): 0.1809,
    ("dcm", "position"): 0.3372,
}


def run_table_10_1(run: ExperimentRun) -> None:
    """Search the highest speed of all four combinations."""
    run_speed_table(run, PAPER, "thesis, robot")


CHAPTER_10_SPEED = 0.19  # [m/s]
_CHAPTER_10_DURATION, _CHAPTER_10_QUICK_DURATION = 15.0, 5.0  # [s]
# -- figures 10.9 and 10.10 --------------------------------------------------------------------------------------------

_PAPER = {"dcm": 0.05, "com": 0.02, "zmp": None}  # [m] what the thesis says the errors stay below
_TITLES = {"dcm": "instantaneous DCM control", "dcm_mpc": "predictive DCM control"}


def run_tracking(run: ExperimentRun, model: str) -> None:
    """Walk on each plant; draw the walk on the last one.

    Args:
        run: The experiment.
        model: Layer 2.
    """
    duration = _CHAPTER_10_QUICK_DURATION if run.options.quick else _CHAPTER_10_DURATION
    for count, plant in enumerate(run.options.plants):
        run.report(count, len(run.options.plants), f"{plant} plant")
        overrides = {"walking.model": model, "walking.control": "position"}
        outcome = walk_trial(
            Trial(run.options.robot, VelocityCommand(CHAPTER_10_SPEED, duration=duration), overrides, plant)
        )
        _add_rows(run, outcome, plant)
    title = (
        f"{outcome.walk.setup.robot.title}, {_TITLES[model]}, position control, {CHAPTER_10_SPEED} m/s, {plant} plant"
    )
    run.add_figure(tracking_figure(outcome.walk.recorder.log, title), run.name)
    run.report(len(run.options.plants), len(run.options.plants), "figures are written")


run_figure_10_9 = partial(run_tracking, model="dcm")
run_figure_10_10 = partial(run_tracking, model="dcm_mpc")


def _add_rows(run: ExperimentRun, outcome: WalkOutcome, plant: Plant) -> None:
    result = outcome.result
    for quantity, paper in _PAPER.items():
        error: dict[str, Any] = result[f"{quantity}_error_m"]
        run.add_row(
            {
                "robot": result["robot"],
                "model": result["model"],
                "control": result["control"],
                "speed_mps": CHAPTER_10_SPEED,
                "plant": str(plant),
                "quantity": f"{quantity}_error_m",
                "rms": error["rms"],
                "paper": paper,
                "value": error["max"],
                "outcome": result["outcome"],
                "reason": result["reason"],
            }
        )


_PANELS = (("(a) DCM", "dcm::position", DCM), ("(b) CoM", "com::position", COM), ("(c) ZMP", "zmp", ZMP))
_SIZE = (9.0, 7.0)  # [inch]


def tracking_figure(log: SignalLog, title: str) -> Figure:
    """Return three rows of panels, x to the left and y to the right.

    Args:
        log: Of a walk.
        title: Above all.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(_PANELS), 2, sharex=True)
        for row, (name, signal, colour) in zip(axes, _PANELS, strict=True):
            for column, axis in enumerate(row):
                _draw(axis, log, signal, column, colour)
                axis.set_title(f"{name}, {'xy'[column]} [m]")
        axes[0][0].legend(loc="upper left")
        for axis in axes[-1]:
            axis.set_xlabel("time [s]", loc="right")
        return figure


def _draw(axis: Axes, log: SignalLog, signal: str, column: int, colour: str) -> None:
    axis.plot(log.times, log[f"{signal}::measured"][:, column], color=colour, label="measured")
    axis.plot(
        log.times,
        log[f"{signal}::desired"][:, column],
        color=REFERENCE,
        linewidth=0.9,
        dashes=(3.0, 1.6),
        label="desired",
    )


EXPERIMENTS = (
    Experiment(
        "table_10_1",
        "Romualdi, thesis, chapter 10, table 10.1",
        "The highest straight speed of {predictive, instantaneous} × {velocity, position} control.",
        run_table_10_1,
        "highest speed [m/s]",
        plants=tuple(Plant),
        takes=("settings",),
    ),
    Experiment(
        "table_7_1",
        "Romualdi, thesis, chapter 7, table 7.1",
        "The highest straight speed of torque control, instantaneous and predictive.",
        run_table_7_1,
        "highest speed [m/s]",
        plants=tuple(Plant),
        takes=("settings",),
    ),
    Experiment(
        "table_7_2",
        "Romualdi, thesis, chapter 7, table 7.2",
        "The specific energetic cost of position and torque control at 0.212 m/s.",
        run_table_7_2,
        "cost [J/kg/m]",
        plants=tuple(Plant),
    ),
    Experiment(
        "figure_10_9",
        "Romualdi, thesis, chapter 10, figure 10.9",
        "DCM, CoM and ZMP tracking of the instantaneous law at 0.19 m/s, position control.",
        run_figure_10_9,
        "largest error [m]",
        plants=tuple(Plant),
    ),
    Experiment(
        "figure_10_10",
        "Romualdi, thesis, chapter 10, figure 10.10",
        "DCM, CoM and ZMP tracking of the predictive law at 0.19 m/s, position control.",
        run_figure_10_10,
        "largest error [m]",
        plants=tuple(Plant),
    ),
)
