"""Durations of calls beside those of physics steps, and inputs of the layers, recorded in a walk."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, RobotPosture, RobotState
from gradiva.planner import VelocityCommand
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.whole_body import WholeBodyReference

_PROCESSOR = "processor"  # clock
_WARM_UP = 50  # [calls] that fill caches and do not count
_CALLS_BETWEEN = 10  # calls between two references
Row = dict[str, Any]


def durations(calls: Iterable[Callable[[], object]]) -> list[float]:
    """Make the calls one after the other, garbage collection off; return their times of the processor, [µs].

    With those of ``timed_calls`` they make ratios that hold while other processes run.
    """
    samples: list[float] = []
    clock = time.process_time
    gc.collect()
    gc.disable()
    try:
        for call in calls:
            start = clock()
            call()
            samples.append(1e6 * (clock() - start))
    finally:
        gc.enable()
    return samples[min(_WARM_UP, len(samples) // 10) :]


@dataclass(slots=True, eq=False)
class ComparedDurations:
    """Durations of calls, and of a reference that was called between them, [µs].

    A machine's speed changes from second to second: ratios to a reference of the same moment hold, those of two
    moments do not.
    """

    calls: NDArray
    reference: NDArray

    @classmethod
    def measure(cls, calls: Iterable[Callable[[], object]], reference: Callable[[], object]) -> ComparedDurations:
        """Make the calls one after the other, and the reference before the first of every ten of them."""
        between: list[float] = []

        def calls_and_references() -> Iterator[Callable[[], object]]:
            for index, call in enumerate(calls):
                if index % _CALLS_BETWEEN == 0:
                    begin = time.process_time()
                    reference()
                    between.append(1e6 * (time.process_time() - begin))
                yield call

        return cls(np.array(durations(calls_and_references())), np.array(between))

    @classmethod
    def least(
        cls,
        calls: Sequence[Callable[[], object]],
        reference: Callable[[], object],
        begin: Callable[[], None],
        passes: int,
    ) -> ComparedDurations:
        """Make the calls some times over, each time after ``begin``, and keep the least duration of each call.

        A busy machine interrupts other calls each time: the percentiles that are left are those of the calls.
        """
        found = []
        for _ in range(passes):
            begin()
            found.append(cls.measure(calls, reference))
        return cls(np.min([each.calls for each in found], axis=0), np.min([each.reference for each in found], axis=0))

    def where(self, counts: npt.NDArray[np.bool_]) -> ComparedDurations:
        """Return those of the calls that count, shape (N,) of booleans, beside the same reference."""
        return ComparedDurations(self.calls[counts], self.reference)

    @property
    def ratio(self) -> float:
        """Median of the calls over that of the reference."""
        return float(np.median(self.calls) / np.median(self.reference))


def benchmark_row(
    name: str,
    samples: Sequence[float] | NDArray,
    violation: float | None = None,
    clock: str = _PROCESSOR,
) -> Row:
    """Return a row of the benchmark's JSON.

    Args:
        name: Of what was timed.
        samples: Durations, [µs].
        violation: Largest constraint violation of an optimisation, in the units of its constraints.
        clock: Of the durations: that of the processor, which other programs do not stretch, or that on the wall.
    """
    median, p99 = np.percentile(samples, [50, 99])
    return {
        "name": name,
        "median_us": float(median),
        "p99_us": float(p99),
        "max_us": float(np.max(samples)),
        "max_violation": violation,
        "samples": len(samples),
        "clock": clock,
    }


def ratio_row(name: str, durations: ComparedDurations, violation: float | None = None, clock: str = _PROCESSOR) -> Row:
    """Return the row of a layer of a robot, with its ratio to ten physics steps of the same moment."""
    return benchmark_row(name, durations.calls, violation, clock) | {"ten_steps_ratio": durations.ratio}


@dataclass(slots=True, eq=False)
class RecordedTicks:
    """Inputs of the layers, tick by tick, and durations of a walk.

    Attributes:
        whole_body: Posture that layer 3 desired before, and its state, reference and period.
        model_control: Arguments of ``BalanceLayer.update``.
        estimation: Arguments of ``StateEstimator.update``.
        flexible_joints: Arguments of ``FlexibleJointObserver.update``; empty of robots that do not bend.
        tick_us: Durations of whole ticks by the clock on the wall, [µs].
        simulation_us: Times of the processor of the plant's part of a period, [µs].
        real_time_factor: Simulated over wall time of the whole loop.
        ten_steps: Lets ten physics steps of the robot pass, which stands where it ended its walk.
    """

    whole_body: list[tuple[RobotPosture, RobotState, WholeBodyReference, float]] = field(default_factory=list)
    model_control: list[tuple[Any, ...]] = field(default_factory=list)
    estimation: list[tuple[Any, ...]] = field(default_factory=list)
    flexible_joints: list[tuple[Any, ...]] = field(default_factory=list)
    tick_us: NDArray = field(default_factory=lambda: np.zeros(0))
    simulation_us: list[float] = field(default_factory=list)
    real_time_factor: float = 0.0
    ten_steps: Callable[[], object] = field(default=lambda: None)


def record_ticks(walk: SimulatedWalk, command: VelocityCommand, settle: tuple[float, float]) -> RecordedTicks:
    """Walk, standing for ``settle`` [s] before and after, and keep what the layers were given.

    Raises:
        RuntimeError: The robot fell: times of a fall say nothing about walking.
    """
    ten_steps = partial(walk.robot.advance, 10.0 * walk.setup.simulation.timestep)
    ticks = RecordedTicks(simulation_us=timed_calls(walk.robot, "advance"), ten_steps=ten_steps)
    layers = walk.layers
    layer_3, started = layers.whole_body, time.perf_counter()
    with ExitStack() as notes:
        for layer, name, note in (
            (layer_3, "command", lambda *given: ticks.whole_body.append((layer_3.desired_posture, *given[:3]))),
            (layers.model_control, "update", lambda *given: ticks.model_control.append(given)),
            (layers.estimator, "update", lambda *given: ticks.estimation.append(given)),
            (layers.flexible_joint_observer, "update", lambda *given: ticks.flexible_joints.append(given)),
        ):
            if layer is not None:
                notes.enter_context(noted_calls(layer, name, note))
        stands = walk.get_ready(settle[0]) and walk.follow(command, settle[1])
    ticks.real_time_factor = walk.time / (time.perf_counter() - started)
    if not stands:
        title, reason = walk.setup.robot.name, walk.robot.fall or walk.controller.reason
        raise RuntimeError(f"{title} did not walk on {walk.setup.simulation.ground.kind} ground: {reason}")
    ticks.tick_us = np.array(walk.recorder.log["tick::total"][:, 0])
    return ticks


@contextmanager
def noted_calls(owner: object, name: str, note: Callable[..., None]) -> Iterator[None]:
    """Within it a method of an object calls ``note`` with its arguments before each call."""
    method = getattr(owner, name)

    def noted(*arguments: Any, **keywords: Any) -> Any:
        """Note the arguments, then call the method."""
        note(*arguments)
        return method(*arguments, **keywords)

    setattr(owner, name, noted)
    try:
        yield
    finally:
        setattr(owner, name, method)


def timed_calls(owner: object, name: str, counts: Callable[[], bool] = lambda: True) -> list[float]:
    """Return a list that takes the processor's time of each call of a method from now on, [µs], if it ``counts``."""
    method, samples = getattr(owner, name), list[float]()

    def timed(*arguments: Any) -> Any:
        """Call the method and add its time."""
        started = time.process_time()
        answer = method(*arguments)
        duration = 1e6 * (time.process_time() - started)
        if counts():
            samples.append(duration)
        return answer

    setattr(owner, name, timed)
    return samples
