"""Counts the seeds with which robots walk under a plant, and diagnoses the falls one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradiva.common import ConfigError, ControlMode
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant
from gradiva_experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.shipped.domain_randomization import by_frequency
from gradiva_experiments.speed_search import overrides_for
from gradiva_experiments.trial import Trial, TrialResult

DURATION, _QUICK_DURATION = 10.0, 2.0  # [s] of the command
SEEDS, _QUICK_SEEDS = 50, 2
_SLOW, _FAST, _BY_TORQUE = 0.19, 0.30, 0.15  # [m/s]
_FAST_OF = {"icub_v3": 0.25}  # [m/s] its hips turn at 3.6 rad/s at most
_STEADY, _USUAL = 0.98, 0.96  # [-] fraction of seeds that has to walk


@dataclass(frozen=True, slots=True)
class SeedCase:
    """Names a walk that is repeated with many seeds.

    Attributes:
        robot: Name or folder.
        plant: Simulated robot.
        control: Of layer 3.
        speed: Forward, [m/s].
        asked: Fraction of the seeds that has to walk, [-].
    """

    robot: str
    plant: Plant
    control: ControlMode
    speed: float
    asked: float = _USUAL

    def trial(self, seed: int, options: ExperimentOptions) -> Trial:
        """Return the walk with a seed; a speed beyond the planner's limit lifts it."""
        duration = options.either(DURATION, _QUICK_DURATION)
        chosen = {"walking.control": str(self.control), **options.overrides}
        overrides = overrides_for(self.speed, self.robot, chosen, self.plant)
        return Trial(self.robot, VelocityCommand(self.speed, duration=duration), overrides, self.plant, seed)


def cases(options: ExperimentOptions) -> list[SeedCase]:
    """Return the cases: the product of what is chosen, or the usual ones of the chosen robots and control modes.

    Raises:
        ConfigError: A control mode without a usual speed is chosen, and no speed.
    """
    pairs = ((robot, plant) for plant in options.plants for robot in options.robots_or_all)
    found = [case for robot, plant in pairs for case in _cases_of(robot, plant, options)]
    if not found:
        raise ConfigError(
            f"--control {', '.join(options.controls)}: which --speed? Only position and torque have usual ones"
        )
    return found


def _cases_of(robot: str, plant: Plant, options: ExperimentOptions) -> list[SeedCase]:
    controls = options.controls or (ControlMode.POSITION,)
    if options.speeds:
        return [SeedCase(robot, plant, control, speed) for control in controls for speed in options.speeds]
    usual = [
        SeedCase(robot, plant, ControlMode.POSITION, _SLOW, _STEADY),
        SeedCase(robot, plant, ControlMode.POSITION, _FAST_OF.get(robot, _FAST)),
        SeedCase(robot, plant, ControlMode.TORQUE, _BY_TORQUE),
    ]
    return [case for case in usual if not options.controls or case.control in options.controls]


def run_plant_seeds(run: ExperimentRun) -> None:
    """Walk each case with each seed; the value is how many walked."""
    seeds = run.options.count(SEEDS, _QUICK_SEEDS)
    chosen, first = cases(run.options), run.options.seed_or(0)
    drawn = range(first, first + seeds)
    walks = [(case, seed) for case in chosen for seed in drawn]
    run.report(0, len(walks), f"{_heading(chosen, seeds)}, {len(walks)} walks")
    found: dict[SeedCase, dict[int, TrialResult]] = {}
    for done, (index, result) in enumerate(
        run.pool.results([case.trial(seed, run.options) for case, seed in walks]), 1
    ):
        case, seed = walks[index]
        found.setdefault(case, {})[seed] = result
        if not result.stands or len(found[case]) == seeds:
            run.report(done, len(walks), f"{_title(case)}: {_count(found[case].values())}{_ending(seed, result)}")
        if len(found[case]) == seeds:
            run.add_row(_row(case, {seed: found[case][seed] for seed in drawn}), index // seeds)


def _heading(chosen: Sequence[SeedCase], seeds: int) -> str:
    robots = ", ".join(dict.fromkeys(case.robot for case in chosen))
    return f"{robots}: {seeds} seeds of each of {len(chosen)} cases"


def _title(case: SeedCase) -> str:
    return f"{case.robot}, {case.control} control, {case.speed:g} m/s, {case.plant} plant"


def _count(results: Iterable[TrialResult]) -> str:
    walked = [result.stands for result in results]
    return f"{sum(walked)} of {len(walked)} walked"


def _ending(seed: int, result: TrialResult) -> str:
    figures = result.figures
    return "" if result.stands else f"; seed {seed} {figures['outcome']}: {figures['reason']}"


def _row(case: SeedCase, by_seed: Mapping[int, TrialResult]) -> Row:
    """Return a row: successes, wherever they ended, medians of their largest errors, those as commanded, falls."""
    results = list(by_seed.values())
    walked = sum(result.stands for result in results)
    needed = math.ceil(case.asked * len(results) - 1e-9)
    causes = [_cause(result) for result in results if not result.stands]
    return {
        "robot": case.robot,
        "plant": str(case.plant),
        "control": str(case.control),
        "speed_mps": case.speed,
        "seeds": len(results),
        "needed": needed,
        **{f"{name}_mm": _median(results, f"{name}_error_m", 1e3) for name in ("com", "dcm", "zmp", "foot")},
        "tilt_deg": _median(results, "max_tilt_rad", math.degrees(1.0)),
        "as_commanded": sum(result.walked for result in results),
        "falls": [_fall(seed, result) for seed, result in by_seed.items() if not result.stands],
        "paper": None,
        "value": walked,
        "outcome": "met" if walked >= needed else "missed",
        "reason": by_frequency(causes),
    }


def _median(results: Sequence[TrialResult], key: str, factor: float) -> float | None:
    """Return the median over the walks that succeeded of a figure, or of its largest value."""
    values = [result.figures.get(key) for result in results if result.stands]
    numbers = [value["max"] if isinstance(value, dict) else value for value in values]
    known = [number for number in numbers if number is not None]
    return float(np.median(known)) * factor if known else None


def _fall(seed: int, result: TrialResult) -> dict[str, Any]:
    kept = ("outcome", "reason", "duration_s", "distance_m", "diagnosis")
    return {"seed": seed, **{key: result.figures.get(key) for key in kept}}


def _cause(result: TrialResult) -> str:
    diagnosis = result.figures.get("diagnosis") or {}
    return str(diagnosis.get("cause") or diagnosis.get("first_sign") or result.figures["reason"])


EXPERIMENTS = (
    Experiment(
        "plant_seeds",
        "Gradiva's own experiment",
        "Walks of 10 s, 50 seeds of each case unless --seeds: how many succeed, and why the others fall.",
        run_plant_seeds,
        "walked",
        plants=(Plant.ROBOT,),
        takes=("robots", "controls", "speeds", "seeds", "seed", "settings"),
    ),
)
