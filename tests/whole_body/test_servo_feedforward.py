import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import ConfigError, RobotPosture, so3
from gradiva.robot_model import as_array
from gradiva.whole_body import ServoFeedforward, ServoFeedforwardConfig


def state_of(model, seed=0):
    rng = np.random.default_rng(seed)
    joints = len(model.description.joints)
    return RobotPosture(rng.normal(size=3), so3.exp(rng.normal(size=3)), rng.normal(size=joints))


def test_the_torques_are_those_of_idyntree(model):
    feedforward = ServoFeedforward(model, ServoFeedforwardConfig(1.0, 0.0, 1.0, 0.02))
    state, rng = state_of(model), np.random.default_rng(1)
    joints = len(state.joint_positions)
    acceleration, left, right = rng.normal(size=6 + joints), 50 * rng.normal(size=6), 50 * rng.normal(size=6)
    torques = feedforward.torques(state, acceleration, left, right)

    computations = model.kinematics_and_dynamics()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = state.base_rotation, state.base_position
    gravity = np.array([0.0, 0.0, -9.81])
    computations.setRobotState(pose, state.joint_positions, np.zeros(6), np.zeros(joints), gravity)
    external = idyn.LinkWrenches(model.model)
    external.zero()
    forces = idyn.FreeFloatingGeneralizedTorques(model.model)
    assert computations.inverseDynamics(
        idyn.Vector6.FromPython(list(acceleration[:6])),
        idyn.VectorDynSize.FromPython(list(acceleration[6:])),
        external,
        forces,
    )
    expected = as_array(forces.jointTorques()) + model.description.rotor_inertia_matrix @ acceleration[6:]
    for frame, wrench in ((model.description.left_foot_frame, left), (model.description.right_foot_frame, right)):
        jacobian = idyn.MatrixDynSize(6, 6 + joints)
        computations.getFrameFreeFloatingJacobian(frame, jacobian)
        expected = expected - as_array(jacobian)[:, 6:].T @ wrench
    np.testing.assert_allclose(torques, expected, atol=1e-9)


def test_a_servo_with_the_offset_gives_the_torque(icub):
    feedforward = ServoFeedforward(icub, ServoFeedforwardConfig(1.0, 1.0, 0.0, 0.02))
    state, joints = state_of(icub), len(icub.description.joints)
    velocity = np.concatenate((np.zeros(6), np.linspace(-1.0, 1.0, joints)))
    rest, wrench = np.zeros(6 + joints), np.array([0.0, 0.0, 160.0, 0.0, 0.0, 0.0])
    offset = feedforward.offset(state, velocity, rest, wrench, wrench)
    stiffness, damping = (icub.description.per_joint(name) for name in ("stiffness", "damping"))
    servo = stiffness * offset - damping * velocity[6:]
    np.testing.assert_allclose(servo, feedforward.torques(state, rest, wrench, wrench), atol=1e-9)


def test_fractions_of_zero_leave_it_to_the_servo(icub):
    feedforward = ServoFeedforward(icub, ServoFeedforwardConfig(0.0, 0.0, 0.0, 0.02))
    joints = len(icub.description.joints)
    offset = feedforward.offset(state_of(icub), np.ones(6 + joints), np.ones(6 + joints), np.ones(6), np.ones(6))
    np.testing.assert_array_equal(offset, np.zeros(joints))


def test_the_fraction_of_the_acceleration_does_not_depend_on_the_static_one(icub):
    joints, nothing = len(icub.description.joints), np.zeros(6)
    rest, acceleration = np.zeros(6 + joints), np.linspace(-1.0, 1.0, 6 + joints)
    offsets = []
    for static in (0.0, 0.5, 1.0):
        feedforward = ServoFeedforward(icub, ServoFeedforwardConfig(static, 0.0, 1.0, 0.02))
        with_and_without = [feedforward.offset(state_of(icub), rest, a, nothing, nothing) for a in (acceleration, rest)]
        offsets.append(with_and_without[0] - with_and_without[1])
    assert np.abs(offsets[0]).max() > 1e-3
    np.testing.assert_allclose(offsets[1:], [offsets[0]] * 2, atol=1e-12)


def test_a_fraction_above_one_is_refused():
    with pytest.raises(ConfigError, match=r"velocity=1.5, must be in \[0, 1\]"):
        ServoFeedforwardConfig(1.0, 1.5, 0.0, 0.02)
