"""Walks in simulation: run, scored, compared with the thesis, timed."""

from gradiva.experiments.benchmark import run_benchmark
from gradiva.experiments.commanded_end import final_pose, plan_from_start
from gradiva.experiments.experiment import (
    IS_CAPPED,
    Experiment,
    ExperimentOptions,
    ExperimentRun,
    Report,
    Row,
    all_experiments,
    as_text,
    cell,
    find_experiment,
    interrupted_experiment,
)
from gradiva.experiments.fall_diagnosis import diagnose
from gradiva.experiments.footing import (
    check_footing,
    check_slope,
    footing_note,
    joint_speed_note,
    planned_joint_speeds,
    response_note,
    slope_note,
)
from gradiva.experiments.simulated_walk import Observer, SimulatedWalk
from gradiva.experiments.speed_search import SpeedLimit, SpeedSearch, highest_speed
from gradiva.experiments.trial import Pool, RecordedTrials, Trial, TrialPool, TrialResult, run_trial
from gradiva.experiments.walk_result import (
    WalkOutcome,
    WalkRequest,
    create_run,
    finish_walk,
    run_walk,
    save_walk,
)
from gradiva.experiments.walk_score import score

__all__ = [
    "IS_CAPPED",
    "Experiment",
    "ExperimentOptions",
    "ExperimentRun",
    "Observer",
    "Pool",
    "RecordedTrials",
    "Report",
    "Row",
    "SimulatedWalk",
    "SpeedLimit",
    "SpeedSearch",
    "Trial",
    "TrialPool",
    "TrialResult",
    "WalkOutcome",
    "WalkRequest",
    "all_experiments",
    "as_text",
    "cell",
    "check_footing",
    "check_slope",
    "create_run",
    "diagnose",
    "final_pose",
    "find_experiment",
    "finish_walk",
    "footing_note",
    "highest_speed",
    "interrupted_experiment",
    "joint_speed_note",
    "plan_from_start",
    "planned_joint_speeds",
    "response_note",
    "run_benchmark",
    "run_trial",
    "run_walk",
    "save_walk",
    "score",
    "slope_note",
]
