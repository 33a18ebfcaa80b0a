"""Benchmark: durations of every layer alone on the inputs of a recorded walk, and of all together."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import math
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress, cycle, islice, repeat
from typing import Any

import numpy as np

from gradiva.common import (
    FootContact,
    NDArray,
    Side,
    SoleRectangle,
    so3,
)
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.planner import Foothold, Retarget, VelocityCommand, WalkingPlan, WalkingPlanner
from gradiva.push_recovery import SteppingMode
from gradiva.robot_model import Compiler, IdynTreeModel, interpreted
from gradiva.setup import GccCompiler, Plant, Setup, cache_folder, load_setup, processor_line
from gradiva.simplified_model import BalanceLayer, shipped_laws
from gradiva.simulated_walk.commanded_end import plan_from_start
from gradiva.simulated_walk.private_network import (
    measure_periodic_stream,
    measure_round_trips,
    measure_strict_stream,
    message_calls,
    private_network,
)
from gradiva.simulated_walk.recorded_ticks import (
    ComparedDurations,
    RecordedTicks,
    Row,
    benchmark_row,
    durations,
    ratio_row,
    record_ticks,
    timed_calls,
)
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulated_walk.solver_comparison import centroidal_rows
from gradiva.simulation import GroundKind, Push
from gradiva.walking import WalkingLayers
from gradiva.whole_body import TorqueController, WalkingKinematics

_CALLS = 2000
_STIFFNESS, _DAMPING = 1e6, 1e4  # [N/m³], [N·s/m³]
_PERIOD = 1e-3  # [s] of torque control
_PREPARE = 0.5  # [s]
_SETTLE = (0.3, 0.3)  # [s] before and after a walk by torque, in which nothing is timed
_BY_TORQUE: dict[str, Any] = {"walking.control": "torque", "walking.prepare_duration": _PREPARE}
_SOFT_HIPS = 3000.0  # [N·m/rad]
_TORQUE_SPEED = 0.1  # [m/s] all robots walk so on soft ground
_NAMES = {GroundKind.RIGID: "tsid_rigid", GroundKind.VISCOELASTIC: "tsid_compliant"}
_SPEED = 0.19  # [m/s] of the recorded walk
_STANDING = (1.0, 2.0)  # [s] before and after it
_CAUGHT_PUSH = 0.05  # [m] of the DCM by each push that is caught
_FIRST_PUSH, _PUSH_PERIOD = 6.6, 3.05  # [s] since the simulation began, and from one to the next
_RATE = 500.0  # [Hz] of a stream of messages
_CENTROIDAL = (  # samples of the MPC, gait and weights; its constants were chosen by the first gait alone
    *((12, "two_legs", "shipped"), (12, "quick", "shipped"), (12, "slow", "spin"), (12, "turning", "decade_1")),
    *((16, "backward", "shipped"), (12, "turning", "shipped"), (12, "slow", "shipped"), (12, "quick", "decade_2")),
    *((20, "two_legs", "shipped"), (20, "turning", "shipped"), (12, "turning", "spin")),
)
_WALL = "wall"  # clock
Announce = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class BenchmarkSize:
    """Number of samples that the benchmark takes.

    Attributes:
        walk: Duration of the walk in position control, [s]; 20 s are more than 2000 ticks.
        torque_walk: Duration of the walks in torque control, [s].
        pushes: Number of pushes that are caught by steps.
        plans: Number of plans of 20 s; each takes milliseconds.
        look_ups: Number of samples of a plan.
        calls: Number of remote procedure calls.
        messages: Number of messages of a strict stream.
        stream: Duration of a periodic stream of messages, [s].
        gait: Duration of the gaits of the centroidal MPC, [s].
        gaits: Number of these gaits; fewer than all are not compiled for.
        passes: Over the same ticks by torque, of which the least durations count.
    """

    walk: float
    torque_walk: float
    pushes: int
    plans: int
    look_ups: int
    calls: int
    messages: int
    stream: float
    gait: float
    gaits: int
    passes: int


FULL = BenchmarkSize(20.0, 3.0, 8, 40, 4000, 5000, 10_000, 4.0, 12.0, len(_CENTROIDAL), 5)
QUICK = BenchmarkSize(3.0, 0.5, 1, 4, 400, 500, 1000, 0.5, 0.4, 4, 2)


def run_benchmark(
    robots: Iterable[str], announce: Announce = lambda text: None, size: BenchmarkSize = FULL
) -> dict[str, Any]:
    """Return the benchmark's JSON.

    Args:
        robots: Names.
        announce: Called with the name of what is timed next.
        size: How many samples are taken.

    Raises:
        WalkingError: A robot is unknown or its model missing.
        RuntimeError: A robot fell.
    """
    setups = [load_setup(robot) for robot in robots]
    compiler = GccCompiler(cache_folder(), announce)
    rows: list[Row] = []
    factors: dict[str, dict[str, float]] = {}
    for setup in setups:
        announce(f"{setup.robot.title}: walking {size.walk:.0f} s")
        command = VelocityCommand(_SPEED, duration=size.walk)
        ticks = record_ticks(SimulatedWalk(setup, compiler=compiler), command, _STANDING)
        announce(f"{setup.robot.title}: walking {size.walk:.0f} s, {Plant.ROBOT} plant")
        plant = load_setup(setup.robot_argument, plant=Plant.ROBOT)
        as_robot = record_ticks(SimulatedWalk(plant, compiler=compiler), command, _STANDING)
        factors[setup.robot.name] = {Plant.IDEAL: ticks.real_time_factor, Plant.ROBOT: as_robot.real_time_factor}
        rows.append(benchmark_row(f"simulation.step_10ms.robot_plant/{setup.robot.name}", as_robot.simulation_us))
        rows += _robot_rows(setup, ticks, compiler, announce, size)
        rows.append(_step_adaptation_row(setup, compiler, size.pushes))
        if setup.tables.get("flexibility", {}).get("joints"):
            announce(f"{setup.robot.title}: walking by torque with hips that bend")
            rows += _flexible_rows(setup.robot.name, ticks.ten_steps, compiler, size)
    announce("planner")
    rows += _planner_rows(setups[0], size)
    announce("contacts")
    rows += contact_rows(setups[0].robot.sole)
    announce("centroidal MPC")
    compiled = compiler if size.gaits == len(_CENTROIDAL) else interpreted
    for samples, gait, weights in _CENTROIDAL[: size.gaits]:
        rows += centroidal_rows(samples, size.gait, gait, weights, compiled)
    announce("middleware")
    rows += [benchmark_row(name, durations(repeat(call, _CALLS))) for name, call in message_calls().items()]
    rows += _middleware_rows(size)
    return {"machine": machine(), "results": rows, "real_time_factor": factors}


def machine() -> dict[str, Any]:
    """Return processor, cores, Python and CasADi."""
    return {
        "processor": processor_line("model name").partition(":")[2].strip() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "casadi": importlib.metadata.version("casadi"),
    }


def _robot_rows(
    setup: Setup, ticks: RecordedTicks, compiler: Compiler, announce: Announce, size: BenchmarkSize
) -> list[Row]:
    robot = setup.robot.name
    announce(f"{setup.robot.title}: layers alone")
    return [
        _inverse_kinematics_row(f"whole_body.ik/{robot}", setup, ticks, compiler),
        _inverse_kinematics_row(f"whole_body.ik_interpreted/{robot}", setup, ticks, interpreted),
        _estimation_row(setup, ticks, compiler),
        *_torque_rows(robot, ticks.ten_steps, compiler, announce, size),
        *chain.from_iterable(
            model_control_rows(_layer_2(setup, compiler, law.name), ticks, robot, law.name) for law in shipped_laws()
        ),
        ratio_row(
            f"tick/{robot}", ComparedDurations(ticks.tick_us, _ten_steps(setup, ticks.simulation_us)), clock=_WALL
        ),
        benchmark_row(f"simulation.step_10ms/{robot}", ticks.simulation_us),
    ]


def _ten_steps(setup: Setup, periods_us: Sequence[float]) -> NDArray:
    """Return the durations of ten physics steps, [µs], of those of the plant's part of each tick of a walk, [µs]."""
    return 10.0 * setup.simulation.timestep / setup.walking.walking.period * np.array(periods_us)


def _inverse_kinematics_row(name: str, setup: Setup, ticks: RecordedTicks, compiler: Compiler) -> Row:
    """Terms, assembly and solution; the violation counts joint velocities [rad/s] and task rows [m/s, rad/s]."""
    layer = WalkingKinematics(IdynTreeModel(setup.robot), setup.walking.inverse_kinematics, compiler)
    calls = [partial(layer.solve, posture, reference, period) for posture, _, reference, period in ticks.whole_body]
    return ratio_row(name, ComparedDurations.measure(calls, ticks.ten_steps), _largest_violation(layer, calls))


def _estimation_row(setup: Setup, ticks: RecordedTicks, compiler: Compiler) -> Row:
    estimator = WalkingLayers(setup.robot, setup.walking, compiler).estimator
    calls = (partial(estimator.update, *arguments) for arguments in ticks.estimation)
    return ratio_row(f"estimation/{setup.robot.name}", ComparedDurations.measure(calls, ticks.ten_steps))


def model_control_rows(layer: BalanceLayer, ticks: RecordedTicks, robot: str, model: str) -> list[Row]:
    """Return the row of all calls of layer 2; where it counts its decisions, also that of the calls that decide."""
    times, decisions = layer.solver_times, [0]

    def calls() -> Iterator[Callable[[], object]]:
        for arguments in ticks.model_control:
            yield partial(layer.update, *arguments)
            decisions.append(times.decisions if times else 0)

    found = ComparedDurations.measure(calls(), ticks.ten_steps)
    decided = np.diff(decisions)[-len(found.calls) :] > 0
    rows = [ratio_row(f"model_control.{model}/{robot}", found)]
    if decided.any():
        rows.append(ratio_row(f"model_control.{model}.decision/{robot}", found.where(decided)))
    return rows


def _layer_2(setup: Setup, compiler: Compiler, model: str) -> BalanceLayer:
    config = dataclasses.replace(setup.walking, walking=dataclasses.replace(setup.walking.walking, model=model))
    return WalkingLayers(setup.robot, config, compiler).model_control


def _step_adaptation_row(setup: Setup, compiler: Compiler, pushes: int) -> Row:
    """Return the row of the decision of each tick in which pushes are caught, whether or not it moves the step."""
    mode = dataclasses.replace(setup.walking.step_adaptation, mode=SteppingMode.PLACE_AND_TIME)
    setup = dataclasses.replace(setup, walking=dataclasses.replace(setup.walking, step_adaptation=mode))
    walk = SimulatedWalk(setup, compiler=compiler)
    stepping = walk.layers.push_recovery.steps
    samples = timed_calls(stepping, "update", lambda: stepping.log.is_active and stepping.log.side is not None)
    periods = timed_calls(walk.robot, "advance")
    force = _CAUGHT_PUSH * setup.robot.mass * setup.walking.planner.natural_frequency / 0.1
    for index in range(pushes):
        sign = 1.0 if index % 2 else -1.0
        push = Push(setup.robot.torso_frame, (0.0, sign * force, 0.0), _FIRST_PUSH + _PUSH_PERIOD * index, 0.1)
        walk.robot.push(push)
    walk.get_ready()
    walk.follow(VelocityCommand(_SPEED, duration=_FIRST_PUSH + _PUSH_PERIOD * pushes))
    return ratio_row(
        f"step_adaptation/{setup.robot.name}", ComparedDurations(np.array(samples), _ten_steps(setup, periods))
    )


def _planner_rows(setup: Setup, size: BenchmarkSize) -> list[Row]:
    command = VelocityCommand(_SPEED, duration=20.0)
    plan = plan_from_start(setup, command)
    far = plan_from_start(setup, VelocityCommand(_SPEED, duration=60.0))
    times = islice(cycle(np.arange(0.0, plan.end_time, 0.01).tolist()), size.look_ups)
    plans = (partial(plan_from_start, setup, command) for _ in range(size.plans))
    return [
        benchmark_row("planner.at", durations(partial(plan.at, time) for time in times)),
        benchmark_row("planner.plan_20s", durations(plans)),
        benchmark_row("planner.retarget_60s", durations(islice(_moved_steps(setup, far), size.look_ups))),
    ]


def _moved_steps(setup: Setup, plan: WalkingPlan) -> Iterator[Callable[[], object]]:
    """Yield changes of running steps from tick to tick of 10 ms, in which the reference is known already."""
    planner = WalkingPlanner(setup.walking.planner)
    for step in cycle(plan.steps[2:6]):
        present, begin, end = plan, step.lift_off + 0.1, step.touch_down
        pose = dataclasses.replace(step.footstep.pose, x=step.footstep.pose.x + 0.02)
        for now in np.arange(begin, end - 0.1, 0.01).tolist():
            present.at(now)
            move = partial(planner.retarget, present, Retarget((Foothold(pose, end + 0.1 * (now - begin)),)), now)
            yield move
            present = move()


def _middleware_rows(size: BenchmarkSize) -> list[Row]:
    """Between two processes on loopback, 100 doubles a message: round trips, strict streams, age of messages."""
    rows = []
    with private_network() as network:
        for carrier in ("tcp", "fast_tcp"):
            trips = measure_round_trips(network, carrier, size.calls)
            rows.append(benchmark_row(f"yarp.round_trip/{carrier}", trips.durations_us, clock=_WALL))
            stream = measure_strict_stream(network, carrier, size.messages)
            rows.append(benchmark_row(f"yarp.strict_message/{carrier}", stream.intervals_us, clock=_WALL))
            ages = measure_periodic_stream(network, carrier, _RATE, size.stream).ages_us
            rows.append(benchmark_row(f"yarp.age_at_500_hz/{carrier}", ages, clock=_WALL))
    return rows


# -- contacts ----------------------------------------------------------------------------------------------------------


def contact_rows(sole: SoleRectangle) -> list[Row]:
    """Return rows of the wrench and its rate on a left foot that rocks, half of the time on a part of its sole."""
    model = ViscoElasticContact(sole, Side.LEFT)
    at_rest = FootContact(True, np.zeros(3), np.eye(3), _STIFFNESS, _DAMPING)
    motions = [_rocking(2.0 * math.pi * index / _CALLS) for index in range(_CALLS)]
    return [
        benchmark_row(
            "contacts.viscoelastic_wrench", durations(partial(model.wrench, motion, at_rest) for motion in motions)
        ),
        benchmark_row("contacts.rate", durations(partial(model.rate, motion, at_rest, _PERIOD) for motion in motions)),
    ]


def _rocking(phase: float) -> SoleMotion:
    turn = 0.1 * math.sin(phase) * np.array([0.5, 1.0, 0.2])
    twist = math.cos(phase) * np.array([0.01, -0.01, 0.02, 0.1, 0.2, 0.05])
    return SoleMotion(np.array([0.0, 0.0, -0.005]), so3.exp(turn), twist)


# -- torque control ----------------------------------------------------------------------------------------------------


def _torque_rows(
    robot: str, ten_steps: Callable[[], object], compiler: Compiler, announce: Announce, size: BenchmarkSize
) -> list[Row]:
    """Walk by torque on rigid and on soft ground; time dynamics, assembly and solution together.

    The violation is that of the constraints that must be met: dynamics [N, N·m] and feet that stand [m/s², rad/s²].
    """
    rows = []
    for ground, name in _NAMES.items():
        announce(f"{robot}: walking by torque on {ground} ground")
        setup = load_setup(robot, _BY_TORQUE | {"simulation.ground.kind": str(ground)})
        walk = SimulatedWalk(setup, compiler=compiler)
        rows.append(_torque_row(f"whole_body.{name}/{robot}", walk, ten_steps, size)[0])
    return rows


def _flexible_rows(robot: str, ten_steps: Callable[[], object], compiler: Compiler, size: BenchmarkSize) -> list[Row]:
    """Return the rows of a robot whose links bend: TSID-Flex, the observer, and ten steps of the plant of that walk."""
    setup = load_setup(robot, _BY_TORQUE | {"flexibility.stiffness": _SOFT_HIPS})
    walk = SimulatedWalk(setup, compiler=compiler)
    observer = walk.layers.flexible_joint_observer
    assert observer is not None, f"{robot} has no flexible joints"
    law, ticks = _torque_row(f"whole_body.tsid_flex/{robot}", walk, ten_steps, size, least_feet=1)
    calls = [partial(observer.update, *given) for given in ticks.flexible_joints]
    observed = ComparedDurations.least(calls, ten_steps, observer.reset, size.passes)
    return [
        law,
        ratio_row(f"estimation.flexible_joints/{robot}", observed),
        benchmark_row(f"simulation.ten_steps.flexible/{robot}", _ten_steps(setup, ticks.simulation_us)),
    ]


def _torque_row(
    name: str, walk: SimulatedWalk, ten_steps: Callable[[], object], size: BenchmarkSize, least_feet: int = 2
) -> tuple[Row, RecordedTicks]:
    """Walk; return the row of layer 3 in the ticks in which so many feet stand, and all ticks."""
    controller, start = walk.layers.whole_body, walk.layers.start_posture
    assert isinstance(controller, TorqueController)
    recorded = record_ticks(walk, VelocityCommand(_TORQUE_SPEED, duration=size.torque_walk), _SETTLE)
    feet = ((tick[2].left_foot, tick[2].right_foot) for tick in recorded.whole_body)
    standing = [left.in_contact + right.in_contact >= least_feet for left, right in feet]
    calls = [partial(controller.command, *tick[1:]) for tick in compress(recorded.whole_body, standing)]
    found = ComparedDurations.least(calls, ten_steps, lambda: controller.reset(start), size.passes)
    controller.reset(start)
    return ratio_row(name, found, _largest_violation(controller, calls)), recorded


def _largest_violation(layer: WalkingKinematics | TorqueController, calls: Iterable[Callable[[], object]]) -> float:
    """Make the calls; return by how much their solutions violate the constraints at most."""
    worst = 0.0
    for call in calls:
        call()
        worst = max(worst, layer.problem.quadratic_program.violation(layer.problem.solution))
    return worst
