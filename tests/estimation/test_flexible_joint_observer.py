"""The observer of flexible joints: torques by the recursion from the sole, deflections by spring and damper."""

from dataclasses import replace
from functools import lru_cache

import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import GRAVITY, EstimationError, Measurement, ModelError, Side, so3
from gradiva.estimation import FlexibleJointObserver, FlexibleJointObserverConfig, FootMotion
from gradiva.estimation.flexible_joint_observer import observer_function
from gradiva.robot_model import FlexibleJoint, IdynTreeModel, as_array, interpreted
from gradiva.setup import load_setup
from tests.conftest import description_of

STIFFNESS, DAMPING, PERIOD = 1000.0, 60.0, 0.001  # [N·m/rad], [N·m·s/rad], [s]
CONFIG = FlexibleJointObserverConfig(1.0, FootMotion.KINEMATICS, 0.0)
ACTUATED = 32


@lru_cache
def flexible_model():
    setup = load_setup("talos", [f"flexibility.stiffness={STIFFNESS}", f"flexibility.damping={DAMPING}"])
    return IdynTreeModel(setup.robot.with_flexible_joints())


def computations(rng, joints, velocities, twist):
    """iDynTree's computations of a robot somewhere in the world, and the rotation of its base."""
    body, pose = flexible_model().kinematics_and_dynamics(), np.eye(4)
    pose[:3, :3], pose[:3, 3] = so3.exp(rng.normal(size=3)), rng.normal(size=3)
    assert body.setRobotState(pose, joints, twist, velocities, np.array([0.0, 0.0, -GRAVITY]))
    return body, pose[:3, :3]


def joint_torques(body, base_acceleration, accelerations, wrenches):
    """Torques of all joints under wrenches in the axes of the soles, by iDynTree; without rotors."""
    model, external = flexible_model(), idyn.LinkWrenches(flexible_model().model)
    external.zero()
    forces = idyn.FreeFloatingGeneralizedTorques(model.model)
    assert body.inverseDynamics(base_acceleration, accelerations, external, forces)
    torques = as_array(forces.jointTorques())
    for side, wrench in zip(Side, wrenches, strict=True):
        frame, jacobian = model.description.foot_frame(side), idyn.MatrixDynSize()
        body.getFrameFreeFloatingJacobian(frame, jacobian)
        turn = as_array(body.getWorldTransform(frame).getRotation())
        torques -= as_array(jacobian)[:, 6:].T @ np.concatenate((turn @ wrench[:3], turn @ wrench[3:]))
    return torques


@pytest.mark.parametrize("seed", range(3))
def test_the_recursion_is_idyntrees_inverse_dynamics_whatever_moves(seed):
    rng, joints = np.random.default_rng(seed), ACTUATED + 4
    positions, velocities, accelerations = 0.3 * rng.normal(size=joints), rng.normal(size=joints), rng.normal(size=joints)
    twist, base_acceleration, wrenches = rng.normal(size=6), rng.normal(size=6), 80.0 * rng.normal(size=(2, 6))
    body, rotation = computations(rng, positions, velocities, twist)
    function = observer_function(flexible_model(), interpreted)
    function.set(
        joint_positions=positions[:ACTUATED],
        joint_velocities=velocities[:ACTUATED],
        contact_wrenches=wrenches,
        base_rotation=rotation,
        base_twist=twist,
        stiffness=np.full(4, STIFFNESS),
        damping=np.full(4, DAMPING),
        period=PERIOD,
        computed_fraction=1.0,
        left_foot_swings=1.0,
        right_foot_swings=1.0,
    )
    actuated = velocities[:ACTUATED], accelerations[:ACTUATED]
    memory = positions[ACTUATED:], velocities[ACTUATED:], *actuated, twist, base_acceleration
    function.inputs["memory"][:] = np.concatenate(memory)
    result = function()
    accelerations[ACTUATED:] = (result["velocities"] - velocities[ACTUATED:]) / PERIOD
    expected = joint_torques(body, base_acceleration, accelerations, wrenches)[ACTUATED:]
    np.testing.assert_allclose(result["torques"], expected, atol=1e-8)
    spring = -STIFFNESS * result["positions"] - DAMPING * result["velocities"]
    np.testing.assert_allclose(result["torques"], spring, atol=1e-8)


def standing_measurement(time=0.0, **changes):
    """A robot on level feet whose hips carry what its springs do, and its true deflections."""
    rng, wrench = np.random.default_rng(1), np.array([3.0, -2.0, 440.0, 5.0, -8.0, 1.0])
    positions = np.append(load_setup("talos").robot.posture, np.zeros(4)) + 0.05 * rng.normal(size=ACTUATED + 4)
    positions[ACTUATED:] = 0.0
    wrenches = np.array([wrench, wrench * [1, -1, 1, -1, 1, -1]])
    for _ in range(50):  # deflections under the torques that they have a part in
        positions[ACTUATED:] = -_hip_torques(positions, wrenches) / STIFFNESS
    measurement = Measurement(time, positions[:ACTUATED], np.zeros(ACTUATED), np.full(ACTUATED, np.nan), wrenches)
    return replace(measurement, **changes), positions[ACTUATED:]


def _hip_torques(positions, wrenches):
    """Torques of the flexible joints of a robot at rest, each sole level: of legs that hang on a base turned so."""
    torques = []
    for side in Side:
        body, pose, rest = flexible_model().kinematics_and_dynamics(), np.eye(4), np.zeros(ACTUATED + 4)
        gravity = np.array([0.0, 0.0, -GRAVITY])
        body.setRobotState(pose, positions, np.zeros(6), rest, gravity)
        turn = as_array(body.getWorldTransform(flexible_model().description.foot_frame(side)).getRotation())
        pose[:3, :3] = turn.T
        body.setRobotState(pose, positions, np.zeros(6), rest, gravity)
        hips = joint_torques(body, np.zeros(6), rest, wrenches)[ACTUATED:]
        torques.append(hips[:2] if side is Side.LEFT else hips[2:])
    return np.concatenate(torques)
