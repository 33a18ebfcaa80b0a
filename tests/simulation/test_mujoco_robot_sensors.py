"""What the sensors of the simulated robot tell."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation import MujocoRobot, Push

from .conftest import MakeRobot
from .standing import configured, positions, standing_posture

TICK = 0.01  # [s]
GRAVITY = 9.81


def test_the_zmp_of_the_readings_is_the_ground_projection_of_the_com(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    robot.advance(4.0)
    truth = robot.truth()
    total = np.zeros(6)
    for side in Side:
        wrench, origin = truth.foot_wrench(side), truth.foot_position(side)
        total[:3] += wrench[:3]
        total[3:] += wrench[3:] + so3.cross(origin, wrench[:3])
    zmp = np.array([-total[4], total[3]]) / total[2]
    np.testing.assert_allclose(zmp, truth.com_position[:2], atol=1e-4)


def test_the_base_is_measured_where_it_is(description: RobotDescription) -> None:
    posture = standing_posture(description)
    robot = MujocoRobot(description, configured(), posture)
    robot.push(Push(link=description.base_link, force=(30.0, 20.0, 0.0), start=0.0, duration=0.1))
    robot.advance(0.1)
    base, truth = robot.read().base, robot.truth()
    assert base is not None
    np.testing.assert_allclose(base.position, truth.base_position, atol=1e-15)
    np.testing.assert_allclose(base.rotation, truth.base_rotation, atol=1e-12)
    np.testing.assert_allclose(base.twist, truth.base_twist, atol=1e-12)
    assert np.abs(base.twist[:3]).max() > 1e-3


def test_the_soles_start_loaded_and_still(description: RobotDescription) -> None:
    robot = MujocoRobot(description, configured(), standing_posture(description))
    assert robot.time == 0.0
    np.testing.assert_array_equal(robot.truth().base_twist, np.zeros(6))
    load = robot.read().contact_wrenches[:, 2].sum()
    assert load == pytest.approx(description.mass * GRAVITY, rel=0.15)
    robot.advance(TICK)
    assert np.abs(robot.truth().base_twist[:3]).max() < 0.01


def test_without_noise_the_measurement_is_the_truth(make_icub: MakeRobot) -> None:
    robot = make_icub()
    robot.advance(0.5)
    measurement, truth = robot.read(), robot.truth()
    np.testing.assert_array_equal(measurement.joint_positions, truth.joint_positions)
    np.testing.assert_array_equal(measurement.joint_velocities, truth.joint_velocities)
    np.testing.assert_array_equal(measurement.joint_torques, truth.joint_torques)
    assert measurement.time == truth.time == 0.5


def test_wrenches_are_means_over_the_time_since_the_last_reading(make_icub: MakeRobot) -> None:
    often, seldom = make_icub(), make_icub()
    often.read()
    seldom.read()
    samples = []
    for _ in range(20):
        often.advance(0.001)
        samples.append(often.read().contact_wrenches)
    seldom.advance(0.02)
    np.testing.assert_allclose(seldom.read().contact_wrenches, np.mean(samples, axis=0), atol=1e-9)
    np.testing.assert_array_equal(often.read().contact_wrenches, samples[-1])


def test_reading_the_truth_does_not_change_the_run(make_icub: MakeRobot) -> None:
    watched, alone = make_icub(), make_icub()
    for _ in range(20):
        watched.advance(TICK)
        watched.read()
        watched.truth()
    alone.advance(0.2)
    np.testing.assert_array_equal(watched.truth().joint_positions, alone.truth().joint_positions)


def test_sensors_are_late_by_their_delay(make_icub: MakeRobot) -> None:
    late, prompt = make_icub(sensors={"delay": 0.003}), make_icub()
    for robot in (late, prompt):
        robot.read()
        robot.write(positions(0.95 * robot.truth().joint_positions))
    prompt.advance(0.007)
    late.advance(0.01)
    delayed, direct = late.read(), prompt.read()
    assert delayed.time == pytest.approx(0.007, abs=1e-12)
    np.testing.assert_array_equal(delayed.joint_positions, direct.joint_positions)
    np.testing.assert_allclose(delayed.contact_wrenches, direct.contact_wrenches, atol=1e-9)
    assert delayed.imu is not None
    assert direct.imu is not None
    np.testing.assert_array_equal(delayed.imu.rotation, direct.imu.rotation)


def test_the_gyro_tells_the_turn_of_the_imu_in_its_own_axes(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), heading=0.4)
    robot.write(JointCommand(ControlMode.TORQUE, np.linspace(-5.0, 5.0, 23)))
    robot.advance(0.1)
    before = robot.read().imu
    robot.advance(0.001)
    after = robot.read().imu
    assert before is not None
    assert after is not None
    turned = so3.log(before.rotation.T @ after.rotation) / 0.001  # the engine moves with the new velocity
    np.testing.assert_allclose(turned, after.angular_velocity, atol=5e-3)
    assert np.abs(turned).max() > 0.2


def test_base_and_com_velocities_are_derivatives_of_the_positions(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), heading=1.0)
    robot.write(JointCommand(ControlMode.TORQUE, np.linspace(-5.0, 5.0, 23)))
    robot.advance(0.1)
    one = robot.truth()
    robot.advance(0.001)
    two = robot.truth()
    moved = np.concatenate([two.base_position - one.base_position, so3.log(two.base_rotation @ one.base_rotation.T)])
    np.testing.assert_allclose(moved / 0.001, two.base_twist, atol=1e-9)  # the engine moves with the new one
    velocity = (two.com_position - one.com_position) / 0.001
    np.testing.assert_allclose(velocity, two.com_velocity, atol=5e-3)


def test_encoder_noise_does_not_reach_the_truth(make_icub: MakeRobot) -> None:
    robot = make_icub(sensors={"encoder_noise": 0.01})
    error = robot.read().joint_positions - robot.truth().joint_positions
    assert 0.004 < error.std() < 0.02


def test_the_positive_work_of_the_servos_is_counted(make_icub: MakeRobot) -> None:
    robot = make_icub(shift=(0, 0, 5), ground={"gravity": 0.0})
    assert robot.positive_work_j == 0.0
    torques = np.zeros(23)
    torques[0] = 2.0
    start = robot.truth().joint_positions[0]
    robot.write(JointCommand(ControlMode.TORQUE, torques))
    robot.advance(0.1)
    work = 2.0 * (robot.truth().joint_positions[0] - start)
    assert work > 0.01
    assert robot.positive_work_j == pytest.approx(work, rel=0.05)
