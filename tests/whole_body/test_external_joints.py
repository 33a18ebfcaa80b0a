"""Joints that another program drives: kinematics takes them as measured, the others keep CoM and feet."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError, RobotPosture
from gradiva.setup import GccCompiler, cache_folder, load_setup
from gradiva.walking import WalkingLayers
from gradiva.whole_body import ExternalJointsController, external_joints, upright_torso
from tests.conftest import model_of
from tests.whole_body.conftest import reference_for
from tests.whole_body.test_inverse_kinematics import frame_velocity

PERIOD = 0.01
NAMES = ("l_elbow", "r_shoulder_pitch")


def layers_of(**overrides):
    setup = load_setup("icub_v2_7", {"whole_body.external_joints": list(NAMES), **overrides})
    return WalkingLayers(setup.robot, setup.walking, GccCompiler(cache_folder()))


@pytest.fixture(scope="module")
def layers():
    return layers_of()


def test_given_joints_move_as_measured_and_the_others_keep_the_feet_and_the_com(layers):
    model, start, kinematics = model_of("icub_v2_7"), layers.start_posture, layers.inverse_kinematics
    indices = [layers.robot.joints.index(name) for name in NAMES]
    positions, velocities = start.joint_positions.copy(), np.zeros(len(layers.robot.joints))
    positions[indices] += [0.3, -0.4]
    velocities[indices] = [0.8, -0.5]
    posture = RobotPosture(start.base_position, start.base_rotation, positions)
    kinematics.moved = indices, positions, velocities
    velocity = kinematics.solve(posture, reference_for(model, upright_torso(model)), PERIOD)
    kinematics.moved = None
    np.testing.assert_allclose(velocity[6:][indices], velocities[indices], atol=1e-6)
    assert np.abs(np.delete(velocity[6:], indices)).max() > 1e-3, "the others make up for it"
    for frame in (model.description.left_foot_frame, model.description.right_foot_frame):
        np.testing.assert_allclose(frame_velocity(model, posture, velocity, frame), np.zeros(6), atol=1e-5)


def test_the_controller_begins_each_tick_where_these_joints_are(layers):
    controller, start = layers.whole_body, layers.start_posture
    assert isinstance(controller, ExternalJointsController)
    controller.reset(start)
    indices = [layers.robot.joints.index(name) for name in NAMES]
    measured = start.joint_positions + 0.2
    state = SimpleNamespace(joint_positions=measured, joint_velocities=np.full(len(measured), 0.1))
    model = model_of("icub_v2_7")
    controller.command(state, reference_for(model, upright_torso(model)), PERIOD)
    np.testing.assert_allclose(controller.desired_joint_positions[indices], measured[indices] + 0.1 * PERIOD, atol=1e-8)
    others = np.delete(controller.desired_joint_positions - start.joint_positions, indices)
    assert np.abs(others).max() < 0.1, "the measured positions of the others are not taken"
    controller.reset(start)


def test_the_move_to_the_start_posture_leaves_them_where_they_are(layers):
    start = layers.start_posture.joint_positions + 0.5
    end = layers.preparation(0.0, start).at(1e3)
    indices = [layers.robot.joints.index(name) for name in NAMES]
    np.testing.assert_array_equal(end[indices], start[indices])
    assert np.abs(np.delete(end - start, indices)).min() > 0.3


def test_torque_control_a_leg_and_an_unknown_joint_are_refused(layers):
    with pytest.raises(ConfigError, match="position and velocity control"):
        layers_of(**{"walking.control": "torque"})
    with pytest.raises(ConfigError, match="'l_knee' is a joint of a leg"):
        external_joints(["l_knee"], layers.robot)
    with pytest.raises(ConfigError, match=r"no joint 'l_elbw'.*l_elbow"):
        external_joints(["l_elbw"], layers.robot)
