"""What a walk costs in position and in torque control (thesis, table 7.2, simulation)."""

from __future__ import annotations

from gradiva.experiments.bars_figure import bars_figure
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.trial import Trial, TrialResult
from gradiva.planner import VelocityCommand

SPEED = 0.2120  # [m/s]
PAPER = {"position": 4.82, "torque": 2.55}  # [J/kg/m] of iCub v2.7, by control
_PAPER_ROBOT = "icub_v2_7"
_DURATION, _QUICK_DURATION = 20.0, 6.0  # [s]


def run_table_7_2(run: ExperimentRun) -> None:
    """Walk alike with exact sensors in both; the value is positive work over mass and distance."""
    duration = _QUICK_DURATION if run.options.quick else _DURATION
    command = VelocityCommand(SPEED, duration=duration)
    trials = [Trial(run.options.robot, command, {"walking.control": control}) for control in PAPER]
    for place, result in run.pool.results(trials):
        run.add_row(_row(run, list(PAPER)[place], result), place)
        run.report(len(run.rows), len(trials), f"{list(PAPER)[place]}: {result.figures['outcome']}")
    run.add_figure(bars_figure(run.rows, ("control",), run.value_title, "thesis, simulation"), run.name)


def _row(run: ExperimentRun, control: str, result: TrialResult) -> Row:
    figures, robot = result.figures, run.options.robot
    return {
        "robot": robot,
        "control": control,
        "speed_mps": SPEED,
        "mean_speed_mps": figures.get("mean_speed_mps"),
        "distance_m": figures.get("distance_m"),
        "com_error_m": figures.get("com_error_m", {}).get("max"),
        "paper": PAPER[control] if robot == _PAPER_ROBOT else None,
        "value": figures.get("specific_energetic_cost"),
        "outcome": figures["outcome"],
        "reason": figures["reason"],
    }
