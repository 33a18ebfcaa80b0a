from __future__ import annotations

import numpy as np
import pytest

from gradiva.simulation.position_servo import PositionServo
from gradiva.simulation.servo import Servo
from gradiva.simulation.torque_servo import TorqueServo
from gradiva.simulation.velocity_servo import VelocityServo

STIFFNESS = np.array([100.0, 1000.0])
DAMPING = np.array([5.0, 10.0])
LIMITS = np.array([20.0, 30.0])
POSITIONS = np.array([0.3, -0.2])
TORQUES = np.array([4.0, -6.0])


def torque(servo: Servo, positions: np.ndarray, velocities: np.ndarray, step: float = 0.0) -> np.ndarray:
    gains = servo.gains
    control = servo.control(positions, step)
    return gains.input_gain * control - gains.stiffness * positions - gains.damping * velocities


@pytest.mark.parametrize(
    "servo",
    [PositionServo(STIFFNESS, DAMPING), VelocityServo(STIFFNESS, DAMPING, LIMITS), TorqueServo(2)],
    ids=["position", "velocity", "torque"],
)
def test_taking_over_keeps_the_torques(servo: Servo) -> None:
    servo.start(POSITIONS, TORQUES)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2)), TORQUES, atol=1e-12)


def test_the_position_servo_is_a_spring_and_a_damper() -> None:
    servo = PositionServo(STIFFNESS, DAMPING)
    servo.command(POSITIONS + np.array([0.01, -0.02]))
    expected = STIFFNESS * np.array([0.01, -0.02]) - DAMPING * np.array([0.3, 0.4])
    np.testing.assert_allclose(torque(servo, POSITIONS, np.array([0.3, 0.4])), expected, atol=1e-12)


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


def test_a_servo_that_is_told_of_some_joints_leaves_the_others_alone() -> None:
    servo = PositionServo(STIFFNESS, DAMPING)
    servo.command(POSITIONS)
    only_second = np.array([False, True])
    servo.start(np.array([9.0, 0.5]), np.array([9.0, 10.0]), only_second)
    np.testing.assert_allclose(servo.target, [0.3, 0.51])
    servo.command(np.array([7.0, 0.1]), only_second)
    np.testing.assert_allclose(servo.target, [0.3, 0.1])


def test_changed_gains_keep_the_target() -> None:
    servo = PositionServo(STIFFNESS, DAMPING)
    servo.command(POSITIONS + 0.1)
    servo.set_gains(2.0 * STIFFNESS, DAMPING)
    np.testing.assert_allclose(torque(servo, POSITIONS, np.zeros(2)), 0.2 * STIFFNESS)
