"""Lets the force-torque sensors of a foot die at moments of a stride, and counts how often the robot stands."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradiva.common import ControlMode, PlanningError, Side
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, shipped_robot_names
from gradiva.simulation import Fault, FaultKind
from gradiva.walking import WalkingState
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.forked_walks import ForkedWalk, FoundSearch, Outcome, WalkSearches, search_walks
from gradiva_experiments.trial import RobotCase, Trial

MOMENTS, _QUICK_MOMENTS = 20, 2
"""Moments of a stride, evenly spaced, at which sensors die: those of either foot in turn."""
STANDING = 0.95
"""Fraction of the moments after which the robot has to stand, [-]."""

_COMMAND = VelocityCommand(0.2, duration=10.0)
_STEP = 1  # whose lift-off begins the stride: the step before still gathers speed
_WALKED_ON = 4.0  # [s] in which the robot treads on each sole more than once
_STOOD = 2.0  # [s] after it has stopped

# -- one walk ----------------------------------------------------------------------------------------------------------


class DyingSensors:
    """The sensors of one foot that die at one moment: a search of one trial.

    Attributes:
        outcome: What came of it; None before.
    """

    def __init__(self, side: Side) -> None:
        """Take the foot."""
        self.side = side
        self.outcome: Outcome | None = None

    def next_trial(self) -> Side | None:
        """Return the foot, once."""
        return self.side if self.outcome is None else None

    def take(self, outcome: Outcome) -> None:
        """Take what came of it."""
        self.outcome = outcome


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

    def continued(self, trial: Side) -> Outcome:
        """Let all sensors of a foot read zero from now on, until the robot has fallen, or has stopped and stood.

        Returns:
            Whether it ``stands``, the ``reason`` of its end, safety ``events``, and when it ended, ``time_s``.
        """
        walk, robot, parent = self.walk, self.walk.setup.robot, os.getppid()
        for row in robot.sensors_of(trial):
            walk.robot.inject(Fault(FaultKind.DEAD_WRENCH, walk.time, name=robot.force_torque_sensors[row].name))
        stops = walk.time + _WALKED_ON
        end = stops + _STOOD
        while walk.time < end and walk.robot.fall is None and os.getppid() == parent:
            walk.tick()
            if walk.controller.state is not WalkingState.WALKING and walk.time < stops:
                stops, end = walk.time, walk.time + _STOOD
        return {
            "stands": walk.robot.fall is None,
            "reason": self._reason(),
            "events": [event.text for event in walk.controller.safety_events],
            "time_s": walk.time,
        }


def names(moments: int) -> list[str]:
    """Return the names of the moments: their numbers."""
    return [str(number) for number in range(moments)]


class MomentSearches(WalkSearches):
    """A walk with a moment for each foot whose sensors die."""

    def begin(self) -> ForkedWalk:
        """Begin the walk; errors as of `WalkSearches`."""
        return WalkWithDyingSensors(self.trial, len(self.searches))


# -- the campaign ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkCase(RobotCase):
    """A walk in which sensors die."""

    def searches(self, moments: int, overrides: dict[str, Any], seed: int) -> MomentSearches:
        """Return what is walked: one foot after the other, from moment to moment."""
        trial = Trial(self.robot, _COMMAND, {**overrides, "walking.control": str(self.control)}, self.plant, seed)
        feet = list(Side)
        dying = {name: [DyingSensors(feet[number % 2])] for number, name in enumerate(names(moments))}
        return MomentSearches(trial, dying)


def run_dead_sensor(run: ExperimentRun) -> None:
    """Walk each robot up to each moment; the value is after how many of them it stands in the end."""
    moments = _QUICK_MOMENTS if run.options.quick else MOMENTS
    cases = [
        WalkCase(robot, plant, control)
        for plant in run.options.plants
        for robot in run.options.robots or shipped_robot_names()
        for control in run.options.controls or (ControlMode.POSITION,)
    ]
    found: dict[int, list[FoundSearch]] = {}
    seed = run.options.seed or 0
    for one in search_walks([case.searches(moments, run.options.overrides, seed) for case in cases]):
        found.setdefault(one.walk, []).append(one)
        if len(found[one.walk]) == moments:
            run.add_row(row := _row(cases[one.walk], found[one.walk]), one.walk)
            run.report(len(run.rows), len(cases), f"{row['robot']}, {row['plant']} plant: {row['value']} of {moments}")


def _row(case: WalkCase, found: Sequence[FoundSearch]) -> Row:
    falls = [fall for one in found if (fall := _fall(one))]
    standing, needed = len(found) - len(falls), math.ceil(STANDING * len(found) - 1e-9)
    return {
        **case.first_columns,
        "moments": len(found),
        "needed": needed,
        "falls": falls,
        "paper": None,
        "value": standing,
        "outcome": "met" if standing >= needed else "missed",
        "reason": "; ".join(f"{fall['foot']} at {fall['start_s']:.2f} s: {fall['reason']}" for fall in falls),
    }


def _fall(found: FoundSearch) -> dict[str, Any] | None:
    """Return foot, moment and what came of it where the robot does not stand; None where it does."""
    dying = found.search
    assert isinstance(dying, DyingSensors), "of this campaign"
    outcome = dying.outcome or {"stands": False, "reason": found.failure, "events": []}
    if outcome["stands"]:
        return None
    return {
        "foot": str(dying.side),
        "start_s": found.time,
        "reason": outcome["reason"],
        "events": outcome["events"],
    }


EXPERIMENTS = (
    Experiment(
        "dead_sensor",
        "Gradiva's own campaign",
        f"The sensors of a foot die while the robot walks, at {MOMENTS} moments of a stride: how often does it stand?",
        run_dead_sensor,
        "standing",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=("robots", "controls", "settings", "seed"),
    ),
)
