"""Punches that grow, on any link from any side, while another program moves the arms: how long does a robot last?"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradiva.planner import Command, StopCommand, VelocityCommand
from gradiva.setup import Plant, installed_robot_names, load_robot
from gradiva.simulation import Push
from gradiva.walking import WalkingState
from gradiva_experiments.campaigns.domain_randomization import arms, by_frequency, random_push
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.forked_walks import ForkedWalk, FoundSearch, OneTrial, Outcome, WalkSearches, search_walks
from gradiva_experiments.trial import Trial

SEED = 2030
RUNS, _QUICK_RUNS = 50, 2
LONGEST, _QUICK_LONGEST = 90.0, 15.0  # [s]
PERIOD, _PUNCH = 5.0, 0.08  # [s] from punch to punch, and of each
WEAKEST, STRONGEST, _GROWTH = 170.0, 500.0, 60.0  # [N] at first and after so many seconds [s]
REFERENCE_MASS = 33.34  # [kg] of the robot, Unitree G1, of these forces; those of others are as their masses
_ARMS = 0.5  # [-] of the largest motion of arms that domain_randomization has
_WORLD = {"walking.period": 0.02, "simulation.ground.contact_time": 20.0}  # ticks [s]; contact, steps of 1 ms
_COMMANDS: dict[str, Command] = {"standing": StopCommand(), "walking": VelocityCommand(0.2, duration=LONGEST + 10.0)}
ASKED = {"standing": 40.0, "walking": 25.0}  # [s] of the mean
_BEGIN = "begin"


def punch_force(time: float, robot_mass: float) -> float:
    """Return the force of a punch at ``time`` [s] since the begin on a robot of so many kilograms, [N]."""
    return (WEAKEST + (STRONGEST - WEAKEST) * min(time / _GROWTH, 1.0)) * robot_mass / REFERENCE_MASS


class PunchedWalk(ForkedWalk):
    """A robot that stands or walks, and is punched from its first tick on."""

    def __init__(self, trial: Trial, longest: float) -> None:
        """Begin the walk as `ForkedWalk`; it is watched for ``longest`` [s]."""
        self._longest = longest
        super().__init__(trial)

    def _moments(self) -> dict[str, float]:
        return {_BEGIN: self.walk.time}

    def continued(self, trial: tuple[int, int]) -> Outcome:
        """Punch the robot until it is down, has stopped, or has lasted.

        Returns:
            For how long it ``lasted`` [s], the ``reason`` of its end, and the ``link`` of the last punch.
        """
        walk, robot, parent, random = self.walk, self.walk.setup.robot, os.getppid(), np.random.default_rng(trial)
        begin, links = walk.time, [""]
        punches = []
        for time in np.arange(PERIOD, self._longest, PERIOD).tolist():
            punches.append(random_push(robot, punch_force(time, robot.mass), begin + time, _PUNCH, random))
            walk.robot.push(Push(**{**punches[-1], "force": tuple(punches[-1]["force"])}))
        while walk.time < begin + self._longest - 1e-9 and not self._is_over and os.getppid() == parent:
            walk.tick()
        links += [punch["link"] for punch in punches if punch["start"] <= walk.time]
        return {"lasted": walk.time - begin, "reason": self._reason(), "link": links[-1]}

    @property
    def _is_over(self) -> bool:
        return self.walk.is_down or self.walk.controller.state is WalkingState.STOPPED


@dataclass(frozen=True, slots=True)
class PunchSearches(WalkSearches):
    """Draws of punches on one robot that stands or walks.

    Attributes:
        longest: For so long a robot is watched, [s].
    """

    longest: float = LONGEST

    def begin(self) -> ForkedWalk:
        """Begin the walk; errors as of `WalkSearches`."""
        return PunchedWalk(self.trial, self.longest)


def _moved_arms(robot: str) -> dict[str, Any]:
    return dict(arms(_ARMS, load_robot(robot), np.random.default_rng(SEED)).overrides)


def run_punches(run: ExperimentRun) -> None:
    """Punch each robot, standing and walking, by each draw; the value is the mean time that it lasts."""
    options, seed = run.options, SEED if run.options.seed is None else run.options.seed
    longest = _QUICK_LONGEST if options.quick else LONGEST
    runs = options.seeds or (_QUICK_RUNS if options.quick else RUNS)
    robots = options.robots or installed_robot_names()
    cases = [(plant, robot, doing) for plant in options.plants for robot in robots for doing in _COMMANDS]
    walks = [
        PunchSearches(
            Trial(robot, _COMMANDS[doing], {**_WORLD, **_moved_arms(robot), **options.overrides}, plant, seed),
            {_BEGIN: [OneTrial((seed, number)) for number in range(runs)]},
            longest=longest,
        )
        for plant, robot, doing in cases
    ]
    found: dict[int, list[FoundSearch]] = {}
    for one in search_walks(walks):
        found.setdefault(one.walk, []).append(one)
        if len(found[one.walk]) == runs:
            run.add_row(row := _row(*cases[one.walk], found[one.walk], longest), one.walk)
            run.report(len(run.rows), len(cases), f"{row['robot']}, {row['doing']}: {row['value']:.1f} s")


def _row(plant: Plant, robot: str, doing: str, found: Sequence[FoundSearch], longest: float) -> Row:
    """Return a row: mean and quartiles of the times, causes of the ends and links of the last punches by frequency."""
    outcomes = [_outcome(one) for one in found]
    times = np.array([outcome["lasted"] for outcome in outcomes])
    ends = [outcome for outcome in outcomes if outcome["reason"]]
    asked = min(ASKED[doing], longest)
    return {
        "robot": robot,
        "plant": str(plant),
        "doing": doing,
        "runs": len(times),
        "asked_s": asked,
        "quartiles_s": np.percentile(times, [25, 50, 75]).tolist(),
        "links": by_frequency(outcome["link"] for outcome in ends),
        "paper": None,
        "value": float(times.mean()),
        "outcome": "met" if times.mean() >= asked else "missed",
        "reason": by_frequency(_in_short(outcome["reason"]) for outcome in ends),
    }


def _outcome(found: FoundSearch) -> dict[str, Any]:
    assert isinstance(found.search, OneTrial), "of this campaign"
    return found.search.outcome or {"lasted": 0.0, "reason": found.failure, "link": ""}


def _in_short(reason: str) -> str:
    """Return a reason without its numbers."""
    return re.split(r" (?:above|below|has|of|is|at) ", reason)[0]


EXPERIMENTS = (
    Experiment(
        "punches",
        "Gradiva's own experiment",
        "Every 5 s a punch of 0.08 s on any link, 170 to 500 N on G1 within 60 s, others by their mass; for how long?",
        run_punches,
        "mean survival [s]",
        plants=(Plant.IDEAL,),
        takes=("robots", "seeds", "settings", "seed"),
        quick="Two draws of each, watched for 15 s.",
    ),
)
