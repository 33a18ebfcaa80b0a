"""Tracking at 0.19 m/s in position control (thesis, figures 10.9 and 10.10)."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.tracking_figure import tracking_figure
from gradiva.experiments.trial import Trial, walk_trial
from gradiva.experiments.walk_result import WalkOutcome
from gradiva.planner import VelocityCommand

SPEED = 0.19  # [m/s]
_DURATION, _QUICK_DURATION = 15.0, 5.0  # [s]
_PAPER = {"dcm": 0.05, "com": 0.02, "zmp": None}  # [m] what the thesis says the errors stay below
_TITLES = {"dcm": "instantaneous DCM control", "dcm_mpc": "predictive DCM control"}


def run_tracking(run: ExperimentRun, model: str) -> None:
    """Walk with exact and with noisy sensors; draw the noisy walk.

    Args:
        run: The experiment.
        model: Layer 2.
    """
    duration = _QUICK_DURATION if run.options.quick else _DURATION
    for count, noise in enumerate((False, True)):
        run.report(count, 2, "with the noise preset" if noise else "with exact sensors")
        overrides = {"walking.model": model, "walking.control": "position"}
        outcome = walk_trial(Trial(run.options.robot, VelocityCommand(SPEED, duration=duration), overrides, noise))
        _add_rows(run, outcome, noise)
    title = f"{outcome.walk.setup.robot.title}, {_TITLES[model]}, position control, {SPEED} m/s, noise preset"
    run.add_figure(tracking_figure(outcome.walk.recorder.log, title), run.name)
    run.report(2, 2, "drawn")


run_figure_10_9 = partial(run_tracking, model="dcm")
run_figure_10_10 = partial(run_tracking, model="dcm_mpc")


def _add_rows(run: ExperimentRun, outcome: WalkOutcome, noise: bool) -> None:
    result = outcome.result
    for quantity, paper in _PAPER.items():
        error: dict[str, Any] = result[f"{quantity}_error_m"]
        run.add_row(
            {
                "robot": result["robot"],
                "model": result["model"],
                "control": result["control"],
                "speed_mps": SPEED,
                "noise": noise,
                "quantity": f"{quantity}_error_m",
                "rms": error["rms"],
                "paper": paper,
                "value": error["max"],
                "outcome": result["outcome"],
                "reason": result["reason"],
            }
        )
