"""Servos, joints in modes of their own, and the delay of commands."""

from __future__ import annotations

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand, RobotInterfaceError
from gradiva.robot_model import ServoLaw
from gradiva.simulation import MixedCommand
from gradiva.simulation.servos import PositionServo, Servo, TorqueServo, VelocityServo

STIFFNESS = np.array([100.0, 1000.0])
DAMPING = np.array([5.0, 10.0])
LIMITS = np.array([20.0, 30.0])
POSITIONS = np.array([0.3, -0.2])
TORQUES = np.array([4.0, -6.0])


def position_servo(
    feedforward: float = 0.0, integral: float = 0.0, velocity_stiffness: float = 0.0, limit: float = 0.0
) -> PositionServo:
    each = [np.full(2, value) for value in (feedforward, integral, velocity_stiffness, limit)]
    return PositionServo(ServoLaw(STIFFNESS, DAMPING, *each))


def torque(servo: Servo, positions: np.ndarray, velocities: np.ndarray, step: float = 0.0) -> np.ndarray:
    gains = servo.gains
    control = servo.control(positions, step)
    return gains.input_gain * control - gains.stiffness * positions - gains.damping * velocities


@pytest.mark.parametrize(
    "servo",
    [
        position_servo(),
        position_servo(1.0, 500.0, 80.0, 5.0),
        VelocityServo(STIFFNESS, DAMPING, LIMITS),
        TorqueServo(2),
    ],
    ids=["position", "integral", "velocity", "torque"],
)
def test_taking_over_keeps_the_torques(servo: Servo) -> None:
    servo.start(POSITIONS, TORQUES)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2)), TORQUES, atol=1e-12)


def test_the_position_servo_is_a_spring_and_a_damper() -> None:
    servo = position_servo()
    servo.command(POSITIONS + np.array([0.01, -0.02]))
    expected = STIFFNESS * np.array([0.01, -0.02]) - DAMPING * np.array([0.3, 0.4])
    np.testing.assert_allclose(torque(servo, POSITIONS, np.array([0.3, 0.4])), expected, atol=1e-12)


def test_the_velocity_of_the_references_is_fed_forward_for_one_interval() -> None:
    servo = position_servo(feedforward=0.8)
    servo.command(POSITIONS)
    for _ in range(10):
        servo.control(POSITIONS, 0.001)
    servo.command(POSITIONS + 0.02)
    fed = DAMPING * 0.8 * 0.02 / 0.01
    for _ in range(10):
        np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2), 0.001), STIFFNESS * 0.02 + fed)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2), 0.001), STIFFNESS * 0.02)


def test_a_packet_right_behind_a_late_one_is_no_jump() -> None:
    servo = position_servo(feedforward=1.0)
    servo.command(POSITIONS)
    for step, duration in ((0.02, 0.019), (0.03, 0.001)):  # 1 rad/s at 10 ms, the second packet 9 ms late
        for _ in range(round(duration / 0.001)):
            servo.control(POSITIONS, 0.001)
        servo.command(POSITIONS + step)
    fed = DAMPING * 0.01 / (0.5 * 0.019)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2), 0.001), STIFFNESS * 0.03 + fed)


def test_a_reference_after_a_pause_has_no_velocity() -> None:
    servo = position_servo(feedforward=1.0)
    servo.command(POSITIONS)
    for _ in range(200):
        servo.control(POSITIONS, 0.001)
    servo.command(POSITIONS + 0.02)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2), 0.001), STIFFNESS * 0.02)


def test_the_integral_grows_with_the_error_up_to_its_limit() -> None:
    servo = position_servo(integral=500.0, limit=3.0)
    servo.start(POSITIONS, np.zeros(2))
    servo.command(POSITIONS + 0.01)
    for _ in range(99):
        servo.control(POSITIONS, 0.001)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2), 0.001), STIFFNESS * 0.01 + 500.0 * 0.01 * 0.1)
    for _ in range(1000):
        servo.control(POSITIONS, 0.001)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2), 0.001), STIFFNESS * 0.01 + 3.0)


def test_a_velocity_loop_below_a_position_gain_is_the_same_law() -> None:
    """The cascade of iCub v2.7: e = k_x (s* - s) + v* - ṡ, τ = k_d e + k_v ∫ e."""
    gain, loop_integral, period, rng = 6.0, 60.0, 0.001, np.random.default_rng(0)
    stiffness = DAMPING * gain + loop_integral
    each = [np.full(2, value) for value in (1.0, loop_integral * gain, loop_integral, 1e3)]
    servo = PositionServo(ServoLaw(stiffness, DAMPING, *each))
    positions, integral, reference = POSITIONS.copy(), np.zeros(2), POSITIONS.copy()
    servo.start(positions, np.zeros(2))
    servo.command(reference)
    servo.control(positions, period)
    for _ in range(300):
        velocity = rng.normal(size=2)
        reference = reference + period * velocity
        servo.command(reference)
        speed = rng.normal(size=2)
        error = gain * (reference - positions) + velocity
        integral += loop_integral * period * error
        expected = DAMPING * (error - speed) + integral - loop_integral * (positions - POSITIONS)
        np.testing.assert_allclose(torque(servo, positions, speed, period), expected, atol=1e-9)
        positions = positions + period * speed


def test_the_velocity_servo_is_proportional_and_integral_in_the_velocity_error() -> None:
    servo = VelocityServo(STIFFNESS, DAMPING, LIMITS)
    servo.start(POSITIONS, np.zeros(2))
    servo.command(np.array([0.5, -0.1]))
    moved, velocities = np.array([0.002, 0.001]), np.array([0.2, 0.1])
    expected = DAMPING * (np.array([0.5, -0.1]) - velocities) + STIFFNESS * (np.array([0.5, -0.1]) * 0.01 - moved)
    np.testing.assert_allclose(torque(servo, POSITIONS + moved, velocities, 0.01), expected, atol=1e-9)


def test_the_integral_of_the_velocity_servo_stops_at_the_torque_limit() -> None:
    servo = VelocityServo(STIFFNESS, DAMPING, LIMITS)
    servo.start(POSITIONS, np.zeros(2))
    servo.command(np.array([10.0, -10.0]))
    for _ in range(1000):
        servo.control(POSITIONS, 0.001)  # a blocked joint
    servo.command(np.zeros(2))
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2)), [20.0, -30.0], atol=1e-9)


def test_the_torque_servo_hands_the_command_on() -> None:
    servo = TorqueServo(2)
    servo.command(TORQUES)
    np.testing.assert_array_equal(torque(servo, POSITIONS, np.array([9.0, 9.0])), TORQUES)


def test_a_servo_that_is_commanded_for_some_joints_leaves_the_others_alone() -> None:
    servo = position_servo()
    servo.command(POSITIONS)
    only_second = np.array([False, True])
    servo.start(np.array([9.0, 0.5]), np.array([9.0, 10.0]), only_second)
    np.testing.assert_allclose(servo.target, [0.3, 0.51])
    servo.command(np.array([7.0, 0.1]), only_second)
    np.testing.assert_allclose(servo.target, [0.3, 0.1])


def test_changed_gains_keep_the_target() -> None:
    servo = position_servo()
    servo.command(POSITIONS + 0.1)
    servo.set_gains(2.0 * STIFFNESS, DAMPING)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2)), 0.2 * STIFFNESS)


ARM = slice(3, 7)  # of iCub, without its wrist


def test_a_joint_follows_its_own_mode_while_the_others_hold(make_icub):
    robot = make_icub()
    targets = robot.position_targets
    modes = [ControlMode.POSITION] * 23
    modes[6], modes[5] = ControlMode.VELOCITY, ControlMode.TORQUE
    values = targets.copy()
    values[6], values[5] = 0.2, 0.5
    start = robot.truth().joint_positions
    robot.write(MixedCommand(tuple(modes), values))
    robot.advance(0.5)
    truth = robot.truth()
    assert truth.joint_positions[6] - start[6] == pytest.approx(0.1, abs=0.02)
    assert truth.joint_velocities[6] == pytest.approx(0.2, abs=0.02)
    assert truth.joint_torques[5] == 0.5
    np.testing.assert_allclose(truth.joint_positions[11:], start[11:], atol=0.01)


def test_joints_that_stay_in_their_mode_do_not_feel_that_another_changes_it(make_icub):
    changed, unchanged = make_icub(), make_icub()
    for robot in (changed, unchanged):
        robot.advance(0.1)
    modes = [ControlMode.POSITION] * 23
    modes[6] = ControlMode.TORQUE
    values = changed.position_targets
    values[6] = changed.truth().joint_torques[6]
    changed.write(MixedCommand(tuple(modes), values))
    for robot in (changed, unchanged):
        robot.advance(0.001)
    np.testing.assert_allclose(changed.truth().joint_torques, unchanged.truth().joint_torques, atol=1e-2)


def test_all_joints_in_one_mode_are_the_same_as_a_joint_command(make_icub):
    mixed, plain = make_icub(), make_icub()
    values = mixed.position_targets
    values[ARM] += 0.05
    mixed.write(MixedCommand((ControlMode.POSITION,) * 23, values))
    plain.write(JointCommand(ControlMode.POSITION, values))
    for robot in (mixed, plain):
        robot.advance(0.1)
    np.testing.assert_array_equal(mixed.truth().joint_positions, plain.truth().joint_positions)


def test_softer_servos_give_way(make_icub):
    robot = make_icub()
    stiffness, damping = robot.position_gains
    soft = stiffness.copy()
    soft[6] = 1.0
    before = robot.truth().joint_positions[6]
    robot.set_position_gains(soft, 0.01 * damping)
    robot.advance(0.5)
    assert robot.truth().joint_positions[6] < before - 0.01


def test_as_many_modes_as_values():
    with pytest.raises(RobotInterfaceError, match="1 modes for 2 values"):
        MixedCommand((ControlMode.POSITION,), np.zeros(2))


def test_a_value_that_is_not_finite_is_refused_with_its_mode(make_icub):
    robot = make_icub()
    values = robot.position_targets
    values[6] = np.nan
    modes = [ControlMode.POSITION] * 23
    modes[6] = ControlMode.TORQUE
    with pytest.raises(RobotInterfaceError, match="torque command of joint 'l_elbow' is nan"):
        robot.write(MixedCommand(tuple(modes), values))
