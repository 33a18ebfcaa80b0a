"""Lets the force-torque sensors of a foot die at moments of a stride, and counts how often the robot stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradiva.common import ControlMode, Side
from gradiva.experiments.commanded_end import plan_from_start
from gradiva.experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva.experiments.trial import Trial, TrialResult
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, load_setup, shipped_robot_names
from gradiva.simulation import FaultKind

MOMENTS, _QUICK_MOMENTS = 20, 2
"""Moments of a stride, evenly spaced, at which sensors die: those of either foot in turn."""
STANDING = 0.95
"""Fraction of the moments after which the robot has to stand, [-]."""

_COMMAND = VelocityCommand(0.2, duration=6.0)
_STEP = 1  # whose lift-off begins the stride: the step before still gathers speed
_SETTLED = 1.0  # [s] from the end of preparation to the command


@dataclass(frozen=True, slots=True)
class DyingSensors:
    """The sensors of a foot that die in a walk.

    Attributes:
        robot: Name or folder.
        plant: Simulated robot.
        control: Of layer 3.
        side: Of the foot.
        start: When its sensors begin to read zero, [s] since the simulation began.
    """

    robot: str
    plant: Plant
    control: ControlMode
    side: Side
    start: float

    def trial(self, options: ExperimentOptions) -> Trial:
        """Return the walk."""
        robot = load_setup(self.robot).robot
        names = [robot.force_torque_sensors[row].name for row in robot.sensors_of(self.side)]
        faults = [{"kind": FaultKind.DEAD_WRENCH, "name": name, "start": self.start} for name in names]
        overrides = {**options.overrides, "walking.control": str(self.control), "simulation.faults": faults}
        return Trial(self.robot, _COMMAND, overrides, self.plant)


def dying_sensors(robot: str, plant: Plant, control: ControlMode, moments: int) -> list[DyingSensors]:
    """Return them by moment, over the stride that begins with the robot's second step."""
    setup = load_setup(robot, {"walking.control": str(control)}, plant=plant)
    plan = plan_from_start(setup, _COMMAND)
    ready = setup.walking.walking.prepare_duration + _SETTLED - plan.start_time
    begin, end = (ready + plan.steps[step].lift_off for step in (_STEP, _STEP + 2))
    times = [begin + (end - begin) * (moment + 0.5) / moments for moment in range(moments)]
    sides = list(Side)
    return [DyingSensors(robot, plant, control, sides[n % 2], round(time, 3)) for n, time in enumerate(times)]


def run_dead_sensor(run: ExperimentRun) -> None:
    """Walk each robot once a moment; the value is how often it stands in the end."""
    moments = _QUICK_MOMENTS if run.options.quick else MOMENTS
    groups = [
        dying_sensors(robot, plant, control, moments)
        for plant in run.options.plants
        for robot in run.options.robots or shipped_robot_names()
        for control in run.options.controls or (ControlMode.POSITION,)
    ]
    cases = [case for group in groups for case in group]
    found: dict[DyingSensors, TrialResult] = {}
    for index, result in run.pool.results([case.trial(run.options) for case in cases]):
        found[cases[index]], group = result, groups[index // moments]
        if all(case in found for case in group):
            run.add_row(row := _row(group, [found[case] for case in group]), index // moments)
            run.report(len(found), len(cases), f"{row['robot']}, {row['plant']} plant: {row['value']} of {moments}")


def _row(cases: Sequence[DyingSensors], results: Sequence[TrialResult]) -> Row:
    falls = [_fall(case, result) for case, result in zip(cases, results, strict=True) if _fell(result)]
    standing, needed = len(cases) - len(falls), math.ceil(STANDING * len(cases) - 1e-9)
    return {
        "robot": cases[0].robot,
        "plant": str(cases[0].plant),
        "control": str(cases[0].control),
        "moments": len(cases),
        "needed": needed,
        "falls": falls,
        "paper": None,
        "value": standing,
        "outcome": "met" if standing >= needed else "missed",
        "reason": "; ".join(f"{fall['foot']} at {fall['start_s']:.2f} s" for fall in falls),
    }


def _fell(result: TrialResult) -> bool:
    return bool(result.figures["outcome"] == "fell")


def _fall(case: DyingSensors, result: TrialResult) -> dict[str, Any]:
    kept = ("reason", "duration_s", "safety_events")
    return {
        "foot": str(case.side),
        "start_s": case.start,
        **{key: result.figures.get(key) for key in kept},
    }


EXPERIMENTS = (
    Experiment(
        "dead_sensor",
        "Gradiva's own campaign",
        f"The sensors of a foot die while the robot walks, at {MOMENTS} moments of a stride: how often does it stand?",
        run_dead_sensor,
        "standing",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=("robots", "controls", "settings"),
    ),
)
