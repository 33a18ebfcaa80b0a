"""Solve recorded ticks of inverse dynamics by TSID on Pinocchio; a program of its own, for its libraries clash.

Reads a JSON of the problem from standard input and writes the answers, accelerations of the base first in world axes,
mixed, and their times. Soles are contacts, CoM and contacts are hard, torso and posture weighted.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":  # who merely imports this file has none of them
    pin: Any = import_module("pinocchio")
    tsid: Any = import_module("tsid.tsid_pywrap")

_FORCE_WEIGHT = 1e-6
_LARGEST_FORCE = 2000.0  # [N]


def main() -> None:
    """Solve each tick ``repeats`` times."""
    given: dict[str, Any] = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        robot = tsid.RobotWrapper(locked(given, Path(folder)), [], pin.JointModelFreeFlyer(), False)
    model = robot.model()
    names = [model.names[2 + k] for k in range(model.njoints - 2)]
    order = [given["joints"].index(name) for name in names]
    formulation = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
    first = given["ticks"][0]
    formulation.computeProblemData(0.0, configuration_of(first, order), velocity_of(first, order))
    contacts = [contact(robot, frame, given) for frame in given["feet"]]
    for each in contacts:
        formulation.addRigidContact(each, _FORCE_WEIGHT)
    tasks = added(formulation, robot, given, order)
    solver = tsid.SolverHQuadProgFast("solver")
    solver.resize(formulation.nVar, formulation.nEq, formulation.nIn)
    answers, durations = [], []
    for tick in given["ticks"]:
        q, v = configuration_of(tick, order), velocity_of(tick, order)
        set_targets(contacts, tasks, tick)
        for _ in range(given["repeats"]):
            start = time.process_time()
            solution = solver.solve(formulation.computeProblemData(0.0, q, v))
            durations.append(time.process_time() - start)
        acceleration = formulation.getAccelerations(solution)
        answers.append(in_world(acceleration, q, v, order) if solution.status == 0 else None)
    json.dump(
        {"answers": answers, "durations": durations, "version": f"tsid on pinocchio {pin.__version__}"}, sys.stdout
    )


def locked(given: dict[str, Any], folder: Path) -> str:
    """Return a URDF in which other joints than those of the problem are fixed."""
    tree = ElementTree.parse(given["model"])
    for joint in tree.getroot().findall("joint"):
        if joint.get("name") not in given["joints"]:
            joint.set("type", "fixed")
    path = folder / "robot.urdf"
    tree.write(path)
    return str(path)


def configuration_of(tick: dict[str, Any], order: list[int]) -> Any:
    """Return q of Pinocchio."""
    return np.concatenate((tick["base"], np.array(tick["joints"])[order]))


def velocity_of(tick: dict[str, Any], order: list[int]) -> Any:
    """Return v of Pinocchio, whose base moves in its own axes."""
    rotation, twist = pin.XYZQUATToSE3(np.array(tick["base"])).rotation, np.array(tick["base_velocity"])
    speeds = np.array(tick["joint_velocity"])[order]
    return np.concatenate((rotation.T @ twist[:3], rotation.T @ twist[3:], speeds))


def in_world(acceleration: Any, q: Any, v: Any, order: list[int]) -> list[float]:
    """Return the derivative of the mixed velocity, joints in the order of the problem."""
    rotation, joints = pin.XYZQUATToSE3(q[:7]).rotation, np.zeros(len(order))
    joints[order] = acceleration[6:]
    linear = rotation @ (acceleration[:3] + np.cross(v[3:6], v[:3]))
    return [*linear, *(rotation @ acceleration[3:6]), *joints]


def contact(robot: Any, frame: str, given: dict[str, Any]) -> Any:
    """Return the sole as a contact."""
    corners = np.array([[x, y, 0.0] for x in given["sole_x"] for y in given["sole_y"]]).T
    normal, friction = np.array([0.0, 0.0, 1.0]), given["friction"]
    made = tsid.Contact6d(f"contact {frame}", robot, frame, corners, normal, friction, 1.0, _LARGEST_FORCE)
    made.setKp(given["gains"]["foot"] * np.ones(6))
    made.setKd(2.0 * given["gains"]["foot"] ** 0.5 * np.ones(6))
    return made


def added(formulation: Any, robot: Any, given: dict[str, Any], order: list[int]) -> Any:
    """Return the tasks of CoM, torso and posture, of which the problem consists."""
    gains, model = given["gains"], robot.model()
    com = tsid.TaskComEquality("com", robot)
    com.setKp(gains["com"] * np.ones(3))
    com.setKd(2.0 * gains["com"] ** 0.5 * np.ones(3))
    formulation.addMotionTask(com, 1.0, 0, 0.0)
    torso = tsid.TaskSE3Equality("torso", robot, given["torso"])
    torso.setKp(gains["posture"] * np.ones(6))
    torso.setKd(2.0 * gains["posture"] ** 0.5 * np.ones(6))
    torso.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
    torso.useLocalFrame(False)
    formulation.addMotionTask(torso, given["torso_weight"], 1, 0.0)
    posture = tsid.TaskJointPosture("posture", robot)
    posture.setKp(gains["posture"] * np.ones(model.nv - 6))
    posture.setKd(2.0 * gains["posture"] ** 0.5 * np.ones(model.nv - 6))
    formulation.addMotionTask(posture, 1.0, 1, 0.0)
    posture.setReference(sample(np.array(given["posture"])[order]))
    return com, torso, posture  # the problem has no reference of its own to them


def sample(value: Any, velocity: Any = None, acceleration: Any = None) -> Any:
    """Return a target at rest, or with its derivatives."""
    made = tsid.TrajectorySample(len(value))
    made.value(np.array(value))
    made.derivative(np.zeros(len(value)) if velocity is None else np.array(velocity))
    made.second_derivative(np.zeros(len(value)) if acceleration is None else np.array(acceleration))
    return made


def set_targets(contacts: Any, tasks: Any, tick: dict[str, Any]) -> None:
    """Set the targets of a tick."""
    for each, target in zip(contacts, (tick["left"], tick["right"]), strict=True):
        each.setReference(pin.XYZQUATToSE3(np.array(target)))
    com, torso, _ = tasks
    com.setReference(sample(tick["com"][:3], tick["com"][3:6], tick["com"][6:9]))
    rotation = pin.Quaternion(np.array(tick["torso"])).matrix()
    target = tsid.TrajectorySample(12, 6)
    target.value(tsid.SE3ToVector(pin.SE3(rotation, np.zeros(3))))
    target.derivative(np.zeros(6))
    target.second_derivative(np.zeros(6))
    torso.setReference(target)


if __name__ == "__main__":
    main()
