"""Walks robots as shipped, with several speeds and seeds: which figures are usual, for the reports of single walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradiva.common import ControlMode
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, installed_robot_names
from gradiva.simulated_walk import BAND_FIGURES, ReferenceBand
from gradiva.telemetry import KeyFigure
from gradiva_experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.speed_search import overrides_for
from gradiva_experiments.trial import Trial, TrialResult

_DURATION, _QUICK_DURATION = 10.0, 2.0  # [s] of the command
_SPEED, _HALF_RANGE = 0.2, 0.05  # [m/s]
_WALKS, _WALKS_IDEAL = 4, 3  # of a band; where seeds draw nothing
_FEWEST = 3  # walks of a band that have to walk as commanded
_FIRST_SEED = 900  # no gain was tuned on it, nor on those that follow


@dataclass(frozen=True, slots=True)
class BandCase:
    """Names a walk straight ahead, or the one in the middle of a band.

    Attributes:
        robot: Name or folder.
        plant: Simulated robot.
        control: Of layer 3.
        speed: Commanded, [m/s].
    """

    robot: str
    plant: Plant
    control: ControlMode
    speed: float

    def trial(self, seed: int, duration: float) -> Trial:
        """Return the walk with a seed, for a duration [s]."""
        overrides = overrides_for(self.speed, self.robot, {"walking.control": str(self.control)}, self.plant)
        return Trial(self.robot, VelocityCommand(self.speed, duration=duration), overrides, self.plant, seed)


def bands(options: ExperimentOptions) -> list[BandCase]:
    """Return a case for each robot, plant, control mode and speed, in the middle of the speeds that are walked."""
    return [
        BandCase(robot, plant, control, speed)
        for control in options.controls or (ControlMode.POSITION, ControlMode.TORQUE)
        for plant in options.plants
        for robot in options.robots or installed_robot_names()
        for speed in options.speeds or (_SPEED,)
    ]


def walks_of(band: BandCase, count: int | None) -> list[BandCase]:
    """Return the walks of a band: evenly spaced speeds, because on the plant ``ideal`` seeds draw nothing."""
    count = count or (_WALKS_IDEAL if band.plant is Plant.IDEAL else _WALKS)
    speeds = np.linspace(band.speed - _HALF_RANGE, band.speed + _HALF_RANGE, count)
    return [replace(band, speed=round(float(speed), 3)) for speed in speeds]


def run_reference_bands(run: ExperimentRun) -> None:
    """Walk each band's walks; the value is how many were good, of which its figures are."""
    chosen = bands(run.options)
    each = [walks_of(band, run.options.seeds) for band in chosen]
    walks = [(place, seed, walk) for place, own in enumerate(each) for seed, walk in enumerate(own, _FIRST_SEED)]
    run.report(0, len(walks), f"{len(chosen)} bands of {len(walks)} walks")
    found: dict[int, list[TrialResult]] = {}
    duration = _QUICK_DURATION if run.options.quick else _DURATION
    trials = [walk.trial(seed, duration) for _, seed, walk in walks]
    for done, (index, result) in enumerate(run.pool.results(trials), 1):
        place, seed, walk = walks[index]
        found.setdefault(place, []).append(result)
        text = f"{walk.robot}, {walk.plant} plant, {walk.control} control, {walk.speed:g} m/s, seed {seed}"
        run.report(done, len(walks), f"{text}: {result.figures['outcome']}")
        if len(found[place]) == len(each[place]):
            run.add_row(_row(chosen[place], found[place], run.options.quick), place)


def _row(case: BandCase, results: Sequence[TrialResult], is_quick: bool) -> Row:
    """Return a row: the fields of a ``ReferenceBand``, how many walked as commanded, and why others did not.

    Quick walks are too short, and one or two too few, to say what is usual: such a band is missed.
    """
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
        "outcome": "met" if len(good) >= _FEWEST and not is_quick else "missed",
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
        "Gradiva's own experiment",
        "Walks of 10 s of robots as shipped: what is usual, beside which a report sets the figures of a walk.",
        run_reference_bands,
        "good walks",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=("robots", "controls", "speeds", "seeds"),
    ),
)
