"""The highest straight speed with servos of position and velocity (thesis, table 10.1)."""

from __future__ import annotations

from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.speed_table import run_speed_table

PAPER = {  # [m/s] of iCub v2.7, by model and control
    ("dcm_mpc", "velocity"): 0.1563,
    ("dcm_mpc", "position"): 0.1645,
    ("dcm", "velocity"): 0.1809,
    ("dcm", "position"): 0.3372,
}


def run_table_10_1(run: ExperimentRun) -> None:
    """Search the highest speed of all four combinations."""
    run_speed_table(run, PAPER, "thesis, robot")
