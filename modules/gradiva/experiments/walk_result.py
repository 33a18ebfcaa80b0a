"""Runs one walk from start to stand and says how it went."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import so3
from gradiva.experiments.fall_diagnosis import diagnose
from gradiva.experiments.simulated_walk import Observer, SimulatedWalk
from gradiva.experiments.walk_score import score, specific_energetic_cost
from gradiva.planner import Command, GoalCommand, PathCommand
from gradiva.robot_model import Compiler
from gradiva.setup import Setup
from gradiva.telemetry import RunFolder, write_report


@dataclass(frozen=True, slots=True)
class WalkRequest:
    """What to walk.

    Attributes:
        setup: Robot, controller, plant.
        command: Where to.
        seed: Of the noise.
        name: Of the run's folder.
    """

    setup: Setup
    command: Command
    seed: int = 0
    name: str = "walk"


@dataclass(frozen=True, slots=True, eq=False)
class WalkOutcome:
    """How a walk went.

    Attributes:
        result: The figures, in the shape of ``result.json``.
        walk: The simulation with its log.
    """

    result: dict[str, Any]
    walk: SimulatedWalk

    @property
    def walked(self) -> bool:
        """Whether the robot did what was asked and still stands."""
        return bool(self.result["outcome"] == "walked")


def run_walk(
    request: WalkRequest,
    compiler: Compiler | None = None,
    observers: tuple[Observer, ...] = (),
) -> WalkOutcome:
    """Prepare, walk, stop, stand; return the figures.

    Raises:
        PlanningError: The command cannot be planned.
        WalkingError: The configuration or the model is wrong.
    """
    walk = SimulatedWalk(request.setup, request.seed, compiler, observers=observers)
    started = time.perf_counter()
    stands = walk.get_ready() and walk.follow(request.command)
    wall = time.perf_counter() - started
    return WalkOutcome(_result(request, walk, stands, wall), walk)


def save_walk(outcome: WalkOutcome, request: WalkRequest, parent: Path) -> RunFolder:
    """Write the run's folder: configuration, log, result, report; the result then names the report."""
    setup = request.setup
    tables = {**setup.tables, "run": {"seed": request.seed, "command": repr(request.command)}}
    folder = RunFolder.create(parent, request.name, tables)
    outcome.result["report"] = str(folder.report_path)
    folder.write_log(outcome.walk.recorder.log, setup.robot.joints, setup.robot.name)
    folder.write_result(outcome.result | _for_the_report(outcome))
    write_report(folder)
    return folder


def _result(request: WalkRequest, walk: SimulatedWalk, stands: bool, wall: float) -> dict[str, Any]:
    setup = request.setup
    figures = score(walk.recorder.log)
    truth = walk.robot.truth()
    outcome, reason = _outcome(walk, stands)
    energy = walk.robot.mechanical_energy_j
    return {
        "outcome": outcome,
        "reason": reason,
        "robot": setup.robot.name,
        "control": str(setup.walking.walking.control),
        "model": str(setup.walking.walking.model),
        "ground": "rigid",
        "seed": request.seed,
        "duration_s": walk.time,
        "distance_m": figures["distance_m"],
        "mean_speed_mps": figures["mean_speed_mps"],
        "peak_speed_mps": figures["peak_speed_mps"],
        "final_pose": [*_between_feet(truth), _heading(truth)],
        "goal_error_m": _goal_error(request.command, truth),
        "com_error_m": figures["com_error_m"],
        "dcm_error_m": figures["dcm_error_m"],
        "zmp_error_m": figures["zmp_error_m"],
        "foot_error_m": figures["foot_error_m"],
        "foot_slip_m": truth.foot_slip_m,
        "odometry_drift_m": figures["odometry_drift_m"],
        "max_tilt_rad": figures["max_tilt_rad"],
        "specific_energetic_cost": specific_energetic_cost(energy, setup.robot.mass, figures["distance_m"]),
        "qp_failures": walk.controller.qp_failures + walk.controller.model_failures,
        "safety_events": list(walk.fault_reasons),
        "tick_us": figures["tick_us"],
        "deadline_misses": _deadline_misses(walk),
        "real_time_factor": walk.time / wall,
        "report": None,
    }


def _outcome(walk: SimulatedWalk, stands: bool) -> tuple[str, str]:
    if walk.robot.fall is not None:
        first_sign = diagnose(walk.recorder.log)
        return "fell", f"{walk.robot.fall.reason} at {walk.robot.fall.time:.2f} s{first_sign}"
    if not stands:
        return "stopped", f"{walk.controller.reason} at {walk.time:.2f} s{diagnose(walk.recorder.log)}"
    return "walked", walk.controller.reason


def _deadline_misses(walk: SimulatedWalk) -> int:
    period = 1e6 * walk.setup.walking.walking.period
    return int(np.count_nonzero(walk.recorder.log["tick::total"] > period))


def _between_feet(truth: Any) -> list[float]:
    middle = 0.5 * (truth.left_foot_position + truth.right_foot_position)
    return [float(middle[0]), float(middle[1])]


def _heading(truth: Any) -> float:
    left, right = so3.yaw(truth.left_foot_rotation), so3.yaw(truth.right_foot_rotation)
    return left + 0.5 * so3.wrap_angle(right - left)


def _goal_error(command: Command, truth: Any) -> float | None:
    if isinstance(command, GoalCommand):
        goal = (command.x, command.y)
    elif isinstance(command, PathCommand):
        goal = tuple(command.points[-1])
    else:
        return None
    return float(np.hypot(*(np.array(_between_feet(truth)) - goal)))


def _for_the_report(outcome: WalkOutcome) -> dict[str, Any]:
    """What the plots need beside the figures."""
    robot = outcome.walk.setup.robot
    lower, upper = outcome.walk.layers.joint_limits
    return {
        "sole": {"x": list(robot.sole.x), "y": list(robot.sole.y)},
        "joints": list(robot.joints),
        "joint_limits": {"lower": lower.tolist(), "upper": upper.tolist()},
    }
