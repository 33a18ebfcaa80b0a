"""The thesis' chapter 8: torque control on soft ground, beside torque control that takes it to be rigid."""

from gradiva.experiments.soft_ground.controllers_compared import run_figure_8_6, run_figure_8_7, run_figure_8_8
from gradiva.experiments.soft_ground.soft_limits import run_soft_limits
from gradiva.experiments.soft_ground.table_8_1 import run_table_8_1
from gradiva.experiments.soft_ground.varying_ground import run_figure_8_10
from gradiva.experiments.soft_ground.wrench_noise import run_figure_8_9

__all__ = [
    "run_figure_8_6",
    "run_figure_8_7",
    "run_figure_8_8",
    "run_figure_8_9",
    "run_figure_8_10",
    "run_soft_limits",
    "run_table_8_1",
]
