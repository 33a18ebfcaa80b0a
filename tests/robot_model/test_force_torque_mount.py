"""From what a sensor in the foot reads to what the ground does."""

import numpy as np
import pytest

from gradiva.common import GRAVITY, ModelError
from gradiva.robot_model import ForceTorqueMount, ForceTorquePort, IdynTreeModel, fixed_rotation, force_torque_mount
from gradiva.setup import load_robot
from tests.conftest import ROBOTS


@pytest.fixture(scope="module", params=ROBOTS)
def model(request):
    return IdynTreeModel(load_robot(request.param))


def test_a_sensor_feels_at_most_the_foot_besides_the_ground(model):
    robot = model.description
    for contact in robot.force_torque_sensors:
        mount = force_torque_mount(model, robot.ports.sensor_of(contact.name)[1], contact)
        resting = mount.ground_wrench(np.zeros(6))
        level = fixed_rotation(model, robot.foot_frame(contact.foot), contact.frame)
        upward = level @ resting[:3]
        np.testing.assert_allclose(upward[:2], 0.0, atol=1e-9)
        assert 0.0 <= upward[2] < 0.02 * robot.mass * GRAVITY


def test_the_moment_moves_with_the_origin_and_everything_with_the_sign():
    mount = ForceTorqueMount(-1.0, np.eye(3), np.array([0.0, 0.0, 0.1]), np.zeros(6))
    ground = mount.ground_wrench(np.array([10.0, 0.0, -50.0, 0.0, 2.0, 0.0]))
    np.testing.assert_allclose(ground, [-10.0, 0.0, 50.0, 0.0, -3.0, 0.0], atol=1e-12)


def test_the_weight_of_the_foot_is_the_same_left_and_right(model):
    robot = model.description
    weights = [
        np.linalg.norm(force_torque_mount(model, robot.ports.sensor_of(contact.name)[1], contact).weight[:3])
        for contact in robot.force_torque_sensors
    ]
    half = len(weights) // 2
    np.testing.assert_allclose(weights[:half], weights[half:], atol=0.02)


def test_two_frames_with_a_joint_between_them_have_no_fixed_rotation(model):
    with pytest.raises(ModelError, match="a joint lies between the frames"):
        fixed_rotation(model, model.description.base_link, model.description.left_foot_frame)


def test_a_sensor_at_a_joint_that_the_model_lacks_is_refused():
    model = IdynTreeModel(load_robot("icub_v2_7"))
    contact = model.description.force_torque_sensors[0]
    with pytest.raises(ModelError, match="no joint 'l_toe' for the sensor 'toe_ft'"):
        force_torque_mount(model, ForceTorquePort("toe_ft", "l_sole", joint="l_toe"), contact)
