from dataclasses import replace

import idyntree.bindings as idyn
import numpy as np
import pytest

from gradiva.common import ConfigError, RobotPosture, so3
from gradiva.robot_model import ServoLaw, as_array
from gradiva.simulation.servos import PositionServo
from gradiva.whole_body import PositionController, ServoFeedforward, ServoFeedforwardConfig, ServoInverse
from tests.conftest import model_of
from tests.whole_body.conftest import inverse_kinematics_of
from tests.whole_body.standing_robot import ROBOT, reference, start_posture, state


def config(velocity=1.0, acceleration=1.0):
    return ServoFeedforwardConfig(velocity, acceleration, 0.02, 1.0)


def without_integrals(description):
    nothing = {"integral_gain": 0.0, "velocity_stiffness": 0.0}
    groups = {name: replace(group, **nothing) for name, group in description.joint_groups.items()}
    return replace(description, joint_groups=groups)


def state_of(model, seed=0):
    rng = np.random.default_rng(seed)
    joints = len(model.description.joints)
    return RobotPosture(rng.normal(size=3), so3.exp(rng.normal(size=3)), rng.normal(size=joints))


def test_the_torques_are_those_of_idyntree(model):
    feedforward = ServoFeedforward(model, config())
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


def test_torques_against_the_damping_are_added_where_the_boards_do_not_lead_it():
    v3 = model_of("icub_v3")
    feedforward = ServoFeedforward(v3, config(acceleration=0.0))
    state, joints = state_of(v3), len(v3.description.joints)
    velocity = np.concatenate((np.zeros(6), np.linspace(-1.0, 1.0, joints)))
    rest, wrench = np.zeros(6 + joints), np.array([0.0, 0.0, 160.0, 0.0, 0.0, 0.0])
    torques = feedforward.servo_torques(state, velocity, rest, wrench, wrench)
    damping = v3.description.per_joint("damping") * velocity[6:]
    np.testing.assert_allclose(torques, feedforward.torques(state, rest, wrench, wrench) + damping, atol=1e-9)


def test_set_points_lead_a_velocity_loop_by_the_inverse_of_its_position_gain(icub):
    feedforward = ServoFeedforward(icub, config(acceleration=0.0))
    state, rest, wrench = state_of(icub), np.zeros(29), np.zeros(6)
    torques = feedforward.servo_torques(state, np.ones(29), rest, wrench, wrench)
    np.testing.assert_allclose(torques, feedforward.torques(state, rest, wrench, wrench), atol=1e-9)
    hips_and_arms, knees_and_ankles = [0.2] * 3, [0.1] * 3
    leg = hips_and_arms + knees_and_ankles
    np.testing.assert_allclose(feedforward.lead, [0.2] * 11 + leg + leg)
    assert not ServoFeedforward(icub, config(velocity=0.0)).lead.any()
    assert not ServoFeedforward(model_of("icub_v3"), config()).lead.any()


def test_boards_that_lead_their_damping_are_left_alone(icub):
    groups = {name: replace(group, velocity_feedforward=1.0) for name, group in icub.description.joint_groups.items()}
    assert not ServoLaw.of(replace(icub.description, joint_groups=groups)).lag.any()
    assert ServoLaw.of(icub.description).lag.all()


def test_a_velocity_loop_whose_set_points_lead_exerts_its_torques_while_the_joints_move(icub):
    """Joints turn at 1 rad/s, their set-points are held for a tick: the mean torque of a tick is the one asked for."""
    law, period, speed = ServoLaw.of(icub.description), 0.01, 1.0
    inverse, servo, start = ServoInverse(icub.description), PositionServo(law), icub.description.posture
    wanted, torques = np.linspace(3.0, 6.0, 23), np.zeros(23)
    servo.start(start, wanted)
    for tick in range(100):
        middle = start + speed * period * (tick + 0.5)
        servo.command(middle + speed * law.lag + inverse.offset(wanted, period))
        steps = start + speed * (period * tick + 0.001 * (np.arange(10) + 0.5)[:, None])
        ends = steps + 0.0005 * speed
        torques = law.stiffness * (np.array([servo.control(step, 0.001) for step in steps]) - ends)
    np.testing.assert_allclose(torques.mean(axis=0) - speed * law.damping, wanted, atol=0.7)


def test_without_an_integral_a_torque_is_a_deflection(icub):
    description = without_integrals(icub.description)
    torques = np.linspace(-10.0, 10.0, 23)
    offset = ServoInverse(description).offset(torques, 0.01)
    np.testing.assert_allclose(offset, torques / description.per_joint("stiffness"))


def test_an_integral_that_has_settled_carries_the_load(icub):
    torques = np.linspace(-10.0, 10.0, 23)
    inverse = ServoInverse(icub.description)
    for _ in range(3):
        np.testing.assert_allclose(inverse.offset(torques, 0.01), 0.0, atol=1e-12)


@pytest.mark.parametrize("robot", ["icub_v2_7", "icub_v3"])
def test_the_servo_exerts_the_torques_that_its_inverse_was_given(robot):
    """The servo itself, its joints on their way: a torque that changes, within the limits of the integrals."""
    description, period = model_of(robot).description, 0.01
    law, inverse = ServoLaw.of(description), ServoInverse(description)
    servo, rest = PositionServo(law), description.posture
    held = inverse.offset(np.zeros(23), period)
    servo.start(rest, np.zeros(23))
    servo.command(rest + held)
    for tick in range(100):
        servo.control(rest, period)
        wanted = np.linspace(3.0, 6.0, 23) * np.sin(4.0 * tick * period)
        servo.command(rest + inverse.offset(wanted, period))
    applied = law.stiffness * (servo.control(rest, 0.0) - rest)
    np.testing.assert_allclose(applied, wanted, atol=0.5)


def test_beyond_the_limit_of_its_integral_a_deflection_carries_the_rest():
    description = model_of("icub_v3").description
    law, inverse = ServoLaw.of(description), ServoInverse(description)
    assert inverse.offset(np.zeros(23), 0.01).max() == 0.0
    for _ in range(3000):
        offset = inverse.offset(1.5 * law.integral_limit, 0.01)
    np.testing.assert_allclose(law.stiffness * offset, 0.5 * law.integral_limit, atol=0.02)


def test_set_points_are_held_back_by_so_many_periods():
    wanted, commands = reference(com_velocity=np.array([0.02, 0.01, 0.0])), []
    for hold in (0.0, 1.5):
        feedforward = ServoFeedforward(model_of(ROBOT), ServoFeedforwardConfig(0.0, 0.0, 0.0, hold))
        controller = PositionController(inverse_kinematics_of(ROBOT), feedforward, start_posture())
        commands.append(controller.command(state(), wanted, 0.01).values)
    velocities = controller.desired_velocity[6:]
    assert np.abs(velocities).max() > 1e-3
    np.testing.assert_allclose(commands[0] - commands[1], 1.5 * 0.01 * velocities, atol=1e-12)


def test_the_fraction_of_the_acceleration_leaves_the_static_torques(icub):
    joints, nothing = len(icub.description.joints), np.zeros(6)
    rest, acceleration = np.zeros(6 + joints), np.linspace(-1.0, 1.0, 6 + joints)
    state = state_of(icub)
    none, half, all_of_it = (
        ServoFeedforward(icub, config(0.0, fraction)).servo_torques(state, rest, acceleration, nothing, nothing)
        for fraction in (0.0, 0.5, 1.0)
    )
    at_rest = ServoFeedforward(icub, config()).torques(state, rest, nothing, nothing)
    np.testing.assert_allclose(none, at_rest, atol=1e-9)
    assert np.abs(all_of_it - none).max() > 1e-3
    np.testing.assert_allclose(half, 0.5 * (none + all_of_it), atol=1e-9)


def test_a_fraction_above_one_is_refused():
    with pytest.raises(ConfigError, match=r"velocity=1.5, must be in \[0, 1\]"):
        config(velocity=1.5)
