"""Sensors anywhere on the body, kinematics of a state."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from gradiva.common import ModelError, Side, so3
from gradiva.setup import load_robot
from gradiva.simulation import Push, build_plant, joint_ranges, load_tree
from gradiva.simulation.falls import SlipMeter
from gradiva.simulation.ground import choose_ground
from gradiva.simulation.state_reader import StateReader
from tests.simulation.standing import configured, standing_posture


@pytest.fixture
def falling(make_icub):
    """A robot that moves: pushed hard, with everything accelerating."""
    robot = make_icub()
    robot.push(Push("chest", (30.0, 80.0, 0.0), 0.0, 0.2, (5.0, 0.0, 10.0)))
    robot.advance(0.15)
    probes = robot.probes()
    probes.refresh()
    return robot, probes


def test_a_standing_robot_feels_gravity_in_every_link(make_icub):
    robot = make_icub()
    robot.advance(0.2)
    probes = robot.probes()
    probes.refresh()
    for frame in ("head_imu_0", "root_link_imu_frame", "l_foot_ft"):
        reading = probes.inertial(frame)
        np.testing.assert_allclose(reading.rotation @ reading.acceleration, [0.0, 0.0, 9.81], atol=0.05)
        assert np.abs(reading.angular_velocity).max() < 0.02


def test_angular_velocity_and_attitude_are_those_of_the_imu_of_walking(falling):
    robot, probes = falling
    robot.advance(0.0)
    measured = robot.read().imu
    reading = probes.inertial("root_link_imu_frame")
    # the engine's frames are those of the beginning of the last step
    np.testing.assert_allclose(reading.angular_velocity, measured.angular_velocity, atol=0.05)
    turned = 0.001 * float(np.linalg.norm(measured.angular_velocity))  # [rad] in this step
    np.testing.assert_allclose(reading.rotation, measured.rotation, atol=turned)


def test_the_acceleration_is_the_second_difference_of_the_positions(make_icub):
    robot = make_icub(ground={"gravity": 0.0})
    robot.push(Push("root_link", (0.0, 30.0, 60.0), 0.0, 0.1))
    velocities = []
    for _ in range(3):
        robot.advance(0.001)
        velocities.append(robot.truth().base_twist[:3])
    probes = robot.probes()
    probes.refresh()
    reading = probes.inertial("root_link")
    np.testing.assert_allclose(
        reading.rotation @ reading.acceleration,
        (velocities[2] - velocities[1]) / 0.001,
        atol=0.1,  # the servos' damping is integrated implicitly
    )


def test_a_cut_above_the_sole_carries_ground_and_foot(falling):
    robot, probes = falling
    below = probes.wrench("l_foot_ft_sensor", "l_foot_ft")
    without_ground = probes.wrench("l_foot_ft_sensor", "l_foot_ft", without="l_foot_ft")
    pose = probes.pose_between("l_sole", "l_foot_ft")
    ground = robot.truth().left_foot_wrench  # world axes
    measured = np.linalg.norm(below[:3] - without_ground[:3])
    assert measured == pytest.approx(np.linalg.norm(ground[:3]), rel=1e-6)
    assert pose is not None
    np.testing.assert_allclose(pose[:3, 3], [0.0035, 0.0, 0.004], atol=1e-9)  # of the URDF


def test_no_pose_is_given_between_links_that_move(falling):
    assert falling[1].pose_between("l_sole", "chest") is None


def test_what_the_model_lacks_is_named(falling):
    with pytest.raises(ModelError, match="no joint 'l_foot_ft_senso'; did you mean 'l_foot_ft_sensor'"):
        falling[1].wrench("l_foot_ft_senso", "l_foot_ft")
    with pytest.raises(ModelError, match="frame 'chest' is not rigidly connected to joint 'l_foot_ft_sensor'"):
        falling[1].wrench("l_foot_ft_sensor", "chest")


def test_probing_does_not_change_a_run(make_icub):
    watched, alone = make_icub(), make_icub()
    probes = watched.probes()
    for _ in range(10):
        probes.refresh()
        probes.inertial("head_imu_0")
        probes.wrench("l_leg_ft_sensor", "l_leg_ft")
        for robot in (watched, alone):
            robot.advance(0.01)
    np.testing.assert_array_equal(watched.truth().joint_positions, alone.truth().joint_positions)


def test_limits_are_the_models_and_of_walking_joints_the_narrower(icub):
    ranges = joint_ranges(icub, ["l_wrist_yaw", "l_knee"])
    assert ranges.upper[1] == pytest.approx(0.07, abs=0.01)
    knee = icub.joints.index("l_knee")
    assert ranges.velocity == pytest.approx([1.745, icub.per_joint("velocity_limit")[knee]])
    assert ranges.torque[1] <= 60.0
    with pytest.raises(ModelError, match="no joint 'l_kne'; did you mean 'l_knee'"):
        joint_ranges(icub, ["l_kne"])


ROBOT = load_robot("icub_v2_7")


@pytest.fixture(scope="module")
def model():
    config, tree = configured(), load_tree(ROBOT)
    ground = choose_ground(config, ROBOT.sole.z, 0)
    return build_plant(ROBOT, tree, config, ground)


def placed(model, turn=None, shift=(0.0, 0.0, 0.0)):
    """Return the standing robot, shifted, and turned about the middle of its left sole."""
    posture, data = standing_posture(ROBOT), mujoco.MjData(model)
    turn = np.eye(3) if turn is None else turn
    _place(model, data, posture.base_position, posture.base_rotation, posture.joint_positions)
    sole = model.site(ROBOT.left_foot_frame).id
    pivot = data.site_xpos[sole] + data.site_xmat[sole].reshape(3, 3) @ ROBOT.sole.middle(Side.LEFT)
    position = pivot + turn @ (posture.base_position - pivot) + shift
    _place(model, data, position, turn @ posture.base_rotation, posture.joint_positions)
    return data


def _place(model, data, position, rotation, joints):
    data.qpos[:3] = position
    mujoco.mju_mat2Quat(data.qpos[3:7], rotation.ravel())
    for joint, angle in zip(ROBOT.joints, joints, strict=True):
        data.qpos[model.joint(joint).qposadr] = angle
    mujoco.mj_kinematics(model, data)


def slip_between(model, *states):
    """Return the slip of the left foot, which carries all."""
    reader, meter = StateReader(ROBOT, model, np.eye(3)), SlipMeter(30.0)
    wrenches = np.array([[0.0, 0.0, 300.0, 0.0, 0.0, 0.0], np.zeros(6)])
    for data in states:
        reader.watch_soles(data, wrenches, meter)
    return meter.largest_slip


@pytest.mark.parametrize("turn", [so3.exp(np.array([0.2, 0.0, 0.0])), so3.exp(np.array([0.0, -0.2, 0.0]))])
def test_a_sole_that_rolls_about_its_middle_does_not_slip(model, turn):
    assert slip_between(model, placed(model), placed(model, turn)) == pytest.approx(0.0, abs=1e-9)


def test_a_sole_that_slides_and_sinks_slips_by_what_it_slides(model):
    assert slip_between(model, placed(model), placed(model, shift=(0.003, -0.004, -0.01))) == pytest.approx(0.005)
