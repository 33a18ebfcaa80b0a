"""Lets sensors die at moments of a stride, and counts how often the robot stands and says which it lost."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradiva.common import ControlMode, PlanningError, Side
from gradiva.planner import VelocityCommand
from gradiva.robot_model import RobotDescription
from gradiva.setup import Plant, installed_robot_names, load_robot
from gradiva.simulation import Fault, FaultKind
from gradiva.walking import SafetyEvent, WalkingState
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.forked_walks import ForkedWalk, FoundSearch, OneTrial, Outcome, WalkSearches, search_walks
from gradiva_experiments.trial import RobotCase, Trial

MOMENTS, _QUICK_MOMENTS = 20, 2
"""Moments of a stride, evenly spaced, at which sensors die."""
STANDING = 0.95
"""Fraction of the moments after which the robot has to stand, [-]."""

_COMMAND = VelocityCommand(0.2, duration=10.0)
_STEP = 1  # whose lift-off begins the stride: the step before still gathers speed
_WALKED_ON = 4.0  # [s] in which the robot treads on each sole more than once
_STOOD = 2.0  # [s] after it has stopped

# -- one walk ----------------------------------------------------------------------------------------------------------


class DyingKind(StrEnum):
    """Names what dies."""

    FOOT = "foot"  # the force-torque sensors of a foot read zero
    GYROSCOPE = "gyroscope"  # the rates of the IMU read zero, its attitude goes on
    VELOCITY = "velocity"  # the velocity of a joint of a leg reads zero, its position goes on


@dataclass(frozen=True, slots=True)
class Death:
    """Sensors that die together.

    Attributes:
        kind: Of the sensors.
        subject: The foot's side, or the joint; empty for the IMU.
    """

    kind: DyingKind
    subject: str = ""

    def __str__(self) -> str:
        """Return kind and subject."""
        return f"{self.kind} {self.subject}".strip()

    def faults(self, robot: RobotDescription, time: float) -> list[Fault]:
        """Return the faults from ``time`` [s] on."""
        if self.kind is DyingKind.GYROSCOPE:
            return [Fault(FaultKind.DEAD_GYROSCOPE, time)]
        if self.kind is DyingKind.VELOCITY:
            return [Fault(FaultKind.DEAD_VELOCITY, time, name=self.subject)]
        sensors = [robot.force_torque_sensors[row].name for row in robot.sensors_of(Side(self.subject))]
        return [Fault(FaultKind.DEAD_WRENCH, time, name=name) for name in sensors]

    def is_named(self, robot: RobotDescription, events: Sequence[SafetyEvent]) -> bool:
        """Return whether an event is about what died."""
        names = {self.subject or "IMU", *(fault.name for fault in self.faults(robot, 0.0))}
        return any(event.subject in names for event in events)


def deaths(kind: DyingKind, robot: RobotDescription, moments: int) -> list[Death]:
    """Return what dies at each moment: feet in turn, joints of both legs in turn."""
    legs = [robot.joint_groups[f"{side}_leg"].joints for side in Side]
    joints = [name for pair in zip(*legs, strict=True) for name in pair]
    subjects = {DyingKind.FOOT: [*Side], DyingKind.GYROSCOPE: [""], DyingKind.VELOCITY: joints}[kind]
    return [Death(kind, str(subjects[number % len(subjects)])) for number in range(moments)]


class WalkWithDyingSensors(ForkedWalk):
    """A walk that is continued at moments of the stride that begins with its second step."""

    def __init__(self, trial: Trial, moments: int) -> None:
        """Begin the walk as `ForkedWalk`."""
        self._count = moments
        super().__init__(trial)

    def _moments(self) -> dict[str, float]:
        steps = [] if self.walk.controller.plan is None else self.walk.controller.plan.steps
        if len(steps) < _STEP + 3:
            raise PlanningError(f"the walk has {len(steps)} steps, {_STEP + 3} are needed")
        begin, end = steps[_STEP].lift_off, steps[_STEP + 2].lift_off
        return {
            name: begin + (end - begin) * (number + 0.5) / self._count for number, name in enumerate(names(self._count))
        }

    def continued(self, trial: Death) -> Outcome:
        """Let sensors be dead from now on, until the robot has fallen, or has stopped and stood.

        Returns:
            Whether it ``stands``, whether an event is about what died, ``is_named``, the ``reason`` of its end, safety
            ``events``, and when it ended, ``time_s``.
        """
        walk, robot, parent = self.walk, self.walk.setup.robot, os.getppid()
        for fault in trial.faults(robot, walk.time):
            walk.robot.inject(fault)
        stops = walk.time + _WALKED_ON
        end = stops + _STOOD
        while walk.time < end and walk.robot.fall is None and os.getppid() == parent:
            walk.tick()
            if walk.controller.state is not WalkingState.WALKING and walk.time < stops:
                stops, end = walk.time, walk.time + _STOOD
        return {
            "stands": walk.robot.fall is None,
            "is_named": trial.is_named(robot, walk.controller.safety_events),
            "reason": self._reason(),
            "events": [event.text for event in walk.controller.safety_events],
            "time_s": walk.time,
        }


def names(moments: int) -> list[str]:
    """Return the names of the moments: their numbers."""
    return [str(number) for number in range(moments)]


class MomentSearches(WalkSearches):
    """A walk with a moment for each death."""

    def begin(self) -> ForkedWalk:
        """Begin the walk; errors as of `WalkSearches`."""
        return WalkWithDyingSensors(self.trial, len(self.searches))


# -- the campaign ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkCase(RobotCase):
    """A walk in which sensors die.

    Attributes:
        kind: What dies.
    """

    kind: DyingKind

    def searches(self, moments: int, overrides: dict[str, Any], seed: int) -> MomentSearches:
        """Return what is walked, from moment to moment."""
        trial = Trial(self.robot, _COMMAND, {**overrides, "walking.control": str(self.control)}, self.plant, seed)
        each = zip(names(moments), deaths(self.kind, load_robot(self.robot), moments), strict=True)
        return MomentSearches(trial, {name: [OneTrial(death)] for name, death in each})


def run_dead_sensor(run: ExperimentRun) -> None:
    """Walk each robot up to each moment; the value is after how many of them it stands in the end."""
    moments = _QUICK_MOMENTS if run.options.quick else MOMENTS
    cases = [
        WalkCase(robot, plant, control, kind)
        for kind in DyingKind
        for plant in run.options.plants
        for robot in run.options.robots or installed_robot_names()
        for control in run.options.controls or (ControlMode.POSITION,)
    ]
    found: dict[int, list[FoundSearch]] = {}
    seed = run.options.seed or 0
    for one in search_walks([case.searches(moments, run.options.overrides, seed) for case in cases]):
        found.setdefault(one.walk, []).append(one)
        if len(found[one.walk]) == moments:
            run.add_row(row := _row(cases[one.walk], found[one.walk]), one.walk)
            text = f"{row['robot']}, {row['sensor']}, {row['plant']} plant: {row['value']} of {moments}"
            run.report(len(run.rows), len(cases), text)


def _row(case: WalkCase, found: Sequence[FoundSearch]) -> Row:
    falls = [fall for one in found if (fall := _fall(one))]
    standing, needed = len(found) - len(falls), math.ceil(STANDING * len(found) - 1e-9)
    unnamed = [str(dying.trial) for one in found if not (dying := _dying(one)).outcome or not dying.outcome["is_named"]]
    return {
        **case.first_columns,
        "sensor": str(case.kind),
        "moments": len(found),
        "needed": needed,
        "falls": falls,
        "unnamed": unnamed,
        "paper": None,
        "value": standing,
        "outcome": "met" if standing >= needed else "missed",
        "reason": "; ".join(f"{fall['died']} at {fall['start_s']:.2f} s: {fall['reason']}" for fall in falls),
    }


def _fall(found: FoundSearch) -> dict[str, Any] | None:
    """Return what died, moment and what came of it where the robot does not stand; None where it does."""
    dying = _dying(found)
    outcome = dying.outcome or {"stands": False, "reason": found.failure, "events": []}
    if outcome["stands"]:
        return None
    return {
        "died": str(dying.trial),
        "start_s": found.time,
        "reason": outcome["reason"],
        "events": outcome["events"],
    }


def _dying(found: FoundSearch) -> OneTrial[Death]:
    assert isinstance(found.search, OneTrial), "of this campaign"
    return found.search


EXPERIMENTS = (
    Experiment(
        "dead_sensor",
        "Gradiva's own experiment",
        "The sensors of a foot, the rates of the IMU or the velocity of a joint die while the robot walks, at"
        f" {MOMENTS} moments of a stride: how often does it stand?",
        run_dead_sensor,
        "standing",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=("robots", "controls", "settings", "seed"),
    ),
)
