"""Walks by a velocity that streams in, as from a gamepad: falls, latency from command to step, cost of planning."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradiva.common import NDArray, PlanningError
from gradiva.planner import VelocityCommand, WalkingPlan
from gradiva.setup import Plant, load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

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


@dataclass(slots=True, eq=False)
class StreamedWalk:
    """A walk that is driven by a stream, and when its steps follow.

    Attributes:
        walk: In simulation.
        latencies: From each command to the lift-off of the first step that follows it or a newer one, [s].
        planning_ticks: Duration of the ticks in which a plan was made, [µs].
        refused: Number of commands that were refused.
    """

    walk: SimulatedWalk
    latencies: list[float] = field(default_factory=list)
    planning_ticks: list[float] = field(default_factory=list)
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
        self.planning_ticks.append(self.walk.stopwatch.last["total"])
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
    duration = _QUICK_DURATION if options.quick else _DURATION
    seeds = range(options.seed or 0, (options.seed or 0) + (options.seeds or 1))
    robots = options.robots or (options.robot,)
    cases = [(robot, plant, seed) for robot in robots for plant in options.plants for seed in seeds]
    for done, (robot, plant, seed) in enumerate(cases):
        walk = StreamedWalk(SimulatedWalk(load_setup(robot, dict(options.overrides), plant=plant), seed))
        if walk.walk.get_ready():
            walk.drive(random_walk(duration, seed))
        first = {"robot": robot, "plant": str(plant), "seed": seed}
        run.add_row({**first, **_figures(walk, duration)}, done)
        run.report(done + 1, len(cases), f"{robot}, {plant}, seed {seed}: {run.rows[-1]['outcome']}")


def _figures(driven: StreamedWalk, duration: float) -> Row:
    """Return a row: a walk that fell, or a tick with a plan beyond the period, is none that was asked for."""
    walk, ticks = driven.walk, np.array(driven.planning_ticks or [math.nan])
    late = np.array(driven.latencies or [math.nan])
    period = walk.setup.walking.walking.period
    slow = int(np.count_nonzero(ticks > 1e6 * period))
    outcome = "fell" if walk.is_down else "walked"
    reason = walk.controller.reason if walk.is_down else f"{slow} ticks with a plan beyond the period" if slow else ""
    figures: dict[str, Any] = {
        "duration_s": duration,
        "plans": len(driven.planning_ticks),
        "refused": driven.refused,
        "median_tick_with_plan_ms": round(1e-3 * float(np.median(ticks)), 2),
        "longest_tick_with_plan_ms": round(1e-3 * float(ticks.max()), 2),
        "period_ms": round(1e3 * period, 3),
        "latency_99_s": round(float(np.percentile(late, 99)), 3),
        "latency_max_s": round(float(late.max()), 3),
    }
    value = round(float(np.median(late)), 3)
    return {**figures, "paper": None, "value": value, "outcome": outcome, "reason": reason}


EXPERIMENTS = (
    Experiment(
        "streamed_velocity",
        "Gradiva's own campaign",
        "A velocity streams in at 50 Hz for a minute, a random walk over ±0.3 m/s, ±0.1 m/s and ±30°/s: does the robot"
        " fall, and how long after a command does the first step begin that follows it?",
        run_streamed_velocity,
        "median latency [s]",
        plants=(Plant.IDEAL,),
        takes=("robots", "seeds", "seed", "settings"),
        quick="A quarter of a minute.",
    ),
)
