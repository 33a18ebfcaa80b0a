"""Punches that grow, on any link from any side, while another program moves the arms: how long does a robot last?

Beside it, how long a linear inverted pendulum lasts on the same soles and legs that the horizontal part of the same
punches meets, and which steps all the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradiva.planner import Command, StopCommand, VelocityCommand
from gradiva.robot_model import RobotDescription
from gradiva.setup import Plant, load_robot, load_setup
from gradiva.simulation import Push
from gradiva.walking import WalkingState
from gradiva_experiments.continued_walks import Continuation, Continued, ContinuedWalk, OneWay, Outcome
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.shipped.domain_randomization import arms, by_frequency, random_push
from gradiva_experiments.shipped.pushed_pendulum import AttainableImpulses, PendulumPush
from gradiva_experiments.trial import Trial

SEED = 2030
RUNS, _QUICK_RUNS = 50, 2
LONGEST, _QUICK_LONGEST = 90.0, 15.0  # [s]
PERIOD, _PUNCH = 5.0, 0.08  # [s] from punch to punch, and of each
WEAKEST, STRONGEST, _GROWTH = 170.0, 500.0, 60.0  # [N] at first and after so many seconds [s]
REFERENCE_MASS = 33.34  # [kg] of the robot, Unitree G1, of these forces; those of others are as their masses
_ARMS = 0.5  # [-] of the largest motion of arms that domain_randomization has
_WORLD = {"walking.period": 0.02, "simulation.ground.contact_time": 20.0}  # ticks [s]; contact, steps of 1 ms
_SPEED = 0.2  # [m/s]
_COMMANDS: dict[str, Command] = {
    "standing": StopCommand(),
    "walking": VelocityCommand(_SPEED, duration=LONGEST + 10.0),
}
ASKED = {"standing": 40.0, "walking": 25.0}  # [s] of the mean
_BEGIN = "begin"
_FIGURE = re.compile(r"(?<!\S)-?\d[\d.]*(?: ?(?:cm|mm|m|°|N·m|N|rad/s|rad|s|%)(?!\w))?")


def punch_force(time: float, robot_mass: float) -> float:
    """Return the force of a punch at ``time`` [s] since the begin on a robot of so many kilograms, [N]."""
    return (WEAKEST + (STRONGEST - WEAKEST) * min(time / _GROWTH, 1.0)) * robot_mass / REFERENCE_MASS


def drawn_punches(robot: RobotDescription, longest: float, way: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """Yield the punches of a draw within ``longest`` [s], each with its start since the begin, [s]."""
    random = np.random.default_rng(way)
    for time in np.arange(PERIOD, longest, PERIOD).tolist():
        yield random_push(robot, punch_force(time, robot.mass), time, _PUNCH, random)


class PunchedWalk(ContinuedWalk):
    """A robot that stands or walks, and is punched from its first tick on."""

    def __init__(self, trial: Trial, longest: float) -> None:
        """Begin the walk as `ContinuedWalk`; it is watched for ``longest`` [s]."""
        self._longest = longest
        super().__init__(trial)

    def _moments(self) -> dict[str, float]:
        return {_BEGIN: self.walk.time}

    def continued(self, way: tuple[int, int]) -> Outcome:
        """Punch the robot until it is down, has stopped, or has lasted.

        Returns:
            For how long it ``lasted`` [s], the ``reason`` of its end, and the ``link`` of the last punch.
        """
        walk, begin, links = self.walk, self.walk.time, [""]
        punches = list(drawn_punches(walk.setup.robot, self._longest, way))
        for punch in punches:
            walk.robot.push(Push(**{**punch, "force": tuple(punch["force"]), "start": begin + punch["start"]}))
        while walk.time < begin + self._longest - 1e-9 and not self._is_over:
            walk.tick()
        links += [punch["link"] for punch in punches if begin + punch["start"] <= walk.time]
        return {"lasted": walk.time - begin, "reason": self._reason(), "link": links[-1]}

    @property
    def _is_over(self) -> bool:
        return self.walk.is_down or self.walk.controller.state is WalkingState.STOPPED


@dataclass(frozen=True, slots=True, eq=False)
class Punched(Continuation):
    """A draw of punches on a robot that stands or walks.

    Attributes:
        longest: For so long a robot is watched, [s].
    """

    longest: float = LONGEST

    def begin(self) -> ContinuedWalk:
        """Begin the walk."""
        return PunchedWalk(self.trial, self.longest)


def _moved_arms(robot: str) -> dict[str, Any]:
    return dict(arms(_ARMS, load_robot(robot), np.random.default_rng(SEED)).overrides)


def run_punches(run: ExperimentRun) -> None:
    """Punch each robot, standing and walking, by each draw; the value is the mean time that it lasts."""
    options = run.options
    longest, runs, seed = (
        options.either(LONGEST, _QUICK_LONGEST),
        options.count(RUNS, _QUICK_RUNS),
        options.seed_or(SEED),
    )
    cases = [
        (plant, robot, doing) for plant in options.plants for robot in options.robots_or_all for doing in _COMMANDS
    ]
    jobs = [
        [
            Punched(
                Trial(robot, _COMMANDS[doing], {**_WORLD, **_moved_arms(robot), **options.overrides}, plant, seed),
                _BEGIN,
                OneWay((seed, number)),
                longest,
            )
            for number in range(runs)
        ]
        for plant, robot, doing in cases
    ]
    for place, found in run.pool.grouped(jobs):
        row = _row(*cases[place], found, longest)
        pendulum = pendulum_of(row["robot"], row["doing"], options.overrides)
        punches = (drawn_punches(load_robot(row["robot"]), longest, (seed, number)) for number in range(runs))
        row["paper"] = float(np.mean([pendulum_lasts(pendulum, longest, each) for each in punches]))
        run.add_row(row, place)
        run.report(len(run.rows), len(cases), f"{row['robot']}, {row['doing']}: {row['value']:.1f} s")


def pendulum_of(robot: str, doing: str, overrides: Mapping[str, Any]) -> AttainableImpulses:
    """Return the pendulum on the soles and legs of a robot, which steps as the settings of its walks say."""
    return AttainableImpulses(load_setup(robot, overrides), _SPEED if doing == "walking" else 0.0)


def pendulum_lasts(pendulum: AttainableImpulses, longest: float, punches: Iterable[Mapping[str, Any]]) -> float:
    """Return for how long a pendulum lasts that the punches of a draw meet, [s]."""
    pushes = [PendulumPush(_PUNCH * np.array(punch["force"][:2]), punch["start"], _PUNCH) for punch in punches]
    return pendulum.lasts(pushes, longest)


def _row(plant: Plant, robot: str, doing: str, found: Sequence[Continued], longest: float) -> Row:
    """Return a row: mean and quartiles of the times, causes of the ends and links of the last punches by frequency."""
    outcomes = [one.outcome or {"lasted": 0.0, "reason": one.failure, "link": ""} for one in found]
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
        "reason": by_frequency(in_short(outcome["reason"]) for outcome in ends),
    }


def in_short(reason: str) -> str:
    """Return what a reason begins with, with … for its figures."""
    return _FIGURE.sub("…", reason.split(",")[0])


EXPERIMENTS = (
    Experiment(
        "punches",
        "Gradiva's own experiment",
        "Every 5 s a punch of 0.08 s on any link, 170 to 500 N on G1 within 60 s, others by their mass; for how long?",
        run_punches,
        "mean survival [s]",
        paper_title="pendulum",
        plants=(Plant.IDEAL,),
        takes=("robots", "seeds", "settings", "seed"),
        quick="Two draws of each, watched for 15 s.",
    ),
)
