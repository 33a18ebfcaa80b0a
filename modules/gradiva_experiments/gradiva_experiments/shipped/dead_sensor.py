"""Lets sensors die, or an IMU tilt, at moments of a stride, and counts how often the robot stands and names them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradiva.common import ControlMode, PlanningError, Side
from gradiva.planner import VelocityCommand
from gradiva.robot_model import RobotDescription
from gradiva.setup import Plant, load_robot
from gradiva.simulation import Fault, FaultKind
from gradiva.walking import SafetyEvent, SafetyKind, WalkingState
from gradiva_experiments.continued_walks import Continuation, Continued, ContinuedWalk, OneWay, Outcome
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.trial import RobotCase, Trial

MOMENTS, _QUICK_MOMENTS = 20, 2
"""Moments of a stride, evenly spaced, at which sensors die."""
STANDING = 0.95
"""Fraction of the moments after which the robot has to stand, [-]."""

_COMMAND = VelocityCommand(0.2, duration=10.0)
_TILT = math.radians(1.0)  # [rad] of an IMU, to one side and the other in turn
_STEP = 1  # whose lift-off begins the stride: the step before still gathers speed
_WALKED_ON = 4.0  # [s] in which the robot treads on each sole more than once
_STOOD = 2.0  # [s] after it has stopped

# -- one walk ----------------------------------------------------------------------------------------------------------


class DyingKind(StrEnum):
    """Names what dies."""

    FOOT = "foot"  # the force-torque sensors of a foot read zero
    GYROSCOPE = "gyroscope"  # the rates of the IMU read zero, its attitude goes on
    VELOCITY = "velocity"  # the velocity of a joint of a leg reads zero, its position goes on
    TILT = "tilt"  # the IMU is tilted in its mounting, by which the robot has to walk on


@dataclass(frozen=True, slots=True)
class Death:
    """Sensors that die together.

    Attributes:
        kind: Of the sensors.
        subject: The foot's side, the joint, or the way in which the IMU is tilted; empty for its rates.
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
        if self.kind is DyingKind.TILT:
            return [Fault(FaultKind.TILTED_IMU, time, value=Side(self.subject).sign * _TILT)]
        if self.kind is DyingKind.VELOCITY:
            return [Fault(FaultKind.DEAD_VELOCITY, time, name=self.subject)]
        sensors = [robot.force_torque_sensors[row].name for row in robot.sensors_of(Side(self.subject))]
        return [Fault(FaultKind.DEAD_WRENCH, time, name=name) for name in sensors]

    def is_named(self, robot: RobotDescription, events: Sequence[SafetyEvent]) -> bool:
        """Return whether an event is about what died, or what tilted."""
        if self.kind is DyingKind.TILT:
            return any(event.kind is SafetyKind.IMU_JUMP for event in events)
        of_imu = self.kind is DyingKind.GYROSCOPE
        names = {"IMU"} if of_imu else {self.subject, *(fault.name for fault in self.faults(robot, 0.0))}
        return any(event.subject in names for event in events)


def deaths(kind: DyingKind, robot: RobotDescription, moments: int) -> list[Death]:
    """Return what dies at each moment: feet in turn, joints of both legs in turn."""
    legs = [robot.joint_groups[f"{side}_leg"].joints for side in Side]
    joints = [name for pair in zip(*legs, strict=True) for name in pair]
    sides = [*Side]
    subjects = {
        DyingKind.FOOT: sides,
        DyingKind.GYROSCOPE: [""],
        DyingKind.VELOCITY: joints,
        DyingKind.TILT: sides,
    }[kind]
    return [Death(kind, str(subjects[number % len(subjects)])) for number in range(moments)]


class WalkWithDyingSensors(ContinuedWalk):
    """A walk that is continued at moments of the stride that begins with its second step."""

    def __init__(self, trial: Trial, moments: int) -> None:
        """Begin the walk as `ContinuedWalk`."""
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

    def continued(self, way: Death) -> Outcome:
        """Let sensors be dead from now on, until the robot has fallen, or has stopped and stood.

        Returns:
            Whether it ``stands``, or walks on where it has to; whether an event is about what died, ``is_named``; the
            ``reason`` of its end, safety ``events``, and when it ended, ``time_s``.
        """
        walk, robot = self.walk, self.walk.setup.robot
        for fault in way.faults(robot, walk.time):
            walk.robot.inject(fault)
        stops = walks_on = walk.time + _WALKED_ON
        end = stops + _STOOD
        while walk.time < end and walk.robot.fall is None:
            walk.tick()
            if walk.controller.state is not WalkingState.WALKING and walk.time < stops:
                stops, end = walk.time, walk.time + _STOOD
        return {
            "stands": walk.robot.fall is None and (way.kind is not DyingKind.TILT or stops == walks_on),
            "is_named": way.is_named(robot, walk.controller.safety_events),
            "reason": self._reason(),
            "events": [event.text for event in walk.controller.safety_events],
            "time_s": walk.time,
        }


def names(moments: int) -> list[str]:
    """Return the names of the moments: their numbers."""
    return [str(number) for number in range(moments)]


@dataclass(frozen=True, slots=True, eq=False)
class DyingAt(Continuation):
    """Lets sensors die at one moment of a walk.

    Attributes:
        moments: Number of the walk's moments.
    """

    ways: OneWay
    moments: int = MOMENTS

    def begin(self) -> ContinuedWalk:
        """Begin the walk."""
        return WalkWithDyingSensors(self.trial, self.moments)


# -- the campaign ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkCase(RobotCase):
    """A walk in which sensors die.

    Attributes:
        kind: What dies.
    """

    kind: DyingKind

    def jobs(self, moments: int, overrides: dict[str, Any], seed: int) -> list[DyingAt]:
        """Return a job for each moment."""
        trial = Trial(self.robot, _COMMAND, {**overrides, "walking.control": str(self.control)}, self.plant, seed)
        each = zip(names(moments), deaths(self.kind, load_robot(self.robot), moments), strict=True)
        return [DyingAt(trial, name, OneWay(death), moments) for name, death in each]


def run_dead_sensor(run: ExperimentRun) -> None:
    """Walk each robot up to each moment; the value is after how many of them it stands in the end."""
    _run(run, [kind for kind in DyingKind if kind is not DyingKind.TILT])


def run_tilted_imu(run: ExperimentRun) -> None:
    """Walk each robot up to each moment; the value is after how many of them it walks on."""
    _run(run, [DyingKind.TILT])


def _run(run: ExperimentRun, kinds: Sequence[DyingKind]) -> None:
    moments = run.options.either(MOMENTS, _QUICK_MOMENTS)
    cases = [
        WalkCase(robot, plant, control, kind)
        for kind in kinds
        for plant in run.options.plants
        for robot in run.options.robots_or_all
        for control in run.options.controls or (ControlMode.POSITION,)
    ]
    jobs = [case.jobs(moments, run.options.overrides, run.options.seed_or(0)) for case in cases]
    for place, found in run.pool.grouped(jobs):
        died = [job.ways.way for job in jobs[place]]
        run.add_row(row := _row(cases[place], list(zip(died, found, strict=True))), place)
        text = f"{row['robot']}, {row['sensor']}, {row['plant']} plant: {row['value']} of {moments}"
        run.report(len(run.rows), len(cases), text)


def _row(case: WalkCase, found: Sequence[tuple[Death, Continued]]) -> Row:
    falls = [_fall(death, one) for death, one in found if not one.outcome.get("stands")]
    standing, needed = len(found) - len(falls), math.ceil(STANDING * len(found) - 1e-9)
    return {
        **case.first_columns,
        "sensor": str(case.kind),
        "moments": len(found),
        "needed": needed,
        "falls": falls,
        "unnamed": [str(death) for death, one in found if not one.outcome.get("is_named")],
        "paper": None,
        "value": standing,
        "outcome": "met" if standing >= needed else "missed",
        "reason": "; ".join(f"{fall['died']} at {fall['start_s']:.2f} s: {fall['reason']}" for fall in falls),
    }


def _fall(death: Death, found: Continued) -> dict[str, Any]:
    """Return what died, the moment and what came of it."""
    return {
        "died": str(death),
        "start_s": found.time,
        "reason": found.outcome.get("reason", found.failure),
        "events": found.outcome.get("events", []),
    }


_OPTIONS = ("robots", "controls", "settings", "seed")

EXPERIMENTS = (
    Experiment(
        "dead_sensor",
        "Gradiva's own experiment",
        "The sensors of a foot, the rates of the IMU or the velocity of a joint die while the robot walks, at"
        f" {MOMENTS} moments of a stride: how often does it stand?",
        run_dead_sensor,
        "standing",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=_OPTIONS,
    ),
    Experiment(
        "tilted_imu",
        "Gradiva's own experiment",
        f"The IMU tilts by 1° in its mounting while the robot walks, at {MOMENTS} moments of a stride: how often does"
        " it walk on?",
        run_tilted_imu,
        "walking",
        plants=(Plant.IDEAL, Plant.ROBOT),
        takes=_OPTIONS,
    ),
)
