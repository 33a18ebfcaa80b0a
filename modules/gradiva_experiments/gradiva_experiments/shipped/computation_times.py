"""Times the layers of the controller on this machine, as `gradiva bench`, for the pages of results."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from gradiva.simulated_walk import FULL, QUICK, run_benchmark
from gradiva_experiments.experiment import Asked, Experiment, ExperimentRun, Row


def run_computation_times(run: ExperimentRun) -> None:
    """Time all layers; the value is the median, [µs]."""
    stages = count()
    size = QUICK if run.options.quick else FULL
    robots = run.options.robots_or_all
    for timed in run_benchmark(robots, lambda text: run.report(next(stages), None, text), size)["results"]:
        run.add_row(_row(timed))


def _row(timed: Mapping[str, Any]) -> Row:
    """Return the row of a timed part, which is named ``part/robot`` or ``part``."""
    part, _, robot = timed["name"].partition("/")
    failure = timed.get("failure", "")
    return {
        "part": part,
        "robot": robot,
        "samples": timed["samples"],
        "clock": timed["clock"],
        "p99_us": timed["p99_us"],
        "paper": None,
        "value": timed["median_us"],
        "ten_steps_ratio": timed.get("ten_steps_ratio"),
        "ipopt_ratio": timed.get("ipopt_ratio", {}).get("median"),
        "ipopt_ratio_p99": timed.get("ipopt_ratio", {}).get("p99"),
        "asked": Asked.TO_WALK if failure else Asked.AS_FOUND,
        "outcome": "fell" if failure else "measured",
        "reason": failure,
    }


EXPERIMENTS = (
    Experiment(
        "computation_times",
        "Gradiva's own experiment",
        "Computation times of the layers, each alone and all together, on this machine.",
        run_computation_times,
        "median [µs]",
        takes=("robots",),
        quick="a sixth of the samples.",
    ),
)
