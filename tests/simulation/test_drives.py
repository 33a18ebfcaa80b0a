"""Drives of the simulated robots against closed forms: rotors seen through their gears."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from gradiva.common import NDArray
from gradiva.robot_model import RobotDescription
from gradiva.setup import load_robot
from gradiva.simulation.ground import choose_ground
from gradiva.simulation.plant import build_plant, load_tree

from .standing import configured

NO_GRAVITY = np.zeros(3)


def plant_of(description: RobotDescription, rotor_inertia: float) -> mujoco.MjModel:
    config = configured(plant={"rotor_inertia": rotor_inertia})
    ground = choose_ground(config, description.sole.z, 0)
    tree = load_tree(description)
    return build_plant(description, tree, config.plant, ground, NO_GRAVITY, config.timestep)


def degrees(description: RobotDescription, model: mujoco.MjModel) -> list[int]:
    """Index of each joint's velocity, in the order of the description."""
    return [int(model.joint(joint).dofadr[0]) for joint in description.joints]


def in_posture(description: RobotDescription, model: mujoco.MjModel) -> mujoco.MjData:
    """The robot in the air, at rest."""
    data = mujoco.MjData(model)
    data.qpos[2] = 10.0
    data.qpos[np.add(degrees(description, model), 1)] = description.posture
    mujoco.mj_forward(model, data)
    return data


def mass_matrix(description: RobotDescription, rotor_inertia: float) -> NDArray:
    """M with the joints in the order of the description."""
    model = plant_of(description, rotor_inertia)
    data, matrix = in_posture(description, model), np.zeros((model.nv, model.nv))
    for column, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, matrix[column], unit)
    order = [*range(6), *degrees(description, model)]
    return matrix[np.ix_(order, order)]


@pytest.mark.parametrize("robot", ["icub_v2_7", "g1"])
def test_rotors_add_their_matrix_to_the_joint_block_of_the_mass_matrix(robot: str) -> None:
    description = load_robot(robot)
    rotors = mass_matrix(description, 0.8) - mass_matrix(description, 0.0)
    np.testing.assert_allclose(rotors[6:, 6:], 0.8 * description.rotor_inertia_matrix, atol=1e-9)
    np.testing.assert_allclose(rotors[:6], 0.0, atol=1e-9)


def test_the_rotors_of_a_differential_torso_are_coupled() -> None:
    torso = load_robot("icub_v2_7").rotor_inertia_matrix[:3, :3]
    big, small, ratio = 0.137, 0.08, 1.0 / 0.55
    expected = [
        [2.0 * big, 0.0, 0.0],
        [0.0, 2.0 * big + small, -ratio * small],
        [0.0, -ratio * small, ratio**2 * small],
    ]
    np.testing.assert_allclose(torso, expected, rtol=1e-3)


@pytest.mark.parametrize("joint", ["torso_roll", "l_ankle_roll"])
def test_a_torque_accelerates_links_and_rotors(joint: str) -> None:
    description = load_robot("icub_v2_7")
    model = plant_of(description, 1.0)
    data, order = in_posture(description, model), [*range(6), *degrees(description, model)]
    forces = np.zeros(model.nv)
    forces[6 + description.joints.index(joint)] = 3.0
    data.qfrc_applied[order] = forces
    mujoco.mj_forward(model, data)
    inertia = mass_matrix(description, 0.0)
    inertia[6:, 6:] += description.rotor_inertia_matrix
    np.testing.assert_allclose(data.qacc[order], np.linalg.solve(inertia, forces), rtol=1e-6, atol=1e-9)
