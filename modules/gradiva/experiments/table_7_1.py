"""The highest straight speed in torque control (thesis, table 7.1, simulation)."""

from __future__ import annotations

from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.speed_table import run_speed_table

PAPER = {  # [m/s] of iCub v2.7, by model and control
    ("dcm", "torque"): 0.2120,
    ("dcm_mpc", "torque"): 0.1448,
}


def run_table_7_1(run: ExperimentRun) -> None:
    """Search the highest speed with both laws of layer 2."""
    run_speed_table(run, PAPER, "thesis, simulation")
