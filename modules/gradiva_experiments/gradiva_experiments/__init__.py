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
from gradiva_experiments.speed_search import SpeedLimit, SpeedSearch, highest_speed
from gradiva_experiments.trial import Pool, RecordedTrials, Trial, TrialPool, TrialResult, run_trial

__all__ = [
    "IS_CAPPED",
    "Experiment",
    "ExperimentOptions",
    "ExperimentRun",
    "Pool",
    "RecordedTrials",
    "Report",
    "Row",
    "SpeedLimit",
    "SpeedSearch",
    "Trial",
    "TrialPool",
    "TrialResult",
    "all_experiments",
    "as_text",
    "cell",
    "find_experiment",
    "highest_speed",
    "interrupted_experiment",
    "run_trial",
]
