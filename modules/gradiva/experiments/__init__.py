"""Walks in simulation: run, scored, compared with the thesis, timed."""

from gradiva.experiments.benchmark import run_benchmark
from gradiva.experiments.experiment import Experiment, ExperimentOptions, ExperimentRun
from gradiva.experiments.fall_diagnosis import diagnose
from gradiva.experiments.planned_walk import final_pose, plan_from_start
from gradiva.experiments.registry import EXPERIMENTS, find_experiment
from gradiva.experiments.simulated_walk import Observer, SimulatedWalk
from gradiva.experiments.slope_footing import check_slope, slope_note
from gradiva.experiments.soft_footing import check_footing, footing_note
from gradiva.experiments.speed_search import SpeedLimit, SpeedSearch, highest_speed
from gradiva.experiments.trial import Trial, TrialResult, run_trial
from gradiva.experiments.trial_pool import TrialPool
from gradiva.experiments.walk_result import (
    GROUND_NAMES,
    WalkOutcome,
    WalkRequest,
    create_run,
    finish_walk,
    run_walk,
    save_walk,
)
from gradiva.experiments.walk_score import score

__all__ = [
    "EXPERIMENTS",
    "GROUND_NAMES",
    "Experiment",
    "ExperimentOptions",
    "ExperimentRun",
    "Observer",
    "SimulatedWalk",
    "SpeedLimit",
    "SpeedSearch",
    "Trial",
    "TrialPool",
    "TrialResult",
    "WalkOutcome",
    "WalkRequest",
    "check_footing",
    "check_slope",
    "create_run",
    "diagnose",
    "final_pose",
    "find_experiment",
    "finish_walk",
    "footing_note",
    "highest_speed",
    "plan_from_start",
    "run_benchmark",
    "run_trial",
    "run_walk",
    "save_walk",
    "score",
    "slope_note",
]
