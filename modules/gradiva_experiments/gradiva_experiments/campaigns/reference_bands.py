"""Walks robots as shipped, with several speeds and seeds: which figures are usual, for the reports of single walks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradiva.common import ControlMode
from gradiva.setup import Plant, shipped_robot_names
from gradiva.simulated_walk import BAND_FIGURES, ReferenceBand
from gradiva.telemetry import KeyFigure
from gradiva_experiments.campaigns.plant_seeds import SeedCase
from gradiva_experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.trial import TrialResult

_SPEED, _HALF_RANGE = 0.2, 0.05  # [m/s]
_WALKS, _FEWEST = 4, 3  # of a band; that have to walk as commanded
_FIRST_SEED = 900  # no gain was tuned on it, nor on those that follow


def bands(options: ExperimentOptions) -> list[SeedCase]:
    """Return a case for each robot, plant, control mode and speed, in the middle of the speeds that are walked."""
    return [
        SeedCase(robot, plant, control, speed)
        for control in options.controls or (ControlMode.POSITION, ControlMode.TORQUE)
        for plant in options.plants
        for robot in options.robots or shipped_robot_names()
        for speed in options.speeds or (_SPEED,)
    ]


def walks_of(band: SeedCase, count: int) -> list[SeedCase]:
    """Return the walks of a band: evenly spaced speeds, because on the plant ``ideal`` seeds draw nothing."""
    speeds = np.linspace(band.speed - _HALF_RANGE, band.speed + _HALF_RANGE, count)
    return [SeedCase(band.robot, band.plant, band.control, round(float(speed), 3)) for speed in speeds]


def run_reference_bands(run: ExperimentRun) -> None:
    """Walk each band's walks; the value is how many were good, of which its figures are."""
    count = run.options.seeds or _WALKS
    chosen = bands(run.options)
    walks = [
        (place, seed, walk)
        for place, band in enumerate(chosen)
        for seed, walk in enumerate(walks_of(band, count), _FIRST_SEED)
    ]
    run.report(0, len(walks), f"{len(chosen)} bands of {count} walks")
    found: dict[int, list[TrialResult]] = {}
    trials = [walk.trial(seed, run.options) for _, seed, walk in walks]
    for done, (index, result) in enumerate(run.pool.results(trials), 1):
        place, seed, walk = walks[index]
        found.setdefault(place, []).append(result)
        text = f"{walk.robot}, {walk.plant} plant, {walk.control} control, {walk.speed:g} m/s, seed {seed}"
        run.report(done, len(walks), f"{text}: {result.figures['outcome']}")
        if len(found[place]) == count:
            run.add_row(_row(chosen[place], found[place]), place)


def _row(case: SeedCase, results: Sequence[TrialResult]) -> Row:
    """Return a row: the fields of a ``ReferenceBand``, how many walked as commanded, and why others did not."""
    good = [result.figures for result in results if result.walked]
    band = ReferenceBand(
        case.robot,
        str(case.plant),
        str(case.control),
        round(case.speed - _HALF_RANGE, 3),
        round(case.speed + _HALF_RANGE, 3),
        len(good),
        {figure.key: _spread(figure, good) for figure in BAND_FIGURES if good and _is_known(figure, good)},
    )
    return {
        **band.as_table(),
        "paper": None,
        "value": len(good),
        "outcome": "met" if len(good) >= min(_FEWEST, len(results)) else "missed",
        "reason": "; ".join(result.figures["reason"] for result in results if not result.walked),
    }


def _is_known(figure: KeyFigure, results: Sequence[dict[str, object]]) -> bool:
    return all(figure.value(result) is not None for result in results)


def _spread(figure: KeyFigure, results: Sequence[dict[str, object]]) -> tuple[float, float, float]:
    """Return least, median and greatest value, with four digits."""
    values = [figure.value(result) for result in results]
    least, median, most = (float(f"{value:.4g}") for value in (min(values), np.median(values), max(values)))
    return least, median, most


EXPERIMENTS = (
    Experiment(
        "reference_bands",
        "Gradiva's own campaign",
        "Walks of 10 s of robots as shipped: what is usual, beside which a report sets the figures of a walk.",
        run_reference_bands,
        "good walks",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=("robots", "controls", "speeds", "seeds"),
    ),
)
