"""Walks under disturbances of sensors, servos, mass and ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.trial import Trial, TrialResult
from gradiva.planner import VelocityCommand

_SLOW, _FAST = 0.19, 0.34  # [m/s]
_DURATION, _QUICK_DURATION = 20.0, 8.0  # [s]
_QUICK_SEEDS = 2
_TWO_DEGREES = 0.0349066  # [rad]
_ONE_DEGREE = 0.0174533  # [rad]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One line of the campaign.

    Attributes:
        name: For people.
        speed: [m/s].
        seeds: How many walks; one where nothing is random.
        noise: Whether the noise preset is laid over the simulation.
        overrides: ``table.key`` to value.
    """

    name: str
    speed: float
    seeds: int = 1
    noise: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)


DISTURBANCES = (
    Disturbance("noise preset", _SLOW, seeds=10, noise=True),
    Disturbance("noise preset", _FAST, seeds=10, noise=True),
    Disturbance("10 ms from command to torque", _SLOW, overrides={"simulation.servo.delay": 0.010}),
    Disturbance(
        "encoders offset by up to ±1°",
        _SLOW,
        seeds=3,
        overrides={"simulation.sensors.encoder_offset": _ONE_DEGREE},
    ),
    Disturbance("mass +10 %", _SLOW, overrides={"simulation.plant.mass_scale": 1.10}),
    Disturbance("2° up", _SLOW, overrides={"simulation.ground.slope_forward": _TWO_DEGREES}),
    Disturbance("2° down", _SLOW, overrides={"simulation.ground.slope_forward": -_TWO_DEGREES}),
    Disturbance("2° to the left", _SLOW, overrides={"simulation.ground.slope_left": _TWO_DEGREES}),
)


def run_robustness(run: ExperimentRun) -> None:
    """Walk each disturbance with each of its seeds; the value is the largest DCM error, [m]."""
    quick = run.options.quick
    command_time = _QUICK_DURATION if quick else _DURATION
    cases = [
        (disturbance, seed)
        for disturbance in DISTURBANCES
        for seed in range(min(disturbance.seeds, _QUICK_SEEDS) if quick else disturbance.seeds)
    ]
    trials = [
        Trial(run.options.robot, VelocityCommand(case.speed, duration=command_time), case.overrides, case.noise, seed)
        for case, seed in cases
    ]
    for index, result in run.pool.results(trials):
        case, seed = cases[index]
        run.add_row(_row(case, trials[index], result), index)
        text = f"{case.name}, {case.speed} m/s, seed {seed}: {result.figures['outcome']}"
        run.report(len(run.rows), len(trials), text)


def _row(case: Disturbance, trial: Trial, result: TrialResult) -> Row:
    error = result.figures.get("dcm_error_m", {})
    return {
        "robot": trial.robot,
        "disturbance": case.name,
        "speed_mps": case.speed,
        "seed": trial.seed,
        "dcm_rms_m": error.get("rms"),
        "paper": None,
        "value": error.get("max"),
        "outcome": result.figures["outcome"],
        "reason": result.figures["reason"],
    }
