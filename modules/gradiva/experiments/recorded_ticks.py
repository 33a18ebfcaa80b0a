"""A closed-loop walk of which every layer's input is kept, so that each can be timed alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gradiva.common import JointCommand, Measurement, NDArray, RobotPosture, RobotState, WalkingReference
from gradiva.experiments.simulated_walk import SimulatedWalk
from gradiva.planner import VelocityCommand
from gradiva.robot_model import Compiler
from gradiva.setup import Setup
from gradiva.simplified_model import BalanceLayer, BalancePlan, BalanceReference
from gradiva.whole_body import WholeBodyController, WholeBodyReference


@dataclass(slots=True, eq=False)
class RecordedTicks:
    """What went into the layers, tick by tick.

    Attributes:
        robot: Name.
        inverse_kinematics: Posture, reference and period.
        model_control: Arguments of ``BalanceLayer.update``.
        estimation: Measurement and reference.
        tick_us: Durations of whole ticks, [µs].
        simulation_us: Durations of the plant's share of a period, [µs].
        real_time_factor: Simulated over wall time of the whole loop.
    """

    robot: str
    inverse_kinematics: list[tuple[RobotPosture, WholeBodyReference, float]] = field(default_factory=list)
    model_control: list[tuple[RobotState, BalancePlan, float, float]] = field(default_factory=list)
    estimation: list[tuple[Measurement, WalkingReference]] = field(default_factory=list)
    tick_us: NDArray = field(default_factory=lambda: np.zeros(0))
    simulation_us: list[float] = field(default_factory=list)
    real_time_factor: float = 0.0


def record_ticks(setup: Setup, speed: float, duration: float, compiler: Compiler | None = None) -> RecordedTicks:
    """Walk at ``speed`` [m/s] for ``duration`` [s] and keep what the layers were given.

    Raises:
        RuntimeError: The robot fell: times of a fall say nothing about walking.
    """
    ticks = RecordedTicks(setup.robot.name)
    walk = SimulatedWalk(setup, compiler=compiler, observers=(lambda walk: _keep_estimation(ticks, walk),))
    _keep_whole_body(ticks, walk.layers.whole_body)
    walk.layers.model_control = _BalanceRecorder(walk.layers.model_control, ticks)
    _time_plant(walk, ticks)
    started = time.perf_counter()
    stands = walk.get_ready() and walk.follow(VelocityCommand(speed, duration=duration))
    ticks.real_time_factor = walk.time / (time.perf_counter() - started)
    if not stands:
        raise RuntimeError(
            f"{setup.robot.name} did not walk at {speed} m/s: {walk.robot.fall or walk.controller.reason}"
        )
    ticks.tick_us = np.array(walk.recorder.log["tick::total"][:, 0])
    return ticks


def note_commands(
    layer: WholeBodyController, note: Callable[[RobotState, WholeBodyReference, float], None]
) -> Callable[[], None]:
    """Have layer 3, whoever holds it, call ``note`` with what it is given before each command; return what ends it."""
    command = layer.command

    def noted(state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False) -> JointCommand:
        note(state, reference, period)
        return command(state, reference, period, relaxed)

    def end() -> None:
        layer.command = command  # type: ignore[method-assign]

    layer.command = noted  # type: ignore[method-assign]
    return end


def _keep_whole_body(ticks: RecordedTicks, layer: WholeBodyController) -> None:
    def note(state: RobotState, reference: WholeBodyReference, period: float) -> None:
        ticks.inverse_kinematics.append((layer.desired_posture, reference, period))

    note_commands(layer, note)


class _BalanceRecorder(BalanceLayer):
    """A layer 2 that keeps what it is given."""

    def __init__(self, inner: BalanceLayer, ticks: RecordedTicks) -> None:
        self._inner = inner
        self._ticks = ticks

    def reset(self) -> None:
        """See ``BalanceLayer.reset``."""
        self._inner.reset()

    def update(self, state: RobotState, plan: BalancePlan, time: float, period: float) -> BalanceReference:
        """See ``BalanceLayer.update``."""
        self._ticks.model_control.append((state, plan, time, period))
        return self._inner.update(state, plan, time, period)


def _keep_estimation(ticks: RecordedTicks, walk: SimulatedWalk) -> None:
    if walk.log is not None and walk.log.reference is not None:
        ticks.estimation.append((walk.measurement, walk.log.reference))


def _time_plant(walk: SimulatedWalk, ticks: RecordedTicks) -> None:
    advance = walk.robot.advance

    def timed(duration: float) -> None:
        started = time.perf_counter()
        advance(duration)
        ticks.simulation_us.append(1e6 * (time.perf_counter() - started))

    walk.robot.advance = timed  # type: ignore[method-assign]
