"""Walks in worlds that differ from the one that robots were tuned in: the ends of each axis, then pairs of axes, drawn.

The axes are compliance and friction of the floor, the tick, the mass, a load in a hand, pushes on any link, and arms
that another program moves. While it walks the robot is given a velocity after the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradiva.common import GRAVITY
from gradiva.planner import VelocityCommand
from gradiva.robot_model import RobotDescription
from gradiva.setup import Plant, load_setup
from gradiva.simulation import RigidBody, load_tree
from gradiva_experiments.experiment import Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.trial import Course, Trial, TrialResult

SEED = 2029
DRAWS = 20
ASKED = 0.95  # [-] of the draws of a robot that have to walk
_SPEED = 0.2  # [m/s] of the first command, and the largest
_DURATION, _QUICK_DURATION = 20.0, 6.0  # [s]
_COMMAND_PERIOD = 4.0  # [s]
_LATERAL, _ANGULAR = 0.05, 0.2  # [m/s] and [rad/s] of the others, at most
_PUSH_PERIOD, _PUSH_DURATION = 5.0, 0.1  # [s]
_FIRST_PUSH = 4.0  # [s] after which the robot walks
_LIMIT_MARGIN = 0.1  # [rad] of arms from the limits of their joints
_LEAST_MASS = 0.2  # [kg] of a link that is pushed: skin and sensors are none


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A place on one axis, or on several.

    Attributes:
        text: In words, with its numbers.
        overrides: ``table.key`` to value.
        axes: Names of its axes.
    """

    text: str
    overrides: Mapping[str, Any]
    axes: tuple[str, ...] = ()

    def __add__(self, other: World) -> World:
        """Return both at once; lists, as those of pushes, one after the other."""
        merged = dict(self.overrides)
        for key, value in other.overrides.items():
            merged[key] = [*merged[key], *value] if isinstance(merged.get(key), list) else value
        return World(f"{self.text}, {other.text}", merged, (*self.axes, *other.axes))


Axis = Callable[[float, RobotDescription, np.random.Generator], World]
"""Returns the place at a fraction of the way from one end to the other, 0 to 1."""


def contact_time(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """A floor whose contacts have a time constant of 2 to 40 ms; steps of the physics take 1 ms."""
    time = 2.0 * 20.0**fraction
    return World(f"contact of {time:.0f} ms", {"simulation.ground.contact_time": time})


def friction(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """A floor with friction of 1 down to 0.4."""
    value = 1.0 - 0.6 * fraction
    return World(f"friction {value:.2f}", {"simulation.ground.friction": value})


def tick(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """Control that ticks every 2 to 20 ms."""
    period = round(2.0 * 10.0**fraction)
    return World(f"ticks of {period} ms", {"walking.period": 1e-3 * period})


def mass(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """All links lighter or heavier by up to 10 %."""
    scale = 0.9 + 0.2 * fraction
    return World(f"mass × {scale:.2f}", {"simulation.plant.mass_scale": scale})


def payload(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """The weight of up to 2 kg at one hand, without its inertia."""
    side = str(random.choice(("left", "right")))
    load = 2.0 * fraction
    push = {"link": hand(robot, side), "force": [0.0, 0.0, -GRAVITY * load], "start": 0.0, "duration": 1e3}
    return World(f"{load:.1f} kg in the {side} hand", {"simulation.pushes": [push]})


def pushes(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """A push on some link in some direction every 5 s, which changes the velocity of the robot by up to 0.1 m/s."""
    force = 0.1 * fraction * robot.mass / _PUSH_DURATION
    times = np.arange(_FIRST_PUSH, _FIRST_PUSH + _DURATION, _PUSH_PERIOD)
    drawn = [random_push(robot, force, float(start), _PUSH_DURATION, random) for start in times]
    return World(f"pushes of {force:.0f} N", {"simulation.pushes": drawn})


def arms(fraction: float, robot: RobotDescription, random: np.random.Generator) -> World:
    """Arms that another program moves at random, by up to 0.6 rad at 0.5 Hz and below."""
    reach = 0.6 * fraction
    joints = [joint for name in ("left_arm", "right_arm") for joint in robot.joint_groups[name].joints]
    motion = {"joints": joints, "amplitude": reach, "frequency": 0.5, "start": _FIRST_PUSH}
    return World(
        f"arms moved by {reach:.1f} rad",
        {"simulation.joint_motions": [motion], "whole_body.external_joints": joints} if reach > 0.0 else {},
    )


AXES: dict[str, Axis] = {
    "contact time": contact_time,
    "friction": friction,
    "tick": tick,
    "mass": mass,
    "payload": payload,
    "pushes": pushes,
    "arms": arms,
}
_ENDS = (  # but those at which nothing differs: no load, no push, arms at rest
    ("contact time", 1.0),
    ("tick", 1.0),
    ("contact time", 0.0),
    ("friction", 0.0),
    ("friction", 1.0),
    ("tick", 0.0),
    ("mass", 0.0),
    ("mass", 1.0),
    ("payload", 1.0),
    ("pushes", 1.0),
    ("arms", 1.0),
)
_QUICK_DRAWS = [0, 1, len(_ENDS)]


def hand(robot: RobotDescription, side: str) -> str:
    """Return the link of an arm's last body that has its centre of mass farthest out."""
    joint = robot.joint_groups[f"{side}_arm"].joints[-1]
    body = next(body for body in load_tree(robot).bodies if body.joint is not None and body.joint.name == joint)
    return max(body.inertials, key=lambda link: float(np.linalg.norm(body.inertials[link].centre)))


def random_push(
    robot: RobotDescription, force: float, start: float, duration: float, random: np.random.Generator
) -> dict[str, Any]:
    """Return a push of ``force`` [N] on a link of a body drawn, in a direction drawn from the sphere."""
    bodies: Sequence[RigidBody] = load_tree(robot).bodies
    body = bodies[int(random.integers(len(bodies)))]
    links = [link for link, inertial in body.inertials.items() if inertial.mass >= _LEAST_MASS] or [body.name]
    direction = random.normal(size=3)
    direction *= force / np.linalg.norm(direction)
    return {
        "link": str(random.choice(links)),
        "force": direction.tolist(),
        "start": round(start, 3),
        "duration": duration,
    }


def world(draw: int, robot: RobotDescription, seed: int) -> World:
    """Return a draw: the ends of the axes first, then a place on two of them; the same fractions for all robots."""
    random = np.random.default_rng([seed, draw])
    if draw < len(_ENDS):
        chosen = [_ENDS[draw]]
    else:
        pair = random.choice(len(AXES), size=2, replace=False)
        chosen = [(list(AXES)[index], random.uniform()) for index in sorted(pair)]
    places = [AXES[name](fraction, robot, random) for name, fraction in chosen]
    whole = places[0] if len(places) == 1 else places[0] + places[1]
    return World(whole.text, whole.overrides, tuple(name for name, _ in chosen))


def course(draw: int, duration: float, seed: int) -> Course:
    """Return velocities that replace the first one, every 4 s."""
    random = np.random.default_rng([seed, draw, 1])
    return tuple(
        (
            float(time),
            VelocityCommand(
                random.uniform(0.25, 1.0) * _SPEED,
                random.uniform(-_LATERAL, _LATERAL),
                random.uniform(-_ANGULAR, _ANGULAR),
                duration - float(time),
            ),
        )
        for time in np.arange(_COMMAND_PERIOD, duration - 1.0, _COMMAND_PERIOD)
    )


def run_domain_randomization(run: ExperimentRun) -> None:
    """Walk all draws with each robot on each plant; the value is how many walked."""
    options = run.options
    draws = options.either(list(range(options.seeds or DRAWS)), _QUICK_DRAWS)
    robots = options.robots_or_all
    cases = [(plant, robot, draw) for plant in options.plants for robot in robots for draw in draws]
    described = {robot: load_setup(robot, options.overrides).robot for robot in robots}
    seed = options.seed_or(SEED)
    worlds = [world(draw, described[robot], seed) for _, robot, draw in cases]
    trials = [_trial(case, place, seed, options) for case, place in zip(cases, worlds, strict=True)]
    found: dict[int, TrialResult] = {}
    for index, result in run.pool.results(trials):
        found[index] = result
        plant, robot, draw = cases[index]
        end = "walks to the end" if result.stands else f"{result.figures['outcome']}, {cause(result)}"
        run.report(len(found), len(trials), f"{robot}, {plant}, draw {draw}, {worlds[index].text}: {end}")
    for plant in options.plants:
        of_plant = [index for index, case in enumerate(cases) if case[0] is plant]
        for robot in robots:
            indices = [index for index in of_plant if cases[index][1] == robot]
            run.add_row(_row(robot, plant, "all", indices, worlds, found))
        for axis in AXES:
            if indices := [index for index in of_plant if axis in worlds[index].axes]:
                run.add_row(_row("all", plant, axis, indices, worlds, found))


def _trial(case: tuple[Plant, str, int], place: World, seed: int, options: ExperimentOptions) -> Trial:
    plant, robot, draw = case
    duration = options.either(_DURATION, _QUICK_DURATION)
    first = VelocityCommand(_SPEED, duration=duration)
    overrides = {**place.overrides, **options.overrides}
    return Trial(robot, first, overrides, plant, seed + draw, course=course(draw, duration, seed))


def _row(
    robot: str,
    plant: Plant,
    axis: str,
    indices: Sequence[int],
    worlds: Sequence[World],
    found: Mapping[int, TrialResult],
) -> Row:
    """Return how many of some draws walked, and why the others did not, the most frequent cause first."""
    falls = [index for index in indices if not found[index].stands]
    needed = math.ceil(ASKED * len(indices) - 1e-9)
    return {
        "robot": robot,
        "plant": str(plant),
        "axis": axis,
        "draws": len(indices),
        "needed": needed,
        "falls": [{"world": worlds[index].text, **_fall(found[index])} for index in falls],
        "paper": None,
        "value": len(indices) - len(falls),
        "outcome": "met" if len(indices) - len(falls) >= needed else "missed",
        "reason": by_frequency(cause(found[index]) for index in falls),
    }


def _fall(result: TrialResult) -> dict[str, Any]:
    return {key: result.figures.get(key) for key in ("outcome", "reason", "duration_s")}


def cause(result: TrialResult) -> str:
    """Return why a robot did not walk, in a word: the cause of its diagnosis, else the quantity that departed first."""
    diagnosis = result.figures.get("diagnosis") or {}
    if named := diagnosis.get("cause"):
        return str(named)
    sign = str(diagnosis.get("first_sign") or result.figures["reason"])
    return " ".join(sign.split()[:2]).rstrip(",:")


def by_frequency(causes: Iterable[str]) -> str:
    """Return causes with their counts, the most frequent one first."""
    return ", ".join(f"{count} × {name}" for name, count in Counter(causes).most_common())


EXPERIMENTS = (
    Experiment(
        "domain_randomization",
        "Gradiva's own experiment",
        "Worlds drawn at random: floors, ticks, masses, loads, pushes on any link, moved arms. How many are walked?",
        run_domain_randomization,
        "walked",
        plants=(Plant.IDEAL,),
        takes=("robots", "seeds", "settings", "seed"),
        quick="Three worlds of each robot, 6 s.",
    ),
)
