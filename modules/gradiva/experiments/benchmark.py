"""How fast the layers are, each alone on the ticks of a recorded walk, and all together."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.experiments.contact_timing import contact_rows
from gradiva.experiments.message_timing import message_rows
from gradiva.experiments.middleware_measurements import (
    measure_periodic_stream,
    measure_round_trips,
    measure_strict_stream,
)
from gradiva.experiments.planned_walk import plan_from_start
from gradiva.experiments.private_network import private_network
from gradiva.experiments.recorded_ticks import RecordedTicks, record_ticks
from gradiva.experiments.timing import benchmark_row, durations
from gradiva.experiments.torque_benchmark import torque_rows
from gradiva.planner import VelocityCommand
from gradiva.robot_model import Compiler, IdynTreeModel, interpreted
from gradiva.setup import GccCompiler, Setup, cache_folder, load_setup
from gradiva.simplified_model import shipped_laws
from gradiva.walking import WalkingLayers
from gradiva.whole_body import InverseKinematics

_SPEED = 0.19  # [m/s] of the recorded walk
_RATE = 500.0  # [Hz] of a stream of messages


@dataclasses.dataclass(frozen=True, slots=True)
class BenchmarkSize:
    """How many samples the benchmark takes.

    Attributes:
        walk: Duration of the walk in position control, [s]; 20 s are more than 2000 ticks.
        torque_walk: Duration of the walks in torque control, [s].
        plans: Number of plans of 20 s; each takes milliseconds.
        look_ups: Number of samples of a plan.
        calls: Number of remote procedure calls.
        messages: Number of messages of a strict stream.
        stream: Duration of a periodic stream of messages, [s].
    """

    walk: float
    torque_walk: float
    plans: int
    look_ups: int
    calls: int
    messages: int
    stream: float


FULL = BenchmarkSize(20.0, 3.0, 40, 4000, 5000, 10_000, 4.0)
QUICK = BenchmarkSize(3.0, 0.5, 4, 400, 500, 1000, 0.5)

Row = dict[str, Any]
Announce = Callable[[str], None]


def run_benchmark(
    robots: Iterable[str], announce: Announce = lambda text: None, size: BenchmarkSize = FULL
) -> dict[str, Any]:
    """Return the benchmark's JSON.

    Args:
        robots: Names.
        announce: Called with what is timed next.
        size: How many samples are taken.

    Raises:
        WalkingError: A robot is unknown or its model missing.
        RuntimeError: A robot fell.
    """
    setups = [load_setup(robot) for robot in robots]
    compiler = GccCompiler(cache_folder(), announce)
    rows: list[Row] = []
    factors: dict[str, float] = {}
    for setup in setups:
        announce(f"{setup.robot.title}: walking {size.walk:.0f} s")
        ticks = record_ticks(setup, _SPEED, size.walk, compiler)
        factors[setup.robot.name] = ticks.real_time_factor
        rows += _robot_rows(setup, ticks, compiler, announce, size.torque_walk)
    announce("planner")
    rows += _planner_rows(setups[0], size)
    announce("contacts")
    rows += contact_rows(setups[0].robot.sole)
    announce("middleware")
    rows += message_rows() + _middleware_rows(size)
    return {"machine": machine(), "results": rows, "real_time_factor": factors}


def machine() -> dict[str, Any]:
    """Return processor, cores, Python and CasADi."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "casadi": importlib.metadata.version("casadi"),
    }


def _robot_rows(
    setup: Setup, ticks: RecordedTicks, compiler: Compiler, announce: Announce, torque_walk: float
) -> list[Row]:
    robot = setup.robot.name
    announce(f"{setup.robot.title}: layers alone")
    return [
        _inverse_kinematics_row(f"whole_body.ik/{robot}", setup, ticks, compiler),
        _inverse_kinematics_row(f"whole_body.ik_interpreted/{robot}", setup, ticks, interpreted),
        _estimation_row(setup, ticks, compiler),
        *torque_rows(robot, compiler, announce, torque_walk),
        *(_model_control_row(setup, ticks, compiler, law.name) for law in shipped_laws()),
        benchmark_row(f"tick/{robot}", ticks.tick_us),
        benchmark_row(f"simulation.step_10ms/{robot}", ticks.simulation_us),
    ]


def _inverse_kinematics_row(name: str, setup: Setup, ticks: RecordedTicks, compiler: Compiler) -> Row:
    """Terms, assembly and solution; the violation counts joint velocities [rad/s] and task rows [m/s, rad/s]."""
    layer = InverseKinematics(IdynTreeModel(setup.robot), setup.walking.inverse_kinematics, compiler)
    samples = durations(partial(layer.solve, *arguments) for arguments in ticks.inverse_kinematics)
    violation = 0.0
    for arguments in ticks.inverse_kinematics:
        layer.solve(*arguments)
        violation = max(violation, layer.problem.quadratic_program.violation(layer.problem.solution))
    return benchmark_row(name, samples, violation)


def _estimation_row(setup: Setup, ticks: RecordedTicks, compiler: Compiler) -> Row:
    estimator = WalkingLayers(setup.robot, setup.walking, compiler).estimator
    samples = durations(partial(estimator.update, *arguments) for arguments in ticks.estimation)
    return benchmark_row(f"estimation/{setup.robot.name}", samples)


def _model_control_row(setup: Setup, ticks: RecordedTicks, compiler: Compiler, model: str) -> Row:
    tick = dataclasses.replace(setup.walking.walking, model=model)
    config = dataclasses.replace(setup.walking, walking=tick)
    layer = WalkingLayers(setup.robot, config, compiler).model_control
    samples = durations(partial(layer.update, *arguments) for arguments in ticks.model_control)
    return benchmark_row(f"model_control.{model}/{setup.robot.name}", samples)


def _planner_rows(setup: Setup, size: BenchmarkSize) -> list[Row]:
    command = VelocityCommand(_SPEED, duration=20.0)
    plan = plan_from_start(setup, command)
    times = islice(cycle(np.arange(0.0, plan.end_time, 0.01).tolist()), size.look_ups)
    plans = (partial(plan_from_start, setup, command) for _ in range(size.plans))
    return [
        benchmark_row("planner.at", durations(partial(plan.at, time) for time in times)),
        benchmark_row("planner.plan_20s", durations(plans)),
    ]


def _middleware_rows(size: BenchmarkSize) -> list[Row]:
    """Between two processes on loopback, 100 doubles a message: round trips, strict streams, age of messages."""
    rows = []
    with private_network() as network:
        for carrier in ("tcp", "fast_tcp"):
            trips = measure_round_trips(network, carrier, size.calls)
            rows.append(benchmark_row(f"yarp.round_trip/{carrier}", trips.durations_us))
            stream = measure_strict_stream(network, carrier, size.messages)
            rows.append(benchmark_row(f"yarp.strict_message/{carrier}", stream.intervals_us))
            ages = measure_periodic_stream(network, carrier, _RATE, size.stream).ages_us
            rows.append(benchmark_row(f"yarp.age_at_500_hz/{carrier}", ages))
    return rows


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
