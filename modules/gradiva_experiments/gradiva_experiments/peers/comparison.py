"""Solve the same recorded ticks by Gradiva and by its peers; the optimum is that of DAQP at its tightest tolerance.

Variables: velocity or acceleration of base and joints. Objective: attitude of the torso, of weight 10, and posture, of
weight 1. Constraints: poses of both soles and the CoM; joint limits of a velocity. In torque control forces are free
within their cones, so the optimum of the accelerations is that of the motion alone as long as no cone is active.
Violation: largest residual of soles and CoM, in m/s and rad/s, or m/s² and rad/s².
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import daqp
import icub_models
import numpy as np

import gradiva
from gradiva.blf import BackendError, WorkerProcess, quaternion
from gradiva.common import NDArray, RobotPosture, so3
from gradiva.robot_model import Compiler, IdynTreeModel
from gradiva.setup import load_setup
from gradiva.whole_body import foot_task, soft_task, whole_body_problem

_ROBOT = "icub_v2_7"  # has the joints and frames of the recorded one
_KINEMATICS = {"foot": 5.0, "com": 4.0, "posture": 5.0}  # [1/s]
_DYNAMICS = {"foot": 100.0, "com": 40.0, "posture": 50.0}  # [1/s²] critically damped
_TORSO_WEIGHT, _PERIOD = 10.0, 0.01  # [-], [s]
_TIMEOUT = 120.0  # [s] of a peer
_REPEATS = 50  # calls of a tick
_FEET, _TORSO = ("l_sole", "r_sole"), "chest"
INSTALL = "pip install 'gradiva-experiments[peers]'"


@dataclass(frozen=True, slots=True)
class PeerRow:
    """Figures of one solver on the recorded ticks.

    Attributes:
        problem: ``inverse kinematics``, ``inverse dynamics`` or ``centroidal MPC``.
        solver: Its name and version.
        median: Time of a tick, of the processor; of the framework by the clock on the wall, [µs].
        p99: Likewise, of one tick in a hundred, [µs].
        violation: Of hard constraints, the largest.
        distance: To the optimum, the largest; of an MPC that of the CoM, [m].
        source: ``measured``, ``recorded`` with where and when, or why there is nothing.
    """

    problem: str
    solver: str
    median: float | None = None
    p99: float | None = None
    violation: float | None = None
    distance: float | None = None
    source: str = "measured"


@cache
def _recorded(name: str) -> dict[str, Any]:
    text = files("gradiva_experiments.peers").joinpath(f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def _robot() -> IdynTreeModel:
    """Return the robot of the recording, by the description of the one that followed it."""
    model = str(icub_models.get_model_file("iCubGazeboV2_5"))
    robot = replace(load_setup(_ROBOT).robot, model_file=model, position_limits={}, force_torque_sensors=())
    return IdynTreeModel(replace(robot, imu_frame=robot.base_link), 0.0)


def _rotation(numbers: list[float]) -> NDArray:
    """Return the rotation of x, y, z, w."""
    axis, w = np.array(numbers[:3]), numbers[3]
    sine = float(np.linalg.norm(axis))
    return so3.exp(axis * (2.0 * np.arctan2(sine, w) / sine if sine > 0.0 else 2.0))


class _Ticks:
    """Recorded postures and set points of one problem; in torque control they are at rest, on their soles.

    Attributes:
        given: The problem as JSON, for programs of peers.
        ticks: Postures and set points.
    """

    def __init__(self, is_dynamic: bool) -> None:
        record = _recorded("dynamics" if is_dynamic else "kinematics")
        case = record["cases"]["torque_weight_1e-4" if is_dynamic else "model_limits"]
        self.is_dynamic, self.gains = is_dynamic, _DYNAMICS if is_dynamic else _KINEMATICS
        self.posture, self.case = np.array(case["posture"]), case
        self.ticks = [self._at_rest(tick) if is_dynamic else tick for tick in case["samples"]]
        self.given = {
            **{"model": _robot().description.model_file, "joints": record["joints"], "dt": _PERIOD},
            **{"gains": self.gains, "feet": _FEET, "torso": _TORSO, "torso_weight": _TORSO_WEIGHT},
            **{"posture": case["posture"], "ticks": self.ticks, "repeats": _REPEATS, "friction": 0.5},
            **{"sole_x": [-0.07, 0.12], "sole_y": [-0.045, 0.05]},
        }

    def _at_rest(self, tick: dict[str, Any]) -> dict[str, Any]:
        """Return a tick without velocities; what the CoM's should be is part of its acceleration."""
        stiffness, desired = self.gains["com"], np.array(tick["com"])
        acceleration = desired[6:] + 2.0 * stiffness**0.5 * desired[3:6]
        com = [*desired[:3].tolist(), 0.0, 0.0, 0.0, *acceleration.tolist()]
        still = {"base_velocity": [0.0] * 6, "joint_velocity": [0.0] * len(tick["joints"])}
        poses = (_robot().frame_pose(self.posture_of(tick), frame) for frame in _FEET)
        left, right = ([*position.tolist(), *quaternion(rotation)] for position, rotation in poses)
        return {**tick, **still, "com": com, "left": left, "right": right}

    def posture_of(self, tick: dict[str, Any]) -> RobotPosture:
        """Return where the robot is."""
        base = tick["base"]
        return RobotPosture(np.array(base[:3]), _rotation(base[3:]), np.array(tick["joints"]))

    def hard(self, tick: dict[str, Any]) -> tuple[NDArray, NDArray]:
        """Return A and b of soles and CoM."""
        robot, posture, gains = _robot(), self.posture_of(tick), self.gains
        rows = [robot.frame_jacobian(posture, frame) for frame in _FEET] + [robot.com_jacobian(posture)]
        wanted = []
        for frame, target in zip(_FEET, (tick["left"], tick["right"]), strict=True):
            position, rotation = robot.frame_pose(posture, frame)
            turn = so3.log(_rotation(target[3:]) @ rotation.T)
            wanted += [gains["foot"] * (np.array(target[:3]) - position), gains["foot"] * turn]
        error = np.array(tick["com"][:3]) - robot.com_position(posture)
        ahead = np.array(tick["com"][6:9] if self.is_dynamic else tick["com"][3:6])
        return np.vstack(rows), np.concatenate((*wanted, gains["com"] * error + ahead))

    def optimum(self, tick: dict[str, Any]) -> NDArray:
        """Return the exact answer."""
        robot, posture, gain = _robot(), self.posture_of(tick), self.gains["posture"]
        rows, wanted = self.hard(tick)
        torso = robot.frame_jacobian(posture, _TORSO)[3:]
        turn = gain * so3.log(_rotation(tick["torso"]) @ robot.frame_pose(posture, _TORSO)[1].T)
        joints = np.eye(torso.shape[1])[6:]
        hessian = _TORSO_WEIGHT * torso.T @ torso + joints.T @ joints
        gradient = -_TORSO_WEIGHT * torso.T @ turn - joints.T @ (gain * (self.posture - posture.joint_positions))
        lower, upper = robot.joint_limits()
        lower, upper = ((bound - posture.joint_positions) / _PERIOD for bound in (lower, upper))
        if self.is_dynamic:
            lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
        matrix = np.vstack((rows, joints))
        low, high = np.concatenate((wanted, lower)), np.concatenate((wanted, upper))
        sense = np.where(low == high, 5, 0).astype(np.int32)
        answer, _, flag, _ = daqp.solve(hessian, gradient, matrix, high, low, sense, primal_tol=1e-12)
        assert flag > 0, "a recorded tick has a solution"
        return np.asarray(answer)

    def row(self, solver: str, answers: list[Any], durations: list[float]) -> PeerRow:
        """Return the figures of answers, a motion for each tick, and of the durations of calls, [s]."""
        motion, names = 6 + len(self.posture), ("inverse kinematics", "inverse dynamics")
        found = [
            (tick, np.array(each)[:motion]) for tick, each in zip(self.ticks, answers, strict=True) if each is not None
        ]
        missed = [float(np.abs(rows @ x - b).max()) for tick, x in found for rows, b in [self.hard(tick)]]
        apart = [float(np.abs(x - self.optimum(tick)).max()) for tick, x in found]
        median, p99 = (1e6 * np.percentile(durations, (50, 99))).tolist()
        failed = len(answers) - len(found)
        source = "measured" if not failed else f"measured; no answer in {failed} of {len(answers)} ticks"
        return PeerRow(names[self.is_dynamic], solver, median, p99, max(missed), max(apart), source)


def _timed(call: Callable[[dict[str, Any]], Any], ticks: _Ticks) -> tuple[list[Any], list[float]]:
    """Return the answer to each tick, and the durations of all calls, [s]."""
    answers, durations = [], []
    for tick in ticks.ticks:
        for _ in range(_REPEATS):
            start = time.process_time()
            answer = call(tick)
            durations.append(time.process_time() - start)
        answers.append(np.array(answer))
    return answers, durations


def _ours(ticks: _Ticks, compiler: Compiler) -> PeerRow:
    """Solve the ticks by our own tasks."""
    order = (lambda gain: float(np.sqrt(gain))) if ticks.is_dynamic else float  # critically damped: k_p is its square
    gains = {name: order(gain) for name, gain in ticks.gains.items()}
    feet = [gradiva.FrameTask(frame, gains["foot"], priority="hard") for frame in _FEET]
    com, torso = (
        gradiva.ComTask(gains["com"], priority="hard"),
        gradiva.OrientationTask(_TORSO, gains["posture"], _TORSO_WEIGHT),
    )
    posture = gradiva.PostureTask(gains["posture"], 1.0)
    posture.set_target(ticks.posture)
    tasks = [com, torso, posture]
    robot, rest = _robot(), np.zeros(6 + len(ticks.posture))
    if ticks.is_dynamic:
        dynamics = gradiva.InverseDynamics(robot, tasks, gradiva.soles_of(robot.description), compiler=compiler)
    else:
        kinematics = gradiva.InverseKinematics(robot, [*feet, *tasks], position_margin=0.0, compiler=compiler)

    def solve(tick: dict[str, Any]) -> NDArray:
        now, desired = ticks.posture_of(tick), np.array(tick["com"])
        for task, target in zip(feet, (tick["left"], tick["right"]), strict=True):
            task.set_target(np.array(target[:3]), _rotation(target[3:]))
        com.set_target(*np.split(desired, len(desired) // 3))
        torso.set_target(rotation=_rotation(tick["torso"]))
        if not ticks.is_dynamic:
            return kinematics.solve(now, _PERIOD)
        dynamics.solve(now, rest)
        return dynamics.acceleration

    return ticks.row("gradiva", *_timed(solve, ticks))


def _peer(name: str, program: str, ticks: _Ticks, python: str) -> PeerRow:
    """Run the program of a peer; where it is not installed the row says so."""
    path = Path(str(files("gradiva_experiments.peers").joinpath(program)))
    problem = "inverse dynamics" if ticks.is_dynamic else "inverse kinematics"
    try:
        done = subprocess.run(
            [python, str(path)],
            input=json.dumps(ticks.given),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return PeerRow(problem, name, source=f"failed: {error}")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        is_missing = "ModuleNotFoundError" in last
        return PeerRow(problem, name, source=f"not installed: {INSTALL}" if is_missing else f"failed: {last}")
    found = json.loads(done.stdout)
    return ticks.row(found["version"], found["answers"], found["durations"])


def _framework(ticks: _Ticks, python: str) -> PeerRow:
    """Solve the kinematic ticks by bipedal-locomotion-framework; without it, and for torques, recorded ones."""
    if ticks.is_dynamic:
        return _recorded_row(ticks)
    try:
        worker = WorkerProcess(python, _framework_problem(ticks))
    except BackendError:
        return _recorded_row(ticks)
    rest, own = np.zeros(len(ticks.posture)), list[float]()

    def solve(tick: dict[str, Any]) -> NDArray:
        posture, still = ticks.posture_of(tick), np.zeros(6)
        state = posture.base_position, posture.base_rotation, still, posture.joint_positions, rest
        feet = [(target[:3], _rotation(target[3:]), still) for target in (tick["left"], tick["right"])]
        parts = (*state, *feet[0], *feet[1], tick["com"], _rotation(tick["torso"]), np.zeros(3), ticks.posture, rest)
        answer = worker.solve(np.concatenate([np.ravel(part) for part in parts]))
        own.append(worker.own_time)
        return answer

    answers, _ = _timed(solve, ticks)
    return ticks.row(f"blf, and {1e6 * worker.median_overhead:.0f} µs to its process", answers, own)


def _framework_problem(ticks: _Ticks) -> dict[str, Any]:
    gains, n, robot = ticks.gains, len(ticks.posture), _robot()
    lower, upper = robot.joint_limits()
    limits = {"lower_limits": lower.tolist(), "upper_limits": upper.tolist(), "klim": [1.0] * n}
    com = {"name": "com", "type": "CoMTask", "priority": 0, "parameters": {"kp_linear": gains["com"]}}
    torso = soft_task("torso", "SO3Task", [_TORSO_WEIGHT] * 3, frame_name=_TORSO, kp_angular=gains["posture"])
    parameters = {**limits, "use_model_limits": False, "sampling_time": _PERIOD}
    tasks = [
        *(foot_task(frame, frame, kp_linear=gains["foot"], kp_angular=gains["foot"]) for frame in _FEET),
        *(com, torso, soft_task("posture", "JointTrackingTask", [1.0] * n, kp=[gains["posture"]] * n)),
        {"name": "limits", "type": "JointLimitsTask", "priority": 0, "parameters": parameters},
    ]
    return whole_body_problem("ik", robot.description, tasks)


def _recorded_row(ticks: _Ticks) -> PeerRow:
    """Return the recorded figures of the framework, against the optimum of its own problem."""
    motion, samples = 6 + len(ticks.posture), ticks.case["samples"]
    apart = [np.abs(np.array(each["blf"]) - np.array(each["exact"]))[:motion].max() for each in samples]
    source = f"recorded: {_recorded('dynamics' if ticks.is_dynamic else 'kinematics')['source']}, from C++"
    problem = "inverse dynamics" if ticks.is_dynamic else "inverse kinematics"
    missed, case = max(each["violation"] for each in samples), ticks.case
    return PeerRow(problem, "blf", case["median_us"], case["p99_us"], missed, float(max(apart)), source)


def compared(python: str, blf_python: str, compiler: Compiler) -> Iterator[PeerRow]:
    """Yield the figures of all solvers; each peer runs in a process of its own.

    Args:
        python: Interpreter that has Pink and TSID; empty: this one.
        blf_python: As ``blf.python``.
        compiler: How our own functions become fast.
    """
    python = python or sys.executable
    for is_dynamic in (False, True):
        ticks = _Ticks(is_dynamic)
        yield _ours(ticks, compiler)
        yield _framework(ticks, blf_python)
        if is_dynamic:
            yield _peer("tsid", "tsid_program.py", ticks, python)
        else:
            yield _peer("pink", "pink_program.py", ticks, python)
