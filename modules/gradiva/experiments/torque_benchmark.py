"""How fast layer 3 commands torques, on the ticks of walks on rigid and on soft ground."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradiva.common import RobotPosture, RobotState
from gradiva.experiments.recorded_ticks import note_commands
from gradiva.experiments.simulated_walk import SimulatedWalk
from gradiva.experiments.timing import benchmark_row, durations
from gradiva.planner import VelocityCommand
from gradiva.robot_model import Compiler
from gradiva.setup import load_setup
from gradiva.simulation import GroundKind
from gradiva.whole_body import TorqueController, WholeBodyReference

_SPEED = 0.1  # [m/s] all robots walk so on soft ground
_NAMES = {GroundKind.RIGID: "tsid_rigid", GroundKind.VISCOELASTIC: "tsid_compliant"}

Tick = tuple[RobotState, WholeBodyReference, float]


def torque_rows(
    robot: str, compiler: Compiler, announce: Callable[[str], None], duration: float
) -> list[dict[str, Any]]:
    """Return the rows of one robot: dynamics, assembly and solution together.

    The violation is that of the constraints that must be met: dynamics [N, N·m] and feet that stand [m/s², rad/s²].

    Args:
        robot: Its name.
        compiler: Of the expressions.
        announce: Called with what is timed next.
        duration: Of the walk, [s]; 3 s are some five thousand ticks with standing, half of them on two feet.

    Raises:
        RuntimeError: The robot fell.
    """
    rows = []
    for ground, name in _NAMES.items():
        announce(f"{robot}: walking by torque on {ground} ground")
        controller, ticks, start = _recorded(robot, ground, compiler, duration)
        controller.reset(start)
        samples = durations(partial(controller.command, *tick) for tick in ticks)
        rows.append(benchmark_row(f"whole_body.{name}/{robot}", samples, _largest_violation(controller, ticks, start)))
    return rows


def _recorded(
    robot: str, ground: GroundKind, compiler: Compiler, duration: float
) -> tuple[TorqueController, list[Tick], RobotPosture]:
    """Walk, and return the controller, what it was given on two feet, and where it began."""
    setup = load_setup(robot, {"walking.control": "torque", "simulation.ground.kind": str(ground)})
    walk = SimulatedWalk(setup, compiler=compiler)
    controller = walk.layers.whole_body
    assert isinstance(controller, TorqueController)
    ticks: list[Tick] = []

    def note(state: RobotState, reference: WholeBodyReference, period: float) -> None:
        if reference.left_foot.in_contact and reference.right_foot.in_contact:
            ticks.append((state, reference, period))

    end = note_commands(controller, note)
    if not (walk.get_ready() and walk.follow(VelocityCommand(_SPEED, duration=duration))):
        raise RuntimeError(f"{robot} did not walk by torque on {ground} ground: {walk.robot.fall}")
    end()
    return controller, ticks, walk.layers.start_posture


def _largest_violation(controller: TorqueController, ticks: list[Tick], start: RobotPosture) -> float:
    controller.reset(start)
    worst = 0.0
    for tick in ticks:
        controller.command(*tick)
        worst = max(worst, controller.problem.quadratic_program.violation(controller.problem.solution))
    return worst
