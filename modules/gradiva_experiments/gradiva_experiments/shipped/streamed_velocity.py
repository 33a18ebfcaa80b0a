"""Walks by a velocity that streams in, as from a gamepad: falls, latency from command to step, cost of planning."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradiva.common import NDArray, PlanningError
from gradiva.planner import Command, StopCommand, VelocityCommand, WalkingPlan, WalkingPlanner
from gradiva.setup import Plant
from gradiva.simulated_walk import SimulatedWalk
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row
from gradiva_experiments.pool import Job
from gradiva_experiments.trial import Trial

RANGE = np.array([0.3, 0.1, math.radians(30.0)])  # [m/s], [m/s], [rad/s]: ahead, to the left, turning to the left
PERIOD = 0.02  # [s] of the stream
_CORRELATION = 2.0  # [s] of the walk of the stick
_DURATION, _QUICK_DURATION = 60.0, 15.0  # [s]
_SAME_PLACE = 1e-6  # [m, rad] of a foothold that a plan leaves where it was


def random_walk(duration: float, seed: int) -> NDArray:
    """Return velocities that wander over the whole range, each held for a period, shape (n, 3).

    An Ornstein-Uhlenbeck process whose standard deviation is half of the range, cut at the range.
    """
    draw, count = np.random.default_rng(seed), round(duration / PERIOD)
    decay = math.exp(-PERIOD / _CORRELATION)
    steps = 0.5 * math.sqrt(1.0 - decay**2) * draw.standard_normal((count, 3))
    values = np.zeros((count, 3))
    for index in range(1, count):
        values[index] = decay * values[index - 1] + steps[index]
    return RANGE * np.clip(values, -1.0, 1.0)


class TimedPlanner(WalkingPlanner):
    """Plans as the shipped planner does, and keeps the processor times of the replans, [s], whatever else runs."""

    def __init__(self, config: Any, own: Any = None) -> None:
        super().__init__(config, own)
        self.durations: list[float] = []

    def replan(self, plan: WalkingPlan, command: Command, time_: float) -> WalkingPlan:
        """See ``WalkingPlanner.replan``."""
        start = time.thread_time()
        try:
            return super().replan(plan, command, time_)
        finally:
            self.durations.append(time.thread_time() - start)


@dataclass(slots=True, eq=False)
class StreamedWalk:
    """A walk that is driven by a stream, and when its steps follow.

    Attributes:
        walk: In simulation.
        latencies: From each command to the lift-off of the first step that follows it or a newer one, [s].
        refused: Number of commands that were refused.
    """

    walk: SimulatedWalk
    latencies: list[float] = field(default_factory=list)
    refused: int = 0
    _waiting: list[float] = field(default_factory=list)

    def drive(self, stream: NDArray) -> None:
        """Walk as long as the stream lasts, or until the robot falls."""
        walk, start, index = self.walk, self.walk.time, 0
        while index < len(stream) and not walk.is_down:
            if walk.time + 1e-9 >= start + index * PERIOD:
                self._send(stream[index])
                index += 1
            before = walk.controller.plan
            walk.tick()
            if walk.controller.plan is not before:
                self._note(before, walk.controller.plan)

    def _send(self, velocity: NDArray) -> None:
        self._waiting.append(self.walk.time)
        before = self.walk.controller.plan
        try:
            self.walk.controller.walk(VelocityCommand(*velocity.tolist()))
        except PlanningError:
            self.refused += 1
        if self.walk.controller.plan is not before:
            self._note(before, self.walk.controller.plan)

    def _note(self, before: WalkingPlan | None, plan: WalkingPlan | None) -> None:
        """Take a new plan: its first step that is not one of the old plan follows all commands so far."""
        assert before is not None, "a robot that walks has a plan"
        assert plan is not None, "a robot that walks has a plan"
        first = changed_step(before, plan, self.walk.time)
        if first is None:
            return
        self.latencies += [first - time for time in self._waiting]
        self._waiting.clear()


def changed_step(before: WalkingPlan, plan: WalkingPlan, time: float) -> float | None:
    """Return the lift-off of the first step after ``time`` [s] that a new plan places elsewhere; None without one."""
    old = [step for step in before.steps if step.touch_down > time]
    new = [step for step in plan.steps if step.touch_down > time]
    for index, step in enumerate(new):
        if index >= len(old) or not step.footstep.pose.is_close(old[index].footstep.pose, _SAME_PLACE):
            return step.lift_off
    return None


def run_streamed_velocity(run: ExperimentRun) -> None:
    """Drive each robot; the value is the median latency, [s]."""
    options = run.options
    duration, first = options.either(_DURATION, _QUICK_DURATION), options.seed_or(0)
    overrides = {**options.overrides, "walking.planner": f"{__name__}:{TimedPlanner.__name__}"}
    trials = [
        Trial(robot, StopCommand(), overrides, plant, seed)
        for robot in options.robots or (options.robot,)
        for plant in options.plants
        for seed in range(first, first + options.count(1, 1))
    ]
    for place, figures in run.pool.results([StreamJob(trial, duration) for trial in trials]):
        trial = trials[place]
        run.add_row({"robot": trial.robot, "plant": str(trial.plant), "seed": trial.seed, **figures}, place)
        text = f"{trial.robot}, {trial.plant}, seed {trial.seed}: {figures['outcome']}"
        run.report(len(run.rows), len(trials), text)


@dataclass(frozen=True, slots=True, eq=False)
class StreamJob(Job):
    """Drives a robot by the stream of its seed, in the process of a worker.

    Attributes:
        trial: The robot, before the stream begins.
        duration: Of the stream, [s].
    """

    trial: Trial
    duration: float

    def run(self) -> Row:
        """Return the figures of the walk."""
        walk = StreamedWalk(SimulatedWalk(self.trial.setup(), self.trial.seed))
        if walk.walk.get_ready():
            walk.drive(random_walk(self.duration, self.trial.seed))
        return _figures(walk, self.duration)


def _figures(driven: StreamedWalk, duration: float) -> Row:
    """Return a row; a robot that fell, or a plan that takes longer than a tick may, is not what was asked for."""
    walk, planner, late = driven.walk, driven.walk.layers.planner, np.array(driven.latencies or [math.nan])
    assert isinstance(planner, TimedPlanner), "the walk is planned by it"
    plans = np.array(planner.durations or [math.nan])
    period = walk.setup.walking.walking.period
    slow = int(np.count_nonzero(plans > period))
    outcome = "fell" if walk.is_down else "slow" if slow else "walked"
    reason = walk.controller.reason if walk.is_down else f"{slow} plans take longer than a tick" if slow else ""
    figures = {
        "duration_s": duration,
        "plans": len(planner.durations),
        "refused": driven.refused,
        "median_plan_ms": round(1e3 * float(np.median(plans)), 2),
        "longest_plan_ms": round(1e3 * float(plans.max()), 2),
        "period_ms": round(1e3 * period, 3),
        "latency_99_s": round(float(np.percentile(late, 99)), 3),
        "latency_max_s": round(float(late.max()), 3),
    }
    value = round(float(np.median(late)), 3)
    return {**figures, "paper": None, "value": value, "outcome": outcome, "reason": reason}


EXPERIMENTS = (
    Experiment(
        "streamed_velocity",
        "Gradiva's own experiment",
        "A velocity streams in at 50 Hz for a minute, a random walk over ±0.3 m/s, ±0.1 m/s and ±30°/s: does the robot"
        " fall, how long after a command does the first step begin that follows it, and what does a plan cost"
        " (processor time)?",
        run_streamed_velocity,
        "median latency [s]",
        plants=(Plant.IDEAL,),
        takes=("robots", "seeds", "seed", "settings"),
        quick="A quarter of a minute.",
    ),
)
