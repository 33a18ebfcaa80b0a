"""Penalty contact beside its paper: a ball, a brick, a biped."""

from gradiva.experiments.penalty.bouncing_ball import run_penalty_ball
from gradiva.experiments.penalty.brick_on_ramp import run_penalty_ramp
from gradiva.experiments.penalty.walking_biped import run_penalty_biped

__all__ = ["run_penalty_ball", "run_penalty_biped", "run_penalty_ramp"]
