"""Robots that stand."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray, RobotPosture, Side, from_table, merge, so3
from gradiva.robot_model import RobotDescription
from gradiva.setup import data_folder, read_toml
from gradiva.simulation import SimulationConfig, load_tree
from gradiva.simulation.rigid_tree import add_bodies


def configured(**tables: Any) -> SimulationConfig:
    """The shipped configuration with the given entries laid over ``[simulation]``."""
    table = read_toml(data_folder("config") / "simulation.toml")["simulation"]
    table["flexibility"] = read_toml(data_folder("config") / "whole_body.toml")["flexibility"]
    return from_table(SimulationConfig, merge(table, tables), "test [simulation]")


def standing_posture(description: RobotDescription) -> RobotPosture:
    """The description's posture, its soles as level as they get, the lowest corner on the floor."""
    tree = load_tree(description)
    spec = mujoco.MjSpec()
    add_bodies(spec, tree)
    model = spec.compile()
    data = mujoco.MjData(model)
    for joint, angle in zip(description.joints, description.posture, strict=True):
        data.qpos[model.joint(joint).qposadr] = angle
    mujoco.mj_kinematics(model, data)

    def pose(frame: str) -> NDArray:
        body = tree.body_of(frame)
        result = np.eye(4)
        result[:3, :3] = data.body(body.name).xmat.reshape(3, 3)
        result[:3, 3] = data.body(body.name).xpos
        return result @ body.frames[frame]

    left, right = pose(description.left_foot_frame), pose(description.right_foot_frame)
    middle = np.eye(4)
    middle[:3, :3] = left[:3, :3] @ so3.exp(0.5 * so3.log(left[:3, :3].T @ right[:3, :3]))
    middle[:3, 3] = 0.5 * (left[:3, 3] + right[:3, 3])
    base = np.linalg.inv(middle)
    sole = description.sole
    corners = [
        (base @ foot @ np.array([x, y, sole.z, 1.0]))[2]
        for side, foot in ((Side.LEFT, left), (Side.RIGHT, right))
        for x, y in sole.corners(side)
    ]
    position = base[:3, 3] - np.array([0.0, 0.0, min(corners) - sole.z])
    return RobotPosture(position, base[:3, :3], description.posture)


def moved(posture: RobotPosture, shift: NDArray, heading: float = 0.0) -> RobotPosture:
    """The posture turned about the vertical, then shifted."""
    turn = so3.rotation_z(heading)
    return RobotPosture(turn @ posture.base_position + shift, turn @ posture.base_rotation, posture.joint_positions)


def positions(values: np.ndarray) -> JointCommand:
    return JointCommand(ControlMode.POSITION, values)
