"""Links of the plant that bend: accelerations against massless links in iDynTree, and energy of the passive joints."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import idyntree.bindings as idyn
import mujoco
import numpy as np
import pytest

from gradiva.common import ConfigError, NDArray, so3
from gradiva.robot_model import IdynTreeModel, RobotDescription, as_array
from gradiva.setup import load_setup
from gradiva.simulation import MujocoRobot, SimulatedState
from gradiva.simulation.ground import choose_ground
from gradiva.simulation.plant import build_plant, load_tree

from .standing import configured, standing_posture

GRAVITY = np.array([0.0, 0.0, -9.81])
STIFFNESS = [5e3, 4e3, 3e3, 2e3]  # [N·m/rad]
HIPS = ["leg_left_1_joint", "leg_right_1_joint"]


@lru_cache
def bending() -> RobotDescription:
    return load_setup("talos", {"flexibility.stiffness": STIFFNESS}).robot


@lru_cache
def massless() -> IdynTreeModel:
    return IdynTreeModel(bending().with_flexible_joints())


def oracle(base: NDArray, rotation: NDArray, twist: NDArray, joints: NDArray, speeds: NDArray) -> Any:
    """M with rotors, h and iDynTree's computations of the robot with massless links."""
    computations, pose, size = massless().kinematics_and_dynamics(), np.eye(4), 6 + len(joints)
    pose[:3, :3], pose[:3, 3] = rotation, base
    assert computations.setRobotState(pose, joints, twist, speeds, GRAVITY)
    matrix, forces = idyn.MatrixDynSize(size, size), idyn.FreeFloatingGeneralizedTorques(computations.model())
    assert computations.getFreeFloatingMassMatrix(matrix)
    assert computations.generalizedBiasForces(forces)
    bias = np.concatenate([as_array(forces.baseWrench()), as_array(forces.jointTorques())])
    mass_matrix = as_array(matrix)
    mass_matrix[6:, 6:] += massless().description.rotor_inertia_matrix
    return mass_matrix, bias, computations


def passive_torques(positions: NDArray, velocities: NDArray) -> NDArray:
    joints = bending().flexible_joints
    return np.array([-j.stiffness * s - j.damping * v for j, s, v in zip(joints, positions, velocities, strict=True)])


def acceleration_error(inertia: float) -> float:
    """Largest difference between the engine's and massless links' accelerations of joints, over the largest of them."""
    config = configured()
    description, ground = bending(), choose_ground(config, bending().sole.z, 0)
    tree = load_tree(description.with_flexible_joints(), inertia)
    model = build_plant(description, tree, config, ground)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, errors, random = mujoco.MjData(model), [], np.random.default_rng(7)
    names = massless().description.joints
    places = [int(model.joint(name).qposadr[0]) for name in names]
    degrees = [int(model.joint(name).dofadr[0]) for name in names]
    for _ in range(5):
        joints, speeds = 0.5 * random.normal(size=36), random.normal(size=36)
        joints[32:] *= 0.1
        twist, torques, rotation = random.normal(size=6), 20.0 * random.normal(size=32), so3.exp(random.normal(size=3))
        mujoco.mj_resetData(model, data)
        data.qpos[:3] = [0.0, 0.0, 5.0]
        mujoco.mju_mat2Quat(data.qpos[3:7], np.ascontiguousarray(rotation).ravel())
        data.qvel[:6] = np.append(twist[:3], rotation.T @ twist[3:])
        data.qpos[places], data.qvel[degrees] = joints, speeds
        data.qfrc_applied[degrees[:32]] = torques
        mujoco.mj_forward(model, data)
        mass_matrix, bias, _ = oracle(data.qpos[:3], rotation, twist, joints, speeds)
        passive = passive_torques(joints[32:], speeds[32:])
        expected = np.linalg.solve(mass_matrix, np.concatenate([np.zeros(6), torques, passive]) - bias)[6:]
        errors.append(np.abs(data.qacc[degrees] - expected).max() / np.abs(expected).max())
    return max(errors)


def test_accelerations_tend_to_those_of_massless_links_as_the_fictitious_ones_become_lighter() -> None:
    errors = [acceleration_error(inertia) for inertia in (1e-5, 1e-6, 1e-7)]
    assert errors[0] < 1e-4
    assert errors[1] == pytest.approx(errors[0] / 10.0, rel=0.1)
    assert errors[2] == pytest.approx(errors[1] / 10.0, rel=0.1)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_springs_are_refused_where_the_steps_of_the_engine_do_not_follow_them(factor: float) -> None:
    """On one hip without damper, as soon as k Δ² > 4 / (M⁻¹)_ff and not before."""
    timestep, posture = 1e-3, standing_posture(bending())
    model = IdynTreeModel(replace(bending(), flexible_joints=bending().flexible_joints[:1]).with_flexible_joints())
    body, matrix = model.kinematics_and_dynamics(), idyn.MatrixDynSize(39, 39)
    body.setJointPos(np.append(posture.joint_positions, 0.0))
    assert body.getFreeFloatingMassMatrix(matrix)
    mass_matrix = as_array(matrix)
    mass_matrix[6:, 6:] += model.description.rotor_inertia_matrix
    mobility = np.linalg.inv(mass_matrix)[38, 38]
    flexibility = {"stiffness": factor * 4.0 / (mobility * timestep**2), "damping": 0.0, "joints": HIPS[:1]}
    config = configured(timestep=timestep, flexibility={**flexibility, "axes": ["roll"]})
    robot = replace(bending(), flexible_joints=())
    if factor < 1.0:
        plant = MujocoRobot(robot, config, posture)
        plant.advance(0.1)
        assert np.abs(plant.truth().flexible_positions).max() < 1e-3
    else:
        with pytest.raises(ConfigError, match="too stiff for steps of 1 ms"):
            MujocoRobot(robot, config, posture)


def moved(lift: float, force: list[float]) -> tuple[SimulatedState, ...]:
    """The states of a robot that is dropped or pushed, its servos holding the posture, in steps of 0.1 ms."""
    robot = replace(bending(), flexible_joints=())
    flexibility = {"stiffness": STIFFNESS, "joints": HIPS}
    push = {"link": "torso_2_link", "force": force, "start": 0.0, "duration": 0.1}
    config = configured(timestep=1e-4, flexibility=flexibility, pushes=[push])
    posture = standing_posture(robot)
    lifted = replace(posture, base_position=posture.base_position + np.array([0.0, 0.0, lift]))
    plant = MujocoRobot(robot, config, lifted)
    states = [plant.truth()]
    for _ in range(2000):
        plant.advance(1e-4)
        states.append(plant.truth())
    return tuple(states)


def work_on_passive_joints(before: SimulatedState, after: SimulatedState) -> NDArray:
    """Work done on each flexible joint in a step, by its row of the dynamics with massless links, [J], (4,)."""
    step = after.time - before.time
    joints = before.all_joint_positions
    velocity, later = (
        np.concatenate([each.base_twist, each.joint_velocities, each.flexible_velocities]) for each in (before, after)
    )
    mass_matrix, bias, computations = oracle(
        before.base_position, before.base_rotation, velocity[:6], joints, velocity[6:]
    )
    forces = mass_matrix @ ((later - velocity) / step) + bias
    for frame, wrench in (("left_sole_link", after.left_foot_wrench), ("right_sole_link", after.right_foot_wrench)):
        jacobian = idyn.MatrixDynSize(6, len(velocity))
        assert computations.getFrameFreeFloatingJacobian(frame, jacobian)
        forces -= as_array(jacobian).T @ wrench
    return -forces[-4:] * (after.flexible_positions - before.flexible_positions)


@pytest.mark.parametrize(("lift", "force"), [(0.0, [200.0, 200.0, 0.0]), (0.02, [0.0, 0.0, 0.0])])
def test_what_passive_joints_store_and_dissipate_is_the_work_done_on_them(lift: float, force: list[float]) -> None:
    """Springs are explicit: in a step they have the torque of its beginning and store k Δs² / 2 beyond their work."""
    states, joints = moved(lift, force), bending().flexible_joints
    stiffness, damping = np.array([j.stiffness for j in joints]), np.array([j.damping for j in joints])
    work = sum(work_on_passive_joints(*pair) for pair in pairwise(states))
    positions = np.array([state.flexible_positions for state in states])
    rates = np.array([state.flexible_velocities for state in states])
    stored = 0.5 * stiffness * (positions[-1] ** 2 - positions[0] ** 2)
    dissipated = 1e-4 * np.sum(damping * rates[1:] ** 2, axis=0)
    beyond = 0.5 * stiffness * np.sum(np.diff(positions, axis=0) ** 2, axis=0)
    assert np.abs(positions).max() > 2e-3
    np.testing.assert_allclose(stored + dissipated - beyond, work, atol=2e-3 * work.max())
