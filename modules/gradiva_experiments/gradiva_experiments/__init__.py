"""Experiments with Gradiva: tables and figures of the sources, maps, drills, and what runs them."""

from gradiva_experiments.experiment import (
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
from gradiva_experiments.pool import Job, Pool
from gradiva_experiments.speed_search import SpeedLimit, SpeedSearch, highest_speed
from gradiva_experiments.trial import Trial, TrialResult, run_trial

__all__ = [
    "IS_CAPPED",
    "Experiment",
    "ExperimentOptions",
    "ExperimentRun",
    "Job",
    "Pool",
    "Report",
    "Row",
    "SpeedLimit",
    "SpeedSearch",
    "Trial",
    "TrialResult",
    "all_experiments",
    "as_text",
    "cell",
    "find_experiment",
    "highest_speed",
    "interrupted_experiment",
    "run_trial",
]
